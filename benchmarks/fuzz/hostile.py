"""What is put into files: marks, numbers, names and values that mean something to a reader, or too much."""

from __future__ import annotations

from typing import Any

HOSTILE = (
    *("\0", "\ufeff", "\u200f", "\u202e", "\u2028", "\x85", "\x1c", "\x1e", "\x0b", "\r", "\n\n", "\t", "\u00a0"),
    *('"', "'", '""', "\u201c", "\\", "\\ud800", "\\u0000", "&#0;", "&#x110000;", "&a;", "]]>", "<!--", "<![CDATA["),
    *("{", "}", "[", "]", "(", ")", "<", ">", "[" * 500, "(" * 300, '{"a":' * 300, "<b>" * 300, "((((laughs))))"),
    *("-->", "00:00:01.000 --> 00:00:02.000", "--:--", "99:99:99", "-00:00:05", "1e999", "-1e999", "nan", "inf"),
    *("-1", "0", "9" * 25, "9" * 5000, "1" + "0" * 400, "0x1F", "1_000", "\u0663\u0664", "\u00b2", "1e-400"),
    *("T: ", "Therapist:", "C:\n", ": ", ":::", "**T:** ", "[00:01] T: ", "A" * 3000, "A " * 900, "\u0301" * 200),
    *(",,,,", ";;;;", "\t\t\t", "|", "speaker,text\n", "WEBVTT\n\n", "NOTE\n", "STYLE\n", "---\n", "*PAR:\t"),
    *("\x15", "\x151_2\x15", "\u2021", "(pause 9999999999999s)", "[pause: -1]", "(" + "9" * 400 + " s)", "xxx", "&"),
    *("\ufffe", "\uffff", "\U0001f469\u200d\U0001f4bb", "\u0130\ufb01\u1e9e", "\u00ad", "=1+1", "#REF!", "None"),
)  # fmt: skip
BYTES = (b"\x00", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"\xff", b"\x80", b"\x1b$B")
OPENINGS = (
    b"", b"<v", b"<v.therapist", b"word [: ", b" .", b"(", b"[", b"{\\", b"<", b"&", b"\x15", b"**", b"[+", b"[00:0",
    b"\nT: ", b"\n- ", b"--> ", b"\n>> ", b"\n#", b"\n00:00:01", b"\n*PAR:\t", b"\n%", b"\n@", b"(pause ", b'"',
)  # fmt: skip
ONE_AND_ALL = (
    b" ", b" x", b"\t", b"a", b"9", b"(a", b"[a", b"A ", b"a-", b": ", b" .", b"_", b"<", b"*", b"\x15", b"1:",
    b"\n ", b"\n\t", b",", b'"', b"\xe2\x80\x83", b"\xe2\x80\x8e", b"\xcc\x81",
)  # fmt: skip
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1", "cp1252", "shift-jis", "gb18030",
             "cp037", "koi8-r", "utf-7", "iso2022_jp")  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1e308, -1e308, float("nan"), float("inf"), 10**400, "", " ", "\0", "\ud800", "nan", [],
    {}, [[]], [None], {"": ""}, {"a": {"b": []}}, [[["x"]]], "x" * 5000, "1e999", "00:00:-1", -5.5, 1e20, 2**63, "T",
    ["a", 1, None],
)  # fmt: skip
KEYS = ("id", "speaker", "role", "text", "content", "start", "end", "messages", "parts", "session", "timestamp", "name",
        "children", "parent", "mapping", "segments", "words", "turns", "value", "from", "author", "")  # fmt: skip
HEADERS = ("speaker", "text", "session_id", "start", "end", "utterance_id", "annotator", "role", "code", "turn", "time",
           "therapist", "client", "", "Speaker", "text.1", "duration", "date", "file", "topic", "question")  # fmt: skip
