"""What can be done to a file: to its bytes, its lines, its cells, its values, its parts."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from benchmarks.fuzz.hostile import BYTES, ENCODINGS, HEADERS, HOSTILE, KEYS, ONE_AND_ALL, OPENINGS, VALUES

Mutator = Callable[[bytes, random.Random], bytes]

LARGEST = 2_500_000
MOST_LINES = 10_000
"""Larger files, and more lines, take their time without being a hang."""


def span(length: int, dice: random.Random, most: int = 400) -> tuple[int, int]:
    """Return two places not far from each other."""
    at = dice.randrange(length + 1)
    return at, min(length, at + dice.randint(0, most))


def cut_out(data: bytes, dice: random.Random) -> bytes:
    """Take a passage away."""
    at, to = span(len(data), dice)
    return data[:at] + data[to:]


def cut_off(data: bytes, dice: random.Random) -> bytes:
    """Break off at a place, or begin there."""
    at = dice.randrange(len(data) + 1)
    return data[:at] if dice.random() < 0.7 else data[at:]


def other_bytes(data: bytes, dice: random.Random) -> bytes:
    """Write other bytes over some."""
    at = dice.randrange(len(data) + 1)
    new = dice.choice((dice.choice(BYTES), dice.randbytes(dice.randint(1, 8))))
    return data[:at] + new + data[at + dice.randint(0, len(new)) :]


def insert_hostile(data: bytes, dice: random.Random) -> bytes:
    """Put something that means something to a parser at any place, or at the beginning of a line."""
    new = dice.choice(HOSTILE).encode("utf-8", "surrogatepass")
    at = dice.randrange(len(data) + 1)
    if dice.random() < 0.4:
        at = data.rfind(b"\n", 0, at) + 1
    return data[:at] + new + data[at:]


def repeat(data: bytes, dice: random.Random) -> bytes:
    """Repeat a passage; now and then until the file is a few megabytes large."""
    at, to = span(len(data), dice, 2000 if dice.random() < 0.3 else 40)
    passage = data[at:to] or b"["
    most = dice.choice((LARGEST, LARGEST // 4)) if dice.random() < 0.04 else 20_000
    times = min(most // len(passage), MOST_LINES // passage.count(b"\n") if b"\n" in passage else most)
    return data[:to] + passage * dice.randint(1, max(1, times)) + data[to:]


def never_ending(data: bytes, dice: random.Random) -> bytes:
    """Begin something that a pattern looks for, and go on without an end: quadratic patterns hang on it."""
    at = dice.randrange(len(data) + 1)
    one = dice.choice(ONE_AND_ALL)
    return data[:at] + dice.choice(OPENINGS) + one * (30_000 // len(one)) + data[at:]


def other_number(data: bytes, dice: random.Random) -> bytes:
    """Write another number in the place of one."""
    return _in_place_of(rb"-?\d+(?:[.:,]\d+)*", data, dice)


def other_word(data: bytes, dice: random.Random) -> bytes:
    """Write something else in the place of a word or a label."""
    return _in_place_of(rb"[A-Za-z]+", data, dice)


def other_delimiter(data: bytes, dice: random.Random) -> bytes:
    """Write one mark for another, in one place or in all."""
    one, two = dice.sample([b",", b";", b"\t", b"|", b":", b"\n", b"\r\n", b'"', b"'", b" ", b"", b"\n\n", b"-"], 2)
    return data.replace(one, two, -1 if dice.random() < 0.3 else dice.randint(1, 20)) if one else data


def other_encoding(data: bytes, dice: random.Random) -> bytes:
    """Write the same letters in other bytes, or claim it by a mark."""
    text = data[:LARGEST].decode("utf-8", "replace")
    return text.encode(dice.choice(ENCODINGS), dice.choice(("replace", "ignore")))


def lines(data: bytes, dice: random.Random) -> bytes:
    """Swap, double, delete, turn, shuffle or indent lines."""
    rows = data.split(b"\n")
    at, to = span(len(rows), dice, 8)
    some = rows[at:to]
    other = dice.randrange(len(rows) + 1)
    new = dice.choice(
        (some * 2, [], some[::-1], dice.sample(some, len(some)), [b"  " + row for row in some], [b"".join(some)])
    )
    changed = rows[:at] + new + rows[to:]
    return b"\n".join(changed[:other] + some + changed[other:] if dice.random() < 0.3 else changed)


def cells(data: bytes, dice: random.Random) -> bytes:
    """Change a cell, a header or the number of cells of a table."""
    delimiter = dice.choice((",", ",", "\t", ";"))
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8", "replace")), delimiter=delimiter))
    except csv.Error:
        return data
    for _ in range(dice.randint(1, 4)):
        row = dice.choice(rows or [[]])
        if row:
            row[dice.randrange(len(row))] = dice.choice((*HOSTILE, "", *map(str, VALUES[:9])))
    if rows and rows[0] and dice.random() < 0.5:
        rows[0][dice.randrange(len(rows[0]))] = dice.choice(HEADERS)
    if rows and dice.random() < 0.3:
        dice.choice(rows).extend([dice.choice(HEADERS)] * dice.choice((1, 2, 500)))
    out = io.StringIO()
    csv.writer(
        out, delimiter=delimiter, quoting=dice.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL)), escapechar="\\"
    ).writerows(rows)
    return out.getvalue().encode("utf-8", "surrogatepass")


def values(data: bytes, dice: random.Random) -> bytes:
    """Change, move, wrap or rename values of JSON, or of JSON Lines."""
    try:
        whole, by_line = json.loads(data), False
    except (ValueError, RecursionError):
        try:
            whole, by_line = [json.loads(line) for line in data.splitlines() if line.strip()], True
        except (ValueError, RecursionError):
            return data
    try:
        for _ in range(dice.randint(1, 4)):
            _change_value(whole, dice)
        documents = whole if by_line and isinstance(whole, list) else [whole]
        indent = None if by_line else dice.choice((None, 1))
        return "\n".join(json.dumps(one, indent=indent, ensure_ascii=dice.random() < 0.5) for one in documents).encode(
            "utf-8", "surrogatepass"
        )
    except (ValueError, RecursionError):
        return data


def _change_value(whole: Any, dice: random.Random) -> None:
    """Change one place of a value, which is found by going down at random."""
    here, depth = whole, dice.randint(0, 6)
    while isinstance(here, dict | list) and here:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = dice.choice(keys)
        if depth and isinstance(here[key], dict | list) and here[key]:
            here, depth = here[key], depth - 1
            continue
        return _change_at(here, key, dice)
    return None


def _change_at(here: Any, key: Any, dice: random.Random) -> None:
    old = here[key]
    new = dice.choice((dice.choice(VALUES), [old], {dice.choice(KEYS): old}, str(old), [old] * dice.choice((2, 30))))
    what = dice.random()
    if what < 0.6:
        here[key] = new
    elif what < 0.75:
        del here[key]
    elif isinstance(here, dict):
        here[dice.choice(KEYS)] = here.pop(key) if what < 0.9 else new
    else:
        here.insert(key, new)


def markup(data: bytes, dice: random.Random) -> bytes:
    """Double, delete, nest or change elements and attributes of XML, or cues with tags."""
    tags = list(re.finditer(rb"<[^<>]{1,300}>", data))
    if not tags:
        return data
    one, two = sorted(dice.choices(tags, k=2), key=lambda tag: tag.start())
    passage = data[one.start() : two.end()][:5000]
    name = re.match(rb"</?([\w:]+)", one.group()) or re.match(rb"()", b"")
    deep = dice.choice((3, 30, 300, 3000))
    tag = name.group(1) if name else b"a"
    return dice.choice(
        (
            lambda: data[: one.start()] + passage + data[one.start() :],
            lambda: data[: one.start()] + data[one.end() :],
            lambda: data[: one.start()] + data[two.end() :],
            lambda: (
                data[: one.start()]
                + (b"<" + tag + b">") * deep
                + passage
                + (b"</" + tag + b">") * deep
                + data[two.end() :]
            ),
            lambda: data[: one.start()] + two.group() + data[one.end() :],
            lambda: data[: one.start()] + _in_place_of(rb'"[^"]*"', one.group(), dice, quoted=True) + data[one.end() :],
            lambda: data[: one.start()] + passage * dice.choice((20, 200)) + data[one.start() :],
            lambda: data[: one.end()] + dice.choice((*HOSTILE[:40],)).encode() + data[one.end() :],
        )
    )()


def elements(data: bytes, dice: random.Random) -> bytes:
    """Double, delete, move, nest or change elements of XML so that it stays well formed."""
    try:
        root = ET.fromstring(data)
    except (ET.ParseError, ValueError, LookupError):
        return data
    for _ in range(dice.randint(1, 4)):
        everything = list(root.iter())
        if len(everything) < 20_000:
            _change_element(everything, dice)
    try:
        return ET.tostring(root)
    except (RecursionError, ValueError):
        return data


def _change_element(everything: list[ET.Element], dice: random.Random) -> None:
    one, two = dice.choice(everything), dice.choice(everything)
    what = dice.randrange(8)
    if what == 0 and len(one):
        one.remove(one[dice.randrange(len(one))])
    elif what == 1 and one is not two and not len(two):
        one.insert(dice.randint(0, len(one)), two)
    elif what == 2 and len(one):
        one.extend([one[dice.randrange(len(one))]] * dice.choice((1, 2, 300)))
    elif what == 3 and one.attrib:
        one.attrib[dice.choice(list(one.attrib))] = _printable(dice)
    elif what == 4:
        one.attrib.update(two.attrib)
    elif what == 5:
        one.text = _printable(dice)
    elif what == 6:
        one.tag = two.tag
    else:
        one.attrib.clear()


def _printable(dice: random.Random) -> str:
    """Return something hostile that XML can hold."""
    return "".join(
        one for one in dice.choice(HOSTILE) if one in "\t\n\r" or 0x20 <= ord(one) < 0xD800 or one > "\uffff"
    )


def _in_place_of(pattern: bytes, data: bytes, dice: random.Random, *, quoted: bool = False) -> bytes:
    begin = dice.randrange(len(data) + 1)
    found = re.compile(pattern).search(data, begin) or re.search(pattern, data)
    if found is None:
        return data
    others = [one.group() for one in re.finditer(pattern, data[begin : begin + 2000])]
    new = dice.choice((dice.choice(HOSTILE).encode("utf-8", "surrogatepass"), dice.choice(others or [b""])))
    return data[: found.start()] + (b'"' + new.strip(b'"') + b'"' if quoted else new) + data[found.end() :]


TEXTS: tuple[Mutator, ...] = (
    cut_out, cut_off, other_bytes, insert_hostile, insert_hostile, repeat, never_ending, other_number, other_word,
    other_delimiter, other_encoding, lines, lines, cells, values, values, markup, markup,
)  # fmt: skip
BINARIES: tuple[Mutator, ...] = (cut_out, cut_off, other_bytes, other_bytes, other_bytes, insert_hostile, repeat)


def mutated(data: bytes, dice: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """Return a file that is no longer what it was.

    Parameters
    ----------
    data : bytes
        A good file, of whatever form.
    dice : random.Random
        Decides everything.
    others : sequence of bytes
        Files of other forms, passages of which may come in.
    """
    if data.startswith(b"PK\x03\x04") and dice.random() < 0.9:
        return archive(data, dice)
    if data.startswith(b"PAR1") and dice.random() < 0.6:
        return columns(dice)
    if others and dice.random() < 0.08:
        data = splice(data, dice.choice(others), dice)
    return _changed(data, dice, BINARIES if b"\0" in data[:2000] else _fitting(data)) or b"T"


def _fitting(data: bytes) -> Sequence[Mutator]:
    """Return mutators, more of them such as leave a file of its form whole."""
    head = data[:20].lstrip()
    if head.startswith(b"<"):
        return (*TEXTS, *(elements,) * 20)
    return (*TEXTS, *(values,) * 25) if head.startswith((b"{", b"[")) else TEXTS


def _changed(data: bytes, dice: random.Random, mutators: Sequence[Mutator]) -> bytes:
    for _ in range(dice.choice((1, 1, 1, 2, 2, 3, 4, 6))):
        data = dice.choice(mutators)(data, dice)[: LARGEST + 100_000]
    return data


def splice(one: bytes, two: bytes, dice: random.Random) -> bytes:
    """Put a passage of another file in, at the end of a line."""
    at = one.rfind(b"\n", 0, dice.randrange(len(one) + 1)) + 1
    begin = two.rfind(b"\n", 0, dice.randrange(len(two) + 1)) + 1
    passage = two[begin : begin + dice.choice((200, 2000, 20_000))]
    return one[:at] + passage + (one[at:] if dice.random() < 0.7 else b"")


def archive(data: bytes, dice: random.Random) -> bytes:
    """Change a part of a Word or Excel file, lose it, give it another name, and pack all again."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old:
            parts = {name: old.read(name) for name in old.namelist()}
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError):
        return _changed(data, dice, BINARIES)
    words = [name for name in parts if re.search(r"document|sheet|sharedStrings|comments|footnotes|styles", name)]
    name = dice.choice(words if words and dice.random() < 0.8 else list(parts) or ["word/document.xml"])
    what = dice.random()
    part = parts.pop(name, b"")
    if what < 0.9:
        parts[name] = _changed(part, dice, _fitting(part))
    elif what < 0.95:
        parts[dice.choice((name.upper(), "../" + name, "/" + name, name + "\0", "xl/worksheets/sheet9.xml"))] = part
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", dice.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))) as new:
        for title, inside in parts.items():
            new.writestr(title, inside)
    packed = out.getvalue()
    return _changed(packed, dice, BINARIES) if dice.random() < 0.05 else packed


