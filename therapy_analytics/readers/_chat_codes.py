"""The codes that CHAT puts into the words of an utterance, taken out or made into speech marks."""

from __future__ import annotations

import re
import unicodedata

from therapy_analytics.readers._marks import split_marks

_REPLACED = re.compile(r"(?:<[^<>]*>|(?<![^\s<>\[\]])[^\s<>\[\]]++)\s*+\[::?\s++([^\[\]]*)\]")
_ENDS = {
    "+...": "...",
    "+..?": "...?",
    "+/.": "\u2014",
    "+//.": "\u2014",
    "+/?": "\u2014?",
    "+//?": "\u2014?",
    "+!?": "!?",
    '+"/.': ".",
    '+".': ".",
    "+.": ".",
    "+<": "[overlap]",
}
_CODE = re.compile(
    r"&=(?P<event>[^\s<>\[\]]+)"
    r"|&\*(?P<other>\w+:[^\s<>\[\]]+)"
    r"|&\{[ln]=(?P<long>[^\s<>\[\]]+)"
    r"|&\}[ln]=[^\s<>\[\]]*"
    r"|&\+(?P<broken>\w[\w']*)"
    r"|&[-~]?(?=\w)"
    r"|\[(?P<bracket>[^\[\]]*)\]"
    r"|\((?P<pause>\.{1,3}|(?:\d{1,3}:)?\d{1,5}(?:\.\d{0,9})?)\)"
    r"|\((?P<letters>[^\W\d_][\w']*)\)"
    r'|(?<!\S)(?P<end>\+(?:\.\.\.|\.\.\?|!\?|//?[.?]|"/\.|"\.|\.|["^<,+\u224b\u2248]))'
    r"|(?<![^\s<])0[^\W\d_][\w']*"
    r"|(?P<nothing>^\s*0(?=\s*(?:[.?!\[&(+]|$)))"
    r"|(?<=\w)@[a-z][\w:&$*-]*"
    r"|(?P<joint>(?<=[^\W_])_(?=[^\W_]))"
    r"|(?<=[^\W\d_])(?:\+(?=[^\W\d_])|:+(?=[\s\w.?!<>\[]|$)|\^(?=\w))"
    r"|(?P<tag>[\u2021\u201e])"
    r"|(?P<www>(?<!\S)www(?!\S))"
    r"|[<>\u2191\u2193\u2197\u2198\u21d7\u21d8\u2308\u2309\u230a\u230b\u221e\u2248\u224b\u02c8\u02cc]"
)
_MAY_HOLD_CODES = re.compile(r"[&\[(+@_0:^<>\u2021\u201e\u2191-\u230b]|www")
_SPACE_BEFORE = re.compile(r"\s+(?=[.?!,;:\u2014](?!\w))")
_NOT_WORDS = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|(?<!\w)(?:xxx|yyy)(?!\w)|[\W_]")
_LONE_ENDS = re.compile(r"(?:(?<=[\])xy])|(?<!\S))[.?!,;:\u2014]+(?=\s|$)")
_OVERLAP = re.compile(r"[<>]\d*")
LABEL = "label="
"""What the last field of ``@ID`` begins with where it holds the label of a speaker, as written."""
NO_END = "[+ nopunct]"
"""The postcode behind a full stop that CHAT demands and the transcript does not have."""
_UNSAID_END = re.compile(r"(?<!\s)\s*+\.\s*\[\+\s+nopunct\]")


def spoken(text: str) -> str:
    """Return the words of an utterance, with speech marks in brackets.

    Words that were taken back or said twice (``<I want> [/] I want``) were spoken and stay, as
    in any verbatim transcript; a replacement (``gonna [: going to]``) takes the place of the
    form that it stands for.

    Examples
    --------
    >>> spoken("<I want> [//] &-um I need &=laughs to (.) stop (be)cause +...")
    'I want um I need [laughs] to (.) stop because...'
    """
    if _MAY_HOLD_CODES.search(text):
        if "[+" in text:
            text = _UNSAID_END.sub(" ", text)
        if "[:" in text:
            text = _REPLACED.sub(r" \1 ", text)
        text = _CODE.sub(_plain, text)
    text = _SPACE_BEFORE.sub("", " ".join(text.split()))
    return text if _NOT_WORDS.sub("", text) else _LONE_ENDS.sub("", text).strip()


def letters(text: str) -> str:
    """Return the letters and digits of the words: two texts that share them say the same.

    Examples
    --------
    >>> letters("\uff10 (of 10): no <b>!") == letters("0 of 10 [laughs] no b")
    True
    """
    return unicodedata.normalize("NFKC", "".join(filter(str.isalnum, split_marks(text)[0])))


def _plain(code: re.Match[str]) -> str:
    """Return what stands for a code: words, a mark, or nothing."""
    kind, said = code.lastgroup, code[code.lastgroup or 0]
    if kind in {"event", "long"}:
        return f" [{_event(said)}] "
    if kind == "bracket":
        return _bracket(said.strip())
    if kind == "pause":
        return f" {_pause(said)} "
    if kind == "end":
        return _ENDS.get(said, "")
    if kind == "other":
        return f" [{said.replace(':', ': ')}] "
    simple = {"broken": f"{said}-", "letters": said, "joint": " ", "tag": ",", "www": "[not transcribed]"}
    return simple.get(kind or "", "")


def _event(said: str) -> str:
    return said.replace(":", " ").replace("_", " ").strip()


def _bracket(said: str) -> str:
    """Keep what was heard (``[=! laughing]``, ``[laughs]``) and what is unsure; codes about the words go."""
    if said.startswith("=!"):
        return f"[{said[2:].strip()}]"
    if _OVERLAP.fullmatch(said):
        return "[overlap]"
    if said == "?":
        return "[unclear]"
    return f"[{said}]" if len(said) > 1 and said[0].isalpha() and not said.startswith("x ") else ""


def _pause(said: str) -> str:
    """Write a pause as other transcripts do: seconds with a decimal point; three dots are a long one."""
    if said.startswith("."):
        return f"({said})" if len(said) < 3 else "(long pause)"
    minutes, _, rest = said.rpartition(":")
    return f"({round(60 * float(minutes or 0) + float(rest), 3)})"
