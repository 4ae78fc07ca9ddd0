"""Plant synchrony in made-up dialogues and see who finds it: ``python -m benchmarks.planted [--sessions 60]``.

Two speakers of the same small language talk in turn, each with rates of their own. Then one of them follows the other
with a known strength: each word of a reply is, with that probability, taken from the turn before (words), of the
function-word class of one of its words (style), from the topic of one of its words but not the same word (topic); and
the length of the reply correlates that much with the length of the turn before (length). Every measure that is
registered is asked, beside shuffles and surrogate pairs. Prints tables in Markdown.
"""

from __future__ import annotations

import argparse
import functools
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Any

import pandas as pd

from benchmarks._markdown import markdown
from therapy_analytics.core.session import Role, Session, Turn
from therapy_analytics.measures.arrays import arrays_with_donors
from therapy_analytics.measures.base import Column, all_columns
from therapy_analytics.measures.settings import Settings
from therapy_analytics.measures.synchrony.adjacent_turns import (
    DIRECTIONS,
    AdjacentResult,
    AdjacentTurnMeasure,
    adjacent_result,
)
from therapy_analytics.measures.synchrony.style_matching import CATEGORIES
from therapy_analytics.measures.synchrony.tables import Kind, kinds
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, SessionResult, session_result
from therapy_analytics.text import EXTRAS, AnnotatedSession, builtin_lexicons
from therapy_analytics.text.donors import choose_donors

STRENGTHS = (0.15, 0.3, 0.6)
ALONE = 0.3
"""The strength at which each plant is planted alone."""
PLANTS = ("words", "style", "topic", "length")
DRIFTS = ("topic", "style", "length")
FOLLOWERS: tuple[Role, ...] = ("client", "therapist")
NULLS = 3
"""Corpora without any plant; their sessions are pooled, because a level needs many."""

_SHARES = (0.24, 0.1, 0.1, 0.12, 0.16, 0.14, 0.08, 0.03, 0.03)
CLASS_SHARES = dict(zip(CATEGORIES, _SHARES, strict=True))
"""Of function words, about as in talk."""
TOPICS = {
    "work": "boss office meeting salary manager project deadline colleague contract promotion email desk shift report "
    "hire resign negotiate supervise earn busy professional overworked productive corporate",
    "family": "mother father sister brother daughter son cousin grandmother wedding marriage childhood household uncle "
    "baby raise divorce adopt argue visit loving strict maternal estranged protective",
    "sleep": "bed night dream insomnia pillow nightmare blanket nap midnight bedroom alarm morning snore mattress "
    "wake doze yawn toss rest tired drowsy exhausted restless awake",
    "food": "dinner breakfast bread kitchen sugar meal lunch appetite recipe vegetable snack fruit soup cheese cook "
    "eat chew bake taste hungry sweet delicious greasy vegetarian",
    "money": "bank debt loan rent mortgage budget bill savings credit cash insurance tax invoice landlord pay borrow "
    "spend owe invest expensive cheap poor wealthy bankrupt",
    "music": "guitar song piano concert melody band singer album violin rhythm choir drum orchestra lyric sing perform "
    "rehearse compose strum loud acoustic melodic classical jazzy",
}
"""Nouns, then verbs, then adjectives; each as likely as the next."""
MEDIAN_WORDS: dict[Role, float] = {"therapist": 9.0, "client": 12.0}
SPREAD = 0.6
"""Standard deviation of the logarithm of words per turn."""
N_TURNS = 40
SHORTEST, LONGEST = 3, 40
SLOWNESS = 0.9
"""Autocorrelation, from turn to turn, of what drifts in length."""


Word = tuple[str, str]
"""A word, and the class or topic it was taken from."""


@dataclass(frozen=True, slots=True)
class Plant:
    """What is planted: who follows, how strongly in what (strength by names of `PLANTS`), and what drifts."""

    follower: Role | None = None
    strength: Mapping[str, float] | None = None
    drift: str = ""

    def strength_in(self, what: str, role: Role) -> float:
        """Return how strongly a role follows in something."""
        return (self.strength or {}).get(what, 0.0) if role == self.follower else 0.0


