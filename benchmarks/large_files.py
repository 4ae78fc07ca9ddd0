"""How much memory large files take: ``python -m benchmarks.large_files [MB ...] [--forms ...] [--doing ...]``.

Makes a file of each form and size (own words, many sessions where the form can hold many), reads it in a process of its
own as a user would, and prints the most memory that this process held beyond the same process with a file of a few
lines, how many times the size of the file that is, and what was said of the file where it was refused.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from pathlib import Path

MB = 2**20
SIZES = (20, 60, 166)
TURNS = 60
"""Of each session, where a file can hold several."""
_SAMPLES = Path(__file__).resolve().parents[1] / "sample_transcripts"
_READ = "import sys, therapy_analytics as ta; ta.read(sys.argv[1])"
_STARTER = (
    "import resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
    "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)
COMMAND = "import sys; from therapy_analytics.cli import main; sys.argv[0] = 'tanalyze'; main()"
DOING: dict[str, Callable[[Path, Path], list[str]]] = {
    "read": lambda file, _: [_READ, str(file)],
    "inspect": lambda file, _: [COMMAND, "inspect", str(file)],
    "convert": lambda file, out: [COMMAND, "convert", str(file), "--to", "jsonl", "--out", str(out)],
    "run": lambda file, out: [
        COMMAND, "run", str(file), "--out", str(out), "--tagger", "fast", "--output-format", "parquet",
        "--processes", "1",
    ],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Took:
    """What a process took."""

    peak_mb: float
    seconds: float
    spoken: str


@dataclass(frozen=True, slots=True)
class Talk:
    """What is said in a file: turns of so many words at most; where a form must know all of them, so many turns."""

    most_words: int = 50
    n_turns: int = 0

    def turns(self) -> Iterator[tuple[int, int, str, str]]:
        """Yield session, second, speaker and words, without end."""
        draw = random.Random(7)
        spoken = re.findall(r"^\W*\w[^:\n]{0,30}:\s+(\S.{20,200})$", _texts(), re.MULTILINE)
        for session in count():
            for at in range(TURNS):
                words = draw.choice(spoken).split()[: self.most_words]
                words[draw.randrange(len(words))] = draw.choice(draw.choice(spoken).split())
                yield session, at * 7, ("Therapist", "Client")[at % 2], " ".join(words)

    def in_one(self) -> Iterator[tuple[int, str, str]]:
        """Yield the turns of one session that never ends, with the number of each."""
        return ((number, speaker, text) for number, (_, _, speaker, text) in enumerate(self.turns()))


def _texts() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(_SAMPLES.glob("*.txt")))


def _clock(second: int, sign: str = ".") -> str:
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}{sign}000"


def _labelled(talk: Talk) -> Iterator[str]:
    return (f"{speaker}: {text}\n" for _, speaker, text in talk.in_one())


def _markdown(talk: Talk) -> Iterator[str]:
    return (f"**{speaker}:** {text}\n\n" for _, speaker, text in talk.in_one())


def _table(talk: Talk, delimiter: str) -> Iterator[str]:
    yield delimiter.join(("session_id", "speaker", "text", "start")) + "\n"
    for session, second, speaker, text in talk.turns():
        line = io.StringIO()
        csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow([f"s{session}", speaker, text, second])
        yield line.getvalue()


def _sessions(talk: Talk) -> Iterator[str]:
    found = talk.turns()
    while some := list(islice(found, TURNS)):
        messages = [{"speaker": speaker, "text": text, "start": second} for _, second, speaker, text in some]
        yield json.dumps({"id": f"s{some[0][0]}", "messages": messages})


def _json(talk: Talk) -> Iterator[str]:
    yield "["
    for number, session in enumerate(_sessions(talk)):
        yield f",\n{session}" if number else session


def _lines(talk: Talk) -> Iterator[str]:
    return (f"{session}\n" for session in _sessions(talk))


def _web_captions(talk: Talk) -> Iterator[str]:
    yield "WEBVTT\n\n"
    for number, speaker, text in talk.in_one():
        yield f"{_clock(7 * number)} --> {_clock(7 * number + 6)}\n<v {speaker}>{text}\n\n"


def _subtitles(talk: Talk) -> Iterator[str]:
    for number, speaker, text in talk.in_one():
        yield f"{number + 1}\n{_clock(7 * number, ',')} --> {_clock(7 * number + 6, ',')}\n{speaker}: {text}\n\n"


def _chat(talk: Talk) -> Iterator[str]:
    yield "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tTHE Therapist, CLI Client\n"
    for number, speaker, text in talk.in_one():
        yield f"*{speaker[:3].upper()}:\t{text} \x15{7000 * number}_{7000 * number + 6000}\x15\n"


def _textgrid(talk: Talk) -> Iterator[str]:
    yield 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n9000000\n<exists>\n2\n'
    for speaker in ("Therapist", "Client"):
        some = [one for one in islice(talk.in_one(), talk.n_turns) if one[1] == speaker]
        yield f'"IntervalTier"\n"{speaker}"\n0\n9000000\n{len(some)}\n'
        for number, _, text in some:
            yield f'{7 * number}\n{7 * number + 6}\n"{text.replace(chr(34), "")}"\n'


def _rich(talk: Talk) -> Iterator[str]:
    yield "{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 Arial;}}\n"
    for _, speaker, text in talk.in_one():
        yield f"{speaker}: {text}\\par\n"


def _messenger(talk: Talk) -> Iterator[str]:
    for number, speaker, text in talk.in_one():
        day, minute = divmod(number, 1440)
        date = f"{day % 28 + 1:02}/{day // 28 % 12 + 1:02}/{2000 + day // 336}"
        yield f"[{date}, {minute // 60:02}:{minute % 60:02}:00] {speaker}: {text}\n"


def _elan(talk: Talk) -> Iterator[str]:
    rows = list(islice(talk.in_one(), talk.n_turns))
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<ANNOTATION_DOCUMENT AUTHOR="" DATE="2026-01-01T00:00:00+00:00" '
    yield 'FORMAT="3.0" VERSION="3.0"><HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/><TIME_ORDER>'
    for number, _, _ in rows:
        yield f'<TIME_SLOT TIME_SLOT_ID="b{number}" TIME_VALUE="{7000 * number}"/>'
        yield f'<TIME_SLOT TIME_SLOT_ID="e{number}" TIME_VALUE="{7000 * number + 6000}"/>\n'
    yield "</TIME_ORDER>"
    for speaker in ("Therapist", "Client"):
        yield f'<TIER LINGUISTIC_TYPE_REF="t" PARTICIPANT="{speaker}" TIER_ID="{speaker}">\n'
        for number, who, text in rows:
            if who == speaker:
                yield (
                    f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a{number}" TIME_SLOT_REF1="b{number}" '
                    f'TIME_SLOT_REF2="e{number}"><ANNOTATION_VALUE>{_xml(text)}</ANNOTATION_VALUE>'
                    "</ALIGNABLE_ANNOTATION></ANNOTATION>\n"
                )
        yield "</TIER>"
    yield '<LINGUISTIC_TYPE LINGUISTIC_TYPE_ID="t" TIME_ALIGNABLE="true"/></ANNOTATION_DOCUMENT>'


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


ENDS = {"json": "]", "rtf": "}", "cha": "@End\n"}
Writer = Callable[[Talk], Iterable[str]]
TEXTS: dict[str, Writer] = {
    "txt": _labelled, "md": _markdown, "csv": partial(_table, delimiter=","), "tsv": partial(_table, delimiter="\t"),
    "json": _json, "jsonl": _lines, "vtt": _web_captions, "srt": _subtitles, "cha": _chat, "rtf": _rich,
    "chat.txt": _messenger,
}  # fmt: skip
WHOLE: dict[str, tuple[Writer, int]] = {"TextGrid": (_textgrid, 110), "eaf": (_elan, 370)}
"""Forms that must know all turns beforehand, and how many letters a turn takes in them."""
FORMS = (*TEXTS, *WHOLE, "docx", "xlsx", "parquet")


def make(form: str, n_bytes: int, folder: Path, talk: Talk = Talk()) -> Path:
    """Write a file of a form and return it; of packed forms the size is that of what is packed, about."""
    path = folder / f"talk.{form}"
    if form in TEXTS:
        _write(path, TEXTS[form](talk), n_bytes, ENDS.get(form, ""))
    elif form in WHOLE:
        writer, letters = WHOLE[form]
        _write(path, writer(replace(talk, n_turns=max(n_bytes // letters, 10))), sys.maxsize, "")
    else:
        {"docx": _document, "xlsx": _workbook, "parquet": _parquet}[form](path, n_bytes, talk)
    return path


def _write(path: Path, lines: Iterable[str], n_bytes: int, end: str) -> None:
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            written += file.write(line)
            if written >= n_bytes:
                break
        file.write(end)


def _document(path: Path, n_bytes: int, talk: Talk) -> None:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("word/document.xml", "w") as part:
        written = part.write(f'<?xml version="1.0"?><w:document xmlns:w="{space}"><w:body>'.encode())
        for _, speaker, text in talk.in_one():
            written += part.write(f"<w:p><w:r><w:t>{speaker}: {_xml(text)}</w:t></w:r></w:p>".encode())
            if written >= n_bytes:
                break
        part.write(b"</w:body></w:document>")


def _workbook(path: Path, n_bytes: int, talk: Talk) -> None:
    from openpyxl import Workbook

    book = Workbook(write_only=True)
    sheet, written, rows = book.create_sheet("talk"), 0, 0
    sheet.append(["session_id", "speaker", "text", "start"])
    for session, second, speaker, text in talk.turns():
        sheet.append([f"s{session}", speaker, text, second])
        written, rows = written + len(text) + 190, rows + 1
        if written >= n_bytes or rows > 1_000_000:
            break
    book.save(path)


def _parquet(path: Path, n_bytes: int, talk: Talk) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: list[list[object]] = [[], [], [], []]
    written = 0
    for session, second, speaker, text in talk.turns():
        for column, cell in zip(columns, (f"s{session}", speaker, text, second), strict=True):
            column.append(cell)
        written += len(text) + 20
        if written >= n_bytes:
            break
    names = ["session_id", "speaker", "text", "start"]
    pq.write_table(pa.table(dict(zip(names, columns, strict=True))), path, row_group_size=10_000)


def size(path: Path) -> int:
    """Return how many bytes a file holds, unpacked."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return int(pq.read_table(path).nbytes)
    if not zipfile.is_zipfile(path):
        return path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        return sum(part.file_size for part in archive.infolist())


