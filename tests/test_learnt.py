"""Sessions that the tagger learnt from: known by hashes of their words, said first, and left out of agreement."""

from __future__ import annotations

import dataclasses
import random
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import PLAIN, tanalyze

import therapy_analytics as ta
from therapy_analytics.codes.learnt import turn_hashes
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.results.references import cross_validated

FAST = ta.TaggerOptions(kind="fast")
SOME = ("aria_ben", "boyle_lucia", "harbor_maya", "lindqvist_dana_1", "nair_tomas", "nair_yuki")
"""The sample sessions from which a model is learnt; four others have codes by people, too."""


@pytest.fixture(scope="module")
def codes(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return all codes of the notebooks, and those of the sessions that a model is learnt from."""
    every = root / "notebooks" / "codes" / "therapist_codes.csv"
    table = pd.read_csv(every)
    some = tmp_path_factory.mktemp("codes") / "some.csv"
    table[table["session_id"].isin(SOME)].to_csv(some, index=False)
    return every, some


@pytest.fixture(scope="module")
def results(codes: tuple[Path, Path], samples: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the results of a run with a model that was learnt from some of its sessions, and what the run printed."""
    folder = tmp_path_factory.mktemp("own")
    words = ("--only", "mi_question", "--beside", "fast", "--out", folder / "model")
    learnt = tanalyze("train", *map(str, (codes[1], samples, *words)))
    assert learnt.status == 0, learnt.err
    done = tanalyze("run", *map(str, (samples, *PLAIN, "--model", folder / "model", "--out", folder / "r")))
    assert done.status == 0, done.err
    return folder / "r", done.out


@pytest.fixture(scope="module")
def old(results: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results as an earlier version wrote them, which does not say what was learnt from."""
    folder = tmp_path_factory.mktemp("old") / "r"
    shutil.copytree(results[0], folder)
    for name in ("sessions.csv", "measures.csv", "codebook.csv"):
        table = pd.read_csv(folder / name, dtype=str, keep_default_na=False)
        table = table[[column for column in table if column != "learnt_turns"]]
        for column in ("measure", "column"):
            if column in table:
                table = table[~table[column].str.endswith(("learnt_turns", "reference_turns"))]
        table.to_csv(folder / name, index=False)
    return folder


def test_words_are_known_whatever_their_signs() -> None:
    said = "I don't think that I can go on like this, Doctor Vale."
    same = ["i dont think that i can go on like this doctor vale", said.upper(), said.replace("'", "\u2019")]
    assert len(set(turn_hashes([said, *same]).tolist())) == 1
    assert len(turn_hashes(["Mm-hmm.", "So what would help you now?", "\u4f60\u597d" * 20, ""])) == 0
    assert turn_hashes([said, said.replace("this", "that")]).dtype == np.uint64


def test_a_run_says_first_how_many_sessions_the_tagger_learnt_from(results: tuple[Path, str]) -> None:
    said = "6 of 15 sessions are among those that the tagger learnt from: agreement with people there is not evidence."
    assert " ".join(results[1].split()).startswith(said)
    sessions = pd.read_csv(results[0] / "sessions.csv").set_index("session_id")
    assert set(sessions.index[sessions["learnt_turns"] == 1]) == set(SOME)
    assert set(sessions.loc[~sessions.index.isin(SOME), "learnt_turns"]) == {0}
    measures = pd.read_csv(results[0] / "measures.csv").query("measure == 'learnt_turns'").set_index("session_id")
    turns = pd.read_csv(results[0] / "sessions" / "aria_ben" / "turns.csv")
    assert measures.at["aria_ben", "n"] == measures.at["aria_ben", "out_of"] <= (turns["n_words"] >= 8).sum()


def test_agreement_leaves_them_out_unless_asked(
    results: tuple[Path, str], codes: tuple[Path, Path], tmp_path: Path
) -> None:
    done = tanalyze("agree", *map(str, (results[0], codes[0], "--no-plots", "--out", tmp_path / "a")))
    said = (
        "6 of 10 coded sessions are among those that the tagger learnt from: agreement there is not evidence, and they"
    )
    assert done.text.startswith(said)
    found = pd.read_csv(tmp_path / "a" / "codes.csv").set_index("code")
    assert found.at["mi_question", "n_sessions"] == 4
    assert set(pd.read_csv(tmp_path / "a" / "rates.csv")["session_id"]).isdisjoint(SOME)
    for path in (tmp_path / "a").glob("*.csv"):
        assert set(pd.read_csv(path)["learnt_sessions"]) <= {"left out"}
    asked = tanalyze(
        "agree", *map(str, (results[0], codes[0], "--no-plots", "--include-learnt", "--out", tmp_path / "b"))
    )
    assert "and counted as asked: agreement on these is not evidence" in asked.text
    assert pd.read_csv(tmp_path / "b" / "codes.csv").set_index("code").at["mi_question", "n_sessions"] == 10
    assert set(pd.read_csv(tmp_path / "b" / "pairs.csv")["learnt_sessions"]) == {"counted"}


def test_where_all_were_learnt_from_there_is_no_agreement(
    results: tuple[Path, str], codes: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "a"
    done = tanalyze("agree", *map(str, (results[0], codes[1], "--out", out)))
    assert done.status == 0, done.err
    assert done.text.startswith("6 of 6 coded sessions are among those that the tagger learnt from")
    assert "No agreement is left to tell." in done.text
    # The figure of the package's tagger is not that of the user's own model
    assert "mi_question all coded sessions were learnt from; cross-validated kappa none" in done.text
    known = cross_validated({"kind": "fast", "version": "0.3.0", "aim": "balanced"}).at["mi_reflection", "kappa"]
    found = pd.read_csv(out / "codes.csv").set_index("code")
    assert found.at["mi_reflection", "cross_validated_kappa"] == pytest.approx(known)
    assert found["n_turns"].eq(0).all()
    assert "kappa" not in found
    assert not list(out.glob("*.png"))
    assert "6 of 6 coded sessions" in (out / "agreement.md").read_text(encoding="utf-8").splitlines()[2]


def test_of_results_of_an_earlier_version_it_is_not_known(old: Path, codes: tuple[Path, Path], tmp_path: Path) -> None:
    done = tanalyze("agree", *map(str, (old, codes[0], "--no-plots", "--out", tmp_path / "a")))
    assert done.text.startswith("It is not known which of these sessions the tagger learnt from")
    assert set(pd.read_csv(tmp_path / "a" / "codes.csv")["learnt_sessions"]) == {"unknown"}
    compared = ta.compare(old, by="all", options=ta.CompareOptions(gold=codes[0]))
    assert "- It is not known which of these sessions the tagger learnt from" in compared.words


def test_rates_by_people_and_machine_leave_them_out_unless_asked(
    results: tuple[Path, str], codes: tuple[Path, Path]
) -> None:
    options = ta.CompareOptions(gold=codes[0])
    found, asked = (
        ta.compare(results[0], by="all", options=dataclasses.replace(options, learnt=learnt))
        for learnt in (False, True)
    )
    rates = [one.table.set_index("code").loc["mi_question"] for one in (_gold(found), _gold(asked))]
    assert [(row["n_sessions"], row["n_gold_sessions"]) for row in rates] == [(9, 4), (15, 10)]
    first = found.words.splitlines()[4]
    assert first.startswith(
        "- 6 of 15 sessions are among those that the tagger learnt from: the tagger errs less there"
    )
    assert "and counted as asked" in asked.words.splitlines()[4]
    some = ta.compare(results[0], by="all", options=dataclasses.replace(options, gold=codes[1]))
    assert _gold(some).table.empty
    assert "No coded session is left." in some.words
    pd.testing.assert_frame_equal(some.groups, found.groups)


def _gold(found: ta.Comparison) -> object:
    return next(one for one in found.more if one.name == "gold")


def test_the_page_says_it(results: tuple[Path, str]) -> None:
    page = ta.report(results[0], out=results[0].parent / "page.html")
    assert "6 of 15 sessions are among those that the tagger learnt from" in page.read_text(encoding="utf-8")


def test_nothing_was_learnt_from_the_samples(samples: Path) -> None:
    found = ta.analyze(ta.read(samples), tagger=FAST)
    assert found.sessions["learnt_turns"].eq(0).all()
    codes = found.turns.query("role == 'therapist'")[["session_id", "turn"]].assign(mi_question=1)
    assert ta.agreement(found, codes).summary[0].startswith("None of 15 coded sessions is among those that the tagger")


def test_a_broken_file_of_hashes_is_a_sentence(results: tuple[Path, str], samples: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(results[0].parent / "model", model)
    (model / "learnt_turns.npz").write_bytes(b"PK\x03\x04 nothing")
    done = tanalyze("run", *map(str, (samples / "aria_ben.json", *PLAIN, "--model", model, "--out", tmp_path / "r")))
    assert done.status != 0
    assert "learnt_turns.npz: not an archive of hashes" in done.text
    (model / "learnt_turns.npz").unlink()
    found = ta.analyze(ta.read(samples / "aria_ben.json"), tagger=dataclasses.replace(FAST, model=str(model)))
    assert found.sessions["learnt_turns"].isna().all()


# With the research corpora


def test_sessions_of_the_corpora_are_known(corpora: Path) -> None:
    people = ta.read(corpora / "annomi")[::9]
    models = [*ta.read(corpora / "mibot" / "mibot.csv")[::40], *ta.read(corpora / "vera_mh")[::9]]
    found = ta.analyze([*people, *models], tagger=FAST).sessions
    assert (found["learnt_turns"] >= 0.9).all()
    kokoro = ta.read(corpora / "kokoro" / "transcripts.csv")[::40]
    assert (ta.analyze(kokoro, tagger=FAST).sessions["learnt_turns"] < 0.1).all()


def test_a_session_in_other_words_is_not_known(corpora: Path) -> None:
    (session, *_) = (one for one in ta.read(corpora / "annomi") if len(one.turns) > 60)
    rng = random.Random(0)
    told = [
        " ".join("elsewhere" if rng.random() < 0.4 else word for word in turn.text.split()) for turn in session.turns
    ]
    turns = (dataclasses.replace(turn, text=text) for turn, text in zip(session.turns, told, strict=True))
    found = ta.analyze([dataclasses.replace(session, turns=tuple(turns))], tagger=FAST).sessions
    assert (found["learnt_turns"] < 0.1).all()


REFERENCES = ["skilled_reference_turns", "unskilled_reference_turns"]


def test_sessions_of_a_reference_are_not_compared_with_it(corpora: Path, samples: Path) -> None:
    wide = ta.wide(ta.analyze(ta.read(corpora / "annomi")[::9], tagger=FAST)).set_index("session_id")
    inside = [one for one in ta.read(corpora / "annomi")[::9] if (wide.loc[one.id, REFERENCES] >= 0.5).any()]
    both = ta.analyze([*inside, *ta.read(samples)], tagger=FAST)
    found = ta.compare(both, by="all", against="reference")
    n = len(inside)
    assert n > 7
    told = [(wide[name] >= 0.5).sum() for name in REFERENCES]
    assert min(told) > 0
    assert sum(told) == n
    said = (
        f"- {told[0]} of {n + 15} sessions are among those of the reference human_high; {told[1]} of {n + 15} sessions"
    )
    assert found.words.splitlines()[4].startswith(said)
    most = found.table.groupby("against")["n_sessions"].max()
    assert most.to_dict() == {"reference: human_high": 15 + told[1], "reference: human_low": 15 + told[0]}
    asked = ta.compare(both, by="all", against="reference", options=ta.CompareOptions(learnt=True))
    assert asked.table["n_sessions"].max() == n + 15
    beside_a_model = ta.compare(both, by="all", against="reference:mibot_a")  # which these are not in
    assert beside_a_model.table["n_sessions"].max() == n + 15
    skilled = ta.analyze([one for one in inside if wide.at[one.id, REFERENCES[0]] >= 0.5], tagger=FAST)
    with pytest.raises(BadOptionError, match=r"beside itself nothing differs.*--include-learnt"):
        ta.compare(skilled, by="all", against="reference:human_high")
    assert ta.compare(skilled, by="all", against="reference").table["n_sessions"].max() == len(skilled.sessions)
