"""The tagger: ranges, roles, batches, odd turns, broken weights, and sentences that anybody would code so."""

from __future__ import annotations

import json
import pickle
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from talks import TALK, arrays, session

import therapy_analytics.codes.tagger as tagger_module
from therapy_analytics.codes import (
    Codes,
    TaggerOptions,
    builtin_codebooks,
    codebooks_with,
    load_coder,
    load_tagger,
)
from therapy_analytics.codes.features import HAND, N_BUCKETS, featurize
from therapy_analytics.codes.tagger import Tagger
from therapy_analytics.codes.weights import AIMS
from therapy_analytics.core.errors import BadDataFileError, UnknownNameError
from therapy_analytics.core.session import Session
from therapy_analytics.text import annotate
from therapy_analytics.text.lexicons import Matcher

WEIGHTS = Path(tagger_module.__file__).parent / "weights"


def predict(*sessions: Session) -> Codes:
    return load_tagger().predict(arrays(*sessions))


SHORT = session("So what would help?", "I don't know.", name="t")


def by_hand(*sessions: Session) -> dict[str, np.ndarray]:
    batch = arrays(*sessions)
    table = featurize(batch.turns, batch.starts).hand.toarray()
    return {name: table[:, i] for i, name in enumerate(HAND)}


def test_the_codes_stand_in_the_codebooks() -> None:
    known = {code.column: code.role for book in builtin_codebooks() for code in book.codes}
    given = {code.column: code.role for code in load_tagger().codes}
    assert given.items() <= known.items()
    assert set(given) == {code.column for book in codebooks_with(given) for code in book.codes}


def test_probabilities_lie_between_0_and_1_for_the_role_and_are_nan_for_others() -> None:
    talk = session("How are you?", "Fine.", "Welcome, all.", roles=("therapist", "client", "other"))
    codes = predict(talk)
    role = np.array([code.role for code in load_tagger().codes])
    for turn, name in enumerate(("therapist", "client", "other")):
        mine = role == name
        assert np.all((codes.probability[turn, mine] > 0) & (codes.probability[turn, mine] < 1))
        assert np.all(np.isnan(codes.probability[turn, ~mine]))
        assert not codes.decision[turn, ~mine].any()


def test_decisions_follow_the_thresholds() -> None:
    codes = predict(TALK)
    limits = np.array([code.thresholds["balanced"] for code in load_tagger().codes])
    np.testing.assert_array_equal(codes.decision, codes.probability >= limits)


def test_a_decision_near_its_threshold_is_unsure() -> None:
    codes, limits = predict(TALK, SHORT), load_tagger().thresholds
    with np.errstate(invalid="ignore"):
        distance = np.abs(np.log(codes.probability / (1 - codes.probability)) - np.log(limits / (1 - limits)))
    np.testing.assert_array_equal(codes.unsure, distance < 0.25)
    assert codes.unsure.any()
    assert not codes.unsure[np.isnan(codes.probability)].any()
    np.testing.assert_array_equal(
        codes.by_name(codes.unsure[2:5])["mi_question"], codes.unsure[2:5, codes.names.index("mi_question")]
    )


@pytest.fixture
def apart() -> Tagger:
    """Return a tagger whose four thresholds lie far apart."""
    limits = {"recall": 0.02, "rate": 0.2, "balanced": 0.3, "precision": 0.8}
    tagger = load_tagger()
    return replace(tagger, codes=tuple(replace(code, thresholds=limits) for code in tagger.codes))


def test_each_aim_has_its_own_thresholds(apart: Tagger) -> None:
    found = {aim: replace(apart, aim=aim).predict(arrays(TALK, SHORT)) for aim in AIMS}
    for looser, stricter in pairwise(("recall", "rate", "balanced", "precision")):
        assert not (found[stricter].decision & ~found[looser].decision).any()
        assert found[stricter].decision.sum() < found[looser].decision.sum()
    for codes in found.values():
        np.testing.assert_array_equal(codes.probability, found["balanced"].probability)
    np.testing.assert_array_equal(apart.predict(arrays(TALK, SHORT)).decision, found["balanced"].decision)


