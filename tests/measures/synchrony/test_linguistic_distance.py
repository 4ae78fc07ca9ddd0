"""nCLiD: counted by hand, and against reference values on the AnnoMI sessions."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.session import CLIENT, OTHER, THERAPIST
from therapy_analytics.measures.synchrony.linguistic_distance import nclid, nearest_next, scale, uclid, word_movers
from therapy_analytics.measures.synchrony.whole_session import Side

T, C, X = THERAPIST, CLIENT, OTHER
APART = np.array(
    [
        [0.0, 0.2, 0.5, 0.7],
        [0.2, 0.0, 0.3, 0.6],
        [0.5, 0.3, 0.0, 0.4],
        [0.7, 0.6, 0.4, 0.0],
    ]
)
COLUMNS = ("uclid", "alpha_anchor", "alpha_coord", "alpha_between", "nclid")
Floats = NDArray[np.float64]


def sides(apart: Floats, roles: list[int]) -> tuple[Side, Side]:
    """Return the therapist and the client of a session whose turns are so far apart."""
    at = [np.flatnonzero(np.array(roles, dtype=np.int64) == role) for role in (T, C)]
    return Side(T, apart[at[T]], at[T], at[C]), Side(C, apart[at[C]], at[C], at[T])


def nearest(anchor: Side, other: Side, k: int = 3) -> list[float]:
    return nearest_next(anchor.rows[:, other.at], anchor.at, other.at, k=k).tolist()


def test_both_directions_by_hand() -> None:
    therapist, client = sides(APART, [T, C, T, C])
    # Therapist as anchor: turn 0 is min(.2, .7), turn 2 is .4.
    assert nearest(therapist, client) == [0.2, 0.4]
    assert uclid(therapist, client) == pytest.approx(0.3)
    assert scale(therapist, client) == pytest.approx(0.5 + 0.6 + (0.2 + 0.7 + 0.4) / 3)
    # Client as anchor: only turn 1 has a therapist's turn (2) after it.
    np.testing.assert_array_equal(nearest(client, therapist), [0.3, np.nan])
    assert uclid(client, therapist) == pytest.approx(0.3)
    assert scale(client, therapist) == pytest.approx(0.6 + 0.5 + 0.3)
    by_therapist, by_client = 0.3 / 1.4, 0.3 / (0.5 + 0.6 + 1.3 / 3)
    both = (by_therapist + by_client) / 2
    assert nclid(therapist, client) == pytest.approx([both, by_therapist, by_client, by_therapist - by_client, 0.3])


def test_k_is_how_far_it_looks() -> None:
    # Turns 1, 2, 3 are the client's; the nearest of the first one is .9, of two .5.
    apart = np.array([[0, 0.9, 0.5, 0.1], [0.9, 0, 0, 0], [0.5, 0, 0, 0], [0.1, 0, 0, 0]])
    for k, least in ((1, 0.9), (2, 0.5), (3, 0.1), (9, 0.1)):
        assert nearest(*sides(apart, [T, C, C, C]), k=k) == [least]


def test_turns_without_a_known_word_are_left_out() -> None:
    apart = APART.copy()
    apart[1] = apart[:, 1] = np.nan
    therapist, client = sides(apart, [T, C, T, C])
    assert uclid(therapist, client) == pytest.approx((0.7 + 0.4) / 2)
    assert np.isnan(scale(therapist, client))  # no two turns of the client are known
    assert np.isnan(nclid(therapist, client)).all()
    assert np.isnan(uclid(client, therapist))


def test_others_take_no_part() -> None:
    with_other = np.full((5, 5), 0.01)
    keep = np.array([0, 1, 3, 4])
    with_other[np.ix_(keep, keep)] = APART
    found, expected = nclid(*sides(with_other, [T, C, X, T, C])), nclid(*sides(APART, [T, C, T, C]))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("roles", [[T, C], [C, C, T]])
def test_undefined_is_nan(roles: list[int]) -> None:
    assert np.isnan(nclid(*sides(np.zeros((len(roles), len(roles))), roles))[:4]).all()


def test_replies_in_another_order() -> None:
    generator = np.random.default_rng(3)
    apart = generator.random((12, 12))
    therapist, client = sides(apart, generator.permutation(np.repeat([T, C], 6)).tolist())
    for order in generator.permuted(np.tile(client.at, (5, 1)), axis=1):
        moved = np.arange(12)
        moved[client.at] = order
        expected = nearest_next(apart[np.ix_(therapist.at, order)], therapist.at, client.at)
        assert uclid(therapist, client, order) == pytest.approx(expected[~np.isnan(expected)].mean())


def _annomi(corpora: Path, words: dict[str, int]) -> tuple[list[str], list[list[np.ndarray]], list[np.ndarray]]:
    rows: dict[str, dict[str, dict[str, str]]] = {}
    with (corpora / "annomi" / "annomi.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):  # rows of further annotators repeat the utterance
            rows.setdefault(row["transcript_id"], {}).setdefault(row["utterance_id"], row)
    known = re.compile(r"\w+")
    turns = [
        [
            np.array([words[w] for w in known.findall(row["utterance_text"].lower()) if w in words], dtype=np.int64)
            for row in session.values()
        ]
        for session in rows.values()
    ]
    roles = [
        np.array([T if row["interlocutor"] == "therapist" else C for row in one.values()]) for one in rows.values()
    ]
    return list(rows), turns, roles


def test_agrees_with_the_reference_on_annomi(corpora):
    peers = corpora.parent / "peers"
    if not (peers / "nclid_reference_w2v100.csv").exists():
        pytest.skip("the reference values are not in ../shared/peers")
    with np.load(peers / "w2v_annomi100.npz", allow_pickle=False) as stored:
        words, vectors = {word: i for i, word in enumerate(stored["words"].tolist())}, stored["vectors"]
    with (peers / "nclid_reference_w2v100.csv").open(newline="") as file:
        reference = {(row["transcript_id"], row["dir"]): row for row in csv.DictReader(file)}
    ids, turns, roles = _annomi(corpora, words)
    some = sorted(range(len(turns)), key=lambda i: len(turns[i]))[:6]  # the others take longer
    for i in some:
        therapist, client = sides(word_movers(turns[i], vectors), roles[i].tolist())
        for anchor, other, name in ((therapist, client, "t2p"), (client, therapist, "p2t")):
            expected = {column: float(reference[ids[i], name][column]) for column in COLUMNS}
            alphas = expected["alpha_anchor"] + expected["alpha_coord"] + expected["alpha_between"]
            found = uclid(anchor, other), scale(anchor, other), uclid(anchor, other) / scale(anchor, other)
            np.testing.assert_allclose(found, [expected["uclid"], alphas, expected["nclid"]], atol=1e-6, rtol=0)


def test_without_the_package_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ot.lp.emd_wrap", None)
    with pytest.raises(BadOptionError) as raised:
        word_movers([np.array([0]), np.array([0, 1])], np.eye(2))
    assert "-m pip install POT" in str(raised.value)