@dataclass(frozen=True, slots=True)
class Speaker:
    """Rates of a speaker, at the beginning and at the end of the session; in between they are mixed."""

    median: float
    function_share: float
    classes: tuple[Sequence[float], Sequence[float]]
    topics: tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True, slots=True)
class MadeTurn:
    """A turn: its words, and how long it is in standard deviations of the speaker's turns."""

    words: tuple[Word, ...] = ()
    z: float = 0.0


@dataclass(frozen=True, slots=True)
class Now:
    """What a turn is made from: the speaker's rates at the time, the turn before, and how strongly it is followed."""

    speaker: Speaker
    at: float
    level: float
    before: MadeTurn
    follows: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Source:
    """Random numbers, and words with cumulative weights by class and topic."""

    rng: random.Random
    words: Mapping[str, tuple[Sequence[str], Sequence[float]]]

    def word(self, kind: str) -> Word:
        """Draw a word of a class or topic."""
        words, weights = self.words[kind]
        return self.rng.choices(words, cum_weights=weights)[0], kind

    def other_word(self, kind: str, known: Sequence[Word]) -> Word:
        """Draw a word of a topic that is not among those known, where there is one."""
        new = sorted(set(self.words[kind][0]) - {word for word, _ in known})
        return (self.rng.choice(new), kind) if new else self.word(kind)

    def rates(self, shares: Sequence[float], sure: float) -> list[float]:
        """Draw from a Dirichlet distribution around shares."""
        drawn = [self.rng.gammavariate(share * sure, 1.0) for share in shares]
        return [one / sum(drawn) for one in drawn]


def dialogues(n: int, plant: Plant, *, n_turns: int = N_TURNS, longer: float = 1.0, seed: int = 0) -> list[Session]:
    """Return `n` made-up sessions, the same for the same plant and seed; turns are so many times as long as usual."""
    source = Source(random.Random(f"{seed} {plant}"), _vocabulary())
    medians = {role: longer * median for role, median in MEDIAN_WORDS.items()}
    return [_dialogue(f"s{i:03d}", plant, n_turns, medians, source) for i in range(n)]


def _vocabulary() -> dict[str, tuple[list[str], list[float]]]:
    """Return words and cumulative weights; the shortest function words are the most frequent."""
    (lexicon,) = [one for one in builtin_lexicons() if one.name == "function_words"]
    found = {}
    for category in lexicon.categories:
        words = [word for word in category.words if re.fullmatch(r"[ai]|[a-z]{2,}", word)]
        words.sort(key=lambda word: (len(word), word))
        found[category.name] = words, list(accumulate(1 / (k + 1) for k in range(len(words))))
    listed = {topic: words.split() for topic, words in TOPICS.items()}
    return found | {topic: (words, list(accumulate([1.0] * len(words)))) for topic, words in listed.items()}


def _dialogue(name: str, plant: Plant, n_turns: int, medians: Mapping[Role, float], source: Source) -> Session:
    roles: tuple[Role, Role] = ("therapist", "client")
    speakers = {role: _speaker(medians[role], plant.drift, source) for role in roles}
    levels = {role: _slow(n_turns, source.rng) if plant.drift == "length" else [0.0] * n_turns for role in roles}
    turns: list[Turn] = []
    made = MadeTurn()
    for i in range(n_turns):
        role = roles[i % 2]
        follows = {what: plant.strength_in(what, role) if i else 0.0 for what in PLANTS}
        made = _made_turn(Now(speakers[role], i / (n_turns - 1), levels[role][i], made, follows), source)
        text = _written([word for word, _ in made.words], source.rng)
        turns.append(Turn(index=i, speaker=role, role=role, text=text, first_row=i + 1))
    return Session(id=name, source_file="made up", turns=tuple(turns))


