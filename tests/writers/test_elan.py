"""ELAN: what ELAN needs of a file, codes on tiers of their own, and codes that people added in ELAN."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from defusedxml import ElementTree
from talks import session

from therapy_analytics.agreement._coded_files import code_rows, coded_table
from therapy_analytics.readers import read
from therapy_analytics.readers._coded import CodedSession, CodesOfTurn
from therapy_analytics.writers.elan import elan_file

BOOK = ("mi_question", "mi_reflection")
TALK = session("What is it?", "I want to.\nI will.", "Good.", "Yes.", name="one")
CODED = CodedSession(
    "one",
    TALK.turns,
    (
        (CodesOfTurn("Ann", ("mi_question",), BOOK, "Open, I think."), CodesOfTurn("therapy-analytics (fast)", BOOK)),
        (CodesOfTurn("Ben", ("mi_change",), ("mi_change", "mi_sustain")),),
        (CodesOfTurn("Ann", (), ("mi_question",)), CodesOfTurn("Ben", BOOK, BOOK)),
        (),
    ),
)
"""Ann did not decide about reflections at the third turn, and nobody coded the fourth."""


@pytest.fixture
def root() -> Element:
    found: Element = ElementTree.fromstring(elan_file(CODED))
    return found


def test_what_elan_needs(root: Element) -> None:
    ids = [one.get("ANNOTATION_ID") for one in root.iter() if one.get("ANNOTATION_ID")]
    assert len(ids) == len(set(ids))
    assert {one.get("ANNOTATION_REF") for one in root.iter("REF_ANNOTATION")} <= set(ids)
    types = {one.get("LINGUISTIC_TYPE_ID"): one for one in root.iter("LINGUISTIC_TYPE")}
    tiers = root.findall("TIER")
    assert {one.get("LINGUISTIC_TYPE_REF") for one in tiers} <= set(types)
    names = [one.get("TIER_ID") for one in tiers]
    assert len(names) == len(set(names))
    assert {one.get("PARENT_REF") for one in tiers} - {None} <= set(names)
    vocabularies = {one.get("CV_ID") for one in root.iter("CONTROLLED_VOCABULARY")}
    assert {one.get("CONTROLLED_VOCABULARY_REF") for one in types.values()} - {None} == vocabularies
    order = [
        "HEADER", "TIME_ORDER", *["TIER"] * len(tiers), *["LINGUISTIC_TYPE"] * len(types), *["CONSTRAINT"] * 2,
        *["CONTROLLED_VOCABULARY"] * len(vocabularies),
    ]  # fmt: skip
    assert [one.tag for one in root] == order


def test_each_tier_runs_forward_and_no_turn_is_without_length(root: Element) -> None:
    times = {one.get("TIME_SLOT_ID"): int(one.get("TIME_VALUE", "")) for one in root.iter("TIME_SLOT")}
    spans = [
        (times[one.get("TIME_SLOT_REF1")], times[one.get("TIME_SLOT_REF2")])
        for one in root.iter("ALIGNABLE_ANNOTATION")
    ]
    assert sorted(spans) == [(0, 1000), (1000, 2000), (2000, 3000), (3000, 4000)]


def test_codes_coders_and_notes_survive(tmp_path: Path) -> None:
    (tmp_path / "one.eaf").write_bytes(elan_file(CODED))
    found = coded_table(tmp_path / "one.eaf").to_numpy().tolist()
    assert sorted(found) == sorted(map(list, code_rows([CODED])))
    assert ["one", "0", "mi_reflection", "0", "Ann", "Open, I think."] in found
    assert not [row for row in found if row[1:3] == ["2", "mi_reflection"] and row[4] == "Ann"]
    (back,) = read(tmp_path / "one.eaf")
    assert [(one.text, one.start_s) for one in back.turns] == [(one.text, None) for one in TALK.turns]
    assert dict(back.turns[2].gold) == {"coder_ann": "", "coder_ben": "mi_question;mi_reflection"}


def test_a_turn_that_was_added_in_elan_stands_where_it_begins(root: Element, tmp_path: Path) -> None:
    tier = root.find("TIER[@TIER_ID='client']")
    order = root.find("TIME_ORDER")
    assert tier is not None
    assert order is not None
    slots = {"TIME_SLOT_REF1": "x1", "TIME_SLOT_REF2": "x2"}
    for name, time in (("x1", "2100"), ("x2", "2200")):
        order.append(Element("TIME_SLOT", {"TIME_SLOT_ID": name, "TIME_VALUE": time}))
    annotation = Element("ANNOTATION")
    one = Element("ALIGNABLE_ANNOTATION", {"ANNOTATION_ID": "new", **slots})
    value = Element("ANNOTATION_VALUE")
    value.text = "Mhm."
    one.append(value)
    annotation.append(one)
    tier.append(annotation)
    (tmp_path / "one.eaf").write_bytes(ElementTree.tostring(root))
    (back,) = read(tmp_path / "one.eaf")
    assert [turn.text for turn in back.turns] == ["What is it?", "I want to.\nI will.", "Good.", "Mhm. Yes."]


FOREIGN = """<ANNOTATION_DOCUMENT><HEADER TIME_UNITS="milliseconds"/><TIME_ORDER>
<TIME_SLOT TIME_SLOT_ID="a" TIME_VALUE="0"/><TIME_SLOT TIME_SLOT_ID="b" TIME_VALUE="1500"/>
<TIME_SLOT TIME_SLOT_ID="c" TIME_VALUE="3000"/><TIME_SLOT TIME_SLOT_ID="d" TIME_VALUE="1400"/></TIME_ORDER>
<TIER TIER_ID="Therapist" LINGUISTIC_TYPE_REF="utterance"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="t1"
 TIME_SLOT_REF1="a" TIME_SLOT_REF2="b"><ANNOTATION_VALUE>What is it?</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION>
</ANNOTATION></TIER>
<TIER TIER_ID="Client" LINGUISTIC_TYPE_REF="utterance"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="c1"
 TIME_SLOT_REF1="d" TIME_SLOT_REF2="c"><ANNOTATION_VALUE>I want to.</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION>
</ANNOTATION></TIER>
<TIER TIER_ID="{}" LINGUISTIC_TYPE_REF="{}" ANNOTATOR="Ann"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="k1"
 TIME_SLOT_REF1="a" TIME_SLOT_REF2="b"><ANNOTATION_VALUE>{}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
</TIER></ANNOTATION_DOCUMENT>"""


@pytest.mark.parametrize(
    ("name", "kind"), [("MI codes", "x"), ("codes_Ann", "x"), ("MITI", "coding"), ("gold MI", "x")]
)
def test_a_tier_of_codes_is_codes_of_its_annotator(name: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "case.eaf").write_text(FOREIGN.format(name, kind, "question; open"))
    (back,) = read(tmp_path / "case.eaf")
    assert [(turn.text, dict(turn.gold)) for turn in back.turns] == [
        ("What is it?", {"coder_ann": "question;open"}),
        ("I want to.", {}),
    ]
    assert back.notes == ("1 tier of codes read as codes by people (1 annotation).",)


@pytest.mark.parametrize(
    ("name", "value"), [("Emotion", "sad"), ("decoder", "sad"), ("MI codes", "she asks him what it is, openly")]
)
def test_other_tiers_and_sentences_are_no_codes(name: str, value: str, tmp_path: Path) -> None:
    (tmp_path / "case.eaf").write_text(FOREIGN.format(name, "x", value))
    (back,) = read(tmp_path / "case.eaf")
    assert not any(turn.gold for turn in back.turns)
