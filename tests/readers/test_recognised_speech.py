"""What speech recognisers write: the same four turns in the form of each service."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from therapy_analytics.core.session import Session
from therapy_analytics.readers import FileReading, inspect

SessionOf = Callable[..., Session]
Reading = Callable[..., FileReading]
SPOKEN = (
    (0, "How have you been this week?"),
    (1, "Not so good, I could not sleep."),
    (0, "You are worn out."),
    (1, "Yes, I am."),
)
STARTS = [0.0, 3.0, 6.5, 8.5]
"""Half a second for each word."""
ALL = " ".join(spoken for _, spoken in SPOKEN)
Item = dict[str, Any]


def words() -> Iterator[tuple[int, str, float]]:
    """Yield who says each word or mark, and when; marks take no time."""
    at = 0
    for who, spoken in SPOKEN:
        for token in spoken.replace(",", " ,").replace(".", " .").replace("?", " ?").split():
            yield who, token, at / 2
            at += token.isalnum()


def glued() -> Iterator[tuple[int, str, float]]:
    """Yield the same, with the marks at the words."""
    at = 0
    for who, spoken in SPOKEN:
        for word in spoken.split():
            yield who, word, at / 2
            at += 1


def amazon(*, labelled: bool) -> Item:
    items, segments = [], list[Item]()
    for who, token, at in words():
        item: Item = {"type": "pronunciation", "alternatives": [{"confidence": "0.9", "content": token}]}
        timed = {"start_time": str(at), "end_time": str(at + 0.4)}
        speaker = {"speaker_label": f"spk_{who}"}
        if token.isalnum():
            item |= timed
            if not segments or segments[-1]["speaker_label"] != f"spk_{who}":
                segments.append({**timed, **speaker, "items": []})
            segments[-1]["items"].append({**timed, **speaker})
        else:
            item["type"] = "punctuation"
        items.append({**item, **speaker} if labelled else item)
    results = {"transcripts": [{"transcript": ALL}], "speaker_labels": {"speakers": 2, "segments": segments}}
    return {"jobName": "j", "status": "COMPLETED", "results": {**results, "items": items}}


def health_scribe() -> Item:
    segments = [
        {
            "SegmentId": str(i),
            "BeginAudioTime": STARTS[i],
            "EndAudioTime": STARTS[i] + 1,
            "Content": spoken,
            "ParticipantDetails": {"ParticipantRole": ("CLINICIAN_0", "PATIENT_0")[who]},
            "SectionDetails": {"SectionName": "SUBJECTIVE"},
        }
        for i, (who, spoken) in enumerate(SPOKEN)
    ]
    items = [{"BeginAudioTime": 0, "Alternatives": [{"Content": "How"}]}]
    return {"Conversation": {"ConversationId": "c1", "TranscriptSegments": segments, "TranscriptItems": items}}


def google(*, of_all: bool) -> Item:
    """The first version tags the words once, at the end; the second in the result that they are of."""
    first: list[Item] = [
        {"startTime": f"{at:.3f}s", "endTime": f"{at + 0.4:.3f}s", "word": word, "speakerTag": who + 1}
        for who, word, at in glued()
    ]
    if not of_all:
        bare = [{key: value for key, value in word.items() if key != "speakerTag"} for word in first]
        half = len(bare) // 2
        found = [{"alternatives": [{"transcript": ALL, "words": some}]} for some in (bare[:half], bare[half:])]
        return {"results": [*found, {"alternatives": [{"words": first}]}]}
    second = [
        {"startOffset": one["startTime"], "endOffset": one["endTime"], "word": one["word"], "speakerLabel": who}
        for one, who in ((one, str(one["speakerTag"])) for one in first)
    ]
    return {"results": [{"alternatives": [{"words": some}]} for some in (second[:9], second[9:])]}


def azure() -> Item:
    phrases = [
        {
            "recognitionStatus": "Success",
            "channel": 0,
            "speaker": who + 1,
            "offset": f"PT{STARTS[i]}S",
            "duration": "PT1S",
            "offsetInTicks": STARTS[i] * 1e7,
            "nBest": [{"confidence": 0.9, "lexical": spoken.lower(), "display": spoken}, {"display": "or else"}],
        }
        for i, (who, spoken) in enumerate(SPOKEN)
    ]
    return {"source": "a.wav", "combinedRecognizedPhrases": [{"display": ALL}], "recognizedPhrases": phrases}


def azure_fast() -> Item:
    phrases = [
        {"speaker": who + 1, "offsetMilliseconds": int(STARTS[i] * 1000), "text": spoken, "words": [{"text": "How"}]}
        for i, (who, spoken) in enumerate(SPOKEN)
    ]
    return {"durationMilliseconds": 9000, "combinedPhrases": [{"text": ALL}], "phrases": phrases}


def speechmatics() -> Item:
    results = [
        {
            "type": "word" if token.isalnum() else "punctuation",
            "start_time": at,
            "end_time": at + 0.4,
            "alternatives": [{"content": token, "speaker": f"S{who + 1}", "confidence": 1.0}],
        }
        for who, token, at in words()
    ]
    return {"format": "2.9", "metadata": {"created_at": "2024-01-01T00:00:00Z"}, "results": results}


def assembly() -> Item:
    utterances = [
        {"speaker": "AB"[who], "text": spoken, "start": int(STARTS[i] * 1000), "end": int(STARTS[i] * 1000) + 900}
        for i, (who, spoken) in enumerate(SPOKEN)
    ]
    return {"id": "a1", "text": ALL, "utterances": utterances}


def zoom() -> Item:
    return {
        "timeline": [
            {"text": spoken, "ts": f"00:00:0{STARTS[i]}", "users": [{"username": ("Dr Lee", "Tom")[who]}]}
            for i, (who, spoken) in enumerate(SPOKEN)
        ]
    }


FORMS: dict[str, Callable[[], Item]] = {
    "amazon": lambda: amazon(labelled=True),
    "amazon, speakers apart": lambda: amazon(labelled=False),
    "amazon for clinics": health_scribe,
    "google": lambda: google(of_all=False),
    "google, second version": lambda: google(of_all=True),
    "azure": azure,
    "azure, fast": azure_fast,
    "speechmatics": speechmatics,
    "assemblyai": assembly,
    "zoom": zoom,
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_turns_in_every_form(form: str, session: SessionOf) -> None:
    found = session(json.dumps(FORMS[form]()), "talk.json")
    assert [turn.text for turn in found.turns] == [spoken for _, spoken in SPOKEN]
    assert [turn.role for turn in found.turns] == ["therapist", "client"] * 2
    assert [turn.start_s for turn in found.turns] == STARTS
    assert not {"sleep", "week"} & set(" ".join(found.metadata.values()).split())


@pytest.mark.parametrize(("form", "key"), [("google", "speakerTag"), ("amazon", "speaker_label")])
def test_without_speakers_it_says_what_is_missing(form: str, key: str, reading: Reading) -> None:
    bare = json.loads(json.dumps(FORMS[form]()), object_hook=lambda one: {k: v for k, v in one.items() if k != key})
    problem = reading(json.dumps(bare), "talk.json").problem
    assert problem is not None
    assert "the diarisation is missing" in str(problem)


@pytest.mark.parametrize("form", FORMS)
def test_broken_forms_do_not_break_the_reader(form: str, reading: Reading) -> None:
    """Each value of the file in turn is none of what the service writes there."""
    text = json.dumps(FORMS[form]())
    n = len(list(_paths(json.loads(text))))
    for odd in (None, 7, "x", [], {}):
        for at in range(0, n, max(1, n // 15)):
            broken = json.loads(text)
            holder, key = list(_paths(broken))[at]
            holder[key] = odd
            reading(json.dumps(broken), "talk.json")


def _paths(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(item, dict | list):
            yield from _paths(item)


def test_the_third_of_a_b_and_c_is_no_client_for_the_letter(session: SessionOf) -> None:
    spoken = ["How are you?", "I am ill and I cough.", "How did you two sleep?", "I slept, but I heard her."]
    rows = [{"speaker": who, "text": words} for who, words in zip("CACB", spoken, strict=True)]
    first = session(json.dumps(rows), "talk.json").turns[0]
    assert (first.speaker, first.role) == ("C", "therapist")


def test_a_unit_in_which_people_would_not_speak_so_is_no_unit(session: SessionOf) -> None:
    rows = [
        {"speaker": "TC"[at % 2], "text": "How are you?", "start": 1_100_000 * at, "end": 1_100_000 * at + 1_000_000}
        for at in range(4)
    ]
    one = session(json.dumps(rows), "talk.json")
    assert [turn.start_s for turn in one.turns] == [None] * 4
    assert one.notes == ("Times were left out, because in no unit of theirs would people speak so fast or so slowly.",)


def test_times_that_cannot_be_read_are_told(session: SessionOf) -> None:
    rows = [{"speaker": who, "text": "Yes.", "start": start} for who, start in (("T", "00:01"), ("C", "later"))]
    one = session(json.dumps(rows), "talk.json")
    assert [turn.start_s for turn in one.turns] == [1.0, None]
    assert one.notes == ("1 time could not be read.",)


def test_a_translation_of_the_talk_is_not_read(session: SessionOf) -> None:
    found = session(
        json.dumps({**assembly(), "translations": {"de": [{"speaker": "A", "text": "Wie geht es?"}]}}), "t.json"
    )
    assert [turn.text for turn in found.turns] == [spoken for _, spoken in SPOKEN]


@pytest.mark.parametrize(
    ("times", "line"), [({}, "no times were found"), ({"start": 2.5}, "times were found: 1 turn of 2")]
)
def test_inspect_says_of_how_many_turns_times_were_found(times: Item, line: str, tmp_path: Path) -> None:
    rows = [{"speaker": "T", "text": "How are you?", **times}, {"speaker": "C", "text": "I am ill."}]
    (tmp_path / "talk.json").write_text(json.dumps(rows), encoding="utf-8")
    (looked,) = inspect([tmp_path / "talk.json"])
    assert any(line in one for one in looked.lines())