def _speaker(median: float, drift: str, source: Source) -> Speaker:
    shares, even = list(CLASS_SHARES.values()), [1 / len(TOPICS)] * len(TOPICS)
    classes, topics = ([source.rates(*one) for _ in range(2)] for one in ((shares, 40), (even, 4)))
    return Speaker(
        median=median * math.exp(source.rng.gauss(0, 0.15)),
        function_share=source.rng.betavariate(33, 27),
        classes=(classes[0], classes[drift == "style"]),
        topics=(topics[0], topics[drift == "topic"]),
    )


def _slow(n: int, rng: random.Random) -> list[float]:
    """Return a first-order autoregression over the session, of variance 1."""
    levels = [rng.gauss(0, 1)]
    for _ in range(n - 1):
        levels.append(SLOWNESS * levels[-1] + math.sqrt(1 - SLOWNESS**2) * rng.gauss(0, 1))
    return levels


def _made_turn(now: Now, source: Source) -> MadeTurn:
    """Say a turn."""
    rng, own = source.rng, source.rng.gauss(0, 1)
    own = (now.level + own) * math.sqrt(0.5) if now.level else own
    coupling = now.follows["length"]
    z = coupling * now.before.z + math.sqrt(1 - coupling**2) * own
    n_words = min(max(round(now.speaker.median * math.exp(SPREAD * z)), SHORTEST), LONGEST)
    (about,) = rng.choices(list(TOPICS), _mixed(*now.speaker.topics, now.at))
    words: list[Word] = []
    place = -1
    for _ in range(n_words):
        repeats = rng.random() < now.follows["words"]
        place = _place(place, len(now.before.words), rng) if repeats else -1
        words.append(now.before.words[place] if repeats else _own_word(now, about, source))
    return MadeTurn(tuple(words), z)


def _place(last: int, n: int, rng: random.Random) -> int:
    """Return which word is repeated: as often as not the one behind that repeated just before, as in a phrase."""
    goes_on = 0 <= last < n - 1 and rng.random() < 0.5
    return last + 1 if goes_on else rng.randrange(n)


def _own_word(now: Now, about: str, source: Source) -> Word:
    """Say a word of one's own, of a class or topic that may be that of the turn before."""
    rng = source.rng
    function = rng.random() < now.speaker.function_share
    kinds_before = [kind for _, kind in now.before.words if (kind in CLASS_SHARES) == function]
    follows = bool(kinds_before) and rng.random() < now.follows["style" if function else "topic"]
    if function:
        (own,) = rng.choices(list(CLASS_SHARES), _mixed(*now.speaker.classes, now.at))
        return source.word(rng.choice(kinds_before) if follows else own)
    if follows:
        return source.other_word(rng.choice(kinds_before), now.before.words)
    strays = rng.random() < 0.2
    return source.word(rng.choices(list(TOPICS), _mixed(*now.speaker.topics, now.at))[0] if strays else about)


def _mixed(start: Sequence[float], end: Sequence[float], at: float) -> list[float]:
    return [(1 - at) * a + at * b for a, b in zip(start, end, strict=True)]


def _written(words: Sequence[str], rng: random.Random) -> str:
    """Write words as sentences."""
    sentences, begin = [], 0
    while begin < len(words):
        end = begin + rng.randint(5, 12)
        sentences.append(" ".join(words[begin:end]).capitalize() + rng.choice(".....?"))
        begin = end
    return " ".join(sentences)


def found_in(sessions: Sequence[Session], asked: Sequence[Kind]) -> pd.DataFrame:
    """Measure sessions, each beside the others: a row for each session and value, ``about`` value or lead.

    A z above 0 is more synchrony of a value, and of a lead (as the lead itself) that the therapist follows the client.
    """
    settings = Settings(extras=frozenset(one.extra for one in asked if one.extra))
    arrays = arrays_with_donors(sessions, settings, choose_donors(sessions))
    return pd.DataFrame([row for session in arrays for kind in asked for row in _rows(kind, session)])


