"""Dialogues, and every form of transcript that a reader claims, written by hand with the standard library.

Nothing here uses the package's own writers: what is read back is compared with the dialogue itself.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

STEP = 5
"""Seconds from one turn to the next; a turn ends a second before the next begins."""


@dataclass(frozen=True)
class Cast:
    """Labels as written, and what some of them are in the session: therapist, client or other."""

    labels: tuple[str, ...]
    roles: Mapping[str, str]


@dataclass(frozen=True)
class Dialogue:
    """What is said, in order: label and words, in which a line break begins a line without a label.

    `before` are lines above the first label, which nobody is known to have said.
    """

    cast: Cast
    turns: tuple[tuple[str, str], ...]
    before: tuple[str, ...] = ()

    def timed(self) -> list[tuple[str, str, int, int]]:
        """Return label, words, begin and end in seconds."""
        return [(who, text, STEP * at, STEP * at + STEP - 1) for at, (who, text) in enumerate(self.turns)]


_T, _C, _OTHER = "therapist", "client", "other"
CASTS = {
    "pair": Cast(("Therapist", "Client"), {"Therapist": _T, "Client": _C}),
    "letters": Cast(("T", "C"), {"T": _T, "C": _C}),
    "couple": Cast(("Therapist", "Husband", "Wife"), {"Therapist": _T}),
    "couple beside a client": Cast(("Therapist", "Client", "Husband"), {"Therapist": _T, "Client": _C}),
    "family": Cast(("Therapist", "Mother", "Father", "Son", "Daughter"), {"Therapist": _T}),
    "interpreter": Cast(
        ("Counselor", "Patient", "Interpreter"), {"Counselor": _T, "Patient": _C, "Interpreter": _OTHER}
    ),
    "co-therapists": Cast(
        ("Therapist 1", "Therapist 2", "Client"), {"Therapist 1": _T, "Therapist 2": _T, "Client": _C}
    ),
    "group": Cast(
        ("Facilitator", "Member 1", "Member 2", "Member 3", "Member 4", "Member 5"),
        {"Facilitator": _T, **{f"Member {n}": _C for n in range(1, 6)}},
    ),
    "capitals": Cast(("THERAPIST", "CLIENT", "MOTHER"), {"THERAPIST": _T, "CLIENT": _C}),
    "names": Cast(("Dr. Weir", "Hanna", "Tomas"), {"Dr. Weir": _T}),
    "full names": Cast(("Ruth Varga", "Lena O'Brien", "José Núñez"), {}),
    "initials": Cast(("RV", "LO", "JN"), {}),
    "another alphabet": Cast(("Терапевт", "Клиент", "Мать"), {"Терапевт": _T, "Клиент": _C}),
}
"""Who speaks in a session; the first two of each speak at least twice."""


@dataclass(frozen=True)
class Form:
    """A way to write a dialogue: whose reader it is, its ending, how to write it.

    `holds` says what of a dialogue the form can hold: what it returns is written and must be read. `casts` are those
    for which the form is plain; all, if there are none. In a `loose` form, a name that stands once may as well be the
    beginning of what somebody says, so a note must count such lines, and another reader may take the file.
    """

    reader: str
    name: str
    suffix: str
    write: Callable[[Dialogue], str | bytes]
    holds: Callable[[Dialogue], Dialogue] = lambda dialogue: dialogue
    casts: tuple[str, ...] = ()
    loose: bool = False


def on_one_line(dialogue: Dialogue) -> Dialogue:
    """Return a dialogue without line breaks inside its turns, and with nothing before it."""
    return Dialogue(dialogue.cast, tuple((who, " ".join(text.split())) for who, text in dialogue.turns))


def alternating(dialogue: Dialogue) -> Dialogue:
    """Return a dialogue on single lines in which the first two speakers, and no others, take turns."""
    two = dialogue.cast.labels[:2]
    texts = [" ".join(text.split()) for _, text in dialogue.turns]
    texts = texts[: len(texts) // 2 * 2]
    return Dialogue(dialogue.cast, tuple((two[at % 2], text) for at, text in enumerate(texts)))


def with_nothing_before(dialogue: Dialogue) -> Dialogue:
    return replace(dialogue, before=())


def clock(seconds: float, mark: str = ".") -> str:
    return f"{int(seconds) // 3600:02d}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}{mark}000"


def short_clock(seconds: int) -> str:
    return f"{seconds // 60}:{seconds % 60:02d}"


# Lines of text


def lines(turn: str, *, apart: str = "\n") -> Callable[[Dialogue], str]:
    """Return a writer of turns by a pattern; ``{n}`` is the turn's number, ``{at}`` its time."""

    def write(dialogue: Dialogue) -> str:
        spoken = [
            turn.format(who=who, text=text, n=n, at=clock(begin)[:8], short=short_clock(begin))
            for n, (who, text, begin, _) in enumerate(dialogue.timed(), start=1)
        ]
        return apart.join([*dialogue.before, *spoken]) + "\n"

    return write


def markdown_table(dialogue: Dialogue) -> str:
    rows = [f"| {who} | {text.replace('|', ' ')} |" for who, text in dialogue.turns]
    return "\n".join(["| Speaker | Text |", "| --- | --- |", *rows]) + "\n"


def without_bars(dialogue: Dialogue) -> Dialogue:
    one = on_one_line(dialogue)
    return replace(one, turns=tuple((who, text.replace("|", " ")) for who, text in one.turns))


def front_matter(dialogue: Dialogue) -> str:
    return "---\nsource: human\ndate: 2025-05-06\n---\n\n" + lines("**{who}:** {text}", apart="\n\n")(dialogue)


def line_numbers(dialogue: Dialogue) -> str:
    text = lines("{who}: {text}")(dialogue).rstrip("\n")
    return "".join(f"{n:>4}  {line}\n" for n, line in enumerate(text.split("\n"), start=1))


# Tables


def rows_of(dialogue: Dialogue) -> list[list[str]]:
    return [
        [str(n), who, text, str(begin), str(end)] for n, (who, text, begin, end) in enumerate(dialogue.timed(), start=1)
    ]


