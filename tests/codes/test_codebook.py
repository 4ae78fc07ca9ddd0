"""Codebooks: what every built-in book must have, and what somebody is told whose own book is not right yet."""

from __future__ import annotations

import hashlib
import pickle
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import therapy_analytics.codes.codebook as codebook_module
from therapy_analytics.cli import app
from therapy_analytics.codes import (
    Code,
    Codebook,
    builtin_codebooks,
    codebook_named,
    codebooks_with,
    load_codebook,
    load_tagger,
)
from therapy_analytics.codes.codebook import QUALITIES
from therapy_analytics.core.errors import BadDataFileError, UnknownNameError
from therapy_analytics.results.codebook_table import codes_table

FOLDER = Path(codebook_module.__file__).parent / "codebooks"
BOOKS = {book.id: book for book in builtin_codebooks()}
CODES = {f"{code.book}.{code.id}": code for book in BOOKS.values() for code in book.codes}
OPPOSITE = {"same": "same", "overlaps": "overlaps", "narrower": "broader", "broader": "narrower"}
EACH_BOOK = pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
EACH_CODE = pytest.mark.parametrize("code", CODES.values(), ids=CODES)

MISC_LABELS = {
    ("therapist", "coarse"): "SRL CRL Q IMC IMI O",
    ("therapist", "fine"): "SR CR RF AF EC SU OQ CQ GI ADP ADW DI CO WA RCW FA FI ST",
    ("client", "coarse"): "C S N",
    ("client", "fine"): "R+ D+ AB+ N+ C+ AC+ TS+ O+ R- D- AB- N- C- AC- TS- O-",
}
MISC_GROUPS = {
    "SRL": "SR",
    "CRL": "CR RF AF EC SU",
    "Q": "OQ CQ",
    "IMC": "GI ADP",
    "IMI": "ADW DI CO WA RCW",
    "O": "FA FI ST",
}
NO_COUNTERPART = {
    *(f"bolt.{name}" for name in ("negative_feeling", "positive_feeling", "gained_insight")),
    *(f"process.{name}" for name in ("wrong_attribution", "persists", "immediacy", "repair", "risk_passed_over")),
    *(f"process.{name}" for name in ("risk_worsened", "risk_own", "risk_denied", "untested_claim", "corrects")),
    *(f"process.{name}" for name in ("rupture_withdrawal", "rupture_confrontation")),
}


def sentence(counter_example: str) -> str:
    return counter_example.rpartition(" (")[0]


def test_the_books() -> None:
    assert list(BOOKS) == ["bolt", "epitome", "mi", "misc", "miti", "process"]
    assert {name: path.stem for name, path in zip(BOOKS, sorted(FOLDER.glob("*.toml")), strict=True)} == {
        name: name for name in BOOKS
    }


@EACH_BOOK
def test_every_book_says_what_it_is(book: Codebook) -> None:
    assert len(book.definition.split()) > 10
    assert re.search(r"\b(19|20)\d\d\b", book.source), "a source has a year"
    assert "in our own words" in book.source
    assert len({code.id for code in book.codes}) == len(book.codes)
    assert len({code.name for code in book.codes}) == len(book.codes)


@EACH_CODE
def test_every_code_is_complete(code: Code) -> None:
    assert code.role in ("therapist", "client")
    assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", code.id)
    assert code.name[0].isupper()
    assert code.group.isidentifier()
    assert 1 <= len(re.findall(r"[.!?](?= |$)", code.definition)) <= 3
    assert len(code.definition.split()) >= 15
    assert code.source
    assert len(set(code.examples)) >= 3
    assert len(set(code.counter_examples)) >= 2
    assert all(re.fullmatch(r".+ \(.+\)", one) for one in code.counter_examples), "each says why it is none"
    assert bool(code.status) == bool(code.status_reason)


