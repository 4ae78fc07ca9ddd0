"""Dates (all but the year) and ages over 89."""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.redact._found import Found
from therapy_analytics.redact._spoken import TEENS, alphanumerics, number

_LONG = "january|february|march|april|may|june|july|august|september|october|november|december"
_SHORT = "jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
_MONTH = rf"(?:{_LONG}|(?:{_SHORT})\b\.?)"
_ELSEWHERE = (
    "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|janvier|"
    "f\u00e9vrier|mars|avril|"
    "mai|juin|juillet|ao\u00fbt|septembre|octobre|novembre|d\u00e9cembre|januar|februar|m\u00e4rz|juni|juli|"
    "oktober|dezember|"
    "janeiro|fevereiro|mar\u00e7o|maio|junho|julho|setembro|outubro|novembro|dezembro|gennaio|febbraio|aprile|"
    "maggio|giugno|"
    "luglio|settembre|ottobre|dicembre"
)
_UNITS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth"
_ORDINAL = (
    rf"(?:thirty[ -]first|thirtieth|twenty[ -](?:{_UNITS})|twentieth|tenth|eleventh|twelfth|thirteenth|fourteenth|"
    rf"fifteenth|"
    rf"sixteenth|seventeenth|eighteenth|nineteenth|{_UNITS})"
)
_CARDINAL = (
    r"(?:thirty[ -]one|thirty|twenty(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?|"
    rf"{'|'.join(reversed(TEENS))}|one|two|three|four|five|six|seven|eight|nine)"
)
_DAY = (
    rf"(?:(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?!\d|[:.]\d|\s*(?:a\.?m|p\.?m|o'clock|years?|months|weeks|days|"
    rf"hours|minutes|people|times)\b)|{_ORDINAL})\b"
)
_YEAR = r"(?:,? (?:of )?(?P<year>(?:19|20)\d\d)\b)?"
_SHORT_YEAR = (
    r",? (?:of )?(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[ -]"
    r"(?:one|two|three|four|five|six|seven|eight|nine)\b(?! \w*teen)"
)
_NO_CARDINAL = r"\b(?! (?:of|or|times|people|thousand|hundred)\b)"
_PART = (
    r"(?:(?:early|late|mid|middle|beginning|end|start)[ -](?:of )?|(?:first|second|third|fourth|last) (?:week|"
    r"weekend|day) (?:of|in) )"
)
_DATES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (rule, re.compile(pattern, re.IGNORECASE))
    for rule, pattern in (
        ("date_iso", r"(?<![\d-])(?P<year>(?:19|20)\d\d)[-/.](?:1[0-2]|0?[1-9])[-/.](?:3[01]|[12]\d|0?[1-9])(?![\d-])"),
        ("date_numbers", (
            r"(?<![\d/.-])(?:3[01]|[12]\d|0?[1-9])(?P<s>[/.-])(?:3[01]|[12]\d|0?[1-9])(?P=s)(?P<year>(?:19|"
            r"20)?\d\d)(?![\d/-])"
        )),
        ("month_day", rf"\b{_MONTH} (?:the )?(?:{_DAY}|{_CARDINAL}{_NO_CARDINAL})(?:{_SHORT_YEAR}|{_YEAR})"),
        ("day_month", rf"\b(?:{_DAY})(?: of)? {_MONTH}(?![\w']){_YEAR}"),
        ("day_month_elsewhere", rf"\b\d{{1,2}}[.\u00ba]? (?:de |d')?(?:{_ELSEWHERE})\b(?: del? (?P<year>\d{{4}}))?"),
        ("said_day_month", rf"\b{_CARDINAL} (?:of )?(?!may|march){_MONTH}(?![\w']){_YEAR}"),
        ("part_of_month", rf"\b{_PART}{_MONTH}(?![\w']){_YEAR}"),
    )
)  # fmt: skip
_MONTH_YEAR = re.compile(rf"\b{_MONTH},? (?:of )?(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE)
_CLEAR = re.compile(r"\b(?:january|february|september|october|november|december|july)\b", re.IGNORECASE)
_UNCLEAR = re.compile(
    r"\b(?i:in|since|until|till|by|last|next|this|early|late|mid|through|during|before|after|around|every|of|from|"
    r"it was|it's|it is|was)[ -](?P<month>(?:March|April|May|June|August)|(?<=in )(?:march|april|may|june|august)|"
    r"(?<=since )(?:march|april|may|june|august)|(?<=last )(?:march|april|may|june|august)|(?<=until )(?:march|"
    r"april|june|august))"
    r"(?=[\s,.;:!?\u2014-]|$)(?!'s|\s(?:who|on the [A-Z]|said|told|asks?|says|and (?:I|he|she|my)\b))"
)
_OPENING = re.compile(
    r"(?:^|(?<=[.!?] ))(?P<month>March|April|May|June|August)(?= (?:is when|was when|was (?:hard|bad|good|rough|"
    r"awful|too|the|a)\b))"
)
_SHORT_DATE = re.compile(
    r"(?:\b(?:on|by|since|until|till|before|after|from|dated?|born|birthday|dob|of birth)[ :,.]+(?:is )?)"
    r"(?P<date>(?:(?:1[0-2]|0?[1-9])[/-](?:3[01]|[12]\d|0?[1-9])|[0-3]\d\.[01]\d\.?))(?![\d/-])",
    re.IGNORECASE,
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_GOES_ON = (
    r"(?=[,.;:?!]|$| (?:and|i|i'm|i've|we|he|he's|she|she's|they|it|it's|you|so|at|when|but|because|then|cause|"
    r"my|that|"
    r"this|in|is|was|or|to|for|with|if|um|uh|no|yeah|okay|right|there|tomorrow|today|next|this|the|where|which|"
    r"after|before)\b)"
)
_NO_DAY = (
    r"(?!,? (?:grade|graders?|floor|time|times|step|street|st|ave|avenue|one|person|chapter|day|session|week|"
    r"month|year|century|"
    r"drink|beer|attempt|kid|child|wife|husband|amendment|place|row|try|visit|anniversary|birthday|round|option|"
    r"thing|half)\b)"
)
_LATE_ORDINAL = (
    rf"(?:thirty[ -]first|thirtieth|twenty[ -](?:{_UNITS})|twentieth|(?:thir|four|fif|six|seven|eigh|nine)teenth)"
)
_LONE_DAY = re.compile(
    rf"\b(?P<of>{_ORDINAL} of (?:the {_ORDINAL}|(?:last|this|next) month))\b|"
    rf"\b(?:week(?:end)?|night|morning|admitted|discharged|dated|due|seen|month|"
    rf"born) (?:on )?(?:the )+(?P<then>{_ORDINAL}){_GOES_ON}|"
    rf"\b(?:the|on|by|until|since) (?P<day>(?:3[01]|[12]\d|[1-9])(?:st|nd|rd|th))\b{_NO_DAY}|"
    rf"\b(?:on|by|until|till|til|since|from|before|after|around) (?:the )+(?P<said>{_ORDINAL}){_GOES_ON}{_NO_DAY}|"
    rf"\bfrom the {_ORDINAL} to (?:the )+(?P<to>{_ORDINAL})\b|"
    rf"\b(?:the )+(?P<late>{_LATE_ORDINAL})\b{_NO_DAY}{_GOES_ON}|"
    rf"\b(?P<week>{_WEEKDAY},? (?:night |morning |evening )?(?:the )+(?:{_ORDINAL}|(?:3[01]|[12]\d|[1-9])(?:st|"
    rf"nd|rd|th)))\b|"
    rf"(?P<first>(?:the )?\b{_ORDINAL})(?= {_WEEKDAY}\b)",
    re.IGNORECASE,
)
_BIRTH = re.compile(r"\b(?:birth\w*|born|dob|dated?|expir\w+|issued)\b", re.IGNORECASE)
_YEARS = re.compile(r"(?:1[89]|20)\d\d")
_OLD = 1940
_BIRTH_YEAR = re.compile(
    r"\bborn (?:back )?in (?:the year )?(?P<year>(?:18\d\d|19[0-3]\d)|(?:eighteen|nineteen) (?:oh \w+|(?:ten|"
    r"eleven|twelve|\w+teen|"
    r"twenty|thirty)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?))\b",
    re.IGNORECASE,
)
_NINETY = (
    r"(?:9\d|1[01]\d|ninety(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?|"
    r"(?:a|one) hundred(?:(?: and)? (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))?)"
)
_NO_AGE = (
    r"(?!\w|[.,:/-]\d|\s*%|\s(?:percent|pounds?|lbs|kilos?|degrees|dollars|bucks|minutes|mins|hours|days|weeks|"
    r"months|miles|people|times|"
    r"of|out|over|milligrams|mg|thousand|hundred|million|points|opinions|things|steps|calories|meters|feet)\b)"
)
_SOMEBODY = (
    r"(?:he|she|they|who|grandma|grandpa|grandmother|grandfather|gran|granny|nana|mother|father|mom|mum|dad|ma|pa|"
    r"aunt|uncle|abuela|(?-i:(?!(?:It|That|This|What|I)\b)[A-Z]\w+,?))"
)
_IS = (
    r"(?:'s|'re|'m| is| are| was| were| am|'ll be| will be| would be|'d be) (?:(?:now|already|like|about|only|"
    r"just) )?"
)
_OLD_AGE = r"(?:[ -]years?[ -](?:olds?|of age)|[ -]year[ -]olds?| and a half(?! (?:hours|miles|percent))| yrs? old)"
_AGES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?P<age>{_NINETY}){_OLD_AGE}\b",
        rf"\b(?:turned|turning|turns|aged|age|nearly|almost) (?P<age>{_NINETY})\b{_NO_AGE}",
        rf"\b{_SOMEBODY}{_IS}(?P<age>{_NINETY})\b{_NO_AGE}",
        rf"\b(?:shes|hes|theyre|im|i'm|i am) (?:now |like |about )?(?P<age>{_NINETY})\b{_NO_AGE}",
        (
            r"\b(?!(?:it|that|this|what|which|there|temperature|limit|score|grade|speed)\b)\w+ (?:is|was|turned|turns) "
            rf"(?P<age>{_NINETY})(?=$| (?:he|she|they|he's|she's|and|but|now|this|next|so|who|when)\b){_NO_AGE}"
        ),
        rf"\bat (?P<age>{_NINETY})(?=[,.;?!]|$| when| and| (?:he|she|they)\b)",
        rf"(?<=, )(?P<age>{_NINETY})(?=,|\.$)",
    )
)


