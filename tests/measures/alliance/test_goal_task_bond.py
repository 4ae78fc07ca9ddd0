"""Talk of goals, tasks and bond: known answers, statements written after those of the contrast, and denials."""

from __future__ import annotations

import re
import time
import tomllib
from itertools import chain

import numpy as np
import pytest

from tests.undefined import without_totals
from therapy_analytics.errors import BadDataFileError
from therapy_analytics.language import annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.language.meanings import meanings
from therapy_analytics.measures import MEASURES
from therapy_analytics.measures.alliance import _goal_task_bond
from therapy_analytics.measures.alliance.goal_task_bond import CONSTRUCTS, convergence, goal_task_bond, turn_scores
from therapy_analytics.session import Session, Turn

# Written after the statements of the data file and before anything was fitted to these; the first of each list are the
# client's, the rest the therapist's. The last three distractors of goal, task and bond deny it.
HELD = {
    "goal": [
        "What I am really after is being able to fly to see my grandchildren.",
        "i want to be smoke free by christmas",
        "It would be great if I could stop worrying so much, that's what I came for.",
        "Exactly, more self-respect, that is where I want to end up.",
        "In the long run I'd like to have a relationship that lasts.",
        "yes cutting back on the gambling is what i need to focus on",
        "I hope that by the end of this I can go into a shop alone.",
        "What brings you here and what do you hope will change?",
        "so the two of us are aiming for you to drink less on weeknights",
        "Suppose therapy goes well, how will your life look a year from now?",
        "Which of these problems should we tackle first?",
        "it sounds like you want to be there for your children and stay healthy",
        "Do I have it right that you want to feel more in control of your temper?",
        "Let us set a goal for the next months.",
    ],
    "task": [
        "I'll try to write in my journal each night like you suggested.",
        "the worksheet was good it showed me when i get upset",
        "Talking it through with you like this works for me.",
        "I did the breathing thing twice and it calmed me down.",
        "okay i will count my cigarettes until we meet again",
        "Can we do the imagining part again, that was useful.",
        "I think it is a good idea to start with the small fears.",
        "Did you get a chance to do the exercise we talked about?",
        "what if you kept a record of when the urge comes",
        "Let's practice how you might tell your boss.",
        "How is our way of doing this for you, too fast or too slow?",
        "for next week maybe pick one day where you do not drink and see how it goes",
        "Shall we go over the plan that you made last time?",
        "I'd like to try something with you now, close your eyes and breathe slowly.",
    ],
    "bond": [
        "You always make me feel welcome here.",
        "i'm glad i have you to talk to",
        "It helps that you don't look down on me.",
        "I never told anyone this before but with you it is okay.",
        "you see me the way i am and i'm grateful for that",
        "I believe you want the best for me.",
        "Thanks for being so understanding.",
        "I was worried you would be mad at me but you were so nice.",
        "I feel honored that you share this with me.",
        "you can be open with me i am on your side",
        "It is a pleasure to work with you, I admire your courage.",
        "I want to make sure I am hearing you the right way.",
        "i am sorry if i upset you last time that was not what i wanted",
        "You are safe here and I am not going anywhere.",
    ],
}
DISTRACTORS = {
    "goal": [
        "He wants to be the captain by Christmas.",
        "it would be great if the bus came on time",
        "In the long run the blue car is cheaper.",
        "Which of these rooms should we paint first?",
        "the government has set a goal for clean air",
        "Suppose it snows, how will they get to the airport?",
        "My wife hopes for a promotion next year.",
        "I want a sandwich and some chips.",
        "You and I do not want the same thing here.",
        "i have no idea what my goal is",
        "What I want isn't to quit, everybody else wants that.",
    ],
    "task": [
        "I'll try to fix the roof on Sunday like my dad suggested.",
        "the worksheet from the accountant was full of errors",
        "Talking on the phone while driving is dangerous.",
        "Did you get a chance to call the electrician?",
        "Can we do the shopping at the other store, that was cheap.",
        "for next week maybe we move the meeting to noon",
        "okay i will count the chairs before the guests come",
        "Shall we go over the bill for the dinner?",
        "I didn't do the exercise, it does not help.",
        "this talking isn't working for me",
        "No, I don't want to keep a record.",
    ],
    "bond": [
        "They always make us feel welcome at that hotel.",
        "i'm glad i have the car to get around",
        "My sister never looks down on her employees.",
        "He believes she wants the money.",
        "Thanks for the receipt.",
        "her dog is nice and not mad at anyone",
        "It was a pleasure to meet the mayor, people admire him.",
        "My grandmother was so understanding with my brother.",
        "I can't trust you after that.",
        "you just don't get me",
        "I am not comfortable with you.",
    ],
    "other": [
        "I had three beers and then I fell asleep on the couch.",
        "My boss yelled at me in front of everybody.",
        "so you felt left out when they didn't call",
        "How often do you use cocaine?",
        "I am scared that the cancer will come back.",
        "it's been raining all week and my knee hurts",
        "Smoking makes asthma worse in children.",
        "When was the last time you saw your daughter?",
        "i cried the whole night",
        "Hi, my name is David, what should I call you?",
        "She moved out in May and took the furniture.",
        "You sound torn between your job and your family.",
        "yeah i guess so",
        "My stomach hurts every morning before school.",
        "i have to work two jobs to pay the rent",
        "What do you usually eat for breakfast?",
        "That's all for today, I'll see you in two weeks.",
        "He told me I was worthless.",
        "it was fun at first and then everybody got drunk",
        "Cholesterol is a kind of fat in the blood.",
    ],
}
FURTHER = {
    "goal": [
        "What I wish for most is to feel at peace with my body.",
        "i came because i need to get my temper under control",
        "Getting my licence back, that is the thing I'm fighting for.",
        "I'd be happy if I could drive over a bridge again.",
        "that's right less drinking and more time with my girls",
        "My dream is to live on my own one day.",
        "What would a good outcome look like for you?",
        "So being a calmer dad, is that still what we are working on?",
        "how important is it for you to stop",
        "You and I both hope that you get through the winter without a relapse.",
        "what needs to happen so you can say this was a success",
    ],
    "task": [
        "I filled in the mood chart every day like we said.",
        "can we go back to the breathing thing",
        "It does me good to say these things out loud in here.",
        "writing the letter to my dad was a good idea of yours",
        "I'll leave my cigarettes in the car and tell you how it went.",
        "It is a good pace for me, not too fast.",
        "What did you notice when you did the relaxation at home?",
        "i would like you to picture the scene and tell me what you see",
        "Would you rather talk about the dream or continue with the list?",
        "We will make a ladder of your fears and climb it rung by rung.",
        "your job for the coming days is to speak to one stranger a day",
    ],
    "bond": [
        "You have been a rock for me.",
        "i like you you're funny and you don't preach",
        "I was scared you would think I'm crazy but you did not.",
        "It feels good that somebody is on my side for once, I mean you.",
        "you remembered my cat's name that made me smile",
        "I can be myself around you.",
        "I admire you for coming back today.",
        "You matter to me, and I worry when you do not show up.",
        "did it bother you that i said that",
        "I see you, and I believe every word you said.",
        "we have come a long way you and i",
    ],
    "not goal": [
        "What my aunt wishes for most is a house by the sea.",
        "he came because the heating was broken",
        "Getting the trophy back, that's what the team is fighting for.",
        "What would a good price be for the bike?",
        "how important is it that the door stays shut",
        "My uncle's dream was to see Rome.",
        "I don't want any of those goals you wrote down.",
    ],
    "not task": [
        "I filled in the tax form on Sunday.",
        "can we go back to the hotel",
        "writing the cheque took a minute",
        "We will rent a ladder and paint the wall.",
        "your job for the coming days is to feed the fish",
        "I do not find this list helpful.",
        "It was a bad idea, it never worked for me.",
    ],
    "not bond": [
        "The old sofa has been fine for us.",
        "my nephew likes her because she's funny",
        "I was scared the dog would bite but it did not.",
        "They remembered my order at the diner.",
        "did it bother him that the music was loud",
        "I can't be honest with you.",
        "You never listened to me.",
    ],
    "not other": [
        "I took the pills and then I got dizzy.",
        "he drinks every night and yells at the kids",
        "My anxiety is worst in the morning.",
        "Is there diabetes in your family?",
        "i was sitting in the dark and crying",
        "Alcohol slows down the brain.",
        "She left me for her boss.",
        "So you feel stuck between the two of them.",
        "we moved here when i was nine",
        "I have no appetite lately.",
        "the judge gave me sixty days",
    ],
}
"""Written when all was fixed; statements that avoid the usual words. The last two distractors of each deny it."""
KEYWORDS = {
    "goal": (
        r"goals?|aim\w*|hop(e|es|ing)|chang\w*|achiev\w*|reach|want to|would like to|i'd like to|improve\w*|to"
        r"wards?|priorit\w*|focus|target"
    ),
    "task": (
        r"exercis\w*|homework|practi[cs]\w*|techniques?|diary|journal|logs?|worksheets?|record|helpful|useful|"
        r"helps?|helped|tr(y|ied|ying)|plan|steps?|sessions?|agenda|role play|next (time|week)"
    ),
    "bond": (
        r"trust\w*|respect\w*|car(e|es|ing)|understand\w*|understood|listen\w*|safe|comfortable|judg\w*|apprec"
        r"iat\w*|thank\w*|glad|grateful|honest|open|kind|here for you|with you"
    ),
}
"""A plain count to beat, written before anything was fitted."""
COLUMNS = MEASURES["goal_task_bond"].columns_for(())


