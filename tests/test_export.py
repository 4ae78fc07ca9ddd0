"""Exports: what pandas and pyreadstat read back is what was analysed, with labels and without surprises."""

from __future__ import annotations

import re
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from talks import TALK

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError, UnknownNameError, how_to_install
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.results.exports import EXPORTED as TABLES
from therapy_analytics.results.exports import FORMS, export
from therapy_analytics.run import Writing

FAST = ta.TaggerOptions(kind="fast")
SUFFIX = {"csv": "csv", "parquet": "parquet", "stata": "dta", "spss": "sav"}
LABELLED = ("stata", "spss")
ODD = "\N{GRINNING FACE} caf\u00e9 \u65e5\u672c \0 " + '"quoted"; a\nline'
LONG = "\u00e9" * 40_000
NAMES = {
    "COUNSELOR": "COUNSELOR_2",
    "if": "v_if",
    "Gr\u00f6\u00dfe 1": "Groe_1",
    "\u65e5\u4ed8": "v",
    "1x": "v_1x",
    "_x": "x",
    "x": "x_2",
    "A b": "A_b",
    "a_b": "a_b_2",
    "with": "v_with",
    "str12": "v_str12",
    "a" * 31 + "1": "a" * 31 + "1",
    "a" * 31 + "1b": "a" * 30 + "_2",
}
"""Columns of a user's own, and what they are called in Stata."""


@pytest.fixture(scope="module")
def pyreadstat() -> Any:
    """Return the library that reads what was written."""
    return pytest.importorskip("pyreadstat")


def _couple() -> Session:
    speakers = (("T", "therapist"), ("Ann", "client"), ("Bob", "client"), ("T", "therapist"), ("Ann", "client"))
    texts = ("What is it?", "I want to change, but I cannot.", ODD, "You want to change.", LONG)
    turns = tuple(
        Turn(index=i, speaker=who, role=role, text=text, first_row=i + 1)  # type: ignore[arg-type]
        for i, ((who, role), text) in enumerate(zip(speakers, texts, strict=True))
    )
    about = {"counselor": "T", **dict.fromkeys(NAMES, "x")}
    return Session(id="couple", source_file="c.txt", turns=turns, metadata=about)


@pytest.fixture(scope="module")
def analysis() -> ta.Analysis:
    """Return an analysis of two sessions, one of a couple who say odd things."""
    plain = ta.analyze([TALK, _couple()], tagger=FAST)
    text = [turn.text for one in (TALK, _couple()) for turn in one.turns]
    turns = plain.turns.assign(text=pd.Series(text, dtype=object))
    return replace(plain, turns=turns)


@pytest.fixture(scope="module", params=FORMS)
def exported(request: pytest.FixtureRequest, analysis: ta.Analysis, tmp_path_factory: Any) -> tuple[str, Path]:
    """Return a form, and the folder of an export to it."""
    if request.param in LABELLED:
        pytest.importorskip("pyreadstat")
    out = tmp_path_factory.mktemp("out") / request.param
    export(analysis, out, to=request.param)
    return request.param, out


def _back(form: str, path: Path) -> tuple[pd.DataFrame, Any]:
    if form == "parquet":
        return pd.read_parquet(path), None
    if form == "csv":
        return pd.read_csv(path, low_memory=False), None
    library = sys.modules["pyreadstat"]
    read = library.read_dta if form == "stata" else library.read_sav
    frame, about = read(str(path))
    return frame, about


def test_every_table_comes_back_with_its_numbers(exported: tuple[str, Path], analysis: ta.Analysis) -> None:
    form, out = exported
    for table in TABLES:
        given = getattr(analysis, table)
        frame, _ = _back(form, out / f"{table}.{SUFFIX[form]}")
        assert frame.shape == given.shape, table
        assert len(given) > 0, table
        for name, column in zip(given, frame, strict=True):
            if pd.api.types.is_numeric_dtype(given[name]):
                numbers = given[name].astype("float64").to_numpy()
                digits = 1e-5 if form == "csv" else 0
                np.testing.assert_allclose(frame[column].astype("float64"), numbers, rtol=digits, err_msg=name)


def test_only_the_owner_may_read(exported: tuple[str, Path]) -> None:
    _, out = exported
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()} == {0o600}


def test_the_same_tables_give_the_same_bytes(exported: tuple[str, Path], analysis: ta.Analysis, tmp_path: Path) -> None:
    form, _ = exported
    few = replace(analysis, turns=analysis.turns[["session_id", "turn", "role"]])
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        export(few, folder, to=form)
    for path in first.iterdir():
        if path.suffix != ".sav":  # which has the time of writing in it
            assert path.read_bytes() == (second / path.name).read_bytes()


