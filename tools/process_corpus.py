"""The turns whose codes of the codebook `process` were read or invented, with their words, as one table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import therapy_analytics as ta
from therapy_analytics.codes import codebook_named
from therapy_analytics.core.session import Session, Turn

CODES = Path(__file__).parent / "process_codes"
SESSIONS = {
    "annomi": "annomi/annomi.csv",
    "hlqc": "hlqc/hlqc.csv",
    "mibot": "mibot/mibot.csv",
    "vera_mh": "vera_mh",
    "mindeval": "mindeval",
    "spiral_bench": "spiral_bench",
}
"""The corpora of whole sessions, by which models are judged, and where each is in the folder of corpora."""
UNSURE = 0.65
"""What an unsure code counts, where a sure one counts 1."""
VERDICTS = {"yes": 1.0, "unsure": 0.5, "no": 0.0}
"""What a code counts on which two readers differed, by what a third said."""
BOOK = codebook_named("process")
NAMES = [code.id for code in BOOK.codes]
ROLE_OF = [code.role for code in BOOK.codes]


def turns(data: Path) -> pd.DataFrame:
    """Return all turns of sessions of which some were read, up to the last that was.

    Parameters
    ----------
    data : Path
        The folder of corpora.

    Returns
    -------
    DataFrame
        ``corpus``, ``session``, ``role``, ``text``, ``codes`` (dict of code to how sure it is, 0 to 1), ``read``
        (whether its codes count), ``group`` (the recording; copies of one share it), ``domain`` (the corpus, of
        invented ones with the manner).
    """
    found = pd.DataFrame([*_read(data), *_invented()])
    found["group"] = found["session"].map(_recordings(data)).fillna(found["session"])
    return found


def _lines(name: str) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, (CODES / name).read_text(encoding="utf-8").splitlines())


def _sure(codes: list[str]) -> dict[str, float]:
    """Return how sure a reader is of each code of a turn."""
    return {code.removesuffix("?"): UNSURE if code.endswith("?") else 1.0 for code in codes}


def _settled() -> dict[tuple[str, int], dict[str, float]]:
    """Return the codes of turns of corpora, by session and turn: the mean of two readings where there are two.

    Where one reader gave a code and the other did not, a third decided; that counts instead.
    """
    found = _of_turns("read.jsonl")
    again = _of_turns("second.jsonl")
    for one in _lines("second_segments.jsonl"):
        if "/" not in one["session"]:
            continue  # an invented excerpt, whose codes are its writer's
        for turn in range(one["from"], one["to"] + 1):
            first, second = (each.get((one["session"], turn), {}) for each in (found, again))
            if first or second:
                both = {code: (first.get(code, 0.0) + second.get(code, 0.0)) / 2 for code in {**first, **second}}
                found[one["session"], turn] = both
    for one in _lines("settled.jsonl"):
        found[one["session"], one["turn"]] |= {code: VERDICTS[verdict] for code, verdict in one["codes"].items()}
    return found


def _of_turns(name: str) -> dict[tuple[str, int], dict[str, float]]:
    return {(one["session"], one["turn"]): _sure(one["codes"]) for one in _lines(name)}


def _read(data: Path) -> Iterator[dict[str, Any]]:
    texts, codes = dict(_texts(data)), _settled()
    covered: dict[str, set[int]] = {}
    for one in _lines("segments.jsonl"):
        covered.setdefault(one["session"], set()).update(range(one["from"], one["to"] + 1))
    for session, read in sorted(covered.items()):
        corpus = session.split("/")[0]
        for at, (role, text) in enumerate(texts[session][: max(read) + 1]):
            about = {"corpus": corpus, "domain": corpus, "session": session, "role": role, "text": text}
            yield {**about, "codes": codes.get((session, at), {}), "read": at in read}


def _invented() -> Iterator[dict[str, Any]]:
    for one in _lines("invented.jsonl"):
        about = {"corpus": "invented", "domain": f"invented {one['manner']}", "session": f"invented/{one['id']}"}
        for turn in one["turns"]:
            yield {**about, "role": turn["role"], "text": turn["text"], "codes": _sure(turn["codes"]), "read": True}


def _texts(data: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each session of the corpora: its name here, and role and words of its turns."""
    for corpus, place in SESSIONS.items():
        for session in ta.read(data / place):
            yield name_of(corpus, session.id), [(turn.role, turn.text) for turn in session.turns]
    pairs = pd.read_csv(data / "epitome" / "interpretations.csv")
    for pair in pairs.itertuples():
        talk = [("client", pair.seeker_post), ("therapist", pair.response_post)]
        yield f"epitome/{pair.sp_id}-{pair.rp_id}", [(role, str(text)) for role, text in talk]
    for message in pd.read_csv(data / "oncoco" / "messages.csv").itertuples():
        text = str(message.text).strip().removeprefix("Counselor:").removeprefix("Client:").strip()
        yield f"oncoco/{message.id}", [("therapist" if message.type == "CO" else "client", text)]
    for post in pd.read_csv(data / "distortions" / "distortions.csv").to_dict("records"):
        yield f"distortions/{post['Id_Number']}", [("client", " ".join(str(post["Patient Question"]).split()))]


def name_of(corpus: str, session: str) -> str:
    """Return the name here of a session of a corpus of whole sessions."""
    return f"{corpus}/{session[:8] if corpus == 'mindeval' else session}"


def session_of(rows: pd.DataFrame) -> Session:
    """Return the turns of a session, without codes."""
    made = (
        Turn(index=at, first_row=at, role=row.role, speaker=row.role, text=row.text)
        for at, row in enumerate(rows.itertuples())
    )
    return Session(id=str(rows["session"].iloc[0]), source_file="corpus", turns=tuple(made))


def _recordings(data: Path) -> dict[str, str]:
    """Return the recording of each session of AnnoMI and HLQC, which have some in common."""
    found: dict[str, str] = {}
    for corpus, column in (("annomi", "transcript_id"), ("hlqc", "conv_id")):
        rows = pd.read_csv(data / SESSIONS[corpus], low_memory=False).drop_duplicates(column)
        found |= {f"{corpus}/{one[column]}": str(one["source_group"]) for one in rows.to_dict("records")}
    return found