def _scores(texts, role="client"):  # type: ignore[no-untyped-def]
    turns = tuple(Turn(index=i, speaker=role, role=role, text=text, first_row=i + 1) for i, text in enumerate(texts))
    (session,) = annotate([Session(id="s", source_file="s", turns=turns)], Matcher(builtin_lexicons()))
    return turn_scores(session)


def _auc(own, others):  # type: ignore[no-untyped-def]
    own, others = np.asarray(own)[:, None], np.asarray(others)[None]
    return float(((own > others) + 0.5 * (own == others)).mean())


@pytest.fixture(scope="module")
def held():  # type: ignore[no-untyped-def]
    """Return texts, what each is ("goal", ..., "not goal", ..., "not other"), and their scores."""
    texts = list(chain(*HELD.values(), *DISTRACTORS.values()))
    kinds = [kind for kind, group in HELD.items() for _ in group]
    kinds += [f"not {kind}" for kind, group in DISTRACTORS.items() for _ in group]
    return texts, np.array(kinds), _scores(texts)


def test_statements_left_out_are_told_from_distractors() -> None:
    found = _goal_task_bond.load_contrast()
    for i in range(3):
        own = found.labels == i
        assert 24 <= own.sum() <= 30
        assert _auc(found.left_out[own, i], found.left_out[~own, i]) > 0.9
        assert (found.left_out[own, i] > 0).mean() > 0.7
        assert (found.left_out[~own, i] > 0).mean() == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize(("name", "least"), [("goal", 0.8), ("task", 0.8), ("bond", 0.9)])