def columns(dice: random.Random) -> bytes:
    """Return a Parquet file of columns of any type under names that the readers know."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = (pa.string(), pa.large_string(), pa.binary(), pa.int64(), pa.float64(), pa.bool_(), pa.null(), pa.date32(),
             pa.timestamp("us"), pa.timestamp("ns", tz="UTC"), pa.duration("s"), pa.time64("ns"), pa.decimal128(38, 5),
             pa.list_(pa.string()), pa.struct([("speaker", pa.string()), ("text", pa.string())]), pa.uint64(),
             pa.map_(pa.string(), pa.int8()), pa.dictionary(pa.int32(), pa.string()))  # fmt: skip
    n = dice.choice((0, 1, 3, 40, 2000))
    names = [*dice.choice((("speaker", "text"), ("role", "text"), ())), *dice.sample(HEADERS, dice.randint(1, 4))]
    names += dice.choices(names, k=dice.choice((0, 0, 1)))
    table = pa.table(
        [_column(dice.choice(kinds) if dice.random() < 0.3 else pa.string(), n, dice) for _ in names], names=names
    )
    out = io.BytesIO()
    try:
        pq.write_table(
            table, out, row_group_size=dice.choice((1000, 7)), compression=dice.choice(("snappy", "gzip", "none"))
        )
    except (pa.ArrowException, OSError):
        return b"PAR1"
    return _changed(out.getvalue(), dice, BINARIES) if dice.random() < 0.2 else out.getvalue()


def _column(kind: Any, n: int, dice: random.Random) -> Any:
    import pyarrow as pa

    given: list[Any] = [
        None,
        0,
        1,
        -1,
        2**62,
        1.5,
        float("nan"),
        "T",
        "C",
        "words " * 3,
        "",
        b"\xff",
        True,
        ["a"],
        {"speaker": "T", "text": "x"},
    ]
    good = []
    for value in given:
        try:
            good.append(pa.array([value], kind)[0].as_py())
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError):
            continue
    try:
        return pa.array(dice.choices(good or [None], k=n), kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.nulls(n, kind)