@EACH_CODE
def test_every_crosswalk_leads_there_and_back(code: Code) -> None:
    assert code.crosswalk or f"{code.book}.{code.id}" in NO_COUNTERPART
    for entry in code.crosswalk:
        other = CODES[entry.to]
        assert other.book != code.book
        assert other.role == code.role
        assert entry.quality in QUALITIES
        assert entry.note
        back = [one.quality for one in other.crosswalk if one.to == f"{code.book}.{code.id}"]
        assert back in ([], [OPPOSITE[entry.quality]]), f"{entry.to} sees it in another way"


@EACH_CODE
def test_kinds_belong_to_a_code_of_the_book(code: Code) -> None:
    if not code.parent:
        assert code.level == "coarse"
        return
    above = CODES[f"{code.book}.{code.parent}"]
    assert (code.level, above.level, above.role) == ("fine", "coarse", code.role)


def test_a_narrower_code_is_not_broader_than_a_kind_of_the_same() -> None:
    """If a is narrower than b, no kind of a is broader than b."""
    for code in CODES.values():
        if code.parent:
            above = {one.to: one.quality for one in CODES[f"{code.book}.{code.parent}"].crosswalk}
            for entry in code.crosswalk:
                assert not (entry.quality == "broader" and above.get(entry.to) in ("narrower", "same")), code.column


def test_no_example_says_two_things() -> None:
    owner: dict[str, str] = {}
    for name, code in CODES.items():
        for one in code.examples:
            assert one not in owner, f"an example of {owner.get(one)} stands again in {name}"
            owner[one] = name
    for name, code in CODES.items():
        near = {name, *(entry.to for entry in code.crosswalk if entry.quality in ("same", "broader"))}
        near |= {other for other, one in CODES.items() if one.book == code.book and one.parent == code.id}
        for one in code.counter_examples:
            assert owner.get(sentence(one)) not in near, f"a counter-example of {name} is an example of it"


def test_the_codes_of_the_manuals() -> None:
    misc: dict[tuple[str, str], list[str]] = {key: [] for key in MISC_LABELS}
    for code in BOOKS["misc"].codes:
        misc[code.role, code.level].append(code.label)
        assert code.unit == "utterance"
    assert {key: " ".join(labels) for key, labels in misc.items()} == MISC_LABELS
    above = {code.label: CODES[f"misc.{code.parent}"].label for code in BOOKS["misc"].codes if code.parent}
    for group, kinds in MISC_GROUPS.items():
        assert [label for label, parent in above.items() if parent == group] == kinds.split()
    assert {label: above[label] for label in above if label[-1] in "+-"} == {
        label: {"+": "C", "-": "S"}[label[-1]] for label in above if label[-1] in "+-"
    }
    assert [code.id for code in BOOKS["miti"].codes] == [
        "question",
        "reflection",
        "reflection_simple",
        "reflection_complex",
        "affirm",
        "seek_collaboration",
        "emphasise_autonomy",
        "give_information",
        "persuade",
        "persuade_with_permission",
        "confront",
    ]
    assert [sum(code.role == role for code in BOOKS["bolt"].codes) for role in ("therapist", "client")] == [13, 6]
    assert [sum(code.role == role for code in BOOKS["process"].codes) for role in ("therapist", "client")] == [24, 13]
    kinds = "open closed simple complex information advice options negotiation"
    assert " ".join(code.label for code in BOOKS["mi"].codes if code.parent) == kinds


LEARNT_FROM_READING = [code.id for code in BOOKS["miti"].codes if code.group not in {"question", "reflection"}]
FOUND_ELSEWHERE = ("advice", "feeling_expressed", "feeling_negative", "risk_own", "risk_help")
"""Codes of the process that are found well enough in corpora that the tagger had not seen."""
FOUND_POORLY = [
    "reflections_on_needs",
    "reflections_on_consequences",
    "reflections_on_strengths",
    "questions_on_perspectives",
    "psychoeducation",
    "gained_insight",
]