_ASKED_AGE = re.compile(
    r"\b(?:how old|what age|(?:his|her|their|your) age|which birthday|turn(?:s|ed|ing)?)\b", re.IGNORECASE
)
_ANSWERED_AGE = re.compile(rf"(?:\w+[, ]+){{0,3}}?(?P<age>{_NINETY})\b{_NO_AGE}", re.IGNORECASE)


def dates(text: str, before: str = "") -> Iterator[Found]:
    """Yield dates, whose year is kept, and months that stand for a date; they may overlap, the surest comes first."""
    for rule, pattern in _DATES:
        yield from (_dated(match, rule) for match in pattern.finditer(text) if _is_date(match[0]))
    yield from _births(text, before)
    yield from (_dated(match, "month_year") for match in _MONTH_YEAR.finditer(text))
    yield from (Found(*one.span("date"), "DATE", "likely", "short_date") for one in _SHORT_DATE.finditer(text))
    yield from (Found(*one.span(), "DATE", "likely", "month") for one in _CLEAR.finditer(text))
    for pattern in (_UNCLEAR, _OPENING):
        yield from (Found(*one.span("month"), "DATE", "likely", "month") for one in pattern.finditer(text))
    for match in _LONE_DAY.finditer(text):
        yield Found(*match.span(str(match.lastgroup)), "DATE", "likely", "day_of_month")


