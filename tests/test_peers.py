"""The benchmark of peers: its figures, and one of its processes; what needs the peers themselves is not run here."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

from benchmarks import _peer_list, _peer_ours, _peer_side, peers
from benchmarks.peers import FailedError, Measured, Round, agreement, ratio, row, seconds


@pytest.mark.parametrize(
    ("ours", "theirs", "sentence"),
    [
        ([0.1, 0.2, 0.4], [0.1, 0.2, 0.4 + 1e-12], "equal (n 3)"),
        ([0.1, 0.2, 0.4], [0.2, 0.3, 0.5], "r 1.000, rho 1.000, largest difference 0.1 (n 3)"),
        ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0], "r -1.000, rho -1.000, largest difference 2 (n 3)"),
        ([1.0, 1.0], [3.0, 2.0], "r nan, rho nan, largest difference 2 (n 2)"),
        ([1.0, math.nan, math.nan], [1.0, math.nan, 2.0], "equal (n 1; defined on one side alone: 1)"),
        ([math.nan], [1.0], "none to compare (n 0; defined on one side alone: 1)"),
    ],
)
def test_agreement(ours: list[float], theirs: list[float], sentence: str) -> None:
    assert agreement(ours, theirs) == sentence


def test_ratios_are_of_rounds_and_times_are_medians() -> None:
    ours, theirs = [Round(1, 1), Round(2, 2), Round(1, 1)], [Round(3, 3), Round(2, 9), Round(2, 2)]
    assert ratio(ours, theirs) == 2
    assert seconds(theirs) == "2.000 s (3.000)"
    assert seconds([Round(240.4, 251)]) == "240 s (251)"
    cells = row(Measured(ours, 120, 100, {"x": [1.0]}), Measured(theirs, 300.4, 90, {"x": [1.0]}))
    assert cells == ["1.000 s (1.000)", "2.000 s (3.000)", "2", "120 MB (+20); 300 MB (+210)", "x: equal (n 1)"]


def test_what_errors_say_of_words_stays_there() -> None:
    assert _peer_side._reason(ValueError("said words")) == "ValueError"
    assert _peer_side._reason(KeyError("said words")) == "KeyError"
    assert _peer_side._reason(OSError("no model")) == "OSError: no model"


def test_replies_to_the_other_alone() -> None:
    who = ["client", "therapist", "other", "therapist", "client"]
    assert _peer_side._of([1, 2, 3, 4], who, "therapist") == [1]
    assert _peer_side._of([1, 2, 3, 4], who, "client") == [4]


def test_every_pair_has_two_sides() -> None:
    jobs = [pair.job for peer in _peer_list.PEERS for pair in peer.pairs]
    assert jobs == [*_peer_side.SIDES] == [*_peer_ours.SIDES]


def test_a_peer_that_does_not_install_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(peers, "environment", lambda *_: (tmp_path, "ERROR: no such thing"))
    times, starts, tried, what = peers._rows_of(_peer_list.PEERS[0], tmp_path, tmp_path, 1)
    assert {one[-1] for one in times} == {"not installed: ERROR: no such thing"}
    assert (starts, tried, len(what)) == ([], [], len(times))
    assert {len(one) for one in times} == {len(peers.HEAD)}


def test_what_needs_a_download_is_named_by_its_error() -> None:
    errors = "Traceback (most recent call last):\n  File\nLookupError: \n  Resource x\nurllib.error.URLError: <refused>"
    assert peers._last_error(errors) == "needs a download (URLError)"
    assert peers._last_error("") == "does not run"


def test_a_process_of_ours(tmp_path: Path) -> None:
    given = {
        "sessions": [{"id": "a", "roles": ["therapist", "client"], "texts": ["How are you?", "Well. I don't know."]}]
    }
    (tmp_path / "given.json").write_text(json.dumps(given), encoding="utf-8")
    with peers.other("counts", "ours", Path(sys.executable), tmp_path) as side:
        assert side.answer() == {"ready": True}
        assert len(side.ask("round")["seconds"]) == 2
        found = side.ask("values")
    assert found["values"] == {"words": [3.5], "sentences": [1.5]}
    assert found["peak"] >= side.start["peak"] > 0


def test_a_side_that_cannot_says_why(tmp_path: Path) -> None:
    with (
        pytest.raises(FailedError, match="theirs: "),
        peers.other("no such job", "theirs", Path(sys.executable), tmp_path),
    ):
        pass
