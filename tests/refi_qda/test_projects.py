"""REFI-QDA projects: valid by the published schema, the same after a round trip, and safe to read."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

import pytest
from defusedxml import ElementTree
from talks import session
from xml_schema import Schema

from therapy_analytics.agreement._coded_files import code_rows, coded_table
from therapy_analytics.errors import BadDataFileError
from therapy_analytics.readers import read, read_files
from therapy_analytics.readers._coded import CodedSession, CodesOfTurn, columns_of
from therapy_analytics.writers import convert
from therapy_analytics.writers._refi import CodeMeaning, refi_project

SCHEMA = Schema(Path(__file__).with_name("Project.xsd"))
SPACE = "{urn:QDA-XML:project:1.0}"
BOOK = ("mi_question", "mi_reflection")
TALK = session("What is it? \U0001f600", "I want to.\nI will.", "Good.")
CODED = CodedSession(
    "one",
    TALK.turns,
    (
        (CodesOfTurn("Ann", ("mi_question",), BOOK, "Open, I think."), CodesOfTurn("therapy-analytics (fast)", BOOK)),
        (CodesOfTurn("Ben", ("mi_change",), ("mi_change", "mi_sustain")),),
        (CodesOfTurn("Ann", (), BOOK), CodesOfTurn("Ben", ("mi_reflection", "own thing"), (*BOOK, "own thing"))),
    ),
)
"""Two coders, one of whom decided about other codes at each turn; a note; what the machine says."""


def project_of(data: bytes) -> Element:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        root: Element = ElementTree.fromstring(archive.read("project.qde"))
    return root


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return data.getvalue()


def problem_of(data: bytes, path: Path) -> str:
    path.write_bytes(data)
    (reading,) = read_files([path])
    assert reading.problem is not None
    return str(reading.problem)


@pytest.fixture
def project() -> bytes:
    meanings = {"mi_question": CodeMeaning("Motivational interviewing", "The therapist asks.")}
    return refi_project("Study", [CODED], meanings=meanings, dates={"Ann": "2025-03-04T09:00:00Z"})


def test_a_project_is_valid_by_the_published_schema(project: bytes, samples: Path, tmp_path: Path) -> None:
    assert SCHEMA.errors(project_of(project)) == []
    for path in convert([samples], "qdpx", tmp_path / "out").files:
        if path.suffix == ".qdpx":
            assert SCHEMA.errors(project_of(path.read_bytes())) == []


def test_the_check_of_the_schema_finds_what_is_wrong(project: bytes) -> None:
    root = project_of(project)
    selection = root.find(f".//{SPACE}PlainTextSelection")
    assert selection is not None
    selection.set("startPosition", "first")
    selection.set("colour", "red")
    del selection.attrib["guid"]
    root.remove(root[0])
    root.append(Element(f"{SPACE}Users"))
    assert SCHEMA.errors(root) == [
        "Project holds <CodeBook><Sources><Notes><Users>, in this order",
        "PlainTextSelection has an attribute colour",
        "PlainTextSelection lacks guid",
        "startPosition of PlainTextSelection is no xsd:integer",
        "Users holds , in this order",
    ]


def test_a_sample_of_another_program_is_valid(root: Path) -> None:
    assert SCHEMA.errors(project_of((root / "tests" / "formats" / "moreau_ada.qdpx").read_bytes())) == []


def test_ids_are_unique_and_all_that_is_referred_to_is_there(project: bytes) -> None:
    root = project_of(project)
    ids = [one.get("guid") for one in root.iter() if one.get("guid")]
    assert len(ids) == len(set(ids))
    named = {one.get(key) for one in root.iter() for key in ("targetGUID", "creatingUser", "creatingUserGUID")}
    assert named - {None} <= set(ids)


def test_passages_are_the_words_of_turns_in_code_points(project: bytes) -> None:
    source = project_of(project).find(f".//{SPACE}TextSource")
    assert source is not None
    with zipfile.ZipFile(io.BytesIO(project)) as archive:
        text = archive.read(source.get("plainTextPath", "").replace("internal://", "sources/")).decode()
    places = [(int(one.get("startPosition", "")), int(one.get("endPosition", ""))) for one in source]
    assert [text[begin:end] for begin, end in places] == [turn.text for turn in TALK.turns]
    assert text == "therapist: What is it? \U0001f600\nclient: I want to.\nI will.\ntherapist: Good.\n"


def test_turns_codes_coders_and_notes_survive(project: bytes, tmp_path: Path) -> None:
    path = tmp_path / "one.qdpx"
    path.write_bytes(project)
    (back,) = read(path)
    assert [(one.speaker, one.role, one.text) for one in back.turns] == [
        (one.speaker, one.role, one.text) for one in TALK.turns
    ]
    assert [dict(one.gold) for one in back.turns] == [
        {"coder_ann": "mi_question"},
        {"coder_ben": "mi_change"},
        {"coder_ann": "", "coder_ben": "mi_reflection;own thing"},
    ]
    found = coded_table(path).to_numpy().tolist()
    assert sorted(found) == sorted(map(list, code_rows([CODED])))
    assert ["one", "0", "mi_question", "1", "Ann", "Open, I think."] in found
    assert ["one", "2", "mi_reflection", "0", "Ann", ""] in found
    assert not any(coder.startswith("therapy-analytics") for *_, coder, _ in found)


def test_the_same_sessions_give_the_same_bytes(project: bytes) -> None:
    meanings = {"mi_question": CodeMeaning("Motivational interviewing", "The therapist asks.")}
    assert refi_project("Study", [CODED], meanings=meanings, dates={"Ann": "2025-03-04T09:00:00Z"}) == project


def test_a_project_of_another_program(root: Path) -> None:
    """Texts by labels; a passage is about each turn whose letters it holds; Windows' line breaks are two characters."""
    path = root / "tests" / "formats" / "moreau_ada.qdpx"
    one, two = read(path)
    assert [one.id, two.id] == ["moreau_ada_1", "moreau_ada_2"]
    assert one.notes[0] == "1 text of the project without speaker labels left out."
    assert [dict(turn.gold) for turn in one.turns] == [
        {"coder_ines_roth": "question", "coder_bo": "question"},
        {},
        {"coder_ines_roth": "reflection", "coder_bo": "question"},
        {"coder_ines_roth": "change talk", "coder_bo": "question"},
    ]
    table = coded_table(path).set_index(["session_id", "turn", "coder", "code"])
    assert table.loc[("moreau_ada_1", "1", "Ines Roth", "question"), "value"] == "0"
    assert table.loc[("moreau_ada_1", "2", "Ines Roth", "reflection"), "note"] == "Complex or simple?"
    assert "Bo" not in table.loc["moreau_ada_2"].index.get_level_values("coder")


