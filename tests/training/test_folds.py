"""Sessions that say nothing new of each other are kept together when a model is tried on what it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.session import Role, Session, Turn
from therapy_analytics.stats.training import Training, TrainOptions, near_copies

COLD = TrainOptions(warm_start=False, beside="fast")
WORDS = [f"{a}{b}{c}" for a in ("ba", "du", "ki", "lo", "me") for b in ("na", "ro", "si", "tu") for c in ("l", "n", "")]
N_TURNS = 24


def talk(number: int, said: Sequence[str] = (), **about: str) -> Session:
    """Return a session of invented words, drawn by its number, or of what is said in it."""
    rng = np.random.default_rng([7, number])
    texts = said or [" ".join(rng.choice(WORDS, size=12)) for _ in range(N_TURNS)]
    roles: tuple[Role, Role] = ("therapist", "client")
    turns = [
        Turn(index=at, speaker=roles[at % 2], role=roles[at % 2], text=text, first_row=at + 1)
        for at, text in enumerate(texts)
    ]
    return Session(id=f"s{number}", source_file="s.txt", turns=tuple(turns), metadata=about)


def texts_of(session: Session) -> list[str]:
    return [turn.text for turn in session.turns]


def luck(sessions: Iterable[Session], like: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return a code given by chance; a copy has the codes of its original."""
    rows = []
    for one in sessions:
        rng = np.random.default_rng([3, int((like or {}).get(one.id, one.id)[1:])])
        rows += [
            {"session_id": one.id, "turn": turn.index, "luck": int(rng.random() < 0.4)}
            for turn in one.turns
            if turn.role == "therapist"
        ]
    return pd.DataFrame(rows)


def tried(sessions: Sequence[Session], codes: pd.DataFrame | None = None, **options: str) -> Training:
    return ta.train(luck(sessions) if codes is None else codes, sessions, None, options=replace(COLD, **options))


def groups_of(found: Training) -> int:
    return int(found.scores["n_groups"].iloc[0])


def kept(found: Training) -> str:
    return " ".join(note for note in found.notes if "kept together" in note)


def shouted(texts: list[str], rng: np.random.Generator) -> list[str]:
    return [text.upper().replace(" ", ", ") + "!" for text in texts]


def changed(texts: list[str], rng: np.random.Generator) -> list[str]:
    return [" ".join(rng.choice(WORDS) if rng.random() < 0.2 else word for word in text.split()) for text in texts]


def anonymised(texts: list[str], rng: np.random.Generator) -> list[str]:
    return [" ".join("[NAME]" if word[:2] == "ba" and word[-1] == "l" else word for word in t.split()) for t in texts]


def first_half(texts: list[str], rng: np.random.Generator) -> list[str]:
    return texts[: len(texts) // 2]


def half_anew(texts: list[str], rng: np.random.Generator) -> list[str]:
    return [*texts[: len(texts) // 2], *(" ".join(rng.choice(WORDS, size=12)) for _ in texts[len(texts) // 2 :])]


def test_copies_of_sessions_teach_nothing() -> None:
    own = [talk(number) for number in range(12)]
    more = [talk(number + 100, texts_of(talk(number))) for number in range(12)]
    codes = luck([*own, *more], {f"s{number + 100}": f"s{number}" for number in range(12)})
    found = tried([*own, *more], codes)
    assert found.learnt == ()
    assert abs(found.scores["kappa"].iloc[0]) < 0.2
    assert groups_of(found) == 12
    assert "24 of 24 sessions were kept together with others, in 12 groups" in kept(found)
    assert "24 hold much the same text as another" in kept(found)


@pytest.mark.parametrize("copy", [shouted, changed, anonymised, first_half, half_anew])
def test_copies_that_were_changed_are_found(copy: Callable[[list[str], np.random.Generator], list[str]]) -> None:
    rng = np.random.default_rng(1)
    texts = [texts_of(talk(number)) for number in range(12)]
    found = near_copies([" ".join(one) for one in (*texts, *(copy(one, rng) for one in texts))])
    assert found.tolist() == [[number, number + 12] for number in range(12)]


def test_sessions_that_share_short_phrases_are_apart() -> None:
    said = "how are you doing today"
    sessions = [talk(one, [f"{said} {text}" for text in texts_of(talk(one))]) for one in range(10)]
    found = tried(sessions)
    assert groups_of(found) == 10
    assert not kept(found)


def test_short_sessions_are_copies_where_they_are_the_same() -> None:
    """A table of single utterances may hold one twice; one that is a part of a long session is no copy of it."""
    said = [" ".join(WORDS[number : number + 6]) for number in range(50)]
    sessions = [talk(number, [text]) for number, text in enumerate([*said, *said])]
    found = tried([*sessions, talk(500, [*texts_of(talk(500)), said[0]])])
    assert groups_of(found) == 51


@pytest.mark.parametrize("column", ["client", "source_group", "recording"])
def test_sessions_of_a_client_or_recording_are_kept_together(column: str) -> None:
    found = tried([talk(number, **{column: f"x{number // 2}"}) for number in range(12)])
    assert groups_of(found) == 6
    assert f"12 share a {column} with another" in kept(found)


def test_what_hangs_together_over_several_sessions_is_one_group() -> None:
    """A copy of a session that shares its client with a third, which shares its counselor with a fourth."""
    sessions = [talk(number, counselor=f"c{number}") for number in range(8)]
    sessions += [
        talk(20, counselor="a"),
        talk(21, texts_of(talk(20)), client="Ann"),
        talk(22, client="Ann", counselor="b"),
        talk(23, counselor="b"),
    ]
    assert groups_of(tried(sessions)) == 10
    assert groups_of(tried(sessions, group="counselor")) == 9


def test_too_few_groups_are_refused_with_the_reason() -> None:
    sessions = [talk(number, client=f"x{number % 4}") for number in range(12)]
    expected = r"only 4 with codes by group of sessions: .*12 of 12 sessions were kept together with others"
    with pytest.raises(BadOptionError, match=expected) as said:
        tried(sessions)
    assert "x1" not in str(said.value)


def test_one_copy_is_found_among_a_thousand_sessions() -> None:
    rng = np.random.default_rng(0)
    words = np.array(WORDS)[rng.integers(0, len(WORDS), (1000, 100))]
    texts = [" ".join(row) for row in words]
    pairs = near_copies([*texts, texts[5].upper()])
    assert pairs.tolist() == [[5, 1000]]