def table(delimiter: str, header: Sequence[str] = ("turn", "speaker", "text", "start", "end")) -> Callable[..., str]:
    def write(dialogue: Dialogue) -> str:
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
        if header:
            writer.writerow(header)
        writer.writerows(rows_of(dialogue))
        return out.getvalue()

    return write


def two_columns(dialogue: Dialogue) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(dialogue.turns)
    return out.getvalue()


def exchanges(dialogue: Dialogue) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(dialogue.cast.labels[:2])
    texts = [text for _, text in dialogue.turns]
    writer.writerows(zip(texts[::2], texts[1::2], strict=True))
    return out.getvalue()


def a_column_each(dialogue: Dialogue) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["session", *dialogue.cast.labels])
    for who, text in dialogue.turns:
        writer.writerow(["a", *(text if who == label else "" for label in dialogue.cast.labels)])
    return out.getvalue()


def in_a_cell(dialogue: Dialogue) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["id", "topic", "transcript"])
    writer.writerow(["a", "sleep", "\n".join(f"{who}: {text}" for who, text in dialogue.turns)])
    return out.getvalue()


# Zipped documents


def zipped(parts: Mapping[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text)
    return out.getvalue()


XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPES = "application/vnd.openxmlformats-officedocument"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def package(main: str, content_type: str, parts: Mapping[str, str]) -> bytes:
    types = f'<Override PartName="/{main}" ContentType="{TYPES}.{content_type}+xml"/>'
    if "xl/worksheets/sheet1.xml" in parts:
        types += f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{TYPES}.spreadsheetml.worksheet+xml"/>'
    return zipped(
        {
            "[Content_Types].xml": f'{XML}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>{types}</Types>',
            "_rels/.rels": f'{XML}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
            f'Type="{OFFICE}/officeDocument" Target="{main}"/></Relationships>',
            **parts,
        }
    )


def run(text: str, *, bold: bool = False) -> str:
    breaks = "</w:t><w:br/><w:t xml:space='preserve'>".join(map(escape, text.split("\n")))
    return f"<w:r>{'<w:rPr><w:b/></w:rPr>' * bold}<w:t xml:space='preserve'>{breaks}</w:t></w:r>"


def docx(body: str) -> bytes:
    document = f'{XML}<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    return package("word/document.xml", "wordprocessingml.document.main", {"word/document.xml": document})


def paragraphs(dialogue: Dialogue) -> bytes:
    spoken = [f"{who}: {text}".split("\n") for who, text in dialogue.turns]
    return docx("".join(f"<w:p>{run(line)}</w:p>" for turn in [list(dialogue.before), *spoken] for line in turn))


def bold_labels(dialogue: Dialogue) -> bytes:
    return docx("".join(f"<w:p>{run(who, bold=True)}{run(f': {text}')}</w:p>" for who, text in dialogue.turns))


def styled_labels(dialogue: Dialogue) -> bytes:
    heading = '<w:pPr><w:pStyle w:val="Heading3"/></w:pPr>'
    return docx("".join(f"<w:p>{heading}{run(who)}</w:p><w:p>{run(text)}</w:p>" for who, text in dialogue.turns))


def word_table(dialogue: Dialogue, header: Sequence[str] = ("Speaker", "Text")) -> bytes:
    rows = [list(header), *map(list, dialogue.turns)] if header else list(map(list, dialogue.turns))
    cells = ["".join(f"<w:tc><w:p>{run(cell)}</w:p></w:tc>" for cell in row) for row in rows]
    return docx(f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>")


def word_table_with_times(dialogue: Dialogue) -> bytes:
    rows = [["Time", "Who", "What was said"]]
    rows += [[short_clock(begin), who, text] for who, text, begin, _ in dialogue.timed()]
    cells = ["".join(f"<w:tc><w:p>{run(cell)}</w:p></w:tc>" for cell in row) for row in rows]
    return docx(f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>")


def workbook(dialogue: Dialogue) -> bytes:
    rows = [["turn", "speaker", "text", "start", "end"], *rows_of(dialogue)]
    cells = [
        "".join(f"<c t='inlineStr'><is><t xml:space='preserve'>{escape(cell)}</t></is></c>" for cell in row)
        for row in rows
    ]
    sheet = "".join(f"<row>{row}</row>" for row in cells)
    book = f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets>'
    return package(
        "xl/workbook.xml",
        "spreadsheetml.sheet.main",
        {
            "xl/workbook.xml": f"{XML}{book}</workbook>",
            "xl/_rels/workbook.xml.rels": f'{XML}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
            f'Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f'{XML}<worksheet xmlns="{SHEET}"><sheetData>{sheet}</sheetData></worksheet>',
        },
    )


def parquet(dialogue: Dialogue) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    rows = [{"session_id": "a", "speaker": who, "text": text} for who, text in dialogue.turns]
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def parquet_of_messages(dialogue: Dialogue) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    messages = [{"speaker": who, "content": text} for who, text in dialogue.turns]
    pq.write_table(pa.Table.from_pylist([{"id": "a", "messages": messages}]), out)
    return out.getvalue()


def rich_text(dialogue: Dialogue) -> str:
    return rich([f"{{\\b {coded(who)}:}} {coded(text)}\\par" for who, text in dialogue.turns])


def rich_table(dialogue: Dialogue) -> str:
    cells = "\\trowd\\cellx2000\\cellx9000\\intbl {}\\cell {}\\cell\\row"
    return rich([cells.format(coded(who), coded(text)) for who, text in dialogue.turns])


def rich(body: Sequence[str]) -> str:
    return "\n".join(["{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0\\fswiss Helvetica;}}\\f0\\fs24", *body, "}"])


def coded(text: str) -> str:
    return "".join(map(coded_letter, text))


def coded_letter(letter: str) -> str:
    if letter == "\n":
        return "\\line "
    if letter in "\\{}":
        return f"\\{letter}"
    if letter.isascii():
        return letter
    units = letter.encode("utf-16-le")
    numbers = [int.from_bytes(units[at : at + 2], "little", signed=True) for at in range(0, len(units), 2)]
    return "".join(f"\\u{number}?" for number in numbers)


# JSON


def as_json(shape: Callable[[Dialogue], Any]) -> Callable[[Dialogue], str]:
    return lambda dialogue: json.dumps(shape(dialogue), ensure_ascii=False, indent=1)


def json_lines(shape: Callable[[Dialogue], Sequence[Any]]) -> Callable[[Dialogue], str]:
    return lambda dialogue: "\n".join(json.dumps(one) for one in shape(dialogue)) + "\n"


def fields(**named: str) -> Callable[[Dialogue], list[dict[str, Any]]]:
    """Return a writer of messages whose fields are named; the values may be who, text, begin, end, n."""

    def shape(dialogue: Dialogue) -> list[dict[str, Any]]:
        spoken = [
            {"who": who, "text": text, "begin": begin, "end": end, "n": n}
            for n, (who, text, begin, end) in enumerate(dialogue.timed())
        ]
        return [{field: one[value] for field, value in named.items()} for one in spoken]

    return shape


def inside(path: str, shape: Callable[[Dialogue], Any], **more: Any) -> Callable[[Dialogue], Any]:
    """Return a writer of something inside objects, as in ``results.utterances``."""

    def whole(dialogue: Dialogue) -> Any:
        value = shape(dialogue)
        for name in reversed(path.split(".")):
            value = {name: value}
        return {**value, **more}

    return whole


def chat_messages(dialogue: Dialogue) -> list[dict[str, str]]:
    """Return what a chat program logs: one of two roles, and a name for everyone."""
    cast = dialogue.cast
    answers = {who for who, role in cast.roles.items() if role == _T} or {cast.labels[0]}
    return [
        {"role": "assistant" if who in answers else "user", "name": who, "content": text}
        for who, text in dialogue.turns
    ]


def spoken_words(word: str, **named: str) -> Callable[[Dialogue], list[dict[str, Any]]]:
    """Return a writer of single words with their speakers and times."""

    def shape(dialogue: Dialogue) -> list[dict[str, Any]]:
        found = []
        for who, text, begin, end in dialogue.timed():
            words = text.split()
            step = (end - begin) / len(words)
            for at, one in enumerate(words):
                times = {"who": who, "begin": round(begin + step * at, 2), "end": round(begin + step * (at + 1), 2)}
                found.append({word: one, **{field: times[value] for field, value in named.items()}})
        return found

    return shape


def called(pattern: str, *, first: int = 0) -> Callable[[Dialogue], Dialogue]:
    """Return what gives the speakers of a dialogue the names that a recogniser gives: a pattern and a number."""

    def shape(dialogue: Dialogue) -> Dialogue:
        one = on_one_line(dialogue)
        names = {label: pattern.format(at) for at, label in enumerate(one.cast.labels, start=first)}
        return Dialogue(Cast(tuple(names.values()), {}), tuple((names[who], text) for who, text in one.turns))

    return shape


def amazon(dialogue: Dialogue) -> Any:
    words = spoken_words("content", start_time="begin", end_time="end", speaker_label="who")(dialogue)
    items = [
        {
            "type": "pronunciation",
            "start_time": str(word["start_time"]),
            "end_time": str(word["end_time"]),
            "alternatives": [{"confidence": "0.99", "content": word["content"]}],
            "speaker_label": word["speaker_label"],
        }
        for word in words
    ]
    whole = " ".join(text for _, text in dialogue.turns)
    return {"jobName": "a", "status": "COMPLETED", "results": {"transcripts": [{"transcript": whole}], "items": items}}


def google(dialogue: Dialogue) -> Any:
    words = spoken_words("word", startTime="begin", endTime="end", speakerTag="who")(dialogue)
    words = [
        {
            **one,
            "startTime": f"{one['startTime']}s",
            "endTime": f"{one['endTime']}s",
            "speakerTag": int(one["speakerTag"]),
        }
        for one in words
    ]
    parts = [{"alternatives": [{"transcript": text}]} for _, text in dialogue.turns]
    return {"results": [*parts, {"alternatives": [{"words": words}]}]}


def deepgram(dialogue: Dialogue) -> Any:
    words = spoken_words("word", start="begin", end="end", speaker="who")(dialogue)
    words = [{**one, "punctuated_word": one["word"], "speaker": int(one["speaker"])} for one in words]
    turns = fields(start="begin", end="end", transcript="text", speaker="who")(dialogue)
    whole = " ".join(text for _, text in dialogue.turns)
    channel = {"alternatives": [{"transcript": whole, "confidence": 0.9, "words": words}]}
    utterances = [{**one, "speaker": int(one["speaker"]), "channel": 0} for one in turns]
    return {"metadata": {"channels": 1}, "results": {"channels": [channel], "utterances": utterances}}


def azure(dialogue: Dialogue) -> Any:
    phrases = [
        {
            "recognitionStatus": "Success",
            "channel": 0,
            "speaker": int(who),
            "offsetInTicks": begin * 1e7,
            "durationInTicks": (end - begin) * 1e7,
            "nBest": [{"confidence": 0.9, "lexical": text.lower(), "display": text}],
        }
        for who, text, begin, end in dialogue.timed()
    ]
    whole = " ".join(text for _, text in dialogue.turns)
    combined = [{"channel": 0, "lexical": whole.lower(), "display": whole}]
    return {"source": "a.wav", "combinedRecognizedPhrases": combined, "recognizedPhrases": phrases}


def assembly(dialogue: Dialogue) -> Any:
    utterances = [
        {"speaker": who, "text": text, "start": begin * 1000, "end": end * 1000, "confidence": 0.9}
        for who, text, begin, end in dialogue.timed()
    ]
    whole = " ".join(text for _, text in dialogue.turns)
    return {"id": "a", "status": "completed", "text": whole, "utterances": utterances}


def speechmatics(dialogue: Dialogue) -> Any:
    words = spoken_words("content", start_time="begin", end_time="end", speaker="who")(dialogue)
    results = [
        {
            "type": "word",
            "start_time": one["start_time"],
            "end_time": one["end_time"],
            "alternatives": [{"content": one["content"], "confidence": 0.9, "speaker": one["speaker"]}],
        }
        for one in words
    ]
    return {"format": "2.9", "metadata": {"type": "transcription"}, "results": results}


def call_analytics(dialogue: Dialogue) -> Any:
    parts = [
        {"ParticipantRole": who, "BeginOffsetMillis": begin * 1000, "EndOffsetMillis": end * 1000, "Content": text}
        for who, text, begin, end in dialogue.timed()
    ]
    people = [{"ParticipantRole": label} for label in dialogue.cast.labels]
    return {"JobName": "a", "Channel": "VOICE", "Participants": people, "Transcript": parts}


def agent_and_customer(dialogue: Dialogue) -> Dialogue:
    one = on_one_line(dialogue)
    spoken = tuple(("AGENT" if who == one.cast.labels[0] else "CUSTOMER", text) for who, text in one.turns)
    return Dialogue(Cast(("AGENT", "CUSTOMER"), {"AGENT": _T, "CUSTOMER": _C}), spoken)


def watson(dialogue: Dialogue) -> Any:
    """Write results that do not end where speakers change: each holds two turns."""
    words = spoken_words("word", start="begin", end="end", speaker="who")(dialogue)
    results = []
    for first in range(0, len(dialogue.turns), 2):
        some = [one for one in words if STEP * first <= one["start"] < STEP * (first + 2)]
        stamps = [[one["word"], one["start"], one["end"]] for one in some]
        best = {"transcript": " ".join(one["word"] for one in some) + " ", "timestamps": stamps, "confidence": 0.9}
        results.append({"final": True, "alternatives": [best]})
    labels = [{"from": one["start"], "to": one["end"], "speaker": int(one["speaker"])} for one in words]
    return {"result_index": 0, "results": results, "speaker_labels": labels}


def paragraphs_of_speech(dialogue: Dialogue) -> Any:
    parts = [
        {"speaker": int(who), "start": begin, "end": end, "sentences": [{"text": text, "start": begin, "end": end}]}
        for who, text, begin, end in dialogue.timed()
    ]
    whole = " ".join(text for _, text in dialogue.turns)
    best = {"transcript": whole, "words": [], "paragraphs": {"paragraphs": parts}}
    return {"metadata": {"channels": 1}, "results": {"channels": [{"alternatives": [best]}]}}


def meeting_sentences(dialogue: Dialogue) -> Any:
    sentences = fields(index="n", speaker_name="who", text="text", start_time="begin", end_time="end")(dialogue)
    for one in sentences:
        one["raw_text"] = one["text"].lower()
    return {"data": {"transcript": {"title": "a", "sentences": sentences}}}


def meeting_lines(dialogue: Dialogue) -> Any:
    return [
        {"timestamp": clock(begin), "users": [{"username": who}], "text": text}
        for who, text, begin, _ in dialogue.timed()
    ]


def nested_sessions(dialogue: Dialogue) -> Any:
    return {
        "case": "a",
        "sessions": [{"date": "2025-03-04", "transcript": fields(speaker="who", text="text")(dialogue)}],
    }


def content_in_parts(dialogue: Dialogue) -> Any:
    spoken = [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in chat_messages(dialogue)]
    return {"messages": spoken}


def whisperx(dialogue: Dialogue) -> Any:
    segments = fields(start="begin", end="end", text="text", speaker="who")(dialogue)
    words = spoken_words("word", start="begin", end="end", speaker="who")(dialogue)
    for one in segments:
        one["words"] = [word for word in words if one["start"] <= word["start"] < one["end"]]
    return {"segments": segments, "word_segments": words, "language": "en"}


def rev(dialogue: Dialogue) -> Any:
    def elements(text: str, begin: int, end: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for word in text.split():
            found += [{"type": "text", "value": word, "ts": begin, "end_ts": end}, {"type": "punct", "value": " "}]
        return found[:-1]

    return {
        "monologues": [
            {"speaker": int(who), "elements": elements(text, begin, end)} for who, text, begin, end in dialogue.timed()
        ]
    }


def with_a_prompt(dialogue: Dialogue) -> Any:
    prompt = {"role": "system", "content": " ".join(dialogue.before)}
    return {"messages": [prompt, *chat_messages(dialogue)]}


def prompted(dialogue: Dialogue) -> Dialogue:
    """Return a dialogue of two chat roles before which stands what the model was told: words of nobody."""
    return replace(of_chat_roles(dialogue), before=("Be kind and brief.",))


def in_turn(dialogue: Dialogue) -> Dialogue:
    """Return a dialogue of two chat roles who take turns, the user first, with a prompt before it."""
    spoken = alternating(dialogue).turns
    two = tuple((("user", "assistant")[at % 2], text) for at, (_, text) in enumerate(spoken))
    return replace(prompted(dialogue), turns=two)


def chat_markup(turn: str, prompt: str) -> Callable[[Dialogue], str]:
    def write(dialogue: Dialogue) -> str:
        told = prompt.format(text=" ".join(dialogue.before))
        return told + "".join(turn.format(who=who, text=text) for who, text in dialogue.turns)

    return write


def instructions(dialogue: Dialogue) -> str:
    """Write what Llama 2 and Mistral are given: the user's words in marks, the model's behind them."""
    told = f"<<SYS>>\n{' '.join(dialogue.before)}\n<</SYS>>\n\n"
    texts = [text for _, text in dialogue.turns]
    parts = [f"<s>[INST] {one} [/INST] {two} </s>" for one, two in zip(texts[::2], texts[1::2], strict=True)]
    return parts[0].replace("[INST] ", f"[INST] {told}", 1) + "".join(parts[1:])


def chat_export(dialogue: Dialogue) -> Any:
    mapping: dict[str, Any] = {"root": {"id": "root", "parent": None, "children": ["0"], "message": None}}
    for at, message in enumerate(chat_messages(dialogue)):
        mapping[str(at)] = {
            "id": str(at),
            "parent": str(at - 1) if at else "root",
            "children": [str(at + 1)] if at + 1 < len(dialogue.turns) else [],
            "message": {
                "id": str(at),
                "author": {"role": message["role"], "name": None, "metadata": {}},
                "create_time": 1_700_000_000 + at,
                "content": {"content_type": "text", "parts": [message["content"]]},
            },
        }
    return [{"title": "a", "create_time": 1_700_000_000, "mapping": mapping, "current_node": str(len(mapping) - 2)}]


def of_chat_roles(dialogue: Dialogue) -> Dialogue:
    first = dialogue.cast.labels[0]
    spoken = tuple(("assistant" if who == first else "user", " ".join(text.split())) for who, text in dialogue.turns)
    return Dialogue(Cast(("assistant", "user"), {"assistant": _T, "user": _C}), spoken)


def pairs(dialogue: Dialogue) -> Any:
    texts = [text for _, text in dialogue.turns]
    names = dialogue.cast.labels[:2]
    both = zip(texts[::2], texts[1::2], strict=True)
    return [dict(zip(names, two, strict=True)) for two in both]


# Captions


def captions(cue: Callable[[str, str], str], *, head: str = "WEBVTT\n\n", mark: str = ".") -> Callable[[Dialogue], str]:
    def write(dialogue: Dialogue) -> str:
        cues = [
            f"{n}\n{clock(begin, mark)} --> {clock(end, mark)}\n{cue(who, text)}\n"
            for n, (who, text, begin, end) in enumerate(dialogue.timed(), start=1)
        ]
        return head + "\n".join(cues)

    return write


def voice(who: str, text: str) -> str:
    return f"<v {escape(who)}>{escape(text)}</v>"


def before_a_colon(who: str, text: str) -> str:
    return f"{who}: {escape(text)}"


def only_at_changes(dialogue: Dialogue) -> str:
    last, cues = "", []
    for who, text, begin, end in dialogue.timed():
        words = escape(text) if who == last else f"{who}: {escape(text)}"
        cues.append(f"{clock(begin)} --> {clock(end)}\n{words}\n")
        last = who
    return "WEBVTT\n\n" + "\n".join(cues)


def webex(dialogue: Dialogue) -> str:
    cues = [
        f'{n} "{who}" (123)\n{clock(begin)} --> {clock(end)}\n{escape(text)}\n'
        for n, (who, text, begin, end) in enumerate(dialogue.timed(), start=1)
    ]
    return "WEBVTT\n\n" + "\n".join(cues)


def two_voices_a_cue(dialogue: Dialogue) -> str:
    cues = []
    turns = dialogue.timed()
    for one in range(0, len(turns), 2):
        spoken = "\n".join(voice(who, text) for who, text, _, _ in turns[one : one + 2])
        cues.append(f"{clock(turns[one][2])} --> {clock(turns[min(one + 1, len(turns) - 1)][3])}\n{spoken}\n")
    return "WEBVTT\n\n" + "\n".join(cues)


def caption_xml(dialogue: Dialogue) -> str:
    names = {label: f"p{at}" for at, label in enumerate(dialogue.cast.labels)}
    agents = "".join(
        f'<ttm:agent type="person" xml:id="{key}"><ttm:name type="full">{escape(label)}</ttm:name></ttm:agent>'
        for label, key in names.items()
    )
    spoken = "".join(
        f'<p begin="{clock(begin)}" end="{clock(end)}" ttm:agent="{names[who]}">{escape(text)}</p>'
        for who, text, begin, end in dialogue.timed()
    )
    space = 'xmlns="http://www.w3.org/ns/ttml" xmlns:ttm="http://www.w3.org/ns/ttml#metadata"'
    return f"{XML}<tt {space}><head><metadata>{agents}</metadata></head><body><div>{spoken}</div></body></tt>"


def substation(dialogue: Dialogue) -> str:
    head = "[Script Info]\nScriptType: v4.00+\n\n[Events]\n"
    head += "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
    return head + "".join(
        f"Dialogue: 0,{clock(begin)[1:-1]},{clock(end)[1:-1]},Default,{who},0,0,0,,{text}\n"
        for who, text, begin, end in dialogue.timed()
    )


# Tiers


def plain_words(dialogue: Dialogue) -> Dialogue:
    """Return a dialogue in the few signs that CHAT does not use for its codes, spoken by the codes of its tiers."""
    codes = {label: f"SP{chr(65 + at)}" for at, label in enumerate(dialogue.cast.labels)}
    cleaned = [
        (codes[who], " ".join(word for word in text.split() if word.isalpha()) or "hm") for who, text in dialogue.turns
    ]
    return Dialogue(Cast(tuple(codes.values()), {}), tuple(cleaned))


def chat_codes(dialogue: Dialogue) -> str:
    people = ", ".join(f"{code} Adult" for code in dialogue.cast.labels)
    spoken = "".join(f"*{who}:\t{text} . \x15{b * 1000}_{e * 1000}\x15\n" for who, text, b, e in dialogue.timed())
    return f"@UTF8\n@Begin\n@Languages:\teng\n@Participants:\t{people}\n{spoken}@End\n"


def tier_of(label: str, dialogue: Dialogue) -> list[tuple[str, int, int]]:
    return [(text, begin, end) for who, text, begin, end in dialogue.timed() if who == label]


def elan(dialogue: Dialogue, *, with_ids: bool = False) -> str:
    slots = [time for _, _, begin, end in dialogue.timed() for time in (begin, end)]
    order = "".join(
        f'<TIME_SLOT TIME_SLOT_ID="ts{at}" TIME_VALUE="{time * 1000}"/>' for at, time in enumerate(slots, start=1)
    )
    tiers = ""
    for label in dialogue.cast.labels:
        own = [(at, text) for at, (who, text) in enumerate(dialogue.turns) if who == label]
        spans = "".join(
            f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a{at}" TIME_SLOT_REF1="ts{2 * at + 1}" '
            f'TIME_SLOT_REF2="ts{2 * at + 2}"><ANNOTATION_VALUE>{f"rec.{at:03d}" if with_ids else escape(text)}'
            "</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>"
            for at, text in own
        )
        who = quoteattr(label)
        if not with_ids:
            tiers += f'<TIER LINGUISTIC_TYPE_REF="default-lt" TIER_ID={who} PARTICIPANT={who}>{spans}</TIER>'
            continue
        words = "".join(
            f'<ANNOTATION><REF_ANNOTATION ANNOTATION_ID="b{at}" ANNOTATION_REF="a{at}"><ANNOTATION_VALUE>'
            f"{escape(text)}</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>"
            for at, text in own
        )
        ref, tx = quoteattr(f"ref@{label}"), quoteattr(f"tx@{label}")
        tiers += f'<TIER LINGUISTIC_TYPE_REF="ref" TIER_ID={ref} PARTICIPANT={who}>{spans}</TIER>'
        tiers += f'<TIER LINGUISTIC_TYPE_REF="tx" PARENT_REF={ref} TIER_ID={tx} PARTICIPANT={who}>{words}</TIER>'
    types = '<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="default-lt" TIME_ALIGNABLE="true"/>'
    if with_ids:
        types = '<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="ref" TIME_ALIGNABLE="true"/>'
        types += '<LINGUISTIC_TYPE CONSTRAINTS="Symbolic_Association" LINGUISTIC_TYPE_ID="tx" TIME_ALIGNABLE="false"/>'
    head = '<ANNOTATION_DOCUMENT AUTHOR="" DATE="2024-05-02T10:00:00+00:00" FORMAT="3.0" VERSION="3.0">'
    head += '<HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/>'
    body = f"{head}<TIME_ORDER>{order}</TIME_ORDER>{tiers}{types}"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}</ANNOTATION_DOCUMENT>'


def aligned_words(dialogue: Dialogue) -> str:
    """Write what a forced aligner does: for each speaker a tier of words and one of phones."""
    last = STEP * len(dialogue.turns)
    tiers = []
    for label in dialogue.cast.labels:
        spans: list[tuple[float, float, str]] = []
        now = 0.0
        for text, begin, end in tier_of(label, dialogue):
            words = text.split()
            edges = [round(begin + (end - begin) * at / len(words), 3) for at in range(len(words) + 1)]
            spans += [(now, edges[0], "")] * (edges[0] > now)
            spans += [(one, two, word) for one, two, word in zip(edges, edges[1:], words, strict=False)]
            now = edges[-1]
        spans.append((now, last, ""))
        tiers.append((f"{label} - words", spans))
        tiers.append((f"{label} - phones", [(one, two, "spn" if word else "") for one, two, word in spans]))
    return praat_file(tiers, last)


def textgrid(dialogue: Dialogue, *, short: bool = False) -> str:
    last = STEP * len(dialogue.turns)
    tiers = []
    for label in dialogue.cast.labels:
        spans: list[tuple[float, float, str]] = []
        now = 0
        for text, begin, end in tier_of(label, dialogue):
            spans += [(now, begin, "")] * (begin > now)
            spans.append((begin, end, text))
            now = end
        tiers.append((label, [*spans, (now, last, "")]))
    return praat_file(tiers, last, short=short)


def praat_file(tiers: Sequence[tuple[str, list[tuple[float, float, str]]]], last: int, *, short: bool = False) -> str:
    out: list[tuple[str, Any]] = [("xmin", 0), ("xmax", last), ("tiers?", None), ("size", len(tiers))]
    for name, spans in tiers:
        out += [("class", "IntervalTier"), ("name", name), ("xmin", 0), ("xmax", last), ("size", len(spans))]
        for span in spans:
            out += list(zip(("xmin", "xmax", "text"), span, strict=True))
    body = "".join(praat(name, value, short=short) for name, value in out)
    return f'File type = "ooTextFile"\nObject class = "TextGrid"\n\n{body}'


def praat(name: str, value: Any, *, short: bool) -> str:
    written = '"{}"'.format(value.replace('"', '""')) if isinstance(value, str) else str(value)
    if value is None:
        return "<exists>\n" if short else "tiers? <exists>\n"
    return f"{written}\n" if short else f"{'intervals: size' if name == 'size' else name} = {written} \n"


# Documents


def open_document(dialogue: Dialogue) -> bytes:
    names = (
        'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    )
    spoken = "".join(f"<text:p>{escape(f'{who}: {text}')}</text:p>" for who, text in dialogue.turns)
    content = f'{XML}<office:document-content {names} office:version="1.2"><office:body><office:text>{spoken}'
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"{content}</office:text></office:body></office:document-content>",
        }
    )


def web_page(dialogue: Dialogue) -> str:
    spoken = "".join(f"<p>{escape(f'{who}: {text}')}</p>\n" for who, text in dialogue.turns)
    head = "<meta charset='utf-8'><title>Transcript</title><style>p {color: red}</style><script>var a = 1;</script>"
    return f"<!DOCTYPE html>\n<html><head>{head}</head><body>\n{spoken}</body></html>\n"


def plain_letters(dialogue: Dialogue) -> Dialogue:
    """Return a dialogue on single lines in ASCII letters alone, as a PDF without fonts of its own has them."""
    one = on_one_line(dialogue)

    def ascii_only(text: str) -> str:
        return " ".join(word for word in text.split() if word.isascii()) or "hm"

    labels = tuple(label if label.isascii() else f"Speaker {at}" for at, label in enumerate(one.cast.labels))
    names = dict(zip(one.cast.labels, labels, strict=True))
    return Dialogue(Cast(labels, {}), tuple((names[who], ascii_only(text)) for who, text in one.turns))


def pdf(dialogue: Dialogue) -> bytes:
    """Write a page of lines as long as they come, in one of the fonts that every PDF has."""
    shown = "".join(
        "({}) Tj T*\n".format(f"{who}: {text}".replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)"))
        for who, text in dialogue.turns
    )
    stream = f"BT /F1 9 Tf 12 TL 40 780 Td\n{shown}ET"
    fonts = "/Resources << /Font << /F1 5 0 R >> >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 2400 842] /Contents 4 0 R {fonts} >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    out, places = "%PDF-1.4\n", []
    for n, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{n} 0 obj\n{body}\nendobj\n"
    table_at = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(
        f"{place:010d} 00000 n \n" for place in places
    )
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table_at}\n%%EOF\n"
    return out.encode("ascii")


# Messengers


def messenger(pattern: str) -> Callable[[Dialogue], str]:
    def write(dialogue: Dialogue) -> str:
        return "".join(
            pattern.format(who=who, text=text, m=30 + begin // 60, s=begin % 60) + "\n"
            for who, text, begin, _ in dialogue.timed()
        )

    return write


FEW = ("pair", "couple", "family", "another alphabet")
"""Casts for forms that take long to read."""
NUMBERED = ("pair", "couple", "family")
"""Casts for forms in which a recogniser numbers the speakers: only how many there are differs."""
TWO = ("pair", "interpreter")
"""Casts for forms of two sides, the first of which must be known for the therapist."""

FORMS = [
    Form("labelled_text", "colon", ".txt", lines("{who}: {text}")),
    Form("labelled_text", "colon, empty lines", ".txt", lines("{who}: {text}", apart="\n\n")),
    Form("labelled_text", "colon, words below", ".txt", lines("{who}:\n{text}", apart="\n\n")),
    Form("labelled_text", "bold label and colon", ".md", lines("**{who}:** {text}", apart="\n\n")),
    Form("labelled_text", "bold label, colon outside", ".md", lines("**{who}**: {text}", apart="\n\n")),
    Form("labelled_text", "front matter", ".md", front_matter, with_nothing_before),
    Form("labelled_text", "heading", ".md", lines("### {who}\n\n{text}", apart="\n\n"), on_one_line, loose=True),
    Form("labelled_text", "bullets", ".md", lines("- {who}: {text}"), on_one_line, loose=True),
    Form("labelled_text", "table", ".md", markdown_table, without_bars),
    Form("labelled_text", "time before", ".txt", lines("[{at}] {who}: {text}")),
    Form("labelled_text", "time behind the label", ".txt", lines("{who} ({at}): {text}")),
    Form("labelled_text", "time behind the colon", ".txt", lines("{who}: [{at}] {text}")),
    Form("labelled_text", "name and time above", ".txt", lines("{who}   {short}\n{text}", apart="\n\n")),
    Form("labelled_text", "time and name above", ".txt", lines("{at} {who}\n{text}", apart="\n\n")),
    Form("labelled_text", "time alone above", ".txt", lines("{at}\n{who}: {text}", apart="\n\n")),
    Form(
        "labelled_text",
        "name alone above",
        ".txt",
        lines("{who}\n{text}", apart="\n\n"),
        with_nothing_before,
        loose=True,
    ),
    Form("labelled_text", "square brackets", ".txt", lines("[{who}] {text}"), loose=True),
    Form("labelled_text", "square brackets and colon", ".txt", lines("[{who}]: {text}")),
    Form("labelled_text", "square brackets above", ".txt", lines("[{who}]\n{text}", apart="\n\n"), on_one_line),
    Form("labelled_text", "angle brackets", ".txt", lines("<{who}> {text}"), on_one_line, loose=True),
    Form("labelled_text", "marks of change", ".txt", lines(">> {who}: {text}")),
    Form("labelled_text", "dash", ".txt", lines("{who} - {text}"), on_one_line, loose=True),
    Form("labelled_text", "colon and tab", ".txt", lines("{who}:\t{text}")),
    Form("labelled_text", "round brackets", ".txt", lines("({who}) {text}"), on_one_line, ("pair", "letters")),
    Form("labelled_text", "numbers of lines", ".txt", line_numbers),
    Form("labelled_text", "numbers of turns", ".txt", lines("{n}. {who}: {text}"), on_one_line),
    Form("labelled_text", "meeting chat", ".txt", lines("{at} From {who} to Everyone: {text}"), on_one_line),
    Form("rich_text", "paragraphs", ".rtf", rich_text, with_nothing_before),
    Form("rich_text", "table", ".rtf", rich_table, without_bars),
    Form("word_document", "paragraphs", ".docx", paragraphs),
    Form("word_document", "bold labels", ".docx", bold_labels, with_nothing_before),
    Form("word_document", "labels as headings", ".docx", styled_labels, on_one_line, loose=True),
    Form("word_document", "table", ".docx", word_table, on_one_line),
    Form("word_document", "table without a header", ".docx", lambda one: word_table(one, ()), on_one_line),
    Form("delimited", "commas", ".csv", table(","), with_nothing_before),
    Form("delimited", "tabs", ".tsv", table("\t"), on_one_line),
    Form("delimited", "tabs in text", ".txt", table("\t"), on_one_line),
    Form("delimited", "two columns with a tab in text", ".txt", lines("{who}\t{text}"), on_one_line, loose=True),
    Form("delimited", "semicolons", ".csv", table(";"), with_nothing_before),
    Form("delimited", "bars", ".csv", table("|"), without_bars),
    Form("delimited", "other names", ".csv", table(",", ("Nr", "Sprecher", "Aussage", "von", "bis")), on_one_line),
    Form("delimited", "two columns without a header", ".csv", two_columns, on_one_line),
    Form("delimited", "a column for each side", ".csv", exchanges, alternating, TWO),
    Form("delimited", "a session in a cell", ".csv", in_a_cell, with_nothing_before),
    Form("workbook", "a row a turn", ".xlsx", workbook, with_nothing_before, FEW),
    Form("parquet", "a row a turn", ".parquet", parquet, with_nothing_before, FEW),
    Form("parquet", "a row a session", ".parquet", parquet_of_messages, with_nothing_before, FEW),
    Form("chat_json", "speaker, text", ".json", as_json(fields(speaker="who", text="text")), with_nothing_before),
    Form("chat_json", "lines", ".jsonl", json_lines(fields(speaker="who", text="text", start="begin")), on_one_line),
    Form(
        "chat_json", "turns", ".json", as_json(inside("turns", fields(role="who", content="text"), id="a")), on_one_line
    ),
    Form("chat_json", "messages with names", ".json", as_json(inside("messages", chat_messages)), on_one_line),
    Form("chat_json", "messages with a prompt", ".json", as_json(with_a_prompt), prompted, TWO),
    Form(
        "chat_json",
        "ShareGPT",
        ".json",
        as_json(inside("conversations", fields(**{"from": "who", "value": "text"}))),
        on_one_line,
    ),
    Form(
        "chat_json",
        "ConvoKit",
        ".jsonl",
        json_lines(
            lambda one: [
                {
                    "id": f"u{n}",
                    "conversation_id": "u0",
                    "speaker": who,
                    "text": text,
                    "reply-to": f"u{n - 1}" if n else None,
                    "timestamp": begin,
                    "meta": {},
                }
                for n, (who, text, begin, _) in enumerate(one.timed())
            ]
        ),
        on_one_line,
    ),
    Form(
        "chat_json",
        "one key a turn",
        ".json",
        as_json(lambda one: [{who: text} for who, text in one.turns]),
        on_one_line,
    ),
    Form(
        "chat_json", "lists of two", ".json", as_json(lambda one: [[who, text] for who, text in one.turns]), on_one_line
    ),
    Form(
        "chat_json",
        "labelled strings",
        ".json",
        as_json(lambda one: {"dialogue": [f"{who}: {text}" for who, text in one.turns]}),
        on_one_line,
    ),
    Form("chat_json", "pairs", ".json", as_json(pairs), alternating, TWO),
    Form("chat_json", "export of a chat program", ".json", as_json(chat_export), of_chat_roles, TWO),
    Form(
        "chat_json",
        "segments",
        ".json",
        as_json(inside("segments", fields(start="begin", end="end", text="text", speaker="who"))),
        called("SPEAKER_{:02d}"),
        NUMBERED,
    ),
    Form("chat_json", "WhisperX", ".json", as_json(whisperx), called("SPEAKER_{:02d}"), NUMBERED),
    Form("chat_json", "Amazon", ".json", as_json(amazon), called("spk_{}"), NUMBERED),
    Form("chat_json", "Google", ".json", as_json(google), called("{}", first=1), NUMBERED),
    Form("chat_json", "Deepgram", ".json", as_json(deepgram), called("{}"), NUMBERED),
    Form("chat_json", "Azure", ".json", as_json(azure), called("{}"), NUMBERED),
    Form("chat_json", "AssemblyAI", ".json", as_json(assembly), called("S{}"), NUMBERED),
    Form("chat_json", "Speechmatics", ".json", as_json(speechmatics), called("S{}"), NUMBERED),
    Form("chat_json", "Rev", ".json", as_json(rev), called("{}"), NUMBERED),
    Form(
        "chat_template",
        "ChatML",
        ".txt",
        chat_markup("<|im_start|>{who}\n{text}<|im_end|>\n", "<|im_start|>system\n{text}<|im_end|>\n"),
        prompted,
        TWO,
    ),
    Form("chat_template", "Llama 2", ".txt", instructions, in_turn, TWO),
    Form(
        "chat_template",
        "Llama 3",
        ".txt",
        chat_markup(
            "<|start_header_id|>{who}<|end_header_id|>\n\n{text}<|eot_id|>",
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n{text}<|eot_id|>",
        ),
        prompted,
        TWO,
    ),
    Form("webvtt", "voices", ".vtt", captions(voice), on_one_line),
    Form("webvtt", "colon", ".vtt", captions(before_a_colon), on_one_line),
    Form("webvtt", "only at changes", ".vtt", only_at_changes, on_one_line),
    Form("webvtt", "names beside the numbers", ".vtt", webex, on_one_line),
    Form("webvtt", "two voices in a caption", ".vtt", two_voices_a_cue, on_one_line),
    Form(
        "webvtt", "marks of change", ".vtt", captions(lambda who, text: f"&gt;&gt; {who}: {escape(text)}"), on_one_line
    ),
    Form("srt", "colon", ".srt", captions(lambda who, text: f"{who}: {text}", head="", mark=","), on_one_line),
    Form(
        "srt",
        "marks of change",
        ".srt",
        captions(lambda who, text: f">> {who}: {text}", head="", mark=","),
        on_one_line,
    ),
    Form(
        "srt", "square brackets", ".srt", captions(lambda who, text: f"[{who}] {text}", head="", mark=","), on_one_line
    ),
    Form("srt", "name above", ".srt", captions(lambda who, text: f"{who}\n{text}", head="", mark=","), on_one_line),
    Form("talkbank_chat", "codes", ".cha", chat_codes, plain_words),
    Form("elan", "a tier for each", ".eaf", elan, on_one_line),
    Form("elan", "tiers of ids above the words", ".eaf", lambda one: elan(one, with_ids=True), on_one_line),
    Form("textgrid", "long", ".TextGrid", textgrid, on_one_line),
    Form("textgrid", "short", ".TextGrid", lambda one: textgrid(one, short=True), on_one_line),
    Form(
        "messenger_export",
        "iPhone",
        ".txt",
        messenger("[12/03/2024, 14:{m}:{s:02d}] {who}: {text}"),
        with_nothing_before,
    ),
    Form("messenger_export", "Android", ".txt", messenger("3/25/24, 2:{m} PM - {who}: {text}"), with_nothing_before),
    Form("word_document", "table with times", ".docx", word_table_with_times, on_one_line),
    Form("delimited", "a column for each of all", ".csv", a_column_each, on_one_line, ("couple", "family")),
    Form("chat_json", "sessions inside", ".json", as_json(nested_sessions), on_one_line),
    Form("chat_json", "words in parts", ".json", as_json(content_in_parts), on_one_line),
    Form("chat_json", "Fireflies", ".json", as_json(meeting_sentences), on_one_line),
    Form("chat_json", "Zoom", ".json", as_json(meeting_lines), on_one_line),
    Form("chat_json", "Amazon calls", ".json", as_json(call_analytics), agent_and_customer, ("pair", "couple")),
    Form("chat_json", "Watson", ".json", as_json(watson), called("{}"), NUMBERED),
    Form("chat_json", "Deepgram paragraphs", ".json", as_json(paragraphs_of_speech), called("{}"), NUMBERED),
    Form("textgrid", "words and phones", ".TextGrid", aligned_words, on_one_line),
    Form("messenger_export", "Telegram", ".txt", messenger("{who}, [12.03.2024 14:{m}]\n{text}\n"), on_one_line),
    Form("ttml", "agents", ".ttml", caption_xml, on_one_line),
    Form("substation", "names", ".ass", substation, on_one_line),
    Form("open_document", "paragraphs", ".odt", open_document, on_one_line),
    Form("web_page", "paragraphs", ".html", web_page, on_one_line),
    Form("pdf_document", "lines", ".pdf", pdf, plain_letters),
]