def test_the_aims_of_the_package_lie_in_order() -> None:
    """On the sum of its codes: more is decided for recall than for balance, and more for that than for precision."""
    limits = {aim: np.log(load_tagger(aim=aim).thresholds).sum() for aim in AIMS}
    assert limits["recall"] <= limits["balanced"] <= limits["precision"]


@pytest.mark.parametrize("aim", AIMS)
def test_an_aim_reaches_the_tagger(aim: str) -> None:
    coder = load_coder(TaggerOptions(kind="fast", aim=aim))
    assert isinstance(coder, Tagger)
    assert coder.aim == aim
    assert load_tagger(WEIGHTS, aim=aim).aim == aim
    assert coder.sha256 == load_tagger().sha256


def test_an_unknown_aim_is_told_the_known() -> None:
    with pytest.raises(UnknownNameError, match=r"'speed'\. Known: balanced, precision, rate, recall\."):
        load_coder(TaggerOptions(aim="speed"))
    with pytest.raises(UnknownNameError, match="Known"):
        load_tagger(WEIGHTS, aim="")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Okay.",
        "?",
        "...",
        "\U0001f600\U0001f44d",
        "x" * 5000,
        "na\u00efve \u4f60\u597d",
        "why " * 5000,
        "So you feel torn, and I wonder what would help? " * 500,
    ],
)
def test_odd_turns_have_finite_probabilities(text: str) -> None:
    codes = predict(session(text, text, text))
    assert np.isfinite(codes.probability).sum() == np.isfinite(predict(session("a", "b", "c")).probability).sum()
    assert np.nanmin(codes.probability) > 0
    assert np.nanmax(codes.probability) < 1


def test_no_sessions_and_sessions_without_turns() -> None:
    n_codes = len(load_tagger().names)
    assert predict().probability.shape == (0, n_codes)
    assert predict(session()).probability.shape == (0, n_codes)
    np.testing.assert_array_equal(predict(session(), TALK, session()).probability, predict(TALK).probability)


def test_a_session_does_not_depend_on_its_batch() -> None:
    alone, other = predict(TALK).probability, predict(SHORT).probability
    np.testing.assert_array_equal(predict(TALK, SHORT).probability, np.vstack([alone, other]))
    np.testing.assert_array_equal(predict(SHORT, TALK).probability, np.vstack([other, alone]))
    crowd = [session("one more " + "word " * i, "and so on", name=str(i)) for i in range(50)]
    np.testing.assert_array_equal(predict(*crowd, TALK).probability[-len(alone) :], alone)


def test_neither_order_nor_grouping_matters() -> None:
    sessions = [TALK, SHORT, session("", "\U0001f600", name="u"), session(*["well, I want to stop"] * 9, name="v")]
    alone = {one.id: predict(one) for one in sessions}
    groupings = [[sessions], [sessions[::-1]], [sessions[2:], sessions[:2]], [[one] for one in sessions]]
    for groups in groupings:
        found = [load_tagger().predict(arrays(*group)) for group in groups]
        for part in ("probability", "decision", "unsure"):
            wanted = [getattr(alone[one.id], part) for group in groups for one in group]
            np.testing.assert_array_equal(np.vstack([getattr(one, part) for one in found]), np.vstack(wanted))


def test_one_session_can_be_cut_out_of_a_batch() -> None:
    codes = predict(SHORT, TALK)
    np.testing.assert_array_equal(
        codes.by_name(codes.probability[2:8])["mi_question"],
        predict(TALK).by_name(predict(TALK).probability[0:6])["mi_question"],
    )
    np.testing.assert_array_equal(
        codes.by_name(codes.decision[2:8])["mi_change"], predict(TALK).by_name(predict(TALK).decision[0:6])["mi_change"]
    )


def test_two_runs_and_two_loads_agree() -> None:
    again = load_tagger(WEIGHTS)
    assert again.sha256 == load_tagger().sha256
    np.testing.assert_array_equal(again.predict(arrays(TALK)).probability, predict(TALK).probability)