def _rows(kind: Kind, session: AnnotatedSession) -> Iterator[dict[str, Any]]:
    sign = 1 if kind.closer == "higher" else -1
    if isinstance(kind, AdjacentTurnMeasure):
        found = adjacent_result(kind, session)
        for about, direction in (("value", "both"), ("lead", "difference")):
            at = DIRECTIONS.index(direction), 0
            value = found.values[at] * (sign if about == "lead" else 1)
            yield {"measure": kind.name, "about": about, "value": value, **_null_statistics(found, at, sign)}
    else:
        yield from _whole_rows(kind, session_result(kind, session), sign)


@functools.cache
def _columns() -> dict[str, Column]:
    return {column.name: column for _, column in all_columns((), extras=["all"])}


def _whole_rows(kind: SessionMeasure, found: SessionResult, sign: int) -> Iterator[dict[str, Any]]:
    names = list(kind.values)
    for i, column in enumerate(_columns()[name] for name in names):
        lead = _leads(column.high_means) if column.name in kind.two_sided else 0
        middle = (column.low + column.high) / 2 if math.isfinite(column.low) else 0.0
        value = lead * (found.values[i] - middle) if lead else found.values[i]
        own = {"measure": column.name, "about": "lead" if lead else "value", "value": value}
        yield own | _null_statistics(found, i, lead or sign)
    for i, name in enumerate(names):
        if "therapist" in name and (twin := name.replace("therapist", "client")) in names:
            ends = [_null_statistics(found, names.index(one), sign) for one in (name, twin)]
            difference = {z: ends[0][z] - ends[1][z] for z in ("z", "surrogate_z")}
            value = sign * (found.values[i] - found.values[names.index(twin)])
            yield {"measure": name.replace("therapist", "..."), "about": "lead", "value": value, **difference}


def _null_statistics(found: AdjacentResult | SessionResult, at: int | tuple[int, int], sign: int) -> dict[str, float]:
    """Return the statistics of the null distributions, z turned so that above 0 is more of what is looked for."""
    shuffled, surrogate = found.shuffled, found.surrogate
    beside = {"z": sign * shuffled.z[at], "p": shuffled.p[at]}
    return beside | {"surrogate_z": sign * surrogate.z[at], "surrogate_p": surrogate.p[at]}


def _leads(direction: str) -> int:
    """Return 1 where high values of a column mean that the therapist follows, -1 where the client does, else 0."""
    taken = re.search(r"the (therapist|client) (?:takes|follows)", direction)
    brought = re.search(r"(?:from the (therapist|client)|the (therapist|client) leads)", direction)
    follows = taken[1] == "therapist" if taken else brought and "client" in brought.groups()
    return 0 if follows is None else 1 if follows else -1


