"""Numbers of telephones, accounts, records, plans, licences, cars, devices: by the words before them and by form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.redact._found import Found
from therapy_analytics.redact._spoken import Alphanumeric, alphanumerics
from therapy_analytics.redact._vocabulary import KEPT, SPOKEN

_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_HEX = "[0-9a-f]{1,4}"
_VIN = "[A-HJ-NPR-Z0-9]"
_WRITTEN: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, rule, re.compile(pattern, re.IGNORECASE))
    for kind, rule, pattern in (
        ("IP", "ip_address", rf"(?<![\d.])(?:{_BYTE}\.){{3}}{_BYTE}(?![\d.]*\d)"),
        ("IP", "ip_address", rf"(?<![\w:])(?:{_HEX}:){{3,7}}:?{_HEX}(?![\w:])"),
        ("IP", "ip_address", rf"(?<![\w:]){_HEX}(?::{_HEX})*::(?:{_HEX}:)*{_HEX}(?![\w:])"),
        ("SSN", "social_security", r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-]*\d)"),
        ("VEHICLE", "vehicle_number", rf"\b(?={_VIN}*\d)(?=\d*[A-HJ-NPR-Z]){_VIN}{{13}}\d{{4}}\b"),
        ("ACCOUNT", "iban", r"\b(?-i:[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?)\b"),
        ("ACCOUNT", "card", r"(?<![\d-])\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{1,7}(?!\d)"),
        ("ACCOUNT", "card", r"(?<![\d-])3\d{3}[ -]\d{6}[ -]\d{5}(?!\d)"),
        ("PLACE", "postal_code", r"\b(?-i:[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|[A-Z]\d(?:[A-Z] \d[A-Z]\d|\d [A-Z\d]{4}))\b"),
    )
)  # fmt: skip
_PHONE = re.compile(
    r"(?<![\w./-])(?:\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}"
    r"|(?:1[ .-])?(?:\(\d{3}\)\s?|\d{3}[ .-])\d{3}[ .-]?\d{4}"
    r"|0\d{1,4}[ .-]\d{3,4}[ .-]?\d{3,4}"
    r"|(?:1[ .-])?\d{3}[ .-]\d{4}|[2-9]\d{9})(?![\w-]*\d)(?:,? (?:ext\.?|extension) \d{1,6})?"
)
_CUES: tuple[tuple[str, str], ...] = (
    ("FAX", r"fax\w*"),
    (
        "SSN",
        (
            r"social(?:[ -](?:security|insurance))?|ssn|national insurance|ni number|nino|aadha+r|national id\w*|"
            r"pan card|"
            r"tax (?:id|file|number)|tfn|ppsn?|curp|cpf|dni|nie|nif|bsn|rut|personal (?:id\w*|number)|person\w*nummer|"
            r"c[eé]dula|codice fiscale|pesel|identity (?:card|number)|id card|sin number"
        ),
    ),
    ("VEHICLE", r"(?:licen[sc]e|number|vanity) plates?|plates?|\btags?|vin|(?:car|vehicle) registration"),
    (
        "DEVICE",
        (
            r"serial|device|imei|pacemaker|udi|\bsn|implant|(?:insulin )?pump|hearing aid|c ?-?pap|model|stent|lot|"
            r"monitor|meter|valve|prosthe\w+|udid"
        ),
    ),
    (
        "PLAN",
        (
            r"insurance|policy|member(?:ship)?|subscriber|beneficiary|medicare|medicaid|medi-?cal|health plan|"
            r"plan (?:id|number|no)|"
            r"group(?: number)?|nhs|health card|ohip|tricare|insurer|coverage|blue cross|aetna|cigna|kaiser"
        ),
    ),
    (
        "ID",
        (
            r"dockets?|passport|claim|prescription|\brx|badge|case|file|confirmation|reference|booking|ticket|student|"
            r"employee|staff|inmate|alien|visa|order|tracking|permit|order|report|complaint|entry|locker|pin|"
            r"pass ?codes?|pass ?words?|access|door|gate|alarm|combination|codes?|kit|customer|service|"
            r"matriculation|crew|personnel|"
            r"payroll|referral|invoice|receipt|library|loyalty|voucher|warrant|incident|crime|log-?in|fingerprints?|"
            r"voice ?print|palm|retina\w*|iris|biometric|face ?id|scan|template|sample|specimen|dna|stamp|union|"
            r"caseload|unit|\bpo box|plot|process|registration|r\u00e9f\w*"
        ),
    ),
    (
        "LICENCE",
        (
            r"licen[sc]ed?|certificates?|certification|driver'?s|drivers|dea|npi|bar number|teaching|nursing|pilot|"
            r"registration number"
        ),
    ),
    ("RECORD", r"records?|charts?|mrn|medical|hospital number|patient|wrist ?band|bracelet|band"),
    (
        "ACCOUNT",
        (
            r"accounts?|acct|(?:credit|debit|bank) ?card|cards?|card number|routing|i ?ban|swift|bic|sort code|"
            r"checking|savings|loan|bank|ending(?: in| with)?|ends (?:in|with)|last (?:four|three|4|3)|venmo|mortgage"
        ),
    ),
    ("DATE", r"birth\w*|born|dob"),
    ("PLACE", r"zip(?: ?code)?|post ?code|postal|eircode|pin ?code"),
    ("PHONE", r"phone|cell\w*|mobile|tel\w*|landline|whatsapp|extension|ext|pager|reach|text|call|line"),
    ("NUMBER", r"number|\bid|digits|\bno\b\.?|#"),
)
_CUE = re.compile("|".join(rf"(?P<{kind}>\b(?:{words})(?![\w]))" for kind, words in _CUES), re.IGNORECASE)
_BEFORE, _TIGHT = 75, 32
_VAGUE = {"PHONE", "NUMBER"}
_UNIT = re.compile(
    r"\s*(?:%|percent|dollars?|bucks|euros?|cents|pounds?|lbs|kilos?|grams?|milligrams?|mg|ml|miles?|hours?|hrs|"
    r"minutes?|mins|seconds?|"
    r"days?|weeks?|months?|years?|times|people|kids|drinks?|beers?|cigarettes|thousand|million|am\b|pm\b|"
    r"a ?m\b|p ?m\b|o'clock|degrees|rand|rupees|naira|pesos|zloty|yen|calories|steps|points|feet|inches|"
    r"over|out of|to one)\b|\s*%",
    re.IGNORECASE,
)
_MONEY = re.compile(r"[$\u00a3\u20ac]\s?$")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_YEAR = re.compile("(?:19|20)\\d\\d")
_CODE_IS = re.compile(
    r"\b(?:code|pin|password|combination|extension)(?:'s|:| is| was)? (?:um |uh |it's )?$", re.IGNORECASE
)
_CAPITALS = re.compile(r"(?<![\w-])(?=[A-Z-]*\d)(?=[A-Z\d-]{7})[A-Z]{2,}(?:-[A-Z\d]+)+(?![\w-])")
_TELEPHONE, _LONG, _SHORT = (7, 10, 11), 7, 4


def written(text: str) -> Iterator[Found]:
    """Yield numbers whose form alone tells their kind; they may overlap, the surest comes first."""
    for kind, rule, pattern in _WRITTEN:
        yield from (Found(*one.span(), kind, "certain", rule) for one in pattern.finditer(text))


def numbered(text: str, before: str = "") -> Iterator[Found]:
    """Yield numbers and codes by the words before them and by their form; the surest comes first.

    Parameters
    ----------
    text : str
        A turn.
    before : str
        The end of the turn before: "And your social?" tells what the digits of the answer are.

    Yields
    ------
    Found
        May overlap.
    """
    yield from _telephones(text)
    for code in alphanumerics(text):
        found = _judged(text, code, before)
        if found is not None:
            yield found
    for match in _CAPITALS.finditer(text):
        if match[0].split("-")[0].lower() not in SPOKEN | KEPT:
            yield Found(*match.span(), "ID", "likely", "code")


def _telephones(text: str) -> Iterator[Found]:
    for match in _PHONE.finditer(text):
        kind, _ = _kind(text, match.start(), "")
        is_seven = len(re.sub(r"\D", "", match[0])) <= _LONG
        if kind in {None, "PHONE", "NUMBER", "FAX", "DATE", "PLACE"}:
            named = "FAX" if kind == "FAX" else "PHONE"
            yield Found(*match.span(), named, "likely" if is_seven else "certain", "telephone")


def _kind(text: str, start: int, before: str) -> tuple[str | None, bool]:
    """Return the kind of a number by the words before it, and whether they are close to it.

    The nearest cue counts; words such as "number" and "call" count only if there is no other.
    """
    near = text[max(0, start - _BEFORE) : start]
    cues = [(str(match.lastgroup), start - match.end() - max(0, start - _BEFORE)) for match in _CUE.finditer(near)]
    if start < _TIGHT and not any(kind not in _VAGUE for kind, _ in cues):
        asked = [(str(match.lastgroup), 0) for match in _CUE.finditer(before[-_BEFORE:])]
        cues = [*asked, *cues]
    if not cues:
        return None, False
    clear = [one for one in cues if one[0] not in _VAGUE] or [one for one in cues if one[0] == "PHONE"]
    kind, _ = (clear or cues)[-1]
    last_end = max((match.end() for match in _CUE.finditer(near)), default=0)
    is_close = len(near) - last_end <= _TIGHT and not re.search(r"[.!?;]\s", near[last_end:])
    return kind, is_close or (start < _TIGHT and bool(before) and kind is not None)


def _judged(text: str, code: Alphanumeric, before: str) -> Found | None:
    """Return the finding, if a number or code may identify somebody."""
    count, letters, signs = len(code.digits), code.letters, len(code.signs)
    if not count or _is_amount(text, code):
        return None
    kind, close = _kind(text, code.start, before)
    if kind == "PLACE" and (count in {5, 6, 9} or (letters and signs >= 5)):
        return Found(code.start, code.end, "PLACE", "certain", "postal_code")
    if code.n_dots >= 3 and not letters and code.spoken:
        return Found(code.start, code.end, "IP", "likely", "ip_address_said")
    if kind not in {None, "DATE", "PLACE", *_VAGUE} and _is_cued(code, close):
        return Found(code.start, code.end, str(kind), "certain", "number_cue")
    if code.counts:
        return None
    return _by_form(text, code, kind, close)


def _is_amount(text: str, code: Alphanumeric) -> bool:
    """Return whether digits are an amount or a year."""
    if _YEAR.fullmatch(code.signs) and not _CODE_IS.search(text[: code.start][-24:]):
        return True
    if _UNIT.match(text, code.end) or _MONEY.search(text[: code.start][-3:]):
        return True
    return bool(_THOUSANDS.fullmatch(text, code.start, code.end))


def _is_cued(code: Alphanumeric, close: bool) -> bool:
    count, signs = len(code.digits), len(code.signs)
    if code.counts and not close:
        return False
    return (signs >= _SHORT and (count >= 3 or (close and signs >= 5))) or (close and signs == 3 and code.letters > 0)


def _by_form(text: str, code: Alphanumeric, kind: str | None, close: bool) -> Found | None:
    """Judge a code without a clear cue: by its length, and by letters among its digits."""
    count, letters, signs = len(code.digits), code.letters, len(code.signs)
    answers = code.start <= 5 and code.end >= len(text) - 2 and kind not in {None, "DATE"} and close
    if signs >= 3 and (answers or _CODE_IS.search(text[: code.start][-24:])):
        return Found(code.start, code.end, "ID", "likely", "number_cue")
    named = str(kind) if kind and kind not in {"DATE", "PLACE", "NUMBER"} else "ID"
    is_telephone = count in _TELEPHONE and not letters and (code.spoken or kind in {"PHONE", "FAX"})
    if is_telephone or (kind == "PHONE" and close and signs >= _SHORT and not letters):
        return Found(code.start, code.end, "FAX" if kind == "FAX" else "PHONE", "likely", "telephone_said")
    if count >= _LONG:
        return Found(code.start, code.end, named, "likely", "long_number")
    mixed = letters and signs >= 5 and (count >= 3 or (count >= 2 and letters >= 3 and len(code.steps) > 1))
    name = code.signs.rstrip("0123456789")
    is_name = len(code.steps) == 1 and letters >= 4 and count >= 2 and name not in SPOKEN | KEPT
    if mixed or is_name or (kind and kind != "DATE" and close and signs >= _SHORT):
        return Found(code.start, code.end, "ID", "likely", "code")
    is_long_row = len(code.steps) >= 5 and all(len(step) == 1 for step in code.steps) and code.spoken
    is_odd = re.fullmatch(r"\d{5,6}", text[code.start : code.end]) and not code.signs.endswith("00")
    return Found(code.start, code.end, "ID", "unsure", "row_of_digits") if is_long_row or is_odd else None