def test_statements_written_afterwards(held, name: str, least: float) -> None:  # type: ignore[no-untyped-def]
    _, kinds, scores = held
    i = CONSTRUCTS.index(name)
    own, counted = kinds == name, scores[:, i] > 0
    assert _auc(scores[own, i], scores[~own, i]) > least
    assert _auc(scores[own, i], scores[kinds == "not other", i]) > 0.9
    assert counted[own].mean() > 0.5
    assert counted[~own].mean() < 0.13


def test_bond_beats_a_count_of_keywords_and_the_others_say_that_they_do_not(held) -> None:  # type: ignore[no-untyped-def]
    texts, kinds, scores = held
    better = {}
    for i, name in enumerate(CONSTRUCTS):
        count = np.array([len(re.findall(rf"\b(?:{KEYWORDS[name]})\b", text.lower())) for text in texts])
        own = kinds == name
        better[name] = _auc(scores[own, i], scores[~own, i]) - _auc(count[own], count[~own])
    assert better["bond"] > 0.15
    assert min(better.values()) > -0.02
    weak = {c.name for c in COLUMNS if "Weak evidence" in c.misleads}
    assert {f"{name}_talk_turn" for name in ("goal", "task")} <= weak
    assert "bond_talk_turn" not in weak


@pytest.mark.parametrize(("name", "finds"), [("goal", 4), ("task", 5), ("bond", 1)])
def test_statements_that_avoid_the_usual_words_are_hard(name: str, finds: int) -> None:
    texts = list(chain(*FURTHER.values()))
    own = np.array([kind == name for kind, group in FURTHER.items() for _ in group])
    scores = _scores(texts)[:, CONSTRUCTS.index(name)]
    count = np.array([len(re.findall(rf"\b(?:{KEYWORDS[name]})\b", text.lower())) for text in texts])
    assert _auc(scores[own], scores[~own]) > max(0.75, _auc(count[own], count[~own]) + 0.2)
    assert np.count_nonzero(scores[own] > 0) == finds  # of 11
    assert (scores[~own] > 0).mean() < 0.08


