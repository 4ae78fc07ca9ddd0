"""Our sides of the pairs of `benchmarks.peers`: ``python -m benchmarks._peer_ours JOB FOLDER``, as `_peer_side`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks._peer_side import ROLES, Given, Job, Side, Values, by_session, main, mean, modules


def _sessions(given: Given) -> list[Any]:
    """Return the sessions as this package has them after reading."""
    from therapy_analytics.core.session import Session, Turn

    return [
        Session(
            id=one["id"],
            source_file="",
            turns=tuple(
                Turn(index=i, speaker=role, role=role, text=text, first_row=i + 1)
                for i, (role, text) in enumerate(zip(one["roles"], one["texts"], strict=True))
            ),
        )
        for one in given["sessions"]
    ]


def _matcher(*, lists: bool) -> Any:
    from therapy_analytics.text import builtin_lexicons
    from therapy_analytics.text.lexicons import Matcher

    return Matcher(builtin_lexicons() if lists else ())


def _our_coordination(given: Given, _: Path) -> Job:
    from therapy_analytics.core.session import CLIENT, THERAPIST
    from therapy_analytics.measures.synchrony.adjacent_turns import pairs_of
    from therapy_analytics.measures.synchrony.coordination import coordination_of, marks, mean_of_markers
    from therapy_analytics.text import annotate

    matcher = _matcher(lists=True)

    def work(sessions: Any) -> Any:
        had = [(one, marks(one)) for one in annotate(sessions, matcher)]
        each = [
            [coordination_of(*(has[at] for at in pairs_of(one, role))) for role in (THERAPIST, CLIENT)]
            for one, has in had
        ]
        return mean_of_markers(_stack(each))

    return Job(lambda: _sessions(given), work, _two_roles)


def _our_marks(given: Given, folder: Path) -> Job:
    import numpy as np

    from therapy_analytics.measures.synchrony.coordination import coordination_of, mean_of_markers

    marks = [np.array(one, dtype=float) for one in json.loads((folder / "marks.json").read_text(encoding="utf-8"))]
    roles = [np.array([*map([*ROLES, "other"].index, one["roles"])]) for one in given["sessions"]]

    def work(_: Any) -> Any:
        each = []
        for has, who in zip(marks, roles, strict=True):
            replies = [np.flatnonzero((who[1:] == role) & (who[:-1] == 1 - role)) + 1 for role in (0, 1)]
            each.append([coordination_of(has[at - 1], has[at]) for at in replies])
        return mean_of_markers(_stack(each))

    return Job(lambda: None, work, _two_roles)


def _stack(sums: Any) -> Any:
    import numpy as np

    return np.array(sums)


def _two_roles(found: Any) -> Values:
    return {f"{role}'s replies": found[:, i].tolist() for i, role in enumerate(ROLES)}


def _our_lexical(given: Given, _: Path) -> Job:
    from therapy_analytics.core.session import CLIENT, THERAPIST
    from therapy_analytics.measures.synchrony.adjacent_turns import pairs_of
    from therapy_analytics.measures.synchrony.alignment import cosine
    from therapy_analytics.measures.synchrony.ngrams import count_ngrams, words_of
    from therapy_analytics.text import annotate

    matcher = _matcher(lists=False)

    def one(session: Any) -> list[list[Any]]:
        pairs = [pairs_of(session, role) for role in (THERAPIST, CLIENT)]
        words = words_of(session)
        counts = [count_ngrams(words, n) for n in (1, 2)]
        return [[_defined(cosine(each[a], each[r])) for a, r in pairs] for each in counts]

    def values(found: Any) -> Values:
        names = ("words", "pairs of words")
        return {name: [mean([*map(mean, of[n])]) for of in found] for n, name in enumerate(names)}

    return Job(lambda: _sessions(given), lambda sessions: [one(each) for each in annotate(sessions, matcher)], values)


def _defined(each: Any) -> Any:
    """Return the value of each pair of turns; 0 where there is nothing to compare, as ALIGN has it."""
    import numpy as np

    return np.nan_to_num(each)


def _our_cleaned(_: Given, folder: Path) -> Job:
    return _our_lexical(json.loads((folder / "cleaned.json").read_text(encoding="utf-8")), folder)


def _our_lists(given: Given, _: Path) -> Job:
    from therapy_analytics.text import annotate

    matcher = _matcher(lists=True)

    def values(batch: Any) -> Values:
        counts = [one.count("pronouns.first_person_singular").sum() for one in batch]
        return {"first person singular": [*map(float, counts)]}

    return Job(lambda: _sessions(given), lambda sessions: annotate(sessions, matcher), values)


def _our_words(given: Given, _: Path) -> Job:
    from therapy_analytics.measures.process.talk import talk
    from therapy_analytics.text import annotate

    matcher = _matcher(lists=False)

    def values(found: Any) -> Values:
        words = {f"words of the {role}": [one[f"n_words_{role}"] for one in found] for role in ROLES}
        return words | {"Gini of words": [abs(one["therapist_talk_share"] - 0.5) for one in found]}

    return Job(lambda: _sessions(given), lambda sessions: [talk(one) for one in annotate(sessions, matcher)], values)


def _our_counts(given: Given, _: Path) -> Job:
    from therapy_analytics.text import annotate

    matcher = _matcher(lists=False)

    def values(batch: Any) -> Values:
        counts = {"words": batch.turns.n_words, "sentences": batch.turns.n_sentences}
        return {name: by_session(of.tolist(), given) for name, of in counts.items()}

    return Job(lambda: _sessions(given), lambda sessions: annotate(sessions, matcher), values)


def _ours(start: Callable[[Given, Path], Job], *names: str) -> Side:
    package = ("spacy.lang.en", "therapy_analytics.text", *(f"therapy_analytics.{name}" for name in names))
    return Side("therapy-analytics", modules(*package), start)


SIDES = {
    "coordination": _ours(_our_coordination, "measures.synchrony.coordination"),
    "marks": _ours(_our_marks, "measures.synchrony.coordination"),
    "alignment": _ours(_our_lexical, "measures.synchrony.alignment"),
    "cleaned": _ours(_our_cleaned, "measures.synchrony.alignment"),
    "lists": _ours(_our_lists),
    "words": _ours(_our_words, "measures.process.talk"),
    "counts": _ours(_our_counts),
}

if __name__ == "__main__":
    main(SIDES)
