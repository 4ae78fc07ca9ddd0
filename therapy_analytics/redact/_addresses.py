"""E-mail and web addresses, file names and screen names, written or spoken: "dana dot r at ..."."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from therapy_analytics.redact._found import Found
from therapy_analytics.redact._spoken import DIGITS, TEENS, TENS, alphanumerics
from therapy_analytics.redact._vocabulary import KEPT, SPOKEN, word_set

_ENDINGS = word_set(
    """
    com org net edu gov mil io co us uk ca info biz me app dev health de fr es eu au ie nz nl pl se no in za
    mx br africa
    example test invalid
    """
)
_ENDING = f"(?:{'|'.join(sorted(_ENDINGS))})"
_MEDIA = "jpe?g|png|gif|heic|bmp|tiff?|mp[34]|m4[av]|wav|ogg|mov|avi|pdf|docx?"
_WRITTEN: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, rule, re.compile(pattern, re.IGNORECASE))
    for kind, rule, pattern in (
        ("EMAIL", "e-mail", r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+\b"),
        ("URL", "web_address", r"\b(?:https?|ftp)://[^\s<>\"]+[^\s<>\"\W]/?|\bwww\.[^\s<>\"]+\w"),
        ("FILE", "file_name", rf"(?<![\w./-])[\w-]+(?:\.[\w-]+)*\.(?:{_MEDIA})\b"),
        ("URL", "web_address", rf"(?<![@\w.-])(?:[a-z0-9-]+\.)+{_ENDING}\b(?:[/?][^\s<>\"]*[^\s<>\"\W])?"),
        ("URL", "web_address", r"(?<![@\w.-])[a-z0-9-]{3,}(?:\.[a-z0-9-]+)*\.[a-z]{2,}/[\w/?=&.-]*\w"),
        ("ID", "screen_name", r"(?<![\w@/.])@(?!(?:a|the)\b)[a-z_][\w.]*\w"),
        ("ID", "screen_name", r"\b[a-z_][\w.]*#\d{3,5}\b|\bu/[\w-]+"),
        ("ID", "screen_name", r"(?<![\w@/.])(?=\w*[a-z0-9]_)\w+_\w+(?:\.\w+)*"),
        ("ID", "screen_name", r"(?<![\w@/.-])(?:[a-z]\w*\.){1,3}[a-z]*\d{2,}\b(?!\.\d)"),
    )
)
_WORD = re.compile(r"(?<!['\u2019])[^\W_]+(?:['\u2019][^\W_]+)*(?:-[^\W_]+)*")
_JOINTS = {"dot", "underscore", "dash", "hyphen", "slash"}
_NUMBER = set(DIGITS) | set(TEENS) | set(TENS) | {"double", "triple", "hundred", "thousand"}
_REACHED = word_set("me us him her them you it look is was are it's i'm he's she's we're they're and or site the a")
_FILES = {"jpg", "jpeg", "png", "gif", "heic", "mp3", "mp4", "mov", "wav", "m4a", "pdf", "doc", "docx"}
_SPELLED = {("j", "p", "g"), ("j", "p", "e", "g"), ("p", "n", "g"), ("p", "d", "f"), ("jay", "peg"), ("m", "p", "four"),
            ("m", "p", "three"), ("m", "four", "a"), ("m", "o", "v")}  # fmt: skip
_PROVIDERS = {"gmail", "yahoo", "hotmail", "outlook", "icloud", "aol", "protonmail", "proton"}
_NOUNS = word_set(
    """
    day days week month year time way mom mum mommy dad daddy mama papa grandma grandpa granny nana sis bro kid kids
    guys dude man baby honey love god lord jesus good great right well better best bad long think want need uni sir
    feel most
    """
)
_STOP = (
    (
        SPOKEN
        | word_set(
            """
            email e-mail address site website page link portal file photo picture called named user username write
            writes sends send reach found posted account handle uses using checked visit visited login works around
            forum ip as mine's name's file's site's page's it's that's he's she's i'm there's
            """
        )
    )
    - _NUMBER
    - _NOUNS
    - {"e", "k", "r", "u", "er"}
)
_NO_DOT = {"the", "polka", "a", "micro", "on", "connect", "every", "little", "red", "dot"}
_HANDLE = re.compile(
    r"\b(?:discord|snap(?:chat)?|insta(?:gram)?|tik ?tok|twitter|twitch|reddit|telegram|user ?name|handle|"
    r"screen ?name|gamer ?tag|venmo|cash ?app|skype|log-?in|account name|codes?(?: ?words?)?|pass ?word|"
    r"pass ?phrase|pass ?code)"
    r"(?: name| handle| user| tag| id| account)?(?:'s| is| was|:| =|,? it's|,? it was|,? under|"
    r" called)+(?: still| just| like| um| uh| at)* ",
    re.IGNORECASE,
)


_CALLED_SO = re.compile(
    r"\b(?:he's|she's|i'm|he is|she is|i am|was|called|under|"
    r"as) (?P<name>(?:[^\W\d_]{3,} ){2,3})(?=\w)",
    re.IGNORECASE,
)


def addresses(text: str) -> Iterator[Found]:
    """Yield internet addresses, file names and screen names; they may overlap, the surest comes first."""
    words = list(_WORD.finditer(text))
    low = [match[0].lower() for match in words]
    yield from _spoken(low, words)
    for kind, rule, pattern in _WRITTEN:
        yield from (Found(*one.span(), kind, "certain", rule) for one in pattern.finditer(text) if _is_name(one[0]))
    yield from _numbered_names(text)
    handles = (_handle(low, words, match) for match in _HANDLE.finditer(text))
    yield from (one for one in handles if one is not None)


def _numbered_names(text: str) -> Iterator[Found]:
    """Yield screen names of two words and a number: "he's velvet mole ninety seven"."""
    for code in alphanumerics(text):
        lead = next((one for one in _CALLED_SO.finditer(text[: code.start] + "0") if one.end() == code.start), None)
        words = lead["name"].lower().split() if lead else []
        if len(code.digits) > 1 and words and not any(word in SPOKEN | KEPT or word.endswith("ing") for word in words):
            yield Found(lead.start("name") if lead else code.start, code.end, "ID", "unsure", "screen_name_said")


def _is_name(words: str) -> bool:
    """Return whether words are no placeholder, which is in capitals with an underscore."""
    return not re.fullmatch(r"[A-Z]+_[A-Z0-9_]+", words)


def _spoken(low: Sequence[str], words: Sequence[re.Match[str]]) -> Iterator[Found]:
    """Yield spoken addresses: chains of words joined by "dot", "at", "underscore" and "slash"."""
    done = 0
    for at, word in enumerate(low):
        if at < max(done, 1) or word not in {"dot", "underscore", "at"}:
            continue
        first, last, kind = _email(low, at) if word == "at" else _chain(low, at)
        if kind:
            done = last + 1
            yield Found(words[first].start(), words[last].end(), kind, "certain", f"{kind.lower()}_said")


def _email(low: Sequence[str], at: int) -> tuple[int, int, str]:
    """Return the first and last word of an e-mail address around "at", and its kind, empty if it is none."""
    first, dot = _back(low, at - 1, 3), _next_joint(low, at)
    if first < at and dot is not None and low[dot] == "dot" and dot > at + 1:
        return first, _on(low, dot), "EMAIL"
    has_form = any(_is_sign(word) or word in _JOINTS for word in low[first:at])
    is_provider = at + 1 < len(low) and low[at + 1] in _PROVIDERS
    return first, at + 1, "EMAIL" if has_form and is_provider else ""


def _chain(low: Sequence[str], at: int) -> tuple[int, int, str]:
    """Return the same for an address, file name or screen name around "dot" or "underscore"."""
    first, last = _back(low, at - 1, 4 if low[at] == "dot" else 2), _on(low, at)
    if low[at - 1] in _NO_DOT or last < at or first == at:
        return first, last, ""
    if "at" in low[last + 1 : last + 2]:
        _, end, kind = _email(low, last + 1)
        if kind:
            return first, end, kind
    row = list(low[first : last + 1])
    behind = [tuple(row[i + 1 :]) for i, word in enumerate(row) if word == "dot"]
    if behind and (behind[-1][0] in _FILES or any(behind[-1][: len(one)] == one for one in _SPELLED)):
        return first, last, "FILE"
    if len(behind) == 3 and all(_is_sign(word) or word == "dot" for word in row):
        return first, last, "IP"
    if len(behind) > 1 or row[0] in {"w", "www"} or (behind and (behind[0][0] in _ENDINGS or "slash" in row)):
        return first, last, "URL"
    return first, last, "ID" if "underscore" in row else ""


def _is_sign(word: str) -> bool:
    return word in _NUMBER or len(word) == 1 or word.isdigit()


def _back(low: Sequence[str], at: int, most: int) -> int:
    """Return the first of the words of an address, searching back from the word before its first joint."""
    n_plain, end = 0, at
    while at >= 0:
        word, follows = low[at], low[at + 1]
        if (_is_sign(word) and (word not in {"a", "i"} or follows in _JOINTS or len(follows) == 1)) or word in _JOINTS:
            n_plain = 0
        elif n_plain < most and (
            word not in _STOP or (at == end and (word == "my" or (follows == "at" and word not in _REACHED)))
        ):
            n_plain += 1
        else:
            break
        at -= 1
    while at + 1 <= end and low[at + 1] in _JOINTS:
        at += 1
    return at + 1


def _on(low: Sequence[str], joint: int | None) -> int:
    """Return the last word of a chain that goes on after a joint; the word before the joint if it does not."""
    last = len(low) if joint is None else joint - 1
    stop = frozenset[str]() if low[last : last + 1] in (["w"], ["www"]) else _STOP - _ENDINGS
    while joint is not None and joint + 1 < len(low) and low[joint + 1] not in stop:
        last = joint + 1
        spelled = next((one for one in _SPELLED if tuple(low[last : last + len(one)]) == one), ())
        if spelled and low[joint] == "dot":
            return last + len(spelled) - 1
        is_end = low[last] in _ENDINGS and low[joint] == "dot"
        while not is_end and last + 1 < len(low) and _is_sign(low[last + 1]) and low[last + 1] not in {"a", "i"}:
            last += 1
        stop = _STOP - _ENDINGS if is_end else stop
        joint = _next_joint(low, last, stop)
    return last


def _next_joint(low: Sequence[str], last: int, stop: frozenset[str] = SPOKEN - _NUMBER) -> int | None:
    """Return the next joint, if at most four words come before it and all may belong to an address."""
    for at in range(last + 1, min(last + 6, len(low))):
        if low[at] in _JOINTS:
            return at
        if low[at] in stop:
            break
    return None


def _handle(low: Sequence[str], words: Sequence[re.Match[str]], match: re.Match[str]) -> Found | None:
    """Return a screen name or password after the word for it: up to four content words."""
    first = next((i for i, word in enumerate(words) if word.end() > match.end()), len(low))
    start = match.end()
    text = match.string
    written = re.match(r"@?[\w.#!$&*+-]*[\w!]", text[start:])
    if written is None or first >= len(low) or low[first] in SPOKEN - _NUMBER or low[first] in KEPT:
        return None
    last, n_plain = first, 1
    while last + 1 < len(low) and re.fullmatch(r"[ ,]*", text[words[last].end() : words[last + 1].start()]):
        if low[last + 1] in _JOINTS:
            end = _on(low, last + 1)
            if end <= last:
                break
            last = end
        elif _is_sign(low[last + 1]) or (n_plain < 3 and low[last + 1] not in _STOP and "'" not in low[last + 1]):
            last, n_plain = last + 1, n_plain + (not _is_sign(low[last + 1]))
        else:
            break
    if match[0].lower().startswith("code") and not any(_is_sign(word) for word in low[first : last + 1]):
        return None  # the code is easy
    return Found(start, max(words[last].end(), start + written.end()), "ID", "likely", "screen_name_cue")