def took(doing: str, file: Path, package: Path) -> Took:
    """Do it in a process of its own; the memory is the most that it, or a process that it started, held."""
    with tempfile.TemporaryDirectory(dir=file.parent) as out:
        began = time.monotonic()
        _, printed, peak_mb = measured(DOING[doing](file, Path(out) / "out"), file.parent, package)
        seconds = time.monotonic() - began
        spoken = printed.strip().rpartition("\n")[2]
        problems = Path(out) / "out" / "problems.csv"
        if problems.exists():
            spoken = problems.read_text(encoding="utf-8").partition("\n")[2].strip() or ""
    return Took(peak_mb, seconds, spoken)


def measured(arguments: Sequence[str], folder: Path, package: Path) -> tuple[int, str, float]:
    """Run Python with a program and its arguments in a folder; return its exit status, its errors, its peak in MB.

    A small process starts it: what a process held before it became another program counts as that program's.
    """
    command = [sys.executable, "-c", _STARTER, sys.executable, "-c", *arguments]
    surroundings = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=surroundings)
    status, peak = map(int, done.stdout.split())
    return status, done.stderr, peak / (2**10 if sys.platform == "linux" else 2**20)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int)
    parser.add_argument("--forms", nargs="*", default=FORMS, choices=FORMS)
    parser.add_argument("--doing", nargs="*", default=["read"], choices=list(DOING))
    parser.add_argument("--package", type=Path, default=Path(__file__).resolve().parents[1], help="another checkout")
    parser.add_argument("--words", type=int, default=50, help="of each turn, at most")
    asked = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print("| form | MB | doing | seconds | memory beyond a small file (MB) | times its size | said |")
    print("| --- | ---: | --- | ---: | ---: | ---: | --- |", flush=True)
    for form in asked.forms:
        with tempfile.TemporaryDirectory() as folder:
            small = make(form, 20_000, Path(folder), Talk(asked.words))
            base = {doing: took(doing, small, asked.package).peak_mb for doing in asked.doing}
            for mb in asked.sizes or SIZES:
                file = make(form, mb * MB, Path(folder), Talk(asked.words))
                for doing in asked.doing:
                    row, n = took(doing, file, asked.package), size(file) / MB
                    more = row.peak_mb - base[doing]
                    figures = f"{row.seconds:.1f} | {more:,.0f} | {more / n:.1f}"
                    print(f"| {form} | {n:.0f} | {doing} | {figures} | {row.spoken} |", flush=True)


if __name__ == "__main__":
    main()