def test_what_people_hardly_agree_on_is_experimental() -> None:
    assert {name for name, code in CODES.items() if code.status} == {
        *(f"{book}.reflection_{kind}" for book in ("mi", "misc", "miti") for kind in ("simple", "complex")),
        *(f"mi.input_{kind}" for kind in ("information", "advice", "options", "negotiation")),
        *(f"miti.{name}" for name in LEARNT_FROM_READING),
        *(f"bolt.{name}" for name in FOUND_POORLY),
        *(f"epitome.{code.id}" for code in BOOKS["epitome"].codes),
        *(f"process.{code.id}" for code in BOOKS["process"].codes if code.id not in FOUND_ELSEWHERE),
    }


def test_what_people_hardly_agree_on_is_not_written_unasked() -> None:
    experimental = {code.column for name, code in CODES.items() if code.status and not name.startswith("bolt.")}
    assert not set(load_tagger().names) & experimental
    asked = set(load_tagger(all_codes=True).names)
    assert asked - set(load_tagger().names) == {
        name
        for name in asked
        if name.startswith(("miti_", "misc_")) or (name.startswith("mi_") and name in experimental)
    }


def test_books_are_reduced_to_given_columns() -> None:
    books = codebooks_with(["mi_question", "misc_affirm", "no_such"])
    assert [(book.id, [code.id for code in book.codes]) for book in books] == [
        ("mi", ["question"]),
        ("misc", ["affirm"]),
    ]
    assert books[0].sha256 == BOOKS["mi"].sha256
    assert codebooks_with([]) == ()


@EACH_BOOK
def test_the_hash_is_that_of_the_file(book: Codebook) -> None:
    path = FOLDER / f"{book.id}.toml"
    assert book.sha256 == hashlib.sha256(path.read_bytes()).hexdigest() == load_codebook(path).sha256
    assert load_codebook(path) == book


