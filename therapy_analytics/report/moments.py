"""Turns that are worth discussing in supervision, by stated rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isnan
from typing import Any, Literal

from therapy_analytics.report.files import Columns, number

Json = dict[str, Any]
SHOWN, MOST = 3, 6
"""How many a sheet shows, and how many are kept of each session, among which a counselor's sheet chooses."""
_UNKNOWN = 0.5
"""The probability that orders turns which have none."""


@dataclass(frozen=True, slots=True)
class DiscussedStep:
    """What one of the two does in a turn.

    Attributes
    ----------
    role : {"therapist", "client"}
        Who.
    does : str
        What, in words that follow "the client" or "the therapist".
    codes : tuple of str
        Codes of which one is enough; their highest probability is shown.
    column : str
        A column of ``turn_measures.csv`` that decides instead of the codes; empty for none.
    between : (float, float)
        The values of that column that count, ends included.
    """

    role: Literal["therapist", "client"]
    does: str
    codes: tuple[str, ...] = ()
    column: str = ""
    between: tuple[float, float] = (1.0, inf)


@dataclass(frozen=True, slots=True)
class DiscussionRule:
    """A rule: one step, or two in turns that follow each other.

    Attributes
    ----------
    side : {"look", "build"}
        Whether such turns are worth another look or worth building on.
    title, question : str
        What is found, and what to talk about.
    steps : tuple of DiscussedStep
        What happens.
    answer : str
        A code that it also takes, which none of its steps shows; empty for none.
    """

    side: Literal["look", "build"]
    title: str
    question: str
    steps: tuple[DiscussedStep, ...]
    answer: str = ""

    @property
    def needs(self) -> list[tuple[str, ...]]:
        """Return the codes without which it finds nothing: one of each tuple."""
        return [*(step.codes for step in self.steps if not step.column), *([(self.answer,)] if self.answer else [])]


def _danger(title: str, question: str, column: str, value: float, answer: str = "") -> DiscussionRule:
    does = "speaks of present danger of their own"
    step = DiscussedStep("client", does, ("process_risk_own",), column, (value, value))
    return DiscussionRule("look", title, question, (step,), answer)


_FEELING = DiscussedStep("client", "shows a negative feeling", ("process_feeling_negative",))
_SUSTAIN = DiscussedStep("client", "says sustain talk", ("mi_sustain",))
_CLAIM = DiscussedStep("client", "voices an untested claim", ("process_untested_claim",))
_RUPTURE = DiscussedStep(
    "client",
    "moves away from or against the therapist or the work",
    ("process_rupture_withdrawal", "process_rupture_confrontation"),
)
_REFLECTS = DiscussedStep("therapist", "reflects", ("mi_reflection",))
RULES = (
    _danger(
        "Danger that was made worse",
        "What is needed now, and who should know?",
        "danger_outcome",
        3,
        "process_risk_worsened",
    ),
    _danger(
        "Danger that was passed over",
        "What made it hard to ask, and how could it be asked now?",
        "danger_outcome",
        1,
        "process_risk_asked",
    ),
    _danger("Danger to read again", "Was it asked about directly, and what was agreed?", "danger_turn", 1),
    DiscussionRule(
        "look",
        "Words that may degrade",
        "How might the client have heard this?",
        (DiscussedStep("therapist", "speaks of an illness or addiction in degrading words", ("process_stigma",)),),
    ),
    DiscussionRule("look", "A possible rupture", "What did the client need at this point?", (_RUPTURE,)),
    DiscussionRule(
        "look",
        "An untested claim gone along with",
        "What would a curious question about the claim have been?",
        (_CLAIM, DiscussedStep("therapist", "goes along with it", ("process_goes_along",))),
    ),
    DiscussionRule(
        "look",
        "Advice right after a feeling",
        "What might have followed if the feeling had been named first?",
        (_FEELING, DiscussedStep("therapist", "advises", ("process_advice",))),
    ),
    DiscussionRule(
        "look",
        "Advice or information after sustain talk",
        "What speaks against change for this client, and could it have been reflected?",
        (_SUSTAIN, DiscussedStep("therapist", "advises or informs", ("mi_input",))),
    ),
    DiscussionRule(
        "build",
        "A rupture that was taken up",
        "What made it possible to speak of it?",
        (_RUPTURE, DiscussedStep("therapist", "repairs", ("process_repair",))),
    ),
    DiscussionRule(
        "build",
        "An untested claim that was examined",
        "What in the wording let the client think it over?",
        (_CLAIM, DiscussedStep("therapist", "challenges it", ("process_challenges",))),
    ),
    DiscussionRule(
        "build",
        "A feeling that was named",
        "How did the client go on after it?",
        (_FEELING, DiscussedStep("therapist", "names a feeling that was expressed", ("process_feeling_expressed",))),
    ),
    DiscussionRule(
        "build",
        "A reflection answered by change talk",
        "Which part of the reflection did the client take up?",
        (_REFLECTS, DiscussedStep("client", "says change talk", ("mi_change",))),
    ),
    DiscussionRule(
        "build",
        "A reflection answered by disclosure",
        "What invited the client to say more?",
        (
            _REFLECTS,
            DiscussedStep("client", "tells of feelings", column="disclosure_emotional_turn", between=(0.5, 1.0)),
        ),
    ),
    DiscussionRule(
        "build", "Sustain talk met by a reflection", "How did the client go on after it?", (_SUSTAIN, _REFLECTS)
    ),
)
"""In the order in which they come, of each side by itself."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Turns to which a rule applies: the rule's place, the turns of its steps, and their probabilities in per cent."""

    rule: int
    turns: tuple[int, ...]
    per_cent: tuple[int | None, ...]

    @property
    def strength(self) -> float:
        """The product of the probabilities: how sure it is that all this happened."""
        product = 1.0
        for one in self.per_cent:
            product *= _UNKNOWN if one is None else one / 100
        return product

    def json(self) -> Json:
        """Return it as the page takes it."""
        return {"rule": self.rule, "steps": [list(pair) for pair in zip(self.turns, self.per_cent, strict=True)]}