def test_lexicons_do_not_change_the_codes() -> None:
    from therapy_analytics.text import builtin_lexicons

    batch = annotate([TALK], Matcher(builtin_lexicons()))
    np.testing.assert_array_equal(load_tagger().predict(batch).probability, predict(TALK).probability)


def plainly(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum() or letter in " '")


@pytest.mark.parametrize("write", [str, plainly], ids=["written", "recognised"])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It sounds like you feel torn about this.", "mi_reflection"),
        ("So you are worried that your daughter will follow your example.", "mi_reflection"),
        (
            "On the one hand you like the neighbours, and on the other hand you hate the mornings after.",
            "mi_reflection",
        ),
        ("What brings you here today?", "mi_question"),
        ("How do you feel about that?", "mi_question"),
        ("Do you think you could manage without it?", "mi_question"),
        ("You should try to go for a walk every day and cut down on coffee.", "mi_input"),
        (
            "You need to stop smoking because it raises your blood pressure and the risk of cancer.",
            "mi_input",
        ),
    ],
)
def test_obvious_therapist_turns(text: str, wanted: str, write: object) -> None:
    assert callable(write)
    texts = [write(one) for one in ("Okay.", "I drink too much coffee and I sleep badly.", text, "Yes, I guess.")]
    codes = predict(session(*texts))
    p = {name: codes.by_name(codes.probability[2:3])[name][0] for name in ("mi_question", "mi_reflection", "mi_input")}
    assert max(p, key=p.__getitem__) == wanted
    assert codes.by_name(codes.decision[2:3])[wanted][0]


def test_obvious_client_turns() -> None:
    texts = (
        "What now?",
        "I want to quit. I will stop smoking.",
        "Okay.",
        "No, I don't want to quit, I like smoking.",
    )
    codes = predict(session(*texts))
    change, sustain = (
        codes.by_name(codes.probability[0:4])["mi_change"],
        codes.by_name(codes.probability[0:4])["mi_sustain"],
    )
    assert change[1] > sustain[1]
    assert sustain[3] > sustain[1]


def test_a_nod_has_no_behaviour() -> None:
    codes = predict(session("Mm-hmm.", "I drink too much coffee.", "Okay.", "Yes."))
    mi = [i for i, name in enumerate(codes.names) if name.startswith("mi_")]
    assert not codes.decision[2, mi].any()


def test_hand_features_of_questions() -> None:
    found = by_hand(session("What do you want? Do you know?", "no", "tell me how you are", "no"))
    assert found["asks"].tolist() == [1, 0, 0, 0]
    assert found["ends_asking"].tolist() == [1, 0, 0, 0]
    assert found["wh_opens"].tolist() == [1, 0, 0, 0]
    assert found["aux_opens"].tolist() == [0, 0, 0, 0]
    assert found["aux_you_opens_sentence"].tolist() == [1, 0, 0, 0]  # "Do you know?"
    assert found["n_aux_you"][0] == pytest.approx(np.log(3) / 2)  # "do you", "Do you"
    assert found["wh_aux"].tolist() == [1, 0, 0, 0]  # "What do"


def test_hand_features_of_lengths_and_places() -> None:
    found = by_hand(session("", "one", "one two", "one two three"), SHORT)
    assert found["empty"].tolist() == [1, 0, 0, 0, 0, 0]
    assert found["one_word"].tolist() == [0, 1, 0, 0, 0, 0]
    assert found["two_words"].tolist() == [0, 0, 1, 0, 0, 0]
    assert found["to_five_words"].tolist() == [0, 0, 0, 1, 1, 1]
    assert found["position"].tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1, 0, 1])
    assert found["words_before"][4] == 0  # another session