def test_parquet_keeps_types_and_says_what_columns_mean(exported: tuple[str, Path], analysis: ta.Analysis) -> None:
    form, out = exported
    if form != "parquet":
        return
    from pyarrow import parquet

    for table in ("sessions", "measures", "parts", "probabilities", "responses", "behaviours"):
        frame = pd.read_parquet(out / f"{table}.parquet")
        pd.testing.assert_frame_equal(frame, getattr(analysis, table))
    schema = parquet.read_schema(out / "turns.parquet")
    assert schema.field("n_words").metadata[b"unit"] == b"words"
    assert schema.field("mi_question").metadata[b"meaning"].startswith(b"Question: ")
    assert str(pd.read_parquet(out / "turns.parquet")["mi_question"].dtype) == "Int8"


def test_labels_of_columns_and_values(exported: tuple[str, Path], analysis: ta.Analysis) -> None:
    form, out = exported
    if form not in LABELLED:
        return
    frame, about = _back(form, out / f"turns.{SUFFIX[form]}")
    assert about.column_names_to_labels["n_words"] == "Words of the turn; a contraction is one word"
    assert max(len(label or "") for label in about.column_labels) <= (80 if form == "stata" else 256)
    assert about.variable_value_labels["role"] == {1: "therapist", 2: "client", 3: "other"}
    assert about.variable_value_labels["mi_question"] == {0: "no", 1: "yes"}
    assert frame["role"].map(about.variable_value_labels["role"]).tolist() == analysis.turns["role"].tolist()
    assert frame["mi_question"].isna().tolist() == analysis.turns["mi_question"].isna().tolist()
    frame, about = _back(form, out / f"behaviours.{SUFFIX[form]}")
    for name in ("code", "label", "role"):
        assert frame[name].map(about.variable_value_labels[name]).tolist() == analysis.behaviours[name].tolist()
    assert about.variable_value_labels["coded"] == {0: "no", 1: "yes"}


def test_spss_knows_what_can_be_counted_and_what_measured(exported: tuple[str, Path]) -> None:
    form, out = exported
    if form != "spss":
        return
    _, parts = _back(form, out / "parts.sav")
    level = parts.variable_measure
    assert (level["session_id"], level["measure"], level["part"], level["value"]) == (
        "nominal", "nominal", "ordinal", "scale",
    )  # fmt: skip
    _, behaviours = _back(form, out / "behaviours.sav")
    assert behaviours.variable_measure["coded"] == "nominal"
    assert behaviours.variable_measure["probability"] == "scale"


def test_pandas_reads_stata_categories_back(exported: tuple[str, Path], analysis: ta.Analysis) -> None:
    form, out = exported
    if form != "stata":
        return
    frame = pd.read_stata(out / "behaviours.dta")
    assert frame["code"].astype(str).tolist() == analysis.behaviours["code"].astype(str).tolist()
    frame = pd.read_stata(out / "parts.dta")
    assert frame["part"].astype(str).tolist() == analysis.parts["part"].astype(str).tolist()