def _is_date(words: str) -> bool:
    """Return whether words are no verb: "may second that" is no date."""
    return not words.startswith(("may second th", "may one"))


def _dated(match: re.Match[str], rule: str) -> Found:
    year = match.groupdict().get("year") or ""
    if len(year) == 2:
        year = f"{'20' if int(year) <= 30 else '19'}{year}"
    is_birth = bool(_BIRTH.search(match.string[max(0, match.start() - 40) : match.start()]))
    keep = "" if is_birth and year and int(year) < _OLD else year
    return Found(*match.span(), "DATE", "certain", rule, keep)


def _births(text: str, before: str) -> Iterator[Found]:
    """Yield birthdays spoken as digits (oh three oh four), and years of birth that tell an age over 89."""
    for code in alphanumerics(text):
        near = text[max(0, code.start - 40) : code.start] or before[-40:]
        if code.spoken and len(code.digits) >= 4 and not _YEARS.fullmatch(code.digits) and _BIRTH.search(near):
            yield Found(*_day_part(text, code.start, code.end), "DATE", "certain", "birthday_said")
    yield from (Found(*one.span("year"), "DATE", "certain", "year_of_birth") for one in _BIRTH_YEAR.finditer(text))


def _day_part(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without a spoken year at its end: oh three oh four [nineteen ninety one]."""
    year = re.search(
        r"[\s,]+(?:nineteen \w+(?:[ -]\w+)?|twenty (?:oh |ten|\w+teen|eleven|twelve|twenty)(?:[ -]?\w+)?|"
        r"two thousand.*)$|"
        r"[\s,/]+(?:19|20)\d\d$",
        text[start:end],
        re.IGNORECASE,
    )
    return (start, start + year.start()) if year and year.start() > 0 else (start, end)


def ages(text: str, before: str = "") -> Iterator[Found]:
    """Yield ages over 89, the only ones that identify. The turn before may ask for one: "how old is she"."""
    answer = _ANSWERED_AGE.match(text) if _ASKED_AGE.search(before) else None
    if answer:
        yield Found(*answer.span("age"), "AGE_OVER_89", "likely", "age")
    for pattern in _AGES:
        for match in pattern.finditer(text):
            years = number(match["age"])
            if years is not None and 90 <= years <= 120:
                yield Found(*match.span("age"), "AGE_OVER_89", "likely", "age")