GOOD = """id = "our_clinic"
name = "Our clinic"
definition = "What we look at in supervision."
source = "Our clinic, 2025"

[[codes]]
id = "joining"
name = "Joining"
role = "therapist"
group = "support"
definition = "The therapist takes the client's side."
examples = ["I am with you there."]
crosswalk = [{ to = "misc.support", quality = "narrower", note = "Ours wants the client's side" }]

[[codes]]
id = "joining_late"
name = "Joining after a rupture"
role = "therapist"
group = "support"
parent = "joining"
source = "A. Person (2024)"
unit = "utterance"
definition = "The same after a quarrel."
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "our.toml"
    path.write_text(GOOD, encoding="utf-8")
    return path


def test_a_book_of_ones_own(path: Path) -> None:
    book = load_codebook(path)
    first, second = book.codes
    assert (book.id, first.column, second.level) == ("our_clinic", "our_clinic_joining", "fine")
    assert (first.source, second.source) == ("Our clinic, 2025", "A. Person (2024)")
    assert (first.unit, second.unit) == ("turn", "utterance")
    assert first.crosswalk[0].to == "misc.support"
    assert first.counter_examples == second.examples == ()
    assert codebooks_with(["our_clinic_joining"], more=[book])[0].codes == (first,)
    assert pickle.loads(pickle.dumps(book)) == book
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load_codebook(path).codes == book.codes


REMEDY = "See docs/codebooks.md."
JOINING = "code 'joining': "
FAULTS = {
    'role = "therapist"': [
        (
            'role = "counsellor"',
            JOINING + 'the role \'counsellor\' is not known. Write role = "therapist" or role = "client".',
        ),
        ("", JOINING + "the field 'role' is missing. Add a line role = \"...\"."),
        ("role = 3", JOINING + "the field 'role' is not text. Put it into quotation marks: role = \"...\"."),
        (
            'role = "client"',
            "code 'joining_late': its parent 'joining' is a code of clients. A parent has the same role and no",
        ),
    ],
    'id = "joining"': [
        ("", "code number 1: the field 'id' is missing. Add a line id = \"...\"."),
        (
            'id = "Joining-In"',
            (
                "code 'Joining-In': the id 'Joining-In' cannot be the name of a column. "
                "Use small letters, digits and single _, 40 characters at most, such as 'joining_in'."
            ),
        ),
        ('id = "4_"', "such as 'empathic_listening'."),
        (f'id = "{"x" * 41}"', "40 characters at most"),
        ('id = "joining_late"', "several codes have the id 'joining_late'. Give each code an id of its own."),
    ],
    'definition = "The therapist takes the client\'s side."': [
        ('definition = " "', JOINING + "the field 'definition' is empty. Say it in a few words."),
        ('defintion = "It."', JOINING + "there is no field 'defintion'. Perhaps 'definition' is meant."),
        ('weight = "It."', JOINING + "there is no field 'weight'. The fields are id, name, role, group, lane,"),
    ],
    'examples = ["I am with you there."]': [
        (
            'examples = "I am with you there."',
            JOINING + "the field 'examples' is not a list of sentences. "
            'Write examples = ["First sentence.", "Second sentence."], with square brackets even around a single one.',
        ),
        ("examples = [1, 2]", JOINING + "the field 'examples' is not a list of sentences."),
        ("counter_examples = 5", JOINING + "the field 'counter_examples' is not a list of sentences."),
        ('status = "experimental"', JOINING + "the field 'status_reason' is missing. Add a line status_reason ="),
        ('status = "maybe"', JOINING + "the status 'maybe' is not known. Write status = \"experimental\"."),
        ('parent = "leaving"', JOINING + "its parent 'leaving' is no code of this book. Name the id of a code of"),
        ('parent = "joining"', "its parent 'joining' is itself a kind of another code."),
        ("turn_correlation = 2", JOINING + "the field 'turn_correlation' is not a number from 0 to 1. Write turn_corr"),
        ('turn_correlation = "much"', JOINING + "the field 'turn_correlation' is not a number from 0 to 1."),
        ('unit = "session"', JOINING + 'the unit \'session\' is not known. Write unit = "turn" or unit = "utterance".'),
    ],
    'to = "misc.support"': [
        (
            'to = "misc.suport"',
            JOINING + "its crosswalk to 'misc.suport' leads to no code of another built-in codebook. "
            "Perhaps 'misc.support' is meant; tanalyze codebook bolt epitome mi misc miti process lists all codes.",
        ),
        ('to = "x"', "Write book.code, as in mi.question; tanalyze codebook"),
        ('to = "our_clinic.joining_late"', "leads to no code of another built-in codebook."),
        ('form = "misc.support"', JOINING + "there is no field 'form'. The fields are to, quality, note."),
    ],
    'quality = "narrower"': [
        (
            'quality = "close"',
            JOINING + 'the quality \'close\' is not known. Write quality = "same" or quality = "narrower" or '
            'quality = "broader" or quality = "overlaps".',
        ),
    ],
    'crosswalk = [{ to = "misc.support", quality = "narrower", note = "Ours wants the client\'s side" }]': [
        (
            'crosswalk = ["misc.support"]',
            JOINING + "the field 'crosswalk' does not have its form. See docs/codebooks.md, on crosswalks",
        ),
        (
            'crosswalk = [{to = "mi.input", quality = "same"}, {to = "mi.input", quality = "same"}]',
            JOINING + "its crosswalk names 'mi.input' several times. Leave one.",
        ),
    ],
    'id = "our_clinic"': [
        ('id = "mi"', "the id 'mi' is that of a codebook of this package. Give it an id of its own, for its columns"),
        ('id = "p_clinic"', "the id 'p_clinic' begins as the names of other columns do. Choose another, such as"),
        ("", "the field 'id' is missing."),
        ("id = ", "not valid TOML (Invalid value (at line 1, column"),
    ],
    'source = "Our clinic, 2025"': [("", "the field 'source' is missing. Add a line source = \"...\".")],
    GOOD[GOOD.index("[[codes]]") :]: [
        ("", "the codebook has no codes. Begin each code with a line [[codes]]."),
        ("codes = []", "the codebook has no codes. Begin each code with a line [[codes]]."),
        ("[codes]\nid = 3", "the field 'codes' does not have its form. Begin each code with a line [[codes]]."),
    ],
}


@pytest.mark.parametrize(("right", "wrong", "texts"), [(a, b, c) for a, faults in FAULTS.items() for b, c in faults])
def test_what_is_wrong_is_said_plainly(right: str, wrong: str, texts: str, path: Path) -> None:
    path.write_text(GOOD.replace(right, wrong, 1), encoding="utf-8")
    with pytest.raises(BadDataFileError) as caught:
        load_codebook(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert texts in message.removeprefix(f"{path}: ")
    assert message.endswith(".")
    assert ".." not in message.replace("...", "")
    assert str(pickle.loads(pickle.dumps(caught.value))) == message


def test_a_column_of_another_book_is_taken(path: Path) -> None:
    changed = GOOD.replace('id = "our_clinic"', 'id = "mi_question"').replace('"joining_late"', '"open"')
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(BadDataFileError, match="the column 'mi_question_open' would be that of another codebook"):
        load_codebook(path)


def test_files_that_cannot_be_read(path: Path, tmp_path: Path) -> None:
    with pytest.raises(BadDataFileError, match="the codebook cannot be opened"):
        load_codebook(tmp_path / "nowhere.toml")
    path.write_bytes(GOOD.encode("utf-16"))
    with pytest.raises(BadDataFileError, match=r"not UTF-8 text\. Save it as UTF-8"):
        load_codebook(path)


def test_books_are_found_by_id_or_file(path: Path) -> None:
    assert codebook_named("misc") is BOOKS["misc"]
    assert codebook_named(str(path)).id == "our_clinic"
    with pytest.raises(UnknownNameError, match=rf"no codebook or file named 'mics'\. Known: {', '.join(BOOKS)}"):
        codebook_named("mics")


def test_the_command_shows_codes(path: Path) -> None:
    done = CliRunner().invoke(app, ["codebook", "mi", str(path)])
    assert done.exit_code == 0
    assert done.stdout == codes_table([BOOKS["mi"], load_codebook(path)]).to_csv(index=False, lineterminator="\n")
    assert "our_clinic_joining_late" in done.stdout
    wrong = CliRunner().invoke(app, ["codebook", "mics"])
    assert wrong.exit_code == 2
    assert wrong.stderr == f"tanalyze: There is no codebook or file named 'mics'. Known: {', '.join(BOOKS)}.\n"


def test_the_table_of_codes_says_everything() -> None:
    table = codes_table(BOOKS.values()).set_index("column")
    assert len(table) == len(CODES)
    row = table.loc["misc_reflection_simple"]
    assert (row["label"], row["level"], row["parent"]) == ("SR", "fine", "simple_listening")
    assert row["status"].startswith("experimental: ")
    assert "mi.reflection_simple (same) " in row["crosswalk"]
    assert codes_table([]).empty


def test_the_example_in_the_document_is_a_codebook(root: Path, tmp_path: Path) -> None:
    document = (root / "docs" / "codebooks.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", document, flags=re.DOTALL)
    (tmp_path / "example.toml").write_text(example, encoding="utf-8")
    book = load_codebook(tmp_path / "example.toml")
    assert len(book.codes) == 2
    assert set(tomllib.loads(example)) == {"id", "name", "definition", "source", "codes"}
    assert all(f"`{field}`" in document for field in codebook_module.CODE_FIELDS)
    assert all(f"`{quality}`" in document for quality in QUALITIES)
