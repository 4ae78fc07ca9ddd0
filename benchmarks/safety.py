"""What the safety cues find: ``python -m benchmarks.safety --data DATA`` prints Markdown tables.

``DATA`` holds ``vera_mh``, ``annomi``, ``hlqc``, ``mibot``, ``mindeval`` and ``spiral_bench``. Of each half: sessions
in which a client turn is flagged, clearly flagged, or has a plain keyword; and how the hand-made sentences are read.
The first half is the one on which phrases were chosen (vera_mh: four of seven personas; others: by `source_group`).
Which flags are false is a matter of reading them: docs/validity.md has the counts.
"""

from __future__ import annotations

import argparse
import csv
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

from benchmarks._corpora import sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures._intervals import wilson
from therapy_analytics.measures.process._safety import CLEAR, Cues, cues
from therapy_analytics.session import Session, Turn

CORPORA = ("vera_mh", "annomi", "hlqc", "mibot", "mindeval", "spiral_bench")
KEYWORDS = re.compile(
    r"suicid|kill(ing|ed)? myself|self.?harm|(hurt|harm)(ing)? myself|end(ing)? my life|want(ed)? to die", re.IGNORECASE
)
SENTENCES = Path(__file__).parents[1] / "tests" / "measures" / "process" / "safety_sentences.csv"
_DEVELOPED_ON = frozenset({"Kevin", "Lena", "Maya", "Noah"})


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    rows = [row for name in CORPORA for row in _corpus(data, name)]
    print(markdown([["corpus", "part", "sessions", "flagged", "clear", "keyword"], *rows]))
    print()
    print(markdown([["half", "label", "n", "read right [95 %]"], *_sentence_rows()]))


def annotated(sessions: Sequence[Session]) -> list[AnnotatedSession]:
    """Return sessions as arrays, without codes."""
    return list(annotate(sessions, Matcher(builtin_lexicons())))


def developed_on(name: str, session: Session) -> bool:
    """Return whether a session belongs to the half on which phrases were chosen."""
    if name == "vera_mh":
        return session.id.split("_")[1] in _DEVELOPED_ON
    group = name + session.metadata.get("source_group", session.id)
    return zlib.crc32(group.encode()) % 2 == 1


def _part(name: str, session: Session) -> str:
    half = "chosen on" if developed_on(name, session) else "other"
    about = session.id.split("_")[1] if name == "vera_mh" else session.metadata.get("category", "")
    return f"{half} {about}".strip()


def _corpus(data: Path, name: str) -> list[list[str]]:
    parts: dict[str, list[AnnotatedSession]] = {}
    for one in annotated(sessions_of(data, name)):
        parts.setdefault(_part(name, one.session), []).append(one)
    return [[name, part, *map(str, _counts(found))] for part, found in sorted(parts.items())]


def _counts(sessions: Sequence[AnnotatedSession]) -> tuple[int, int, int, int]:
    found = [cues(one) for one in sessions]
    keyword = [
        any(KEYWORDS.search(turn.text) for turn in one.session.turns if turn.role == "client") for one in sessions
    ]
    clear = sum(bool((one.strength == CLEAR).any()) for one in found)
    return len(sessions), sum(bool(one.any.any()) for one in found), clear, sum(keyword)


def read_right(label: str, found: Cues) -> bool:
    """Return whether the last turn is read as its label says: a cue, a denial, of others, or none of these."""
    cue, denial, others = (bool(marks[-1]) for marks in (found.any, found.denial, found.others))
    wanted = {"cue": cue, "denial": not cue and denial, "other": not cue and others}
    return wanted.get(label, not cue)


def exchange(texts: Sequence[str]) -> Session:
    """Return a session of turns by therapist and client in turn, the therapist first."""
    roles = ("therapist", "client")
    turns = tuple(
        Turn(index=i, speaker=roles[i % 2], role="client" if i % 2 else "therapist", text=text, first_row=i + 1)
        for i, text in enumerate(texts)
    )
    return Session(id="exchange", source_file="", turns=turns)


def _sentence_rows() -> list[list[str]]:
    table = list(csv.DictReader(SENTENCES.read_text(encoding="utf-8").splitlines()))
    asked = "Tell me how the week has been for you."
    sessions = annotated([exchange((one["therapist"] or asked, one["client"])) for one in table])
    right: dict[tuple[str, str], list[bool]] = {}
    for one, session in zip(table, sessions, strict=True):
        right.setdefault((one["half"], one["label"]), []).append(read_right(one["label"], cues(session)))
    return [[*key, str(len(hits)), _share(sum(hits), len(hits))] for key, hits in sorted(right.items())]


def _share(k: int, n: int) -> str:
    low, high = wilson(float(k), float(n))
    return f"{k / n:.2f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    main()