def cells() -> dict[str, Plant]:
    """Return what is planted, by name; names of nulls begin with none."""
    pairs = product(FOLLOWERS, STRENGTHS)
    together = {f"{who} {strength}": Plant(who, dict.fromkeys(PLANTS, strength)) for who, strength in pairs}
    alone = {f"{what} alone": Plant("client", {what: ALONE}) for what in PLANTS}
    drifts = {f"drift in {what}": Plant(drift=what) for what in DRIFTS}
    return {f"none {k}": Plant() for k in range(NULLS)} | together | alone | drifts


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Return means over sessions and shares of p under .05, by measure, about and cell; nulls are pooled."""
    cell = found["cell"].str.replace(r"^none .*", "none", regex=True)
    groups = found.groupby([found["measure"], found["about"], cell], sort=False)
    means = groups[["value", "z", "surrogate_z"]].mean()
    for p in ("p", "surrogate_p"):
        under = found[p].lt(0.05).where(found[p].notna()).astype(float)
        means[f"{p}<.05"] = under.groupby([found["measure"], found["about"], cell], sort=False).mean()
    for z in ("z", "surrogate_z"):
        means[f"{z}>0"] = groups[z].agg(lambda one: (one.dropna() > 0).mean())
    return means.assign(n=groups[["z", "surrogate_z"]].count().max(axis=1))


def strengths_table(means: pd.DataFrame) -> list[list[str]]:
    """Return for each measure its statistics at rising strength, both followers together."""
    statistics = {"value": 3, "z": 2, "p<.05": 2, "surrogate_z": 2, "surrogate_p<.05": 2}
    rows = [["measure", *(one.replace("_", " ") for one in statistics)]]
    levels = [["none"], *([f"{who} {strength}" for who in FOLLOWERS] for strength in STRENGTHS)]
    for name, own in _by_measure(means, "value"):
        course = pd.DataFrame([own.loc[one].mean() for one in levels])
        rows.append([f"`{name}`", *(_several(course[one], digits) for one, digits in statistics.items())])
    return rows


def direction_table(means: pd.DataFrame) -> list[list[str]]:
    """Return for each measure of who leads its z where the client follows and where the therapist does."""
    rows = [["measure", "beside", "client follows", "therapist follows", "sign is right", "p < .05 if none"]]
    for name, own in _by_measure(means, "lead"):
        beside = "shuffles" if own["z"].notna().any() else "surrogate pairs"
        z, p = ("z", "p<.05") if beside == "shuffles" else ("surrogate_z", "surrogate_p<.05")
        client, therapist = (own.loc[[f"{who} {strength}" for strength in STRENGTHS]] for who in FOLLOWERS)
        right = (therapist[f"{z}>0"].to_numpy() + 1 - client[f"{z}>0"].to_numpy()) / 2
        course = _several(client[z], 2), _several(therapist[z], 2)
        rows.append([f"`{name}`", beside, *course, _several(right, 2), _several([own.loc["none", p]], 3)])
    return rows


def cells_table(means: pd.DataFrame, names: Sequence[str], statistics: list[str], digits: int) -> list[list[str]]:
    """Return for each measure some statistics of some cells."""
    rows = [["measure", *names]]
    for name, own in _by_measure(means, "value"):
        rows.append([f"`{name}`", *(_several(own.loc[one][statistics], digits) for one in names)])
    return rows


def _by_measure(means: pd.DataFrame, about: str) -> Iterator[tuple[str, pd.DataFrame]]:
    some = means.xs(about, level="about")
    for name in some.index.unique("measure"):
        yield str(name), some.loc[name]


def _several(values: Any, digits: int) -> str:
    """Write numbers behind one another; a dash for what is undefined."""
    return " / ".join("-" if math.isnan(one) else f"{one:.{digits}f}" for one in values)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=60, help="sessions of each kind of plant")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--csv", help="a file for all numbers of all cells")
    options = parser.parse_args()
    means = summary(all_found(options.sessions, options.seed))
    if options.csv:
        means.to_csv(options.csv)
    alone, drifts = [f"{what} alone" for what in PLANTS], [f"drift in {what}" for what in DRIFTS]
    course = " / ".join(map(str, STRENGTHS))
    print(f"{options.sessions} sessions of {N_TURNS} turns a cell, {NULLS} times as many without a plant.\n")
    print(f"All planted together, strength 0 / {course}:\n\n{markdown(strengths_table(means))}\n")
    print(f"Who leads, z above 0 the therapist follows, strength {course}:\n")
    print(f"{markdown(direction_table(means))}\n\nOne thing planted at {ALONE}, z beside shuffles / surrogate pairs:\n")
    print(markdown(cells_table(means, ["none", *alone], ["z", "surrogate_z"], 2)))
    print("\nNobody follows, share of p < .05 beside shuffles / surrogate pairs:\n")
    print(markdown(cells_table(means, ["none", *drifts], ["p<.05", "surrogate_p<.05"], 3)))


def all_found(n: int, seed: int) -> pd.DataFrame:
    """Return `found_in` of all cells, with so many sessions each."""
    parts, asked = [], kinds(extras=EXTRAS)
    for name, plant in cells().items():
        copy = int(name.removeprefix("none ")) if plant == Plant() else 0
        sessions = dialogues(n, plant, seed=1000 * seed + copy)
        parts.append(found_in(sessions, asked).assign(cell=name))
    return pd.concat(parts, ignore_index=True)


if __name__ == "__main__":
    main()
