"""An outside coder that codes by the user's own codebooks: what it is told, what the tables hold, what is refused."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import tanalyze

import therapy_analytics as ta
from therapy_analytics.codes import (
    TaggerOptions,
    builtin_codebooks,
    check_coder,
    llm_client,
    load_accurate,
    load_codebook,
    load_coder,
    load_tagger,
)
from therapy_analytics.codes.codebook import DEFAULT_CORRELATION
from therapy_analytics.core.errors import BadDataFileError, BadOptionError, TherapyAnalyticsError, UnknownNameError
from therapy_analytics.core.session import Role, Session, Turn
from therapy_analytics.measures.base import all_columns
from therapy_analytics.measures.intervals import wilson
from therapy_analytics.results.tables import refuse_taken_names
from therapy_analytics.run import Writing
from therapy_analytics.text import EXTRAS

BOOK = """
id = "our_clinic"
name = "Our form"
definition = "What we listen for."
source = "Our clinic, 2025"

[[codes]]
id = "joining"
name = "Joining [in]"
role = "therapist"
group = "support"
definition = "The therapist sides with the client against the difficulty."
examples = ["Let us get the better of this worry."]
counter_examples = ["You fought it well. (praises)"]
turn_correlation = 0.3

[[codes]]
id = "hope"
name = "Hope"
role = "client"
group = "change"
definition = "The client expects something good."
status = "experimental"
status_reason = "we have not compared two listeners"
"""
HEAD, JOINING, HOPE = BOOK.split("[[codes]]")
COLUMNS = ("our_clinic_joining", "our_clinic_hope")


def session(*texts: tuple[Role, str]) -> Session:
    turns = (Turn(index=i, speaker=role, role=role, text=text, first_row=i + 1) for i, (role, text) in enumerate(texts))
    return Session(id="s", source_file="s.txt", turns=tuple(turns))


# Turns of the therapist: 0, 2, 4, of which 0 and 2 join. Turns of the client: 1, 3, of which 3 hopes.
TALK = session(
    ("therapist", "Let us beat it."),
    ("client", "I sleep badly."),
    ("therapist", "Let us look at the nights."),
    ("client", "It will get better."),
    ("therapist", "What helps?"),
)


def by_own_book(handler: Any, request: Any) -> None:
    """Code by the ids that the instructions name."""
    told, turn = request["messages"][0]["content"], json.loads(request["messages"][1]["content"])["turn"]
    rules = {"our_clinic_joining": "Let us", "our_clinic_hope": "better", "mi_question": "?"}
    codes = [code for code, word in rules.items() if f"[{code}]" in told and word in turn["text"]]
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": json.dumps({"codes": codes})}}]})
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body.encode())


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm_client, "WAITS_S", (0.01, 0.01, 0.01, 0.01))
    monkeypatch.delenv("TANALYZE_API_KEY", raising=False)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    (tmp_path / "form.toml").write_text(BOOK, encoding="utf-8")
    return tmp_path / "form.toml"


@pytest.fixture
def options(fake: Any, book: Path, tmp_path: Path) -> TaggerOptions:
    fake.behave = by_own_book
    return TaggerOptions(
        kind="llm", endpoint=fake.url, model="small", timeout_s=10, cache=tmp_path / "cache", codebooks=(book,)
    )


@pytest.fixture
def analyze(options: TaggerOptions) -> Callable[..., ta.Analysis]:
    return lambda *sessions, **changes: ta.analyze(sessions, tagger=replace(options, **changes))


def test_the_model_is_told_the_book_and_no_other(fake: Any, analyze: Callable[..., ta.Analysis]) -> None:
    analyze(TALK)
    told = {
        json.loads(one["messages"][1]["content"])["turn"]["role"]: one["messages"][0]["content"] for one in fake.asked
    }
    assert "[our_clinic_joining] Joining [in]\nThe therapist sides with the client" in told["therapist"]
    assert "Has it: Let us get the better of this worry.\nDoes not have it: You fought it well." in told["therapist"]
    assert "[our_clinic_hope]" in told["client"]
    assert "[our_clinic_hope]" not in told["therapist"]
    assert not any(f"[{name}]" in text for name in load_tagger().names for text in told.values())


def test_turns_have_its_columns_and_no_others(analyze: Callable[..., ta.Analysis]) -> None:
    found = analyze(TALK)
    turns = found.turns
    assert turns["our_clinic_joining"].tolist() == [1, pd.NA, 1, pd.NA, 0]
    assert turns["our_clinic_hope"].tolist() == [pd.NA, 0, pd.NA, 1, pd.NA]
    np.testing.assert_array_equal(found.probabilities["our_clinic_joining"], [1, np.nan, 1, np.nan, 0])
    assert list(found.probabilities) == ["session_id", "turn", *COLUMNS, "unsure_codes"]
    assert [name for name in turns if name in found.probabilities][2:] == list(COLUMNS)


def test_sessions_have_its_rates_and_none_of_what_nobody_coded(analyze: Callable[..., ta.Analysis]) -> None:
    analysis = analyze(TALK)
    row = ta.wide(analysis).iloc[0]
    assert (row["our_clinic_joining_rate"], row["n_our_clinic_joining"]) == (pytest.approx(2 / 3), 2)
    assert (row["our_clinic_hope_rate"], row["n_our_clinic_hope"]) == (1 / 2, 1)
    ends = ["our_clinic_joining_rate_lo", "our_clinic_joining_rate_hi"]
    assert row[ends].tolist() == pytest.approx(wilson(2, 3, 0.3))  # as its book says
    assert row["our_clinic_hope_rate_hi"] == pytest.approx(wilson(1, 2, DEFAULT_CORRELATION)[1])
    of_the_tagger = ["therapist_question_rate", "client_change_rate", "reflection_to_question_ratio"]
    assert row[of_the_tagger].isna().all()
    assert not {"therapist_question_rate_expected", "n_therapist_question"} & set(row.dropna().index)
    assert analysis.sessions["notes"].tolist() == [""]


def test_a_session_without_a_role_has_no_rate_of_its_codes(analyze: Callable[..., ta.Analysis]) -> None:
    sessions = ta.wide(analyze(TALK, replace(session(("therapist", "Let us.")), id="t")))
    assert sessions["our_clinic_hope_rate"].dtype == np.float64
    assert np.isnan(sessions["our_clinic_hope_rate"].iloc[1])
    names = list(sessions)
    assert names.index("our_clinic_joining_rate") > names.index("therapist_question_rate")


def test_the_codebook_of_the_run_defines_them(analyze: Callable[..., ta.Analysis]) -> None:
    analysis = analyze(TALK)
    about = analysis.codebook.set_index(["table", "column"])
    assert about.loc[("turns", "our_clinic_joining"), "meaning"] == (
        "Joining [in]: The therapist sides with the client against the difficulty."
    )
    assert about.loc[("turns", "our_clinic_joining"), "family"] == "codes, Our form"
    assert about.loc[("turns", "our_clinic_hope"), "misleads"].endswith(
        "; experimental: we have not compared two listeners"
    )
    rate = about.loc[("measured", "our_clinic_hope_rate")]
    assert (rate["source"], rate["range"]) == ("Our clinic, 2025", "0 to 1")
    by_table = analysis.codebook.groupby("table")["column"].agg(list)
    assert list(analysis.sessions) == by_table["sessions"]
    assert set(analysis.turns) | {"text"} == set(by_table["turns"])
    assert list(analysis.probabilities) == by_table["probabilities"]
    assert list(analysis.turn_measures) == by_table["turn_measures"]
    assert not any(name in set(analysis.codebook["column"]) for name in load_tagger().names)


def test_uncoded_turns_count_in_no_rate(fake: Any, analyze: Callable[..., ta.Analysis]) -> None:
    def shy(handler: Any, request: Any) -> None:
        (fake.saying("No.") if "nights" in fake.turn_of(request)["text"] else by_own_book)(handler, request)

    fake.behave = shy
    analysis = analyze(TALK)
    assert ta.wide(analysis)["our_clinic_joining_rate"].tolist() == [1 / 2]
    assert analysis.sessions["notes"].item() == "1 of 5 turns have no codes: the coder gave no valid answer on them."


def test_a_book_of_one_role_leaves_the_other_alone(book: Path, fake: Any, analyze: Callable[..., ta.Analysis]) -> None:
    book.write_text(f"{HEAD}[[codes]]{HOPE}", encoding="utf-8")
    analysis = analyze(TALK)
    assert len(fake.asked) == 2
    assert analysis.turns["our_clinic_hope"].tolist() == [pd.NA, 0, pd.NA, 1, pd.NA]
    assert analysis.sessions["notes"].tolist() == [""]  # nobody was asked for the therapist's turns
    assert analyze().sessions.empty


def test_pairs_have_rates_of_their_own(analyze: Callable[..., ta.Analysis]) -> None:
    turns = [replace(turn, speaker=f"C{turn.index}" if turn.role == "client" else "T") for turn in TALK.turns]
    pairs = analyze(replace(TALK, turns=tuple(turns))).dyads.set_index("client")
    assert pairs["our_clinic_hope_rate"].to_dict() == {"C1": 0, "C3": 1}


def test_several_books_and_built_in_ones_by_id(book: Path, analyze: Callable[..., ta.Analysis]) -> None:
    analysis = analyze(TALK, codebooks=(book, "mi"))
    mi = {code.column for one in builtin_codebooks() if one.id == "mi" for code in one.codes}
    assert set(analysis.turns) & set(analysis.probabilities) == {"session_id", "turn", *COLUMNS, *mi}
    row = ta.wide(analysis).iloc[0]
    assert row["mi_question_rate"] == row["therapist_question_rate"] == pytest.approx(1 / 3)
    assert row["our_clinic_joining_rate"] == pytest.approx(2 / 3)
    assert np.isnan(row["therapist_advice_rate"])  # BOLT's codes were not asked for


def test_a_book_as_it_was_read_is_taken_too(book: Path, analyze: Callable[..., ta.Analysis]) -> None:
    read = load_codebook(book)
    book.unlink()
    assert analyze(TALK, codebooks=(read,)).turns["our_clinic_joining"].sum() == 2


def test_without_the_option_nothing_changes(options: TaggerOptions) -> None:
    coder = load_coder(replace(options, codebooks=()))
    assert set(coder.names) == set(load_accurate().names)
    found = ta.analyze([TALK])
    assert not [name for name in found.sessions if name.startswith(("mi_", "bolt_", "n_mi_", "our_"))]
    assert not [name for name in ta.wide(found) if name.startswith(("bolt_", "our_"))]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sides with the client", "takes the client's side"),
        ("Let us get the better", "Let us get rid"),
        ("(praises)", "(praise)"),
        ('id = "joining"', 'id = "siding"'),
        ('id = "our_clinic"', 'id = "our_practice"'),
        ("What we listen for.", "What we look for."),
        (f"[[codes]]{HOPE}", ""),
    ],
)
def test_another_content_is_another_question(old: str, new: str, book: Path, fake: Any, options: TaggerOptions) -> None:
    ta.analyze([TALK], tagger=options)
    before, asked = load_coder(options), len(fake.asked)
    assert asked == 5
    ta.analyze([TALK], tagger=options)
    assert len(fake.asked) == asked
    assert old in BOOK
    book.write_text(BOOK.replace(old, new), encoding="utf-8")
    ta.analyze([TALK], tagger=options)
    assert load_coder(options).sha256 != before.sha256
    assert len(fake.asked) == asked + (5 if new else 3)


def test_what_the_model_is_not_told_asks_nothing_again(book: Path, fake: Any, options: TaggerOptions) -> None:
    ta.analyze([TALK], tagger=options)
    book.write_text(BOOK.replace("Our clinic, 2025", "Our clinic, 2026") + "# checked\n", encoding="utf-8")
    analysis = ta.analyze([TALK], tagger=options)
    assert len(fake.asked) == 5
    assert "Our clinic, 2026" in set(analysis.codebook["source"])


def test_a_run_with_two_processes_plots_and_an_edit_during_it(
    book: Path, fake: Any, options: TaggerOptions, samples: Path, tmp_path: Path
) -> None:
    paths = [samples / "nair_yuki.txt", samples / "aria_ben.json"]
    sha256 = hashlib.sha256(book.read_bytes()).hexdigest()

    def editing(handler: Any, request: Any) -> None:
        book.write_text("broken [", encoding="utf-8")
        by_own_book(handler, request)

    results = []
    for n, behave in ((1, by_own_book), (2, editing)):
        fake.behave = behave
        settings = ta.Settings(tagger=replace(options, cache=tmp_path / f"cache{n}"))
        writing = Writing(figures=("png",) if n == 1 else (), report=n == 1, processes=n)
        results.append(ta.run(paths, tmp_path / str(n), settings=settings, writing=writing))
    pd.testing.assert_frame_equal(results[0].sessions, results[1].sessions)
    for n in (1, 2):
        about = json.loads((tmp_path / str(n) / "run.json").read_text())
        assert about["codebooks"] == [{"name": "our_clinic", "file": "form.toml", "sha256": sha256}]
        assert about["tagger"]["codebooks"] == ["our_clinic"]
        turns = pd.read_csv(tmp_path / str(n) / "sessions" / "nair_yuki" / "turns.csv")
        assert turns["our_clinic_joining"].isna().equals(turns["role"] != "therapist")
    assert (tmp_path / "1" / "sessions" / "nair_yuki" / "session.png").exists()
    assert [code.column for code in results[0].rated] == list(COLUMNS)


def changed(path: Path, *changes: tuple[str, str]) -> Path:
    text = BOOK
    for old, new in changes:
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


FAULTS: dict[str, tuple[Callable[[Path], tuple[str | Path, ...]], type[TherapyAnalyticsError], str]] = {
    "an unknown id": (
        lambda _: ("mit1",),
        UnknownNameError,
        "There is no codebook or file named 'mit1'. Known: bolt, epitome, mi, misc, miti, process.",
    ),
    "no such file": (lambda path: (path.with_name("no.toml"),), UnknownNameError, "There is no codebook or file named"),
    "a folder": (lambda path: (path.parent,), BadDataFileError, "the codebook cannot be opened"),
    "no TOML": (lambda path: (changed(path, ("id =", "id is")),), BadDataFileError, "not valid TOML"),
    "a missing field": (
        lambda path: (changed(path, ('role = "client"', "")),),
        BadDataFileError,
        "form.toml: code 'hope': the field 'role' is missing. Add a line role = \"...\".",
    ),
    "a built-in id": (
        lambda path: (changed(path, ('"our_clinic"', '"misc"')),),
        BadDataFileError,
        "form.toml: the id 'misc' is that of a codebook of this package. Give it an id of its own,",
    ),
    "a name that rates have": (
        lambda path: (changed(path, ('"our_clinic"', '"therapist"')),),
        BadDataFileError,
        "the id 'therapist' begins as the names of other columns do.",
    ),
    "named twice": (
        lambda _: ("mi", "mi"),
        BadOptionError,
        "--codebook: mi and mi would both have the id 'mi'. Leave one of them out, or give it an id of its own.",
    ),
    "one id": (
        lambda path: (path, changed(path.with_name("other.toml"))),
        BadOptionError,
        "other.toml would both have the id 'our_clinic'.",
    ),
    "one column": (
        lambda path: (path, changed(path.with_name("b.toml"), ('"our_clinic"', '"our"'), ('"hope"', '"clinic_hope"'))),
        BadOptionError,
        "b.toml would both have the column 'our_clinic_hope'.",
    ),
}


@pytest.mark.parametrize(("books", "kind", "says"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_coded_by(
    books: Any, kind: type[TherapyAnalyticsError], says: str, book: Path, options: TaggerOptions, fake: Any
) -> None:
    with pytest.raises(kind) as caught:
        check_coder(replace(options, codebooks=books(book)))
    assert says in str(caught.value)
    assert not fake.asked


def test_the_fast_tagger_takes_no_codebook(book: Path) -> None:
    for wrong in (book, book.with_name("no.toml")):
        with pytest.raises(BadOptionError, match=r"--codebook: it has an effect only with --tagger llm"):
            ta.analyze([TALK], tagger=TaggerOptions(codebooks=(wrong,)))


def test_a_broken_book_leaves_earlier_results_alone(options: TaggerOptions, samples: Path, tmp_path: Path) -> None:
    quick = ta.Settings(tagger=TaggerOptions(kind="fast"))
    ta.run([samples / "nair_yuki.txt"], tmp_path / "r", settings=quick, writing=Writing(figures=(), report=False))
    for coder in (replace(options, codebooks=("mit1",)), TaggerOptions(codebooks=("mi",))):
        with pytest.raises(TherapyAnalyticsError):
            ta.run([samples / "nair_yuki.txt"], tmp_path / "r", settings=ta.Settings(tagger=coder))
    assert (tmp_path / "r" / "sessions.csv").exists()


def test_no_code_can_take_the_name_of_another_column() -> None:
    """Neither its own column, nor its probability, rate or count."""
    columns = [column for _, column in all_columns((), extras=EXTRAS)]
    code = builtin_codebooks()[0].codes[0]
    bare = {re.sub(r"^(n|p)_|_rate(_lo|_hi)?$", "", column.name) for column in columns}
    for name in {"start_s", "n_words", "unsure_codes", *(column.name for column in columns), *bare}:
        book, _, own = name.partition("_")
        made = replace(code, book=book, id=own)
        with pytest.raises(BadOptionError, match="is there already") if own else nullcontext():
            refuse_taken_names([made], columns)


def test_the_command(book: Path, options: TaggerOptions, samples: Path, tmp_path: Path) -> None:
    words = ("run", str(samples / "nair_yuki.txt"), "--no-plots", "--out", str(tmp_path / "r"))
    llm = (
        "--tagger",
        "llm",
        "--model",
        "small",
        "--llm-cache",
        str(tmp_path / "c"),
        "--endpoint",
        options.endpoint or "",
    )
    done = tanalyze(*words, *llm, "--codebook", str(book), "--codebook", "mi")
    assert done.status == 0, done.err
    assert "Coded by small by the codes of our_clinic, mi:" in done.out
    assert "Joining [in]" in done.out
    assert "13 codes more in the table of sessions." in " ".join(done.out.split())
    assert "reflects" not in done.out
    broken = changed(tmp_path / "broken.toml", ("role =", "rule ="))
    known = ", ".join(book.id for book in builtin_codebooks())
    refusals = {
        ("--codebook", "mit1", *llm): f"There is no codebook or file named 'mit1'. Known: {known}.",
        (
            "--codebook",
            str(broken),
            *llm,
        ): f"{broken}: code 'joining': there is no field 'rule'. Perhaps 'role' is meant.",
        ("--codebook", str(book)): "--codebook: it has an effect only with --tagger llm. Add that, or leave it out.",
    }
    for wrong, says in refusals.items():
        refused = tanalyze(*words, *wrong)
        assert (refused.status, refused.err) == (2, f"tanalyze: {says}\n")
    assert (tmp_path / "r" / "sessions.csv").exists()
