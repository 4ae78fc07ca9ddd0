"""The one file: its policy, its data, what cannot get out of it, its size, and how it is written."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import re
import shutil
import stat
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError, CannotWriteError
from therapy_analytics.core.page_frame import as_json
from therapy_analytics.report import report
from therapy_analytics.report.data import report_data
from therapy_analytics.report.html import SCRIPTS, assemble
from therapy_analytics.results import opened
from therapy_analytics.run import Writing

Attributes = Sequence[tuple[str, str | None]]
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{{data}} {{script}} {{csp}} {{title}} {{style}}",
    "]]> --> <!-- <script",
    "line\u2028and\u2029paragraph",
    "nul \x00 and bell \x07",
    "=HYPERLINK(1)",
    "' \" & &lt; \\ \\u003c $& \\1 \\g<0>",
)


class Parts(HTMLParser):
    """What a browser finds in the page: elements with their attributes, and what stands in style and script."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}
        self._in = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        about = dict(attrs)
        self.tags.append((tag, about))
        self._in = str(about.get("id") or tag) if tag in ("script", "style", "title") else ""

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in:
            self.inside[self._in] = self.inside.get(self._in, "") + data


@pytest.fixture(scope="module")
def page(results: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return report(results, out=tmp_path_factory.mktemp("page") / "p.html").read_text(encoding="utf-8")


def test_the_policy_knows_the_one_script_and_the_one_style(page: str) -> None:
    parts = Parts(page)
    policy = next(about["content"] for tag, about in parts.tags if about.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    for kind in ("script", "style"):
        whole = re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
        assert len(whole) == 1
        made = base64.b64encode(hashlib.sha256(whole[0].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{made}'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_nothing_runs_or_loads_but_the_script(page: str) -> None:
    for tag, about in Parts(page).tags:
        assert tag not in ("iframe", "object", "embed", "base", "form")
        assert not [name for name in about if name.startswith("on") or name == "style"], tag
        for name in ("src", "href", "action"):
            assert str(about.get(name) or "").startswith(("data:", "#")) or name not in about, (tag, about)


def test_no_mark_of_the_template_is_left(page: str) -> None:
    assert not re.search(r"\{\{(title|csp|style|data|script)\}\}", page)
    assert page.startswith("<!doctype html>")


def test_the_data_in_the_page_are_the_data(results: Path, page: str) -> None:
    overview, sessions = report_data(results, most_sessions=300)
    inside = Parts(page).inside
    assert json.loads(inside["overview"]) == overview
    assert [json.loads(inside[f"session-{i}"]) for i in range(4)] == sessions


def test_the_same_folder_gives_the_same_bytes(results: Path, tmp_path: Path) -> None:
    one = report(results, out=tmp_path / "a.html").read_bytes()
    assert one == report(str(results), out=str(tmp_path / "b.html")).read_bytes()


@pytest.mark.parametrize("text", HOSTILE)
def test_text_stays_in_its_block(text: str) -> None:
    overview = {"sessions": [{"id": text, text: text}], "odd": "\ud800 \udfff"}
    whole = assemble(text, overview, [{"index": 0, "text": [text]}]).decode()
    parts = Parts(whole)
    assert json.loads(parts.inside["overview"]) == overview
    assert json.loads(parts.inside["session-0"])["text"] == [text]
    plain = assemble("x", {}, [{"index": 0}]).decode()
    assert [tag for tag, _ in parts.tags] == [tag for tag, _ in Parts(plain).tags]
    assert parts.inside["script"] == Parts(plain).inside["script"]


@pytest.mark.parametrize("text", HOSTILE)
def test_json_has_no_sign_that_html_knows(text: str) -> None:
    made = as_json({"a": text})
    assert made.isascii()
    assert not set("<>&") & set(made)
    assert json.loads(made) == {"a": text}


def test_undefined_numbers_cannot_get_in() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json({"a": float("nan")})


def test_a_hostile_transcript_comes_out_as_it_was_said(tmp_path: Path) -> None:
    said = ["<img src=x onerror=alert(1)> hello there", "</script><script>alert(1)</script> fine", "=1+1 {{script}}"]
    turns = [["1", who, text, "<b>Dr</b>"] for who, text in zip("TCT", said, strict=True)]
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([["session", "speaker", "text", "counselor"], *turns])
    settings = ta.Settings(tagger=ta.TaggerOptions(kind="fast"), quotes=True)
    ta.run([tmp_path / "a.csv"], tmp_path / "r", settings=settings, writing=Writing(figures=(), report=False))
    whole = report(tmp_path / "r", quotes=True).read_text(encoding="utf-8")
    parts = Parts(whole)
    assert json.loads(parts.inside["session-0"])["text"] == said
    assert json.loads(parts.inside["overview"])["sessions"][0]["about"]["counselor"] == "<b>Dr</b>"
    assert "alert" not in parts.inside["script"]
    assert whole.count("<script") == 3


def test_the_file_is_for_its_owner_and_lies_in_the_folder(results: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(results, tmp_path / "r")
    (folder / "report.html").write_text("old")
    (folder / "report.html").chmod(0o644)
    made = report(folder / "sessions.csv")
    assert made == folder / "report.html"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert not [one for one in folder.iterdir() if one.name != made.name and ("html" in one.name or one.name[0] == ".")]


def test_what_cannot_be_written_is_said(results: Path, tmp_path: Path) -> None:
    with pytest.raises(BadOptionError, match="is a folder"):
        report(results, out=tmp_path)
    with pytest.raises(BadOptionError, match="there is no folder"):
        report(results, out=tmp_path / "none" / "x.html")
    with pytest.raises(BadOptionError, match=r"holds no sessions\.csv"):
        report(tmp_path)
    with pytest.raises(BadOptionError, match="no number of sessions"):
        report(results, most_sessions=-1)


def test_an_old_page_stays_where_the_new_one_fails(results: Path, tmp_path: Path, monkeypatch: Any) -> None:
    target = tmp_path / "p.html"
    target.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(CannotWriteError, match="the disk is full"):
        report(results, out=target, replace=True)
    assert [one.name for one in tmp_path.iterdir()] == ["p.html"]
    assert target.read_text() == "old"


def test_a_page_that_was_never_done_keeps_no_run_out(results: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """What lies there when the program is killed while it writes is the run's to take away."""
    folder = shutil.copytree(results, tmp_path / "r")
    (folder / "report.html").unlink(missing_ok=True)
    before = {one.name for one in folder.iterdir()}
    left: list[Path] = []

    def killed(part: Path, _: object) -> None:
        left.extend(one for one in folder.iterdir() if one.name not in {*before, ".lock"})
        raise OSError(28, "killed")

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(CannotWriteError, match="the disk is full"):
        report(folder)
    monkeypatch.undo()
    assert len(left) == 1
    left[0].write_bytes(b"half")
    with opened(folder) as out:
        out.begin({})
    assert not left[0].exists()


def test_two_hundred_sessions_stay_small(results: Path, tmp_path: Path) -> None:
    folder = many(results, tmp_path / "r", 200)
    assert report(folder).stat().st_size < 8_000_000


def many(results: Path, folder: Path, n: int) -> Path:
    """Return a folder of n sessions: links to the sessions of another, each told of another client."""
    (folder / "sessions").mkdir(parents=True)
    for name in ("codebook.csv", "problems.csv", "run.json"):
        shutil.copy(results / name, folder / name)
    with (results / "sessions.csv").open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    with (folder / "sessions.csv").open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(header)
        for i in range(n):
            row = list(rows[i % len(rows)])
            (folder / "sessions" / f"s{i}").symlink_to(results / "sessions" / row[0])
            row[0], row[header.index("client")] = f"s{i}", f"client {i}"
            writer.writerow(row)
    with (results / "measures.csv").open(encoding="utf-8", newline="") as lines:
        head, *measured = csv.reader(lines)
    own = [[row for row in measured if row[0] == session[0]] for session in rows]
    with (folder / "measures.csv").open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([head, *([f"s{i}", *row[1:]] for i in range(n) for row in own[i % len(own)])])
    return folder


def test_the_folder_can_be_called() -> None:
    with pytest.raises(BadOptionError):
        ta.report("no/such/folder")


def test_no_two_scripts_of_the_page_use_one_name() -> None:
    """They share one scope, in which a second function of a name would silently take the first one's place."""
    names = [
        name
        for script in SCRIPTS
        for name in re.findall(r"^(?:async )?(?:function|const|let) (\w+)", script.read_text("utf-8"), re.MULTILINE)
    ]
    assert len(names) > 100
    assert [name for name in set(names) if names.count(name) > 1] == []