def test_names_of_coders_are_told_apart() -> None:
    assert columns_of(["Ann", "ann"]) == {"Ann": "coder_ann", "ann": "coder_ann_2"}


HEAD = '<?xml version="1.0"?>\n'
PROJECT = '<Project name="p" xmlns="urn:QDA-XML:project:1.0">{}</Project>'
TEXT = '<Sources><TextSource guid="a" name="secret words" plainTextPath="internal://{}"/></Sources>'
BOMB = '<!DOCTYPE Project [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"project.qde": HEAD + BOMB + PROJECT.format("&b;")}, "defines entities"),
        (
            {"project.qde": HEAD + PROJECT.format(TEXT.format("../../etc/passwd"))},
            "names a text that is not in the file",
        ),
        ({"project.qde": HEAD + PROJECT.format(TEXT.format("a.txt")), "b.txt": "T: x"}, "names a text that is not"),
        ({"project.qde": HEAD + PROJECT.format("")}, "holds no text"),
        ({"project.qde": HEAD + PROJECT.format("")[:-9]}, "broken or breaks off"),
        ({"project.qde": HEAD + "<Other/>"}, "is no REFI-QDA project"),
        ({"project.qde": HEAD + PROJECT.format(TEXT.format("a.txt")), "sources/a.txt": "secret words"}, "no speaker"),
        ({"project.qde": HEAD + PROJECT.format(" " * 3_000_000)}, "unpack to more than 100 times"),
        ({"project.qde.bak": "x"}, "holds no project"),
    ],
)
def test_what_is_unsafe_or_broken_is_refused_without_its_words(
    parts: dict[str, str], problem: str, tmp_path: Path
) -> None:
    told = problem_of(zipped(parts), tmp_path / "case.qdpx")
    assert problem in told
    assert "secret" not in told


