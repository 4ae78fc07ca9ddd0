"""Telephone numbers, addresses of the net, and numbers of accounts, records, plans, licences, cars and devices."""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.redact import _spoken
from therapy_analytics.redact._found import Found

_ENDING = r"(?:com|org|net|edu|gov|mil|io|co|us|uk|ca|info|biz|me|app|dev|health|de|fr|es|eu|au|ie|nz)"
_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_HEX = "[0-9a-f]{1,4}"
_VIN = "[A-HJ-NPR-Z0-9]"
_MEDIA = "jpe?g|png|gif|heic|bmp|tiff?|mp[34]|m4[av]|wav|ogg|mov|avi|pdf|docx?"
_WRITTEN: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, rule, re.compile(pattern, re.IGNORECASE))
    for kind, rule, pattern in (
        ("EMAIL", "e-mail", r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+\b"),
        ("URL", "web_address", r"\b(?:https?|ftp)://[^\s<>\"]+[^\s<>\"\W]/?|\bwww\.[^\s<>\"]+\w"),
        ("FILE", "file_name", rf"(?<![\w./-])[\w-]+(?:\.[\w-]+)*\.(?:{_MEDIA})\b"),
        ("URL", "web_address", rf"(?<![@\w.-])(?:[a-z0-9-]+\.)+{_ENDING}\b(?:/[^\s<>\"]*[^\s<>\"\W])?"),
        ("IP", "ip_address", rf"(?<![\d.])(?:{_BYTE}\.){{3}}{_BYTE}(?![\d.]*\d)"),
        ("IP", "ip_address", rf"(?<![\w:])(?:{_HEX}:){{3,7}}:?{_HEX}(?![\w:])"),
        ("IP", "ip_address", rf"(?<![\w:]){_HEX}(?::{_HEX})*::(?:{_HEX}:)*{_HEX}(?![\w:])"),
        ("SSN", "social_security", r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-]*\d)"),
        ("VEHICLE", "vehicle_number", rf"\b(?={_VIN}*\d)(?=\d*[A-HJ-NPR-Z]){_VIN}{{13}}\d{{4}}\b"),
        ("ID", "screen_name", r"(?<![\w@/.])@(?!(?:a|the)\b)[a-z_][\w.]*\w"),
        ("ID", "screen_name", r"\b[a-z_][\w.]*#\d{3,5}\b"),
        ("ACCOUNT", "card", r"(?<![\d-])\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{1,7}(?!\d)"),
        ("ACCOUNT", "card", r"(?<![\d-])3\d{3}[ -]\d{6}[ -]\d{5}(?!\d)"),
    )
)
_PHONE = re.compile(
    r"(?<![\w./-])(?:\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}"
    r"|(?:1[ .-])?(?:\(\d{3}\)\s?|\d{3}[ .-])\d{3}[ .-]?\d{4}"
    r"|(?:1[ .-])?\d{3}[ .-]\d{4}|[2-9]\d{9})(?![\w-]*\d)(?:,? (?:ext\.?|extension) \d{1,6})?"
)
_CUES: tuple[tuple[str, str], ...] = (
    ("FAX", r"fax\w*"),
    ("SSN", r"social(?:[ -]security)?|ssn"),
    ("VEHICLE", r"(?:licen[sc]e|number) plates?|plates?|\btags?|vin|registration"),
    ("DEVICE", r"serial|device|imei|pacemaker|udi|\bsn"),
    ("PLAN", r"insurance|policy|member|subscriber|beneficiary|medicare|medicaid|(?:health )?plan|group number"),
    (
        "ID",
        (
            r"(?:case|confirmation|reference|booking|ticket|student|file|badge|employee|inmate)(?: number| no\.?| id|"
            r" #)|dockets?|passport|claim|prescription|\brx"
        ),
    ),
    ("LICENCE", r"licen[sc]e|certificate|certification|permit|driver'?s"),
    ("RECORD", r"record|chart|mrn|medical"),
    ("ACCOUNT", r"accounts?|acct|(?:credit|debit|bank) ?card|card number|routing|iban|checking|savings|loan"),
    ("DATE", r"birth\w*|born|dob"),
    ("PLACE", r"zip|post ?code|postal"),
    ("PHONE", r"phone|cell|mobile|number|call|text|line|reach|tel"),
)
_CUE = re.compile("|".join(rf"(?P<{kind}>\b(?:{words})\b)" for kind, words in _CUES), re.IGNORECASE)
_BEFORE = 70
_UNIT = re.compile(
    r"\s*(?:%|percent|dollars?|bucks|cents|pounds?|lbs|kilos?|grams?|milligrams?|mg|ml|miles?|hours?|hrs|minutes?|"
    r"mins|seconds?|"
    r"days?|weeks?|months?|years?|times|people|kids|drinks?|beers?|cigarettes|thousand|hundred|million|am\b|pm\b|"
    r"o'clock|degrees|"
    r"over|out of|steps|calories|points)\b|\s*%",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?<![\w@.])(?:(?:[A-Z]{1,5}[ .#-]?){0,2}#?(?=[A-Z0-9]*\d)[A-Z0-9]+(?:[./-][A-Z0-9]+)*"
    r"(?:[ -](?:(?=[A-Z0-9]*\d)[A-Z0-9]+(?:[./-][A-Z0-9]+)*|[A-Z]{1,3}(?![\w'])))*)"
)
_LONG_CODE = re.compile(r"(?<![\w-])(?=[A-Z0-9-]*[A-Z])(?=(?:[A-Z-]*\d){4})[A-Z0-9]+(?:-[A-Z0-9]+)*(?![\w-])")
_SCREEN = re.compile(
    r"\b(?:discord|snap(?:chat)?|insta(?:gram)?|tik ?tok|twitter|user ?name|handle|screen ?name|gamer ?tag|venmo|"
    r"cash ?app|skype|log-?in)"
    r"(?: name| handle| user| tag| id)?(?: is|'s|:| =)+ (?P<name>@?[\w.#-]*\w)",
    re.IGNORECASE,
)
_PLAIN_YEAR = re.compile("(?:19|20)\\d\\d")
_TELEPHONE, _LONG, _SHORT = (7, 10, 11), 7, 4


def written(text: str) -> Iterator[Found]:
    """Yield addresses and numbers that tell by their form alone what they are; may overlap, the surest first."""
    yield from (Found(*one.span(), "EMAIL", "certain", "e-mail_said") for one in _spoken.EMAIL.finditer(text))
    for kind, rule, pattern in _WRITTEN:
        yield from (Found(*one.span(), kind, "certain", rule) for one in pattern.finditer(text))
    yield from (Found(*one.span(), "URL", "certain", "web_address_said") for one in _spoken.URL.finditer(text))
    yield from (Found(*one.span("name"), "ID", "likely", "screen_name_cue") for one in _SCREEN.finditer(text))


def numbered(text: str, before: str = "") -> Iterator[Found]:
    """Yield numbers by their length and by the words in front of them, the surest first.

    Parameters
    ----------
    text : str
        Words of a turn.
    before : str
        The end of the turn before: "And your social?" says what the digits in the answer are.

    Yields
    ------
    Found
        May overlap.
    """
    yield from _telephones(text)
    yield from _cued(text, before)
    yield from _said(text, before)
    yield from (Found(*one.span(), "ID", "unsure", "long_code") for one in _LONG_CODE.finditer(text))


def _telephones(text: str) -> Iterator[Found]:
    for match in _PHONE.finditer(text):
        kind = _kind(text, match.start(), "")
        is_seven = len(re.sub(r"\D", "", match[0])) <= 7
        if kind in {None, "PHONE", "FAX", "DATE", "PLACE"}:
            named = "FAX" if kind == "FAX" else "PHONE"
            yield Found(*match.span(), named, "likely" if is_seven else "certain", "telephone")


def _kind(text: str, start: int, before: str) -> str | None:
    """Return what the words in front of a number say that it is: the nearest cue, telephone last."""
    near = text[max(0, start - _BEFORE) : start]
    kinds = [str(match.lastgroup) for match in _CUE.finditer(near)]
    if not kinds and start < _BEFORE:
        kinds = [str(match.lastgroup) for match in _CUE.finditer(before[-_BEFORE:])]
    strong = [kind for kind in kinds if kind != "PHONE"]
    return strong[-1] if strong else kinds[-1] if kinds else None


def _cued(text: str, before: str) -> Iterator[Found]:
    """Yield codes, as written, behind words that say what they are."""
    for match in _CODE.finditer(text):
        kind = _kind(text, match.start(), before)
        if kind in {None, "DATE", "PHONE"} or _UNIT.match(text, match.end()):
            continue
        start, end = _trimmed(text, *match.span())
        code = text[start:end]
        n_digits = sum(sign.isdigit() for sign in code)
        n_letters = sum(sign.isalpha() for sign in code)
        if kind == "PLACE":
            if n_digits in {5, 9} or (n_letters and n_digits >= 2):
                yield Found(start, end, "PLACE", "certain", "postal_code")
        elif _is_code(kind, code, n_digits, n_letters):
            yield Found(start, end, kind, "certain", "number_cue")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave words such as I and SN in front of a number out where they are no part of it."""
    words = re.match(r"(?:(?:I|A|ID|SN|RX|VIN|PIN)(?: |#))(?=\S*\d)", text[start:end])
    return (start + words.end(), end) if words and words[0].strip(" #") != "A" else (start, end)


def _is_code(kind: str, code: str, n_digits: int, n_letters: int) -> bool:
    if _PLAIN_YEAR.fullmatch(code) or (re.fullmatch(r"\d+(?:st|nd|rd|th|s)?", code) and n_digits < _SHORT):
        return False
    if kind == "VEHICLE":
        return (n_digits >= 2 and n_letters >= 2) or n_digits >= _SHORT
    return n_digits >= _SHORT or (n_digits >= 3 and n_letters > 0)


def _said(text: str, before: str) -> Iterator[Found]:
    """Yield rows of digits: by what the words before say they are, or by their length."""
    for run in _spoken.runs(text):
        if _UNIT.match(text, run.end):
            continue
        kind, count = _kind(text, run.start, before), len(run.digits)
        if kind == "PLACE" and count == 5:
            yield Found(run.start, run.end, "PLACE", "certain", "postal_code")
        elif (
            kind not in {None, "DATE", "PHONE", "FAX", "PLACE"}
            and run.said
            and count + run.letters >= _SHORT
            and count >= 3
        ):
            yield Found(run.start, run.end, str(kind), "certain", "number_cue_said")
        elif count in _TELEPHONE and (run.said or kind in {"PHONE", "FAX"}):
            yield Found(run.start, run.end, "FAX" if kind == "FAX" else "PHONE", "likely", "telephone_said")
        elif count >= _LONG:
            yield Found(
                run.start,
                run.end,
                kind if kind and kind not in {"PLACE", "DATE"} else "ID",
                "likely",
                "long_number",
            )