def test_what_was_said_survives(exported: tuple[str, Path], analysis: ta.Analysis) -> None:
    form, out = exported
    text = _back(form, out / f"turns.{SUFFIX[form]}")[0]["text"]
    given = analysis.turns["text"]
    assert text[0] == given[0]
    odd, long = text[8], text[10]
    assert odd == (ODD if form in ("csv", "parquet") else ODD.replace("\0", "\N{REPLACEMENT CHARACTER}"))
    if form == "spss":
        assert long == LONG[: (32_767 - 3) // 2] + "..."
    else:
        assert long == LONG


def test_names_can_be_looked_up_both_ways(exported: tuple[str, Path], analysis: ta.Analysis) -> None:
    form, out = exported
    if form not in LABELLED:
        return
    names = pd.read_csv(out / f"names_{form}.csv", keep_default_na=False)
    assert names["name"].str.len().max() <= (32 if form == "stata" else 64)
    assert names["name"].str.fullmatch(r"[A-Za-z][A-Za-z0-9_]*").all()
    for table, own in names.groupby("table"):
        assert own["name"].str.casefold().is_unique
        assert own["column"].tolist() == list(getattr(analysis, str(table)))
        frame, _ = _back(form, out / f"{table}.{SUFFIX[form]}")
        assert list(frame) == own["name"].tolist()
    own = names[names["table"] == "sessions"].set_index("column")["name"]
    assert own["counselor"] == "counselor"
    if form == "stata":
        assert own[list(NAMES)].to_dict() == NAMES


def test_texts_have_no_sign_that_ends_them(pyreadstat: Any, analysis: ta.Analysis, tmp_path: Path) -> None:
    """NUL ends a text in these files, and a lone surrogate is no character."""
    turns = analysis.turns[["session_id", "turn", "role"]]
    turns = turns.assign(text=pd.Series(["a\0b\ud83d"] * len(turns), dtype=object))
    export(replace(analysis, turns=turns), tmp_path / "o", to="stata")
    frame, _ = pyreadstat.read_dta(str(tmp_path / "o" / "turns.dta"))
    assert set(frame["text"]) == {"a\N{REPLACEMENT CHARACTER}b?"}


def test_codes_of_ones_own_book(pyreadstat: Any, analysis: ta.Analysis, tmp_path: Path) -> None:
    code = "our_clinic_joining_the_client_against_the_difficulty"
    own = pd.DataFrame([{"column": code, "table": "turns", "family": "codes, Our form", "unit": "0 or 1",
                         "meaning": "Joining in: the therapist sides with the client"},
                        {"column": code, "table": "probabilities", "family": "codes, Our form", "unit": "probability",
                         "meaning": f"Probability of {code}"}])  # fmt: skip
    given = pd.array([1, None, 0] + [None] * 8, dtype="Int8")
    turns = analysis.turns[["session_id", "turn", "role"]]
    turns = turns.assign(**{code: given})
    likely = analysis.probabilities[["session_id", "turn", "unsure_codes"]]
    likely = likely.assign(**{code: [0.9, np.nan, 0.2] + [np.nan] * 8})
    mine = replace(analysis, turns=turns, probabilities=likely, codebook=pd.concat([analysis.codebook, own]).fillna(""))
    export(mine, tmp_path / "o", to="stata")
    frame, about = pyreadstat.read_dta(str(tmp_path / "o" / "turns.dta"))
    names = pd.read_csv(tmp_path / "o" / "names_stata.csv").query("table == 'turns'").set_index("column")["name"]
    assert frame[names[code]].dropna().tolist() == [1, 0]
    assert about.column_names_to_labels[names[code]] == "Joining in: the therapist sides with the client"
    long, about = pyreadstat.read_dta(str(tmp_path / "o" / "behaviours.dta"), apply_value_formats=True)
    assert long["code"].tolist() == [code, code]
    assert long["coded"].tolist() == ["yes", "no"]


@pytest.mark.parametrize("form", FORMS)
def test_nothing_exports_as_nothing(form: str, tmp_path: Path) -> None:
    if form in LABELLED:
        pytest.importorskip("pyreadstat")
    files = export(ta.analyze([]), tmp_path / "o", to=form)
    assert files[0].name == f"sessions.{SUFFIX[form]}"
    assert not (tmp_path / "o" / f"dyads.{SUFFIX[form]}").exists()
    frame, _ = _back(form, tmp_path / "o" / f"turns.{SUFFIX[form]}")
    assert len(frame) == 0
    assert "role" in frame


def test_results_in_a_folder_are_exported_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n".join(f"{turn.speaker}: {turn.text}" for turn in TALK.turns), encoding="utf-8")
    ta.run([tmp_path / "t.txt"], tmp_path / "r", settings=ta.Settings(tagger=FAST),
           writing=Writing(figures=(), report=False))  # fmt: skip
    files = export(tmp_path / "r", tmp_path / "o")
    names = [f"{table}.csv" for table in TABLES if table != "dyads"]
    assert [path.name for path in files] == [*names, "wide.csv", "columns.csv"]
    turns = pd.read_csv(tmp_path / "o" / "turns.csv")
    assert turns["n_words"].tolist() == ta.analyze([TALK], tagger=FAST).turns["n_words"].tolist()
    assert not any(b"laptop" in path.read_bytes() for path in files)
    with pytest.raises(BadOptionError, match=r"holds other things than exported tables \(problems\.csv, "):
        export(tmp_path / "r", tmp_path / "r")


def test_an_export_replaces_its_own_kind_alone(pyreadstat: Any, analysis: ta.Analysis, tmp_path: Path) -> None:
    small = replace(analysis, turns=analysis.turns[["session_id", "turn", "role"]])
    export(small, tmp_path / "o", to="parquet")
    export(small, tmp_path / "o", to="stata")
    assert (tmp_path / "o" / "dyads.parquet").is_file()
    export(replace(small, dyads=small.dyads.iloc[:0]), tmp_path / "o", to="parquet")
    assert not (tmp_path / "o" / "dyads.parquet").exists()
    assert (tmp_path / "o" / "dyads.dta").is_file()
    (tmp_path / "o" / "thesis.docx").write_bytes(b"")
    with pytest.raises(BadOptionError, match=r"\(thesis\.docx, \.\.\.\)\. Name a new or an empty folder"):
        export(small, tmp_path / "o")
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(BadOptionError, match=r"f is a file\. Name a folder"):
        export(small, tmp_path / "f")


def test_a_form_that_is_not_there(analysis: ta.Analysis, tmp_path: Path) -> None:
    with pytest.raises(
        UnknownNameError,
        match=r"no form to export to named 'sas'. Known: codes_csv, codes_jsonl, csv, parquet, spss, stata",
    ):
        ta.export(analysis, tmp_path / "o", to="sas")
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(("form", "library"), [
    ("parquet", "pyarrow"), ("spss", "pyreadstat"),
])  # fmt: skip
def test_a_library_that_is_not_there(
    analysis: ta.Analysis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, library: str
) -> None:
    for name in [one for one in sys.modules if one.split(".")[0] == library]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, library, None)
    speakers = f"needs the package {library}, which is not installed. Install it with: "
    with pytest.raises(BadOptionError, match=re.escape(f"{speakers}{how_to_install(library)}.")):
        export(analysis, tmp_path / "o", to=form)
    assert not (tmp_path / "o").exists()


