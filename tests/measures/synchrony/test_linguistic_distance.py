"""nCLiD: counted by hand, and against reference values on the AnnoMI sessions."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from therapy_analytics.errors import BadOptionError
from therapy_analytics.measures.synchrony.linguistic_distance import following, least_distances, nclid, word_movers
from therapy_analytics.session import CLIENT, OTHER, THERAPIST

T, C, X = THERAPIST, CLIENT, OTHER
APART = np.array(
    [
        [0.0, 0.2, 0.5, 0.7],
        [0.2, 0.0, 0.3, 0.6],
        [0.5, 0.3, 0.0, 0.4],
        [0.7, 0.6, 0.4, 0.0],
    ]
)
FIGURES = ("uclid", "alpha_anchor", "alpha_coord", "alpha_between", "nclid", "n_anchor")


def test_both_directions_by_hand():
    found = nclid(APART, np.array([T, C, T, C]))
    therapist, client = found["therapist"], found["client"]
    # Therapist as anchor: turn 0 is min(.2, .7), turn 2 is .4.
    np.testing.assert_allclose(therapist.per_turn, [0.2, np.nan, 0.4, np.nan])
    assert therapist.uclid == pytest.approx(0.3)
    assert (therapist.alpha_anchor, therapist.alpha_coord) == pytest.approx((0.5, 0.6))
    assert therapist.alpha_between == pytest.approx((0.2 + 0.7 + 0.4) / 3)
    assert therapist.nclid == pytest.approx(0.3 / (0.5 + 0.6 + 1.3 / 3))
    # Client as anchor: only turn 1 has a therapist's turn (2) after it.
    np.testing.assert_allclose(client.per_turn, [np.nan, 0.3, np.nan, np.nan])
    assert (client.uclid, client.alpha_between, client.n_anchor) == pytest.approx((0.3, 0.3, 1))
    assert (client.alpha_anchor, client.alpha_coord) == pytest.approx((0.6, 0.5))


def test_k_is_how_far_it_looks():
    # Turns 1, 2, 3 are the client's; the nearest of the first one is .2, and it is the first.
    apart = np.array([[0, 0.9, 0.5, 0.1], [0.9, 0, 0, 0], [0.5, 0, 0, 0], [0.1, 0, 0, 0]])
    for k, nearest in ((1, 0.9), (2, 0.5), (3, 0.1), (9, 0.1)):
        assert nclid(apart, np.array([T, C, C, C]), k=k)["therapist"].uclid == pytest.approx(nearest)


def test_turns_without_a_known_word_are_left_out():
    apart = APART.copy()
    apart[1] = apart[:, 1] = np.nan
    found = nclid(apart, np.array([T, C, T, C]))
    assert found["therapist"].uclid == pytest.approx((0.7 + 0.4) / 2)
    assert found["therapist"].alpha_between == pytest.approx((0.7 + 0.4) / 2)
    assert np.isnan(found["therapist"].alpha_coord)
    assert np.isnan(found["therapist"].nclid)
    assert found["client"].n_anchor == 0
    assert np.isnan(found["client"].uclid)


def test_others_take_no_part():
    with_other = np.full((5, 5), 0.01)
    keep = np.array([0, 1, 3, 4])
    with_other[np.ix_(keep, keep)] = APART
    found, expected = (
        nclid(apart, roles)
        for apart, roles in ((with_other, np.array([T, C, X, T, C])), (APART, np.array([T, C, T, C])))
    )
    for role, one in expected.items():
        assert [getattr(found[role], name) for name in FIGURES] == [getattr(one, name) for name in FIGURES]


@pytest.mark.parametrize("roles", [[], [T], [T, T], [T, C], [C, C, T]])
def test_undefined_is_nan(roles):
    found = nclid(np.zeros((len(roles), len(roles))), np.array(roles, dtype=np.int8))
    assert all(np.isnan(one.nclid) for one in found.values())


def test_many_shuffles_at_once_are_as_one_by_one():
    draw = np.random.default_rng(3)
    apart = draw.random((12, 12))
    roles = draw.permutation(np.repeat([T, C], 6))
    turns, after = following(roles == T, roles == C, k=3)
    orders = draw.permuted(np.tile(np.arange(12), (5, 1)), axis=1)
    shuffled = np.where(after < 0, -1, orders[:, after])
    together = least_distances(apart, orders[:, turns], shuffled)
    for order, found in zip(orders, together, strict=True):
        expected = least_distances(apart[np.ix_(order, order)], turns, after)
        np.testing.assert_array_equal(found, expected)


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
    some = [i for i, session in enumerate(turns) if len(session) < 50]  # the others take longer
    for i in some:
        found = nclid(word_movers(turns[i], vectors), roles[i])
        for anchor, name in (("therapist", "t2p"), ("client", "p2t")):
            expected = [float(reference[ids[i], name][figure]) for figure in FIGURES]
            np.testing.assert_allclose(
                [getattr(found[anchor], figure) for figure in FIGURES], expected, atol=1e-6, rtol=0
            )
    assert len(some) > len(turns) / 3


def test_without_the_package_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ot.lp.emd_wrap", None)
    with pytest.raises(BadOptionError) as raised:
        word_movers([np.array([0]), np.array([0, 1])], np.eye(2))
    assert "pip install 'therapy-analytics[nclid]'" in str(raised.value)