def test_an_echo_is_the_share_of_content_words_said_again() -> None:
    found = by_hand(session("hello", "my mother shouted at dinner", "your mother shouts, and the dog hides", "yes"))
    # content words of turn 2: mother, shouts, dog, hides; mother and shout- were said before
    assert found["echo_share"][2] == pytest.approx(2 / 4)
    assert found["echo"][2] == pytest.approx(np.log(3) / 2)
    assert found["echo_next_share"][1] == pytest.approx(2 / 4)


def test_sessions_without_punctuation_are_noticed() -> None:
    found = by_hand(session("how are you", "fine"), session("How are you?", "Fine."))
    assert found["plain"].tolist() == [1, 1, 0, 0]
    assert found["plain_wh_opens"].tolist() == [1, 0, 0, 0]


def test_features_hold_no_words() -> None:
    batch = arrays(TALK)
    features = featurize(batch.turns, batch.starts)
    assert features.types.shape[1] == features.grams.shape[1] == N_BUCKETS
    assert features.before.tolist() == [-1, 0, 1, 2, 3, 4]
    assert features.after.tolist() == [1, 2, 3, 4, 5, -1]
    with np.load(WEIGHTS / "weights.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype.kind == "f" for name in archive.files)


def test_hashes_are_the_same_everywhere() -> None:
    batch = arrays(session("so you"))
    features = featurize(batch.turns, batch.starts)
    assert sorted(features.grams.indices.tolist()) == GRAMS_OF_SO_YOU


GRAMS_OF_SO_YOU = [4817, 29959, 52244, 54609]
"""Buckets of: first word, last word, pair, opening pair. Trained weights lose their meaning if these change."""


QUESTION = {"column": "mi_question", "role": "therapist", "heads": ["question"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(WEIGHTS, tmp_path / "weights"))


def test_a_missing_folder_or_file(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadDataFileError, match=r"model\.json"):
        load_tagger(tmp_path / "nowhere")
    (folder / "weights.npz").unlink()
    with pytest.raises(BadDataFileError, match=r"weights\.npz"):
        load_tagger(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 99},
        {"codes": [{"column": "mi_question"}]},
        {"codes": [{"column": "mi_question", "role": "therapist", "heads": ["question"], "threshold": 0.5}]},
        {"codes": [QUESTION | {"thresholds": {"balanced": 0.5, "precision": 0.7, "recall": 0.2}}]},
        {"codes": [QUESTION | {"thresholds": {"balanced": 0.5, "precision": 1.0, "recall": 0.2, "rate": 0.4}}]},
        {"codes": [QUESTION | {"thresholds": [0.5, 0.5, 0.5, 0.5]}]},
        {"heads": 3},
        {"context_heads": ["question"]},
    ],
)
def test_a_description_that_does_not_fit(folder: Path, change: dict[str, object]) -> None:
    model = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    (folder / "model.json").write_text(json.dumps(model | change), encoding="utf-8")
    with pytest.raises(BadDataFileError) as caught:
        load_tagger(folder)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"format": 1}'])
def test_a_broken_description(folder: Path, text: str) -> None:
    (folder / "model.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadDataFileError, match=r"model\.json"):
        load_tagger(folder)


def test_broken_arrays(folder: Path) -> None:
    path = folder / "weights.npz"
    with np.load(path) as archive:
        good = dict(archive)
    whole = path.read_bytes()
    for data in (b"", b"PK\x03\x04", whole[: len(whole) // 2]):
        path.write_bytes(data)
        with pytest.raises(BadDataFileError, match=r"weights\.npz"):
            load_tagger(folder)
    for name, values in (
        ("bias", good["bias"][:-1]),
        ("hand", good["hand"] * np.nan),
        ("lift", np.array([{}])),
    ):
        np.savez(path, **(good | {name: values}))
        with pytest.raises(BadDataFileError, match=r"weights\.npz"):
            load_tagger(folder)


def test_other_weights_have_another_hash(folder: Path) -> None:
    model = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    (folder / "model.json").write_text(json.dumps(model | {"version": "x"}), encoding="utf-8")
    other = load_tagger(folder)
    assert (other.version, other.name) == ("x", load_tagger().name)
    assert other.sha256 != load_tagger().sha256