def test_infinity_is_missing_where_there_is_none(pyreadstat: Any, analysis: ta.Analysis, tmp_path: Path) -> None:
    sessions = analysis.sessions[["session_id"]].assign(lsm=[np.inf, 0.5], big=[2**40, 1])
    turns = analysis.turns[["session_id", "turn", "role"]]
    export(replace(analysis, sessions=sessions, turns=turns), tmp_path / "o", to="stata")
    frame, _ = pyreadstat.read_dta(str(tmp_path / "o" / "sessions.dta"))
    assert frame["lsm"].isna().tolist() == [True, False]
    assert frame["big"].tolist() == [2**40, 1]


@pytest.mark.parametrize("form", FORMS)
def test_the_wide_table_comes_on_request(form: str, analysis: ta.Analysis, tmp_path: Path) -> None:
    if form in LABELLED:
        pytest.importorskip("pyreadstat")
    assert not list(tmp_path.rglob("wide.*"))
    files = export(analysis, tmp_path / "o", to=form, wide=True)
    path = tmp_path / "o" / f"wide.{SUFFIX[form]}"
    assert path in files
    frame, about = _back(form, path)
    given = ta.wide(analysis)
    assert frame.shape == given.shape
    assert len(given.columns) > len(analysis.sessions.columns)
    names = dict(zip(given, frame, strict=True))
    for name, column in names.items():
        if pd.api.types.is_numeric_dtype(given[name]):
            digits = 1e-5 if form == "csv" else 0
            np.testing.assert_allclose(frame[column].astype(float), given[name], rtol=digits, err_msg=name)
    if about is not None:
        assert max(map(len, frame)) <= (32 if form == "stata" else 64)
        assert len({str(name).casefold() for name in frame}) == frame.shape[1] < 2048  # what Stata/BE opens
        labels = about.column_names_to_labels
        assert labels["therapist_question_rate"] == "Share of therapist turns with the code mi_question: Question"
        low = labels["therapist_question_rate_lo"]
        assert low == "Lower end of the 95% interval of the value: therapist_question_rate"
        assert all(labels.values())
    export(analysis, tmp_path / "o", to=form, wide=False)
    assert not path.exists()  # an earlier export is replaced whole


def test_without_an_option_an_export_is_csv_and_says_what_columns_mean(analysis: ta.Analysis, tmp_path: Path) -> None:
    files = export(analysis, tmp_path / "o")
    assert {path.suffix for path in files} == {".csv"}
    columns = pd.read_csv(tmp_path / "o" / "columns.csv", keep_default_na=False).set_index(["table", "column"])
    wide = pd.read_csv(tmp_path / "o" / "wide.csv", nrows=1)
    assert len(wide.columns) > len(analysis.sessions.columns)
    meanings = columns.loc[[("wide", name) for name in wide], "meaning"]
    assert (meanings != "").mean() > 0.9


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("pip", "-m pip install one two"),
        ("uv", "uv pip install --python "),
        ("pipx", "pipx inject therapy-analytics one two"),
    ],
)
def test_the_command_to_install_is_for_this_python(
    tool: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if tool == "uv" and name == "pip" else name)
    if tool == "pipx":
        (tmp_path / "pipx_metadata.json").touch()
    assert expected in how_to_install("one", "two")
    assert (f"{Path(sys.executable).name} -m" in how_to_install("one")) == (tool == "pip")
