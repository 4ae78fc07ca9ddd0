"""CHAT transcripts of TalkBank, for CLAN and the tools around it."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from urllib.parse import quote

from therapy_analytics.readers._chat_codes import LABEL, NO_END
from therapy_analytics.session import Role, Session, Turn
from therapy_analytics.writers._base import writer
from therapy_analytics.writers._chat_words import utterances

_ROLES: Mapping[Role, tuple[str, str]] = {
    "therapist": ("THE", "Therapist"),
    "client": ("CLI", "Participant"),
    "other": ("OTH", "Other"),
}
"""Code and role word; of the words that CLAN knows, `Participant` is the one for a client."""
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_WIDTH = 88
_UNKNOWN_LANGUAGE = "und"
_NOT_IN_FIELD = re.compile(r"[%|\x00-\x1f\x7f]")
_NOT_IN_CODE = re.compile(r"[^\w.-]")

Speaker = tuple[str, Role]


@writer("chat", suffix=".cha", holds={"times", "ends", "codes", "others"})
def write_chat(session: Session) -> bytes:
    """CHAT of TalkBank: an utterance a sentence, with times, speech marks as its codes, codes by people on a tier."""
    codes = _codes(session)
    body = (line for turn in session.turns for line in _tiers(turn, codes[turn.speaker, turn.role]))
    return "".join(f"{line}\n" for line in (*_headers(session, codes), *body, "@End")).encode()


def _codes(session: Session) -> dict[Speaker, str]:
    """Give every speaker a code of three letters: ``THE``, or ``TH1`` and ``TH2`` where there are several."""
    speakers = dict.fromkeys((turn.speaker, turn.role) for turn in session.turns)
    of_role = Counter(role for _, role in speakers)
    met: Counter[Role] = Counter()
    codes = {}
    for label, role in speakers:
        met[role] += 1
        number = "" if of_role[role] == 1 else str(met[role])
        codes[label, role] = _ROLES[role][0][: max(1, 3 - len(number))] + number
    return codes


def _headers(session: Session, codes: Mapping[Speaker, str]) -> Iterator[str]:
    language = session.metadata.get("language", "")
    language = language if re.fullmatch("[a-z]{3}", language) else _UNKNOWN_LANGUAGE
    people = (f"{code} {_name(label)} {_ROLES[role][1]}" for (label, role), code in codes.items())
    yield from ("@UTF8", "@Begin", f"@Languages:\t{language}")
    yield _tier("@Participants", ", ".join(" ".join(one.split()) for one in people))
    for (label, role), code in codes.items():
        written = _escaped(_NOT_IN_FIELD, label)
        yield f"@ID:\t{language}|converted|{code}|||||{_ROLES[role][1]}||{LABEL}{written}|"
    if day := _day(session.metadata.get("date", "")):
        yield f"@Date:\t{day}"


def _name(label: str) -> str:
    return re.sub(r"[\W_]+", "_", label).strip("_")


def _day(iso: str) -> str:
    """Write ``2024-03-14`` as ``14-MAR-2024``; a date in another form is none that CHAT can hold."""
    try:
        day = date.fromisoformat(iso)
    except ValueError:
        return ""
    return f"{day.day:02}-{_MONTHS[day.month - 1]}-{day.year:04}" if day.isoformat() == iso else ""


def _tiers(turn: Turn, code: str) -> Iterator[str]:
    """Yield the utterances of a turn: its codes behind the first, its times, which are of them all, behind the last."""
    said, times = [*utterances(turn.text, turn.marks)], _times(turn)
    is_span = all(times)  # a bullet of CHAT has a start and an end
    for number, utterance in enumerate(said, start=1):
        is_last = number == len(said)
        yield _tier(f"*{code}", utterance.line + (f" \x15{'_'.join(times)}\x15" if is_last and is_span else ""))
        if utterance.verbatim:
            # not folded: other programs take a star or a percent sign that begins a line for a tier
            yield f"%xtxt:\t{json.dumps(utterance.verbatim, ensure_ascii=False)}"
        if number == 1 and (given := _given(turn)):
            yield _tier("%cod", given)
        if is_last and any(times) and not is_span:
            yield _tier("%xtim", "_".join(times))


def _times(turn: Turn) -> tuple[str, str]:
    start, end = ("" if time is None or time < 0 else str(round(1000 * time)) for time in (turn.start_s, turn.end_s))
    return start, "" if start and start == end else end


def _given(turn: Turn) -> str:
    """Return the codes that people gave, as in ``$code=question``."""
    pairs = ((name, code) for name, value in turn.gold.items() for code in value.split(";") if code)
    return " ".join(f"${_escaped(_NOT_IN_CODE, name)}={_escaped(_NOT_IN_CODE, code)}" for name, code in pairs)


def _escaped(signs: re.Pattern[str], text: str) -> str:
    return signs.sub(lambda sign: quote(sign[0], safe=""), text)


def _tier(name: str, content: str) -> str:
    """Write a tier or a header; a long one goes on in lines that begin with a tab, and no code is torn."""
    whole = content.replace(NO_END, NO_END.replace(" ", "\xa0"))
    lines = textwrap.wrap(whole, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"{name}:\t" + "\n\t".join(lines).replace("\xa0", " ")
