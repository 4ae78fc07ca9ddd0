"""Which measures the page shows, in what words, and where it shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from therapy_analytics.compare._results import Results

THERAPIST = "What the therapist does"
CLIENT = "What the client does"
TOGETHER = "How they go together"
OVER = "Over the session"
REVIEW = "To review"
FAMILIES = (THERAPIST, CLIENT, TOGETHER, OVER, REVIEW)
_OWN = re.compile(r"Share of (therapist|client) turns with (\S+) \((.*)\)", re.DOTALL)
_RANGE = re.compile(r"(?P<low>-?[\d.e+]+) (?:to (?P<high>-?[\d.e+]+)|or more)")


@dataclass(frozen=True, slots=True)
class Shown:
    """A measure of the page.

    Attributes
    ----------
    name, label, family : str
        Its column of sessions.csv; what a supervisor calls it; the heading that it stands under.
    first : bool
        Whether it is a column of the table from the start.
    profile : bool
        Whether it belongs to the picture of behaviours beside the references.
    does : str
        What somebody does in those turns, as in "boyle_lucia: asks in 18 of 29 therapist turns".
    """

    name: str
    label: str
    family: str
    first: bool = False
    profile: bool = False
    does: str = ""


def _rate(name: str, label: str, does: str, *, first: bool = False) -> Shown:
    """Return a behaviour: a share of the turns of the one whose name the column begins with."""
    family = CLIENT if name.startswith("client") else THERAPIST
    return Shown(f"{name}_rate", label, family, first=first, profile=True, does=does)


def _also(name: str, label: str, family: str, *, first: bool = False) -> Shown:
    return Shown(name, label, family, first=first)


SHOWN = (
    _also("therapist_talk_share", "Talks (share of words)", THERAPIST, first=True),
    _rate("therapist_question", "Asks", "asks", first=True),
    _also("open_question_rate", "Open questions (share of questions)", THERAPIST, first=True),
    _rate("therapist_reflection", "Reflects", "reflects", first=True),
    _rate("therapist_input", "Advises or informs", "advises or informs", first=True),
    _rate("therapist_reflections_on_needs", "Reflects needs", "reflects a need"),
    _rate("therapist_reflections_on_emotions", "Reflects feelings", "reflects a feeling"),
    _rate("therapist_reflections_on_values", "Reflects values", "reflects what matters to the client"),
    _rate("therapist_reflections_on_consequences", "Reflects consequences", "reflects a consequence"),
    _rate("therapist_reflections_on_conflicts", "Reflects conflicts", "reflects two sides that conflict"),
    _rate("therapist_reflections_on_strengths", "Reflects strengths", "reflects a strength"),
    _rate("therapist_questions_on_experiences", "Asks about experiences", "asks about experiences"),
    _rate("therapist_questions_on_perspectives", "Asks for another view", "asks for another view"),
    _rate("therapist_questions_on_emotions", "Asks about feelings", "asks about feelings of the moment"),
    _rate("therapist_problem_solving", "Offers solutions", "offers a solution"),
    _rate("therapist_planning", "Plans with the client", "plans with the client"),
    _rate("therapist_normalizing", "Normalizing", "normalizes"),
    _rate("therapist_psychoeducation", "Psychoeducation", "teaches psychology"),
    _also("therapist_advice_rate", "Advises (solutions or plans)", THERAPIST),
    _also("reflection_to_question_ratio", "Reflections for each question", THERAPIST),
    _also("therapist_affirmation_rate", "Affirms", THERAPIST),
    _also("therapist_permission_rate", "Asks permission", THERAPIST),
    _also("therapist_checking_rate", "Checks understanding", THERAPIST),
    _also("therapist_named_feeling_rate", "Names a feeling", THERAPIST),
    _also("socratic_question_rate", "Socratic questions (share of questions)", THERAPIST),
    _also("leading_question_rate", "Leading questions (share of questions)", THERAPIST),
    _also("stacked_question_rate", "Several questions at once", THERAPIST),
    _also("repeated_advice_rate", "Repeats advice", THERAPIST),
    _also("therapist_words_per_turn", "Words in a therapist turn", THERAPIST),
    _rate("client_change", "Change talk", "says change talk", first=True),
    _rate("client_sustain", "Sustain talk", "says sustain talk"),
    _rate("client_changing", "Acts or intends to change", "acts or intends to change"),
    _rate("client_sustaining", "Acts or intends to keep on", "acts or intends to keep on"),
    _rate("client_negative_feeling", "Shares a negative feeling", "shares a negative feeling"),
    _rate("client_positive_feeling", "Shares a positive feeling", "shares a positive feeling"),
    _rate("client_gained_insight", "Gains insight", "tells of an insight"),
    _rate("client_life_event", "Tells of life events", "tells of a life event"),
    _also("client_distortion_rate", "Voices a distorted thought", CLIENT),
    _also("client_core_belief_rate", "Voices a core belief about self", CLIENT),
    _also("client_emotional_disclosure", "Discloses feelings", CLIENT),
    _also("client_minimal_response_rate", "Answers with a word or two", CLIENT),
    _also("client_words_per_turn", "Words in a client turn", CLIENT),
    _also("advice_after_feeling_rate", "Advice right after a feeling", TOGETHER, first=True),
    _also("reflection_after_feeling_rate", "Reflection right after a feeling", TOGETHER),
    _also("input_after_sustain_rate", "Advice or information after sustain talk", TOGETHER),
    _also("reflection_after_sustain_rate", "Reflection after sustain talk", TOGETHER),
    _also("unasked_advice_rate", "Advice nobody asked for (share of advice)", TOGETHER),
    _also("lsm_turn_mean", "Style matching (LSM)", TOGETHER),
    _also("lsm_turn_mean_z", "Style matching above shuffled turns (z)", TOGETHER),
    _also("lsm_turn_mean_strangers_z", "Style matching above surrogate pairs (z)", TOGETHER),
    _also("semantic_similarity", "Similar in meaning", TOGETHER),
    _also("semantic_similarity_z", "Similar in meaning above shuffled turns (z)", TOGETHER),
    _also("semantic_similarity_strangers_z", "Similar in meaning above surrogate pairs (z)", TOGETHER),
    _also("lexical_alignment_z", "Shared words above shuffled turns (z)", TOGETHER),
    _also("lexical_alignment_strangers_z", "Shared words above surrogate pairs (z)", TOGETHER),
    _also("change_balance_first", "Lean to change at the start", OVER),
    _also("change_balance_last", "Lean to change at the end", OVER),
    _also("change_balance_slope", "Lean to change, start to end", OVER),
    _also("n_turning_points_to_change", "Turning points to change", OVER),
    _also("n_turning_points_to_sustain", "Turning points against change", OVER),
    _also("therapist_question_drift", "Asks: last less first part", OVER),
    _also("therapist_reflection_drift", "Reflects: last less first part", OVER),
    _also("therapist_input_drift", "Advises or informs: last less first part", OVER),
    _also("duration_s", "Length in seconds", OVER),
    _also("n_turns", "Turns", OVER),
    _also("n_turns_to_review", "Turns to review (cues of danger and others)", REVIEW, first=True),
    _also("n_safety_cue_turns", "Cues of danger", REVIEW),
    _also("safety_cue_followed_rate", "Cues of danger followed up", REVIEW),
    _also("n_stigmatising_word_turns", "Stigmatising words", REVIEW),
    _also("unexpressed_feeling_rate", "Named feelings that the client had not expressed", REVIEW),
    _also("went_along_rate", "Goes along with an untested claim", REVIEW),
    _also("challenged_rate", "Challenges an untested claim", REVIEW),
    _also("unsupported_attribution_rate", "Says that the client said, and nothing like it is found", REVIEW),
    _also("announcement_broken_rate", "Announces and does otherwise", REVIEW),
    _also("n_rupture_candidates", "Possible ruptures", REVIEW),
    _also("rupture_repair_rate", "Possible ruptures followed by repair", REVIEW),
)
"""In the order of the page. What they mean and when they mislead is the codebook's to say."""


