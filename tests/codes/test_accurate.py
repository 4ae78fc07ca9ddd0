"""The accurate tagger: what is read, ranges, batches, odd turns, broken files, what is written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from talks import TALK, accurate_codes, arrays, session

import therapy_analytics as ta
from therapy_analytics.codes import TaggerOptions, load_accurate, load_coder, load_tagger
from therapy_analytics.codes.encoder import CLS, ROLE_MARKS, SEP, framed
from therapy_analytics.codes.weights import AIMS
from therapy_analytics.core.errors import BadDataFileError, UnknownNameError
from therapy_analytics.core.session import ROLES
from therapy_analytics.run import Writing, open_executor
from therapy_analytics.run.summary import before_the_table


def test_what_is_read_of_a_text() -> None:
    assert framed("client", [7, 8]) == [CLS, ROLE_MARKS["client"], 7, 8, SEP]
    assert framed("other", []) == [CLS, ROLE_MARKS["client"], SEP]


def test_probabilities_lie_between_0_and_1_for_the_role_and_are_nan_for_others() -> None:
    tagger = load_accurate(all_codes=True)
    codes = tagger.predict(arrays(session("How are you?", "Fine.", "Welcome.", roles=("therapist", "client", "other"))))
    role = np.array([blend.role for blend in tagger.blends])
    for turn, name in enumerate(("therapist", "client", "other")):
        mine = role == name
        assert np.all((codes.probability[turn, mine] > 0) & (codes.probability[turn, mine] < 1))
        assert np.all(np.isnan(codes.probability[turn, ~mine]))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(codes.decision, codes.probability >= tagger.thresholds)


def test_a_kind_is_never_likelier_than_its_group() -> None:
    codes = load_accurate().predict(arrays(TALK))
    p = codes.by_name(codes.probability[0 : len(TALK.turns)])
    for name in codes.names:
        group = {"question": "mi_question", "questions": "mi_question", "reflections": "mi_reflection"}.get(
            name.split("_")[1]
        )
        if group and name.split("_")[0] in {"mi", "bolt"}:
            assert not (p[name] > p[group]).any()


ODD = [
    "",
    "   ",
    "\U0001f600",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "why " * 5000,
    "So you feel torn, and I wonder what would help? " * 500,
    "x" * 10000,
    "\x00\x01",
    "?",
    "Mm-hmm.",
    "\u200b",
    "Wie geht es Ihnen heute?",
    "\u4f60\u597d",
]


def test_odd_turns_are_fine_and_turns_without_subwords_are_left_to_the_fast_tagger() -> None:
    batch = arrays(session(*ODD), session(name="none"), session("", name="empty"))
    tagger = load_accurate()
    codes, fast = tagger.predict(batch), tagger.fast.predict(batch)
    own = batch.turns.roles[:, None] == np.array([ROLES.index(code.role) for code in tagger.fast.codes])
    blended = codes.probability[:, : len(tagger.fast.codes)]
    assert np.isfinite(blended[own]).all()
    for turn in (0, 1, 7, 10, len(ODD)):
        np.testing.assert_array_equal(blended[turn], fast.probability[turn])


def test_neither_order_nor_grouping_nor_processes_matter() -> None:
    other = session("So what would help?", "I don't know.", "", name="t")
    sessions = [TALK, other, session("well, I want to stop", name="v")]
    predict = load_accurate().predict
    alone = {one.id: predict(arrays(one)) for one in sessions}
    for groups in ([sessions], [sessions[::-1]], [sessions[2:], sessions[:2]]):
        batches = [arrays(*group) for group in groups]
        for processes in (1, 2) if len(groups) == 2 else (1,):
            with open_executor(processes=processes) as workers:
                found = [codes for _, codes in workers.in_order(accurate_codes, batches)]
            for part in ("probability", "decision", "unsure"):
                wanted = [getattr(alone[one.id], part) for group in groups for one in group]
                np.testing.assert_array_equal(np.vstack([getattr(one, part) for one in found]), np.vstack(wanted))


def test_sentences_that_anybody_would_code_so() -> None:
    codes = load_accurate().predict(arrays(TALK))
    has = {name: codes.decision[:, i] for i, name in enumerate(codes.names)}
    assert has["mi_question"][0]
    assert has["mi_reflection"][2]
    assert has["mi_input"][4]
    assert has["mi_change"][3] or has["mi_sustain"][3]
    assert not has["mi_question"][2]


def test_codes_on_request_stand_beside_the_others_and_change_none() -> None:
    few, all_ = load_accurate(), load_accurate(all_codes=True)
    assert set(few.names) < set(all_.names)
    asked = {"mi_reflection_simple", "mi_input_advice", "miti_affirm", "epitome_exploration", "process_challenges"}
    assert asked <= set(all_.names) - set(few.names)
    one, two = few.predict(arrays(TALK)), all_.predict(arrays(TALK))
    for i, name in enumerate(few.names):
        np.testing.assert_array_equal(one.probability[:, i], two.probability[:, all_.names.index(name)])


@pytest.mark.parametrize("aim", AIMS)
def test_aims_change_decisions_and_not_probabilities(aim: str) -> None:
    balanced, other = (load_accurate(aim=one).predict(arrays(TALK)) for one in ("balanced", aim))
    np.testing.assert_array_equal(balanced.probability, other.probability)


def test_an_unknown_aim_is_told() -> None:
    with pytest.raises(UnknownNameError):
        load_accurate(aim="best")


def test_other_weights_can_be_loaded_and_their_hash_says_so(weights: Path) -> None:
    assert load_accurate(weights).sha256 == load_accurate().sha256
    about = json.loads((weights / "accurate.json").read_text())
    (weights / "accurate.json").write_text(json.dumps(about))
    assert load_accurate(weights).sha256 != load_accurate().sha256


@pytest.mark.parametrize(
    "name", ["accurate.json", "encoder_lower.onnx", "encoder_upper.onnx", "model.json", "weights.npz", "sequence.npz"]
)
@pytest.mark.parametrize("content", [None, b"", b"{}", b"\x00" * 100])
def test_broken_weights_are_told(weights: Path, name: str, content: bytes | None) -> None:
    if content is None:
        (weights / name).unlink()
    else:
        (weights / name).write_bytes(content)
    with pytest.raises(BadDataFileError) as caught:
        load_accurate(weights)
    assert str(weights) in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 99},
        {"codes": [{"column": "mi_question"}]},
        {"heads_of_encoder": []},
        {"codes": []},
    ],
)
def test_a_wrong_description_is_told(weights: Path, change: dict[str, object]) -> None:
    about = json.loads((weights / "accurate.json").read_text()) | change
    (weights / "accurate.json").write_text(json.dumps(about))
    with pytest.raises(BadDataFileError):
        load_accurate(weights)


def test_it_is_what_a_run_uses_unless_told_otherwise(samples: Path, tmp_path: Path) -> None:
    path = min(samples.glob("*.txt"))
    found = {}
    for kind, version in (("accurate", load_accurate().version), ("fast", load_tagger().version)):
        options = TaggerOptions() if kind == "accurate" else TaggerOptions(kind="fast")
        settings = ta.Settings(tagger=options)
        writing = Writing(figures=(), report=False)
        result = ta.run([path], tmp_path / kind, settings=settings, writing=writing)
        assert f"Coded by the {kind} tagger {version} (aim: balanced)." in before_the_table(result)
        found[kind] = json.loads((tmp_path / kind / "run.json").read_text())["tagger"]
        book = pd.read_csv(tmp_path / kind / "codebook.csv").set_index(["table", "column"])
        assert found[kind]["name"] in book.loc[("probabilities", "mi_question"), "formula"]
    assert {kind: about["kind"] for kind, about in found.items()} == {"accurate": "accurate", "fast": "fast"}
    assert found["accurate"]["sha256"] == load_accurate().sha256
    assert found["fast"]["sha256"] == load_tagger().sha256


def test_all_codes_stand_in_the_tables() -> None:
    found = ta.analyze([TALK], tagger=TaggerOptions(kind="fast", all_codes=True))
    usual = ta.analyze([TALK], tagger=TaggerOptions(kind="fast"))
    for name in ("turns", "probabilities"):
        assert {"miti_affirm", "mi_input_advice"} <= set(getattr(found, name))
        assert "miti_affirm" not in getattr(usual, name)


def test_the_kinds_of_taggers_are_known() -> None:
    assert type(load_coder()).__name__ == "AccurateTagger"
    assert type(load_coder(TaggerOptions(kind="fast"))).__name__ == "Tagger"


def test_sessions_without_punctuation_are_weighed_by_lines_of_their_own() -> None:
    tagger = load_accurate()
    silent = [replace(one, lines=np.vstack([one.lines[0], np.zeros(3)]), group=None) for one in tagger.blends]
    other = replace(tagger, blends=tuple(silent))
    as_written = tuple(replace(one, group=None) for one in tagger.blends)
    spoken = session(
        "so what would help you with that do you think", "well i want to stop but it is hard " * 3, name="u"
    )
    batch = arrays(TALK, spoken)
    p, q = (each.predict(batch).probability for each in (replace(tagger, blends=as_written), other))
    n = len(TALK.turns)
    np.testing.assert_array_equal(p[:n], q[:n])
    blended = q[n:, : len(tagger.blends)]
    assert set(blended[~np.isnan(blended)]) == {0.5}