def moment_from(data: Mapping[str, Any]) -> Moment:
    """Return a moment from what `Moment.json` made of it."""
    turns, per_cent = zip(*data["steps"], strict=True)
    return Moment(data["rule"], turns, per_cent)


def rules_json() -> list[Json]:
    """Return the rules as the page takes them."""
    return [
        {
            "side": rule.side,
            "title": rule.title,
            "question": rule.question,
            "steps": [{"role": one.role, "does": one.does} for one in rule.steps],
        }
        for rule in RULES
    ]


def moments(turns: Columns) -> Iterator[Moment]:
    """Yield every place in a session to which a rule applies.

    Parameters
    ----------
    turns : mapping of str to sequence of str
        The columns of the tables of turns; probabilities are called ``p_...``.

    Notes
    -----
    The second step of a rule is looked for in the next turn of therapist or client, whoever speaks; where the same
    person goes on, there is no answer.
    """
    roles = list(turns.get("role", ()))
    spoken = [i for i, role in enumerate(roles) if role in ("therapist", "client")]
    following = dict(pairwise(spoken))
    for place, rule in enumerate(RULES):
        for i in spoken:
            found = (i,) if len(rule.steps) == 1 else (i, following.get(i, -1))
            if all(at >= 0 and _applies(turns, roles, step, at) for step, at in zip(rule.steps, found, strict=True)):
                per_cent = tuple(_per_cent(turns, step, at) for step, at in zip(rule.steps, found, strict=True))
                yield Moment(place, found, per_cent)


def _applies(turns: Columns, roles: Sequence[str], step: DiscussedStep, at: int) -> bool:
    if roles[at] != step.role:
        return False
    if step.column:
        return step.column in turns and step.between[0] <= number(turns[step.column][at]) <= step.between[1]
    return any(number(turns[code][at]) == 1 for code in step.codes if code in turns)


def _per_cent(turns: Columns, step: DiscussedStep, at: int) -> int | None:
    """Return the highest probability of the step's codes, or the value of its column where that is a probability.

    A turn that a column marks without such a code, as a phrase of danger does, has none.
    """
    codes = [one for one in step.codes if not step.column or (one in turns and number(turns[one][at]) == 1)]
    names = [f"p_{code}" for code in codes] if step.codes else [step.column]
    known = [value for name in names if name in turns and not isnan(value := number(turns[name][at]))]
    return round(100 * max(known)) if known else None


def chosen_moments(found: Sequence[tuple[int, Moment]], most: int) -> list[tuple[int, Moment]]:
    """Return the moments to show first: of sessions, which are told apart by a number of each.

    What is worth another look and what is worth building on take turns, beginning with the former. On either side
    the surest of each rule comes first, in the order of `RULES`, then the second of each. No turn is shown twice, and
    a session of which nothing is shown yet goes before others.
    """
    queues = [_queue(found, side) for side in ("look", "build")]
    chosen: list[tuple[int, Moment]] = []
    shown: set[tuple[int, int]] = set()
    side = 0
    while len(chosen) < most and any(queues):
        queue = queues[side] or queues[1 - side]
        side = 1 - side
        used = [session for session, _ in chosen]
        session, moment = min(queue, key=lambda one: used.count(one[0]))
        queue.remove((session, moment))
        turns = {(session, turn) for turn in moment.turns}
        if turns & shown:
            side = 1 - side
            continue
        shown |= turns
        chosen.append((session, moment))
    return chosen


def _queue(found: Sequence[tuple[int, Moment]], side: str) -> list[tuple[int, Moment]]:
    """Return the moments of a side: the surest of each rule, then the second of each."""
    ranked = []
    for place, rule in enumerate(RULES):
        if rule.side == side:
            own = [one for one in found if one[1].rule == place]
            own.sort(key=lambda one: (-one[1].strength, one[0], one[1].turns))
            ranked += [(rank, place, one) for rank, one in enumerate(own)]
    return [one for _, _, one in sorted(ranked, key=lambda row: row[:2])]
