"""Dialogues in memory: sessions, ConvoKit corpora, spaCy Docs, pairs, DataFrames."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import spacy
from spacy.tokens import Doc

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import ReadOptions, TablesWarning, as_sessions, read

SECRET = "heliotrope"
PAIRS = [
    ("T", "What brings you here?"),
    ("Jo", "My work does."),
    ("Jo", "And I sleep badly."),
    ("T", "Work and sleep."),
]
MERGED = [
    ("T", "therapist", "What brings you here?", 1),
    ("Jo", "client", "My work does. And I sleep badly.", 2),
    ("T", "therapist", "Work and sleep.", 4),
]
"""What the four pairs are: rows 2 and 3 are one turn, Jo is the client because T names the therapist."""


@dataclass(frozen=True)
class Speaker:
    id: str
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Utterance:
    speaker: Speaker
    text: str | None
    timestamp: Any = None
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Conversation:
    id: str
    utterances: list[Utterance]
    meta: dict[Any, Any] = field(default_factory=dict)

    def iter_utterances(self) -> Iterator[Utterance]:
        yield from self.utterances

    def get_chronological_utterance_list(self) -> list[Utterance]:
        try:
            return sorted(self.utterances, key=lambda one: one.timestamp)
        except TypeError as error:
            raise ValueError(str(error)) from None


@dataclass(frozen=True)
class Corpus:
    conversations: list[Conversation]

    def iter_utterances(self) -> Iterator[Utterance]:
        for one in self.conversations:
            yield from one.iter_utterances()

    def iter_conversations(self) -> Iterator[Conversation]:
        yield from self.conversations


@pytest.fixture(scope="module")
def nlp() -> spacy.language.Language:
    return spacy.blank("en")


def conversation(
    name: str = "c1", times: tuple[Any, ...] = (0, 1, 2, 3), meta: dict[Any, Any] | None = None
) -> Conversation:
    """Return the pairs as a conversation."""
    spoken = [Utterance(Speaker(who), text, time) for (who, text), time in zip(PAIRS[: len(times)], times, strict=True)]
    return Conversation(name, spoken, meta or {})


def one(dialogues: Any, **options: Any) -> Session:
    (session,) = as_sessions(dialogues, options=ReadOptions(**options))
    return session


def turns(session: Session) -> list[tuple[str, str, str, int]]:
    return [(turn.speaker, turn.role, turn.text, turn.first_row) for turn in session.turns]


def spoken_docs(nlp: spacy.language.Language) -> list[Doc]:
    docs = [nlp(text) for _, text in PAIRS]
    for doc, (who, _) in zip(docs, PAIRS, strict=True):
        doc.user_data["speaker"] = who
    return docs


# ------------------------------------------------------------------------------ sessions


def test_sessions_are_returned_as_they_are(samples: Path) -> None:
    sessions = read(samples / "aria_ben.json")
    for given in (sessions, tuple(sessions), iter(sessions)):
        assert all(got is put for got, put in zip(as_sessions(given), sessions, strict=True))
    assert as_sessions(sessions[0])[0] is sessions[0]


def test_the_ids_of_sessions_are_not_given_to_others() -> None:
    first = one(PAIRS)
    assert [session.id for session in as_sessions([PAIRS, first])] == ["dialogue_1-2", "dialogue_1"]


def test_of_nothing_there_is_none() -> None:
    assert as_sessions([]) == as_sessions(iter(())) == as_sessions(Corpus([])) == []


# --------------------------------------------------------------------------------- pairs


@pytest.mark.parametrize(
    "given", [PAIRS, tuple(PAIRS), iter(PAIRS), list(map(list, PAIRS)), [PAIRS]], ids=["list", "tuple", "any", "l", "n"]
)
def test_pairs_are_a_dialogue(given: Any) -> None:
    session = one(given)
    assert turns(session) == MERGED
    assert (session.id, session.source_file, session.role_method, session.notes) == (
        "dialogue_1",
        "pairs",
        "elimination",
        (),
    )


def test_dialogues_of_pairs_keep_their_places() -> None:
    sessions = as_sessions(part for part in (PAIRS, [], PAIRS[2:]))
    assert [(session.id, len(session.turns)) for session in sessions] == [
        ("dialogue_1", 3),
        ("dialogue_2", 0),
        ("dialogue_3", 2),
    ]


def test_the_user_says_who_the_therapist_is() -> None:
    session = one([("Kim", "I do."), ("Lou", "Why?")], therapist="Lou")
    assert [(turn.speaker, turn.role) for turn in session.turns] == [("Kim", "client"), ("Lou", "therapist")]
    assert session.role_method == "option"


def test_who_is_the_therapist_may_have_to_be_guessed() -> None:
    session = one([(1, "What do you want, and what would you give for it?"), (2, "I want my own flat, I think.")])
    assert [turn.role for turn in session.turns] == ["therapist", "client"]
    assert session.role_method == "pronouns"


def test_a_table_about_the_sessions_is_used(tmp_path: Path) -> None:
    path = tmp_path / "about.csv"
    path.write_text("session_id,counselor,site\ndialogue_2,Lou,north\n", encoding="utf-8")
    talk = [("Kim", "It rains."), ("Lou", "So it does.")]
    with pytest.warns(TablesWarning, match="no row is about 1 session: dialogue_1"):
        first, second = as_sessions([PAIRS, talk], options=ReadOptions(metadata=path))
    assert (first.metadata, second.metadata) == ({}, {"counselor": "Lou", "site": "north"})
    assert (second.turns[1].role, second.role_method) == ("therapist", "metadata")


def test_speech_marks_leave_the_words() -> None:
    session = one([("T", "[laughs] Good."), ("C", "Yes.")])
    assert session.turns[0].text == "Good."
    assert [mark.kind for mark in session.turns[0].marks] == ["laughter"]


# ------------------------------------------------------------------------------- ConvoKit


def test_a_corpus_has_a_session_for_each_conversation() -> None:
    sessions = as_sessions(Corpus([conversation("u/1"), conversation("u 1"), conversation("u2")]))
    assert [session.id for session in sessions] == ["u-1", "u-1-2", "u2"]
    assert {session.source_file for session in sessions} == {"ConvoKit corpus"}
    for session in sessions:
        assert turns(session) == MERGED
        assert session.notes == ()
        assert {turn.start_s for turn in session.turns} == {None}


def test_a_conversation_alone_and_several() -> None:
    assert turns(one(conversation())) == MERGED
    assert [session.id for session in as_sessions([conversation("a"), conversation("b")])] == ["a", "b"]


def test_utterances_come_in_the_order_of_their_timestamps() -> None:
    session = one(conversation(times=(9, 1, 2, 3)))
    # by time: Jo, Jo, T, T
    assert [(turn.speaker, turn.first_row) for turn in session.turns] == [("Jo", 1), ("T", 3)]
    assert session.notes == ("The utterances were put in the order of their timestamps.",)


def test_utterances_without_timestamps_come_as_they_stand() -> None:
    session = one(conversation(times=(None, None, None, None)))
    assert turns(session) == MERGED
    assert session.notes == ("Timestamps do not order the utterances; they were read as the corpus has them.",)


def test_the_meta_of_a_speaker_or_an_utterance_says_the_role() -> None:
    ann, bo = Speaker("ann", {"role": "counselor"}), Speaker("bo", {"role": 7})
    spoken = [
        Utterance(ann, "Hm.", 0),
        Utterance(bo, "It rains.", 1, {"role": "patient"}),
        Utterance(bo, "And snows.", 2, {"role": "grumbling"}),  # names no role: what bo is elsewhere
        Utterance(Speaker("bell"), "Ding.", 3, {"role": "system"}),
    ]
    session = one(Conversation("c", spoken))
    assert turns(session) == [
        ("ann", "therapist", "Hm.", 1),
        ("bo", "client", "It rains. And snows.", 2),
        ("bell", "other", "Ding.", 4),
    ]
    assert session.role_method == "file"
    assert [turn.role for turn in one(Conversation("c", spoken), client="ann").turns][:2] == ["client", "therapist"]


def test_short_facts_of_a_conversation_are_metadata() -> None:
    meta = {"therapist": "T", "score": 0.5, "done": True, "notes": [SECRET], "summary": SECRET * 9, 3: "x", "no": None}
    assert one(conversation(meta=meta)).metadata == {"counselor": "T"}
    kept = one(conversation(meta=meta), keep=("score", "done"))
    assert kept.metadata == {"counselor": "T", "score": "0.5", "done": "True"}


def test_an_utterance_without_words_is_left_out() -> None:
    jo = Speaker("client")
    session = one(Conversation("c", [Utterance(jo, None, 0), Utterance(jo, "Yes.", 1)]))
    assert turns(session) == [("client", "client", "Yes.", 2)]
    assert session.notes[0] == "1 row without words left out."


@pytest.mark.filterwarnings("ignore")  # those of ConvoKit, on import
def test_a_real_corpus() -> None:
    convokit = pytest.importorskip("convokit", reason="ConvoKit is not installed")
    people = {"T": convokit.Speaker(id="T"), "Jo": convokit.Speaker(id="Jo", meta={"role": "patient"})}
    spoken = [
        convokit.Utterance(
            id=f"u{at}",
            speaker=people[who],
            conversation_id="u0",
            reply_to=f"u{at - 1}" if at else None,
            timestamp=at,
            text=text,
        )
        for at, (who, text) in enumerate(PAIRS)
    ]
    corpus = convokit.Corpus(utterances=spoken)
    corpus.get_conversation("u0").add_meta("site", "north")
    session = one(corpus)
    assert turns(session) == MERGED
    assert (session.id, session.metadata, session.role_method) == ("u0", {}, "file")
    assert turns(one(corpus.get_conversation("u0"))) == MERGED


# ---------------------------------------------------------------------------------- spaCy


def test_docs_say_who_speaks_in_their_user_data(nlp: spacy.language.Language) -> None:
    docs = spoken_docs(nlp)
    session = one(docs)
    assert turns(session) == MERGED
    assert (session.source_file, session.notes) == ("spaCy Docs", ())
    assert turns(one(iter(docs))) == MERGED
    assert [turns(session) for session in as_sessions([docs, docs])] == [MERGED, MERGED]


def test_docs_say_who_speaks_in_an_extension(nlp: spacy.language.Language) -> None:
    docs = [nlp(text) for _, text in PAIRS]
    Doc.set_extension("speaker", default=None)
    try:
        for doc, (who, _) in zip(docs, PAIRS, strict=True):
            doc._.speaker = who
        assert turns(one(docs)) == MERGED
        docs[0].user_data["speaker"] = "Dr. Lee"  # the user's own word goes before the extension
        assert turns(one(docs))[0][0] == "Dr. Lee"
    finally:
        Doc.remove_extension("speaker")


def test_docs_without_speakers_take_turns(nlp: spacy.language.Language) -> None:
    session = one(nlp.pipe(["How are you?", "Well.", "", "I walk a lot.", "You do."]))
    # the third, without words, is the therapist's: the client's two are one turn
    assert turns(session) == [
        ("therapist", "therapist", "How are you?", 1),
        ("client", "client", "Well. I walk a lot.", 2),
        ("therapist", "therapist", "You do.", 5),
    ]
    assert session.notes[0] == "No Doc names its speaker; the first was taken as the therapist's, and they take turns."


def test_a_doc_alone_is_one_turn(nlp: spacy.language.Language) -> None:
    assert turns(one(nlp("How are you?"))) == [("therapist", "therapist", "How are you?", 1)]


def test_docs_of_which_some_name_no_speaker_are_refused(nlp: spacy.language.Language) -> None:
    docs = spoken_docs(nlp)
    del docs[1].user_data["speaker"]
    with pytest.raises(BadOptionError, match="1 of 4 Docs of a dialogue name no speaker"):
        as_sessions(docs)


# ------------------------------------------------------------------------------ DataFrame


def test_a_frame_is_read_like_a_table() -> None:
    frame = pd.DataFrame(
        {
            "session_id": [1, 1, 1, 1, 2],
            "speaker": [*(who for who, _ in PAIRS), "T"],
            "text": [*(text for _, text in PAIRS), None],
            "start": [0.0, 2.5, float("nan"), 6.0, 0.0],
            "site": ["north"] * 4 + ["south"],
        }
    )
    first, second = as_sessions(frame, options=ReadOptions(keep=("site",)))
    assert turns(first) == MERGED
    assert [turn.start_s for turn in first.turns] == [0.0, 2.5, 6.0]
    assert (first.id, first.source_file, first.metadata) == ("1", "DataFrame", {"site": "north"})
    assert (second.id, second.turns, second.notes[0]) == ("2", (), "1 row without words left out.")


def test_frames_without_sessions_are_one_each() -> None:
    frame = pd.DataFrame(PAIRS, columns=["who_spoke", "text"]).astype("string")
    sessions = as_sessions([frame, frame], options=ReadOptions(columns={"speaker": "who_spoke"}))
    assert [(session.id, turns(session)) for session in sessions] == [("dialogue_1", MERGED), ("dialogue_2", MERGED)]


@pytest.mark.parametrize(
    ("frame", "options", "problem"),
    [
        (pd.DataFrame({"x": [SECRET], "y": [SECRET]}), {}, "in the DataFrame, no column is known to hold"),
        (pd.DataFrame({"speaker": [], "text": []}), {}, "in the DataFrame, the table has a header and no rows"),
        (
            pd.DataFrame(PAIRS, columns=["speaker", "text"]),
            {"columns": {"text": "z"}},
            "named by options.columns text=",
        ),
    ],
    ids=["strange", "empty", "missing"],
)
def test_frames_that_cannot_be_read(frame: pd.DataFrame, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadOptionError, match=problem) as caught:
        as_sessions(frame, options=ReadOptions(**options))
    assert SECRET not in str(caught.value)
    assert "ReadOptions(columns=" in caught.value.remedy


# --------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (SECRET, "str is no form"),
        (None, "NoneType is no form"),
        (7, "int is no form"),
        ({SECRET: PAIRS}, "dict is no form"),
        ([SECRET, SECRET, SECRET], "list of str is no form"),
        ((SECRET, SECRET), "tuple of str is no form"),
        ([[[7]]], "list of list of list of int is no form"),
        ([{"speaker": SECRET, "text": SECRET}], "list of dict is no form"),
        ([*PAIRS, ("T", None)], r"some items of the list are a pair each, but item 5 of 5 is none \(tuple\)"),
        ([("T", SECRET, 3.0)], "list of tuple of str is no form"),
        ([PAIRS, PAIRS[0]], r"are a pair each, but item 1 of 2 is none \(list\)"),
        ([PAIRS, [*PAIRS, SECRET]], r"are a pair each, but item 5 of 5 is none \(str\)"),
        (Conversation("c", [Utterance(Speaker("T"), SECRET)]).utterances, "list of Utterance is no form"),
    ],
)
def test_what_is_no_dialogue_is_refused_without_its_words(given: Any, problem: str) -> None:
    with pytest.raises(BadOptionError, match=problem) as caught:
        as_sessions(given)
    assert SECRET not in str(caught.value)
    assert caught.value.option == "dialogues"
    for known in ("Session", "Corpus", "Docs", "(speaker, text)", "DataFrame"):
        assert known in caught.value.remedy


def test_docs_and_pairs_are_not_mixed(nlp: spacy.language.Language) -> None:
    with pytest.raises(BadOptionError, match=r"are a Doc each, but item 2 of 2 is none \(tuple\)"):
        as_sessions([nlp("Hello."), PAIRS[0]])
    with pytest.raises(BadOptionError, match="list of Span of Token is no form"):
        as_sessions([nlp("Hello there.")[:1]])


def test_sessions_survive_pickling_and_hide_their_words(nlp: spacy.language.Language) -> None:
    frame = pd.DataFrame(PAIRS, columns=["speaker", "text"])
    sessions = as_sessions([PAIRS, spoken_docs(nlp), conversation(meta={"arm": "north"}), frame])
    again = pickle.loads(pickle.dumps(sessions))
    assert [turns(session) for session in again] == [MERGED] * 4
    assert [session.metadata for session in again] == [{}, {}, {"arm": "north"}, {}]
    assert "sleep" not in repr(sessions)
