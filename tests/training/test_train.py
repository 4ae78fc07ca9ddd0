"""Learning from codes: what is learnt, what is left out and why, what is written, and how a run uses it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.codes import TaggerOptions, load_coder, load_tagger
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.session import Session
from therapy_analytics.stats.training import Training, TrainOptions, material_of, train
from therapy_analytics.text import annotate
from therapy_analytics.text.lexicons import Matcher

COLD = TrainOptions(warm_start=False, beside="fast")
BOOK = """
id = "our_clinic"
name = "Our form"
definition = "What we listen for."
source = "Our clinic, 2025"

[[codes]]
id = "opening"
name = "Greets"
role = "therapist"
group = "support"
definition = "The therapist greets."

[[codes]]
id = "hope"
name = "Hope"
role = "client"
group = "change"
definition = "The client hopes."
"""
CODE = '[[codes]]\nid = "{0}"\nname = "{0}"\nrole = "therapist"\ngroup = "x"\ndefinition = "x"\n'


@pytest.fixture(scope="module")
def learnt(sessions: list[Session], coded: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Training:
    return train(coded, sessions, tmp_path_factory.mktemp("models") / "own", options=COLD)


def row(found: Training, code: str) -> dict[Any, Any]:
    return found.scores.set_index("code").loc[code].to_dict()


def test_a_code_that_words_tell_is_learnt_and_random_codes_are_left_out(learnt: Training) -> None:
    assert learnt.learnt == ("own_greets",)
    assert (
        "no better than random codes" in learnt.left_out["own_luck"]
        or "nothing was learnt" in learnt.left_out["own_luck"]
    )
    greets, luck = row(learnt, "own_greets"), row(learnt, "own_luck")
    assert greets["kappa"] > 0.95
    assert abs(luck["kappa"]) < 0.3
    assert abs(luck["auc"] - 0.5) < 0.2


def test_counts_are_those_of_the_table(learnt: Training, coded: pd.DataFrame) -> None:
    greets = row(learnt, "own_greets")
    assert greets["n_turns"] == len(coded)
    assert greets["n_positive"] == coded["greets"].sum()
    assert greets["n_groups"] == 12
    assert greets["share"] == pytest.approx(coded["greets"].mean())


def test_the_folder_is_safe_and_complete(learnt: Training) -> None:
    assert learnt.out is not None
    names = {path.name for path in learnt.out.iterdir()}
    arrays = {"weights.npz", "learnt_turns.npz"}
    assert names == {".made_from.json", "model.json", *arrays, "codebook.toml", "scores.csv", "model_card.md"}
    with np.load(learnt.out / "weights.npz", allow_pickle=False) as archive:
        assert all(np.isfinite(archive[name]).all() for name in archive)
    assert load_tagger(learnt.out).names == ("own_greets",)
    assert learnt.out.stat().st_mode & 0o077 == 0
    card = (learnt.out / "model_card.md").read_text(encoding="utf-8")
    assert "`own_luck`: " in card
    assert "96 turns of 12 sessions, coded by 1 coder" in card
    assert re.search(r"Learnt on 20\d\d-\d\d-\d\d", card)


def test_no_words_of_the_sessions_are_written(learnt: Training) -> None:
    assert learnt.out is not None
    whole = b"".join(path.read_bytes() for path in learnt.out.iterdir())
    assert not [word for word in (b"boss", b"lake", b"slept") if word in whole]


def test_the_same_seed_gives_the_same_bytes(
    learnt: Training, sessions: list[Session], coded: pd.DataFrame, tmp_path: Path
) -> None:
    again = train(coded, sessions, tmp_path / "own", options=COLD)
    assert learnt.out is not None
    assert again.out is not None
    for name in ("model.json", "weights.npz", "learnt_turns.npz", "codebook.toml", "scores.csv"):
        assert (learnt.out / name).read_bytes() == (again.out / name).read_bytes()


def test_a_run_uses_it(learnt: Training, sessions: list[Session], coded: pd.DataFrame) -> None:
    options = TaggerOptions(kind="fast", model=str(learnt.out))
    found = ta.analyze(sessions, tagger=options)
    therapist = found.turns[found.turns["role"] == "therapist"]
    assert (therapist["own_greets"].to_numpy(dtype=int) == coded["greets"].to_numpy()).mean() > 0.95
    assert found.probabilities.loc[found.turns["role"] == "client", "own_greets"].isna().all()
    assert {"mi_question", "bolt_planning"} <= set(found.turns) & set(found.probabilities)
    assert ta.wide(found)["own_greets_rate"].mean() == pytest.approx(coded["greets"].mean(), abs=0.05)
    said = found.codebook.set_index(["table", "column"]).loc[("turns", "own_greets"), "misleads"]
    assert "user's own model" in str(said)


def test_its_codes_do_not_depend_on_neighbours(learnt: Training, sessions: list[Session]) -> None:
    coder = load_coder(TaggerOptions(kind="fast", model=str(learnt.out)))
    whole = coder.predict(annotate(sessions, Matcher([]))).probability
    alone = coder.predict(annotate(sessions[:1], Matcher([]))).probability
    assert np.array_equal(whole[: len(alone)], alone, equal_nan=True)


def test_a_code_of_the_package_is_replaced_and_begun_at(
    sessions: list[Session], coded: pd.DataFrame, tmp_path: Path
) -> None:
    asks = coded.rename(columns={"greets": "question_exists"})[["session_id", "turn", "question_exists"]]
    found = train(asks, sessions, tmp_path / "m", options=replace(COLD, warm_start=True, only=("mi_question",)))
    assert found.learnt == ("mi_question",)
    assert row(found, "mi_question")["shipped_kappa"] < 0.5  # greeting is no question
    options = TaggerOptions(kind="fast", model=str(tmp_path / "m"))
    turns = ta.analyze(sessions, tagger=options).wide_turns
    therapist = turns[turns["role"] == "therapist"]
    assert (therapist["mi_question"].to_numpy(dtype=int) == coded["greets"].to_numpy()).mean() > 0.9
    assert (therapist["p_mi_question_open"] <= therapist["p_mi_question"]).all()
    assert not (tmp_path / "m" / "codebook.toml").exists()


def test_own_codebook(sessions: list[Session], coded: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "book.toml"
    path.write_text(BOOK, encoding="utf-8")
    table = coded.rename(columns={"greets": "Opening"})
    found = train(table, sessions, tmp_path / "m", options=replace(COLD, codebook=path))
    assert found.learnt == ("our_clinic_opening",)
    options = TaggerOptions(kind="fast", model=str(tmp_path / "m"))
    codebook = ta.analyze(sessions[:2], tagger=options).codebook.query("table == 'turns'").set_index("column")
    assert codebook.loc["our_clinic_opening", "meaning"] == "Greets: The therapist greets."
    assert "our_clinic_hope" not in codebook.index


def test_kinds_of_the_users_own_codes_stand_only_with_them(
    sessions: list[Session], coded: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "book.toml"
    head, *_ = BOOK.partition("[[codes]]")
    kinds = [CODE.format(name) + 'parent = "opening"\n' for name in ("warm", "asking")]
    path.write_text("\n".join([head, CODE.format("opening") + 'exclusive = "turn"\n', *kinds]), encoding="utf-8")
    said = {(one.id, turn.index): turn.text for one in sessions for turn in one.turns}
    texts = [said[key] for key in zip(coded["session_id"], coded["turn"], strict=True)]
    words = {"warm": ("hello", "welcome"), "asking": ("how", "what")}  # half of those that ask do not open
    given_to = {name: [int(any(word in text for word in those)) for text in texts] for name, those in words.items()}
    table = coded[["session_id", "turn"]].assign(opening=coded["greets"], **given_to)
    train(table, sessions, tmp_path / "m", options=replace(COLD, codebook=path))
    options = TaggerOptions(kind="fast", aim="recall", model=str(tmp_path / "m"))
    turns = ta.analyze(sessions, tagger=options).wide_turns
    turns = turns[turns["role"] == "therapist"]
    given = turns[[f"our_clinic_{name}" for name in ("opening", "warm", "asking")]].astype(int)
    assert given.sum().min() > 0
    assert (given.iloc[:, 1:].max(axis=1) <= given.iloc[:, 0]).all()
    assert (given.iloc[:, 1:].sum(axis=1) <= 1).all()
    assert (turns["p_our_clinic_asking"] <= turns["p_our_clinic_opening"]).all()


def test_labels_in_a_column_of_codes(sessions: list[Session], coded: pd.DataFrame) -> None:
    table = coded.assign(code=np.where(coded["greets"] == 1, "Greeting; warm", ""))[["session_id", "turn", "code"]]
    found = train(table, sessions, None, options=COLD)
    assert set(found.learnt) == {"own_greeting", "own_warm"}
    assert found.out is None


def test_several_coders_are_soft_labels(sessions: list[Session], coded: pd.DataFrame) -> None:

    other = coded.assign(greets=1 - coded["greets"])
    both = pd.concat([coded.assign(coder="a"), coded.assign(coder="b"), other.assign(coder="c")])
    material = material_of(both, sessions, COLD)
    assert material.n_coders == 3
    labels = material.labels[:, [code.id for code in material.codes].index("greets")]
    assert set(np.round(labels[~np.isnan(labels)], 3)) == {0.333, 0.667}


def test_turns_that_nobody_coded_are_unknown(sessions: list[Session], coded: pd.DataFrame) -> None:
    some = coded[coded["turn"] < 8]
    found = train(some, sessions, None, options=COLD)
    assert row(found, "own_greets")["n_turns"] == len(some)
    assert any("48 turns of therapists in these sessions have no codes" in note for note in found.notes)


def test_codes_of_clients_stay_theirs(sessions: list[Session]) -> None:
    rows = [
        {"session_id": one.id, "turn": turn.index, "code": "lake" if "lake" in turn.text else "none"}
        for one in sessions
        for turn in one.turns
    ]
    found = train(pd.DataFrame(rows), sessions, None, options=COLD)
    assert row(found, "own_lake")["role"] == "client"
    assert row(found, "own_lake")["n_turns"] == 96


def test_too_little(sessions: list[Session], coded: pd.DataFrame, tmp_path: Path) -> None:
    rare = coded["greets"] * (coded["session_id"].isin(["s1", "s2", "s3"]))
    table = coded.assign(rare=rare, few=coded["greets"] * (rare.cumsum() < 6), greets=1, luck=0)
    path = tmp_path / "book.toml"
    head, *_ = BOOK.partition("[[codes]]")
    path.write_text("\n".join([head, *map(CODE.format, ("greets", "luck", "few"))]), encoding="utf-8")
    found = train(table, sessions, None, options=replace(COLD, codebook=path))
    assert found.learnt == ()
    assert found.left_out["our_clinic_greets"].startswith("every coded turn has it")
    assert found.left_out["our_clinic_luck"] == "too little data: 0 turns with it, 20 are needed"
    assert "too little data" in found.left_out["our_clinic_few"]


def test_one_session_is_refused_with_what_would_be_right(sessions: list[Session], coded: pd.DataFrame) -> None:
    with pytest.raises(
        BadOptionError, match=r"only 1 with codes by session.*Code turns of 5 sessions at least"
    ) as said:
        train(coded[coded["session_id"] == "s1"], sessions, None, options=COLD)
    assert "lake" not in str(said.value)


def test_groups(sessions: list[Session], coded: pd.DataFrame) -> None:
    found = train(coded, sessions, None, options=replace(COLD, group="counselor"))
    assert row(found, "own_greets")["n_groups"] == 6
    with pytest.raises(BadOptionError, match=r"no column about the sessions is called 'clinic'. Known: counselor"):
        train(coded, sessions, None, options=replace(COLD, group="clinic"))


def test_shuffled_codes_are_left_out(sessions: list[Session], coded: pd.DataFrame) -> None:
    rng = np.random.default_rng(5)
    wild = {f"wild_{number}": rng.permutation(coded["greets"].to_numpy()) for number in range(12)}
    table = coded[["session_id", "turn"]].assign(**wild)
    assert len(train(table, sessions, None, options=COLD).learnt) <= 1


@pytest.mark.parametrize("name", ["no", "model.json"])
def test_other_folders_are_no_models(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(json.dumps({"format": 3}), encoding="utf-8")
    with pytest.raises(BadOptionError, match=r"^--model: .* is not a folder that tanalyze train wrote"):
        load_coder(TaggerOptions(kind="fast", model=str(tmp_path)))


def test_other_things_are_not_overwritten(sessions: list[Session], coded: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(BadOptionError, match=r"holds other things than a model \(thesis.txt"):
        train(coded, sessions, tmp_path, options=COLD)


def test_a_broken_model_is_named(learnt: Training, tmp_path: Path) -> None:
    assert learnt.out is not None
    (tmp_path / "model.json").write_bytes((learnt.out / "model.json").read_bytes())
    (tmp_path / "weights.npz").write_bytes(b"PK nothing")
    with pytest.raises(BadDataFileError, match=r"weights.npz: not an archive of weights"):
        load_coder(TaggerOptions(kind="fast", model=str(tmp_path)))


def test_the_command(sessions: list[Session], coded: pd.DataFrame, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from therapy_analytics.cli import app

    rows = [
        {"session_id": one.id, "turn": turn.index, "speaker": turn.role, "text": turn.text}
        for one in sessions
        for turn in one.turns
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "talks.csv", index=False)
    coded.to_csv(tmp_path / "codes.csv", index=False)
    model = tmp_path / "model"
    words = ["train", str(tmp_path / "codes.csv"), str(tmp_path / "talks.csv"), "--out", str(model), "--beside", "fast"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    assert "own_greets" in done.output
    assert "Left out: own_luck: " in done.output
    assert f"--model {model}" in done.output
    few = CliRunner().invoke(app, [*words, "--group", "nothing"])
    assert few.exit_code == 2
    assert "Traceback" not in few.output
    assert CliRunner().invoke(app, [*words, "--blank", "perhaps"]).exit_code == 2