def test_names_of_parts_open_no_files(tmp_path: Path) -> None:
    """A text whose name in the archive leads out of it is read from the archive, or not at all."""
    (tmp_path / "a.txt").write_text("T: outside.\nC: Yes.\n")
    parts = {"project.qde": HEAD + PROJECT.format(TEXT.format("../a.txt")), "../a.txt": "T: inside.\nC: Yes.\n"}
    (tmp_path / "case.qdpx").write_bytes(zipped(parts))
    (one,) = read(tmp_path / "case.qdpx")
    assert [turn.text for turn in one.turns] == ["inside.", "Yes."]


def test_passages_that_overlap_without_end_are_refused(tmp_path: Path) -> None:
    text = "T: a\nC: b\n" * 1000
    passage = f'<PlainTextSelection guid="s" startPosition="0" endPosition="{len(text)}"/>'
    source = f'<Sources><TextSource guid="a" plainTextPath="internal://a.txt">{passage * 1500}</TextSource></Sources>'
    noise = "".join(f"<!--{number * 7919 % 10007}-->" for number in range(4000))
    parts = {"project.qde": HEAD + PROJECT.format(source) + noise, "sources/a.txt": text}
    assert "passages overlap" in problem_of(zipped(parts), tmp_path / "case.qdpx")


def test_codes_that_are_what_somebody_said_are_left_out(tmp_path: Path) -> None:
    """In-vivo codes would bring words of the session into the tables of a run."""
    talk = session("What is it?", "I am so very tired of it.", "Good.", name="one")
    given = (CodesOfTurn("Ann", ("so very tired", "goes well on", "question")),)
    (tmp_path / "one.qdpx").write_bytes(refi_project("Study", [CodedSession("one", talk.turns, ((), given, ()))]))
    (back,) = read(tmp_path / "one.qdpx")
    assert dict(back.turns[1].gold) == {"coder_ann": "goes well on;question"}
    assert "1 code whose name is a passage of a text left out." in back.notes
    assert "so very tired" not in set(coded_table(tmp_path / "one.qdpx")["code"])


def in_categories(*codes: tuple[str, str]) -> bytes:
    """Return a project in which Ann gave a turn codes, each of a category."""
    talk = session("What is it?", "I am so very tired of it.", "Good.", name="one")
    given = (CodesOfTurn("Ann", tuple(f"code {at}" for at in range(len(codes)))),)
    data = refi_project("Study", [CodedSession("one", talk.turns, ((), given, ()))])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    root = ElementTree.fromstring(parts["project.qde"])
    parents = {child: parent for parent in root.iter() for child in parent}
    for at, (category, name) in enumerate(codes):
        element = next(one for one in root.iter(f"{SPACE}Code") if one.get("name") == f"code {at}")
        element.set("name", name)
        about = {"guid": f"00000000-0000-4000-8000-{at:012d}", "name": category, "isCodable": "true"}
        parent = parents[element]
        parent.remove(element)
        SubElement(parent, f"{SPACE}Code", about).append(element)
    return zipped(parts | {"project.qde": tostring(root)})


@pytest.mark.parametrize(
    "codes",
    [
        (("Body", "so very tired"), ("Mood", "so very tired")),  # is given the name of its category
        (("so very tired", "again"), ("Mood", "again")),  # is given a name that somebody said
        (("so very", "tired"), ("Mood", "tired")),  # both together are what somebody said
    ],
)
def test_what_somebody_said_is_left_out_beside_the_name_of_a_category(
    codes: tuple[tuple[str, str], ...], tmp_path: Path
) -> None:
    (tmp_path / "one.qdpx").write_bytes(in_categories(*codes, ("Mood", "low")))
    found = set(coded_table(tmp_path / "one.qdpx")["code"])
    assert not [code for code in found if "so very tired" in code]
    assert "low" in found


def test_a_file_without_codes_is_no_gold(samples: Path, tmp_path: Path) -> None:
    convert([samples / "nair_yuki.txt"], "qdpx", tmp_path)
    with pytest.raises(BadDataFileError, match="nobody gave a code in it"):
        coded_table(tmp_path / "nair_yuki.qdpx")