def test_denials_do_not_count(held) -> None:  # type: ignore[no-untyped-def]
    texts, _, scores = held
    passed = {
        text for i, name in enumerate(CONSTRUCTS) for text in DISTRACTORS[name][-3:] if scores[texts.index(text), i] > 0
    }
    assert passed <= {"i have no idea what my goal is"}  # one of nine: what is denied stands too far off


@pytest.mark.parametrize(
    ("said", "denied", "which"),
    [
        ("We agree on our goals and where we want to get.", "We do not agree on our goals.", 0),
        ("That exercise was really helpful to me.", "That exercise wasn't really helpful to me.", 1),
        ("I trust you and I feel understood.", "I don't trust you and I don't feel understood.", 2),
        ("I feel safe and comfortable with you.", "i never feel safe or comfortable with you", 2),
    ],
)
def test_a_word_of_denial_turns_it(said: str, denied: str, which: int) -> None:
    yes, no = _scores([said, denied])[:, which]
    assert yes > 0 >= no


def test_a_denial_of_something_else_changes_nothing() -> None:
    asked, other, sentence = _scores(
        [
            "Why don't we try that breathing exercise again next week?",  # a proposal
            "I did not sleep much, and today I want to tell you that I trust you and feel safe with you.",  # far off
            "I do not. You really listen and I feel safe with you.",  # in another sentence
        ]
    )
    assert asked[1] > 0
    assert other[2] > 0
    assert sentence[2] > 0


def test_denial_reaches_four_tokens_and_no_beside_one() -> None:
    words = _goal_task_bond.load_contrast().words
    # n't .. agree: 1; not so very much agree: 4; not so very very much agree: 5; no goals: 1; no big goals: 2
    texts = ["We don't agree", "not so very much agree", "not so very very much agree", "no goals", "no big goals"]
    tokens = _goal_task_bond.tokenize(texts)
    _, denied = _goal_task_bond.counted(tokens, tokens.offsets, words, reach=4)
    assert denied[:, 0].tolist() == [True, True, False, True, False]


def test_cue_words_that_a_reader_can_count() -> None:
    words = _goal_task_bond.load_contrast().words
    filler = "so " * 22
    texts = ["my goal", "I would like to reach my goal and my aim", "yes", "", filler + "my goal"]
    tokens = _goal_task_bond.tokenize(texts)
    cues, _ = _goal_task_bond.counted(tokens, tokens.offsets, words, reach=4)
    # goal; would-like, reach, goal, aim: 4, at most 2; none; none; 1 in 24 words is 1 x 12 / 24
    assert cues[:, 0].tolist() == [1.0, 2.0, 0.0, 0.0, 0.5]


GOAL, TASK, BOND = (
    "My goal is to stop drinking and that is what I want to reach here.",
    "The breathing exercise that we practiced was helpful, I will try it again next week.",
    "I trust you, I feel safe with you and you really listen to me.",
)
NEITHER = "The dog ate my sandwich on the way to the bus."
SAID = [
    ("T", "So what are your goals, what would you like to change?"),  # goal
    ("C", GOAL),  # goal
    ("T", NEITHER),
    ("C", TASK),  # task
    ("T", "Would you be willing to keep a diary until our next session?"),  # task
    ("C", "Yeah, okay."),  # too short: no base
    ("T", "I appreciate how honest you are and I care about you."),  # bond
    ("C", BOND),  # bond
    ("O", GOAL),  # of neither
    ("C", NEITHER),
]


def test_a_dialogue_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = goal_task_bond(make(SAID))
    for name in CONSTRUCTS:
        assert values[f"n_client_{name}_talk"] == 1
        assert values[f"client_{name}_talk_rate"] == pytest.approx(1 / 4)
        assert values[f"n_therapist_{name}_talk"] == 1
        assert values[f"therapist_{name}_talk_rate"] == pytest.approx(1 / 4)
        assert np.isnan(values[f"{name}_talk_turn"]).tolist() == [one in {5, 8} for one in range(10)]