def chosen(results: Results) -> list[Shown]:
    """Return the measures of the page that these results hold a value of, then the codes of the user's codebooks."""
    frame = results.sessions
    there = [one for one in (*SHOWN, *_own(results)) if one.name in frame and one.name in results.codebook.index]
    kept = [one for one in there if frame[one.name].notna().any()]
    return sorted(kept, key=lambda one: FAMILIES.index(one.family))


def _own(results: Results) -> Iterator[Shown]:
    """Yield the rates of codes of the user's own: they have no fixed names, only a fixed sentence."""
    known = {one.name for one in SHOWN}
    for name, meaning in results.codebook["meaning"].items():
        found = _OWN.fullmatch(str(meaning))
        if found and name == f"{found[2]}_rate" and name not in known:
            role = found[1]
            yield Shown(str(name), found[3], THERAPIST if role == "therapist" else CLIENT)


def ends(text: str) -> tuple[float | None, float | None]:
    """Return the ends of a range as the codebook writes it; None is no end.

    Examples
    --------
    >>> ends("0 to 1"), ends("0 or more"), ends("any")
    ((0.0, 1.0), (0.0, None), (None, None))
    """
    found = _RANGE.fullmatch(text.strip())
    if not found:
        return None, None
    return float(found["low"]), float(found["high"]) if found["high"] else None