def test_slopes_and_convergence_have_the_sign_that_a_reader_sees(make) -> None:  # type: ignore[no-untyped-def]
    # The client comes from the dog to the bond, where the therapist is all the time
    said = [("T", BOND), ("C", NEITHER)] * 4 + [("T", BOND), ("C", BOND)] * 4
    values = goal_task_bond(make(said))
    assert values["client_bond_talk_slope"] > 1
    assert values["therapist_bond_talk_slope"] == pytest.approx(0, abs=1e-9)
    turn = values["bond_talk_turn"]
    assert values["bond_talk_convergence"] == pytest.approx(turn[0] - turn[1])  # gap at first, less 0 at last
    assert values["bond_talk_convergence_p"] < 0.2
    back = goal_task_bond(make(said[8:] + said[:8]))
    assert back["bond_talk_convergence"] == pytest.approx(-values["bond_talk_convergence"])
    assert back["bond_talk_convergence_p"] > 0.8


def test_the_p_of_shuffles_is_even_where_nothing_converges() -> None:
    rng = np.random.default_rng(5)
    places = np.linspace(0, 1, 30)
    found = [convergence([places] * 2, [rng.normal(size=(30, 3)) for _ in range(2)], lambda: rng)[1] for _ in range(60)]
    assert np.mean(found) == pytest.approx(0.5, abs=0.08)


def test_undefined_is_nan(make) -> None:  # type: ignore[no-untyped-def]
    none = goal_task_bond(make([]))
    assert all(np.isnan(value).all() for value in without_totals(none).values())
    alone = goal_task_bond(make([("C", GOAL), ("C", "Okay."), ("C", "...")]))
    assert alone["client_goal_talk_rate"] == 1
    undefined = [name for name in alone if "therapist" in name or "convergence" in name]
    assert without_totals({name: alone[name] for name in undefined if name.startswith("out_of_")}) == {}
    assert all(np.isnan(alone[name]) for name in undefined if not name.startswith("out_of_"))
    assert np.isnan(alone["client_goal_talk_slope"])
    assert {column.name for column in COLUMNS} == none.keys()


def test_batch_and_order_change_nothing() -> None:
    texts = list(chain(*HELD.values()))
    together, backwards = _scores(texts), _scores(texts[::-1])[::-1]
    np.testing.assert_array_equal(together, backwards)
    role = {"T": "therapist", "C": "client", "O": "other"}
    sessions = [
        Session(
            id=str(shift),
            source_file="s",
            turns=tuple(
                Turn(index=i, speaker=who, role=role[who], text=text, first_row=i + 1)  # type: ignore[arg-type]
                for i, (who, text) in enumerate(SAID[shift:])
            ),
        )
        for shift in range(3)
    ]
    matcher = Matcher(builtin_lexicons())
    for one, session in zip(annotate(sessions, matcher), sessions, strict=True):
        (alone,) = annotate([session], matcher)
        for name, value in goal_task_bond(alone).items():
            np.testing.assert_array_equal(value, goal_task_bond(one)[name], err_msg=name)


def test_length_alone_is_no_sign() -> None:
    long = [" ".join(DISTRACTORS["other"][i : i + 5]) for i in range(15)]
    assert (_scores(long) > 0).mean() < 0.05


def test_five_hundred_turns_are_quick(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID * 50)
    session.cached(meanings)
    goal_task_bond(session)
    seconds = []
    for _ in range(7):
        start = time.process_time()
        goal_task_bond(session)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.02


def test_the_data_are_whole_and_of_one_form() -> None:
    data = tomllib.loads(_goal_task_bond.DATA.read_text(encoding="utf-8"))
    every = [text for one in (*data["constructs"].values(), data["other"]) for text in one["distractors"]]
    every += [text for one in data["constructs"].values() for text in one["statements"]]
    assert len(set(every)) == len(every)
    assert not set(every) & set(chain(*HELD.values(), *DISTRACTORS.values()))
    assert data["source"]
    assert data["licence"]
    for one in data["constructs"].values():
        assert abs(len(one["statements"]) - len(one["distractors"])) <= 3
        lower = [text for text in one["statements"] if text.islower()]
        assert len(lower) >= 8  # as speech recognition writes


def test_a_broken_file_is_said_without_a_traceback_of_parsers(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "broken.toml").write_text("[constructs")
    with pytest.raises(BadDataFileError, match="cannot be read"):
        _goal_task_bond._data(tmp_path / "broken.toml")
