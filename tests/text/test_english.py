"""Sessions in other languages are noticed, sessions in English are not, short ones are not judged."""

# ruff: noqa: RUF001 (letters of other languages)

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import therapy_analytics as ta
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.text import Batch, annotate
from therapy_analytics.text.english import (
    FUNCTION_WORDS,
    LEAST_SHARE,
    NOT_ENGLISH,
    UNDIVIDED,
    english_shares,
    with_language_notes,
)
from therapy_analytics.text.lexicons import Matcher

GERMAN = (
    "Guten Tag, was führt Sie heute zu mir?",
    "Ich schlafe seit Wochen schlecht und bin im Büro so müde, dass ich kaum noch denken kann.",
    "Also liegen Sie in der Nacht wach, und am Morgen fehlt Ihnen die Kraft.",
    "Ja, so war es, und dann trinke ich abends ein Glas Wein. Das will ich nicht mehr.",
)
FRENCH = (
    "Bonjour, qu'est-ce qui vous amène aujourd'hui ?",
    "Je dors mal depuis des semaines, or je suis tellement fatiguée que je n'arrive plus à penser.",
    "Vous restez donc éveillée la nuit, et le matin on n'a plus de force.",
    "Oui, et le soir je bois un verre pour que ça aille mieux, mais ça ne m'aide pas.",
)
SPANISH = (
    "Hola, ¿qué le trae por aquí hoy?",
    "No duermo bien desde hace semanas y he estado tan cansada en el trabajo que no puedo pensar.",
    "Entonces se queda despierta por la noche y por la mañana le faltan fuerzas.",
    "Sí, a veces me tomo una copa de vino para estar mejor, pero no me ayuda mucho.",
)
DUTCH = (
    "Goedendag, wat brengt u hier vandaag?",
    "Ik slaap al weken slecht en ben op het werk zo moe dat ik bijna niet meer kan denken.",
    "Dus u ligt in de nacht wakker, of u had in de ochtend geen kracht.",
    "Ja, want dan is er wijn in huis, en we hebben het er over gehad dat het me niet helpt.",
)
TURKISH = (
    "Merhaba, bugün sizi buraya getiren nedir?",
    "Haftalardır kötü uyuyorum ve işte o kadar yorgunum ki artık düşünemiyorum.",
    "Yani geceleri uyanık yatıyorsunuz ve sabahları gücünüz kalmıyor.",
    "Evet, akşamları biraz şarap içiyorum, on yıl önce her şey daha kolaydı, can sıkıcı.",
)
RUSSIAN = (
    "Здравствуйте, что вас беспокоит?",
    "Я плохо сплю и очень устаю.",
) * 4
WITHOUT_SPACES = {
    "chinese": ("你好 今天想谈些什么", "我最近睡得很不好 白天也没有力气", "这样多久了", "大概三个月 我什么都不想做"),
    "japanese": (
        "今日はどうされましたか。",
        "夜になると眠れなくて仕事に集中できません。",
        "いつごろからですか。",
        "三か月ほど前からです。",
    ),
    "thai": ("วันนี้อยากคุยเรื่องอะไรคะ", "ช่วงนี้นอนไม่ค่อยหลับ ทำงานไม่ไหวเลย", "เป็นมานานหรือยังคะ", "ประมาณสามเดือนแล้วค่ะ"),
    "lao": ("ມື້ນີ້ຢາກລົມເລື່ອງຫຍັງ", "ໄລຍະນີ້ນອນບໍ່ຫຼັບ", "ເປັນມາດົນແລ້ວບໍ", "ປະມານສາມເດືອນ"),
    "khmer": ("ថ្ងៃនេះចង់និយាយពីអ្វី", "ខ្ញុំគេងមិនលក់", "យូរប៉ុណ្ណាហើយ", "ប្រហែលបីខែ"),
    "burmese": ("ဒီနေ့ဘာအကြောင်းပြောချင်လဲ", "ညဘက်အိပ်မပျော်ဘူး", "ဘယ်လောက်ကြာပြီလဲ", "သုံးလလောက်ရှိပြီ"),
}
ENGLISH = (
    "Hello, what brings you here today?",
    "I have slept badly for weeks, and I am so tired at work that I can hardly think.",
    "So you lie awake at night, and in the morning there is no strength left.",
    "Yes, and then I have a glass of wine to feel better. It does not help me for long.",
)


def session(texts: Sequence[str], name: str = "s") -> Session:
    roles = ("therapist", "client")
    turns = (
        Turn(index=i, speaker=roles[i % 2], role=roles[i % 2], text=text, first_row=i + 1)  # type: ignore[arg-type]
        for i, text in enumerate(texts)
    )
    return Session(id=name, source_file="s.txt", turns=tuple(turns))


def batch(*sessions: Session) -> Batch:
    return annotate(sessions, Matcher([]))


def flagged(*sessions: Session) -> list[bool]:
    noted = with_language_notes(batch(*sessions))
    return [any(NOT_ENGLISH in note for note in one.notes) for one in noted.sessions]


@pytest.mark.parametrize(
    "texts",
    [GERMAN, FRENCH, SPANISH, DUTCH, TURKISH, RUSSIAN],
    ids=["german", "french", "spanish", "dutch", "turkish", "russian"],
)
def test_other_languages_are_noticed(texts: Sequence[str]) -> None:
    assert flagged(session(texts)) == [True]
    assert flagged(session([text.upper() for text in texts])) == [True]
    assert english_shares(batch(session(texts)))[0] < LEAST_SHARE / 2


def test_english_is_not_however_it_is_written() -> None:
    plain = ["".join(letter for letter in text.lower() if letter.isalnum() or letter == " ") for text in ENGLISH]
    loud = [text.upper() for text in ENGLISH]
    assert flagged(session(ENGLISH), session(plain), session(loud)) == [False, False, False]
    assert english_shares(batch(session(ENGLISH)))[0] > 2 * LEAST_SHARE


def test_short_sessions_and_empty_ones_are_not_judged() -> None:
    assert flagged(session(["wort " * 29]), session(["wort " * 30]), session([]), session(["..."])) == [
        False,
        True,
        False,
        False,
    ]
    assert np.isnan(english_shares(batch(session([]), session(["?!"])))).all()
    assert english_shares(batch()).shape == (0,)


def test_the_share_counts_words_and_not_their_subwords() -> None:
    # that's, the, don't, know: the subwords of that's and don't are no words; "do" is on no list
    assert english_shares(batch(session(["That's the cat.", "Don't know!"])))[0] == pytest.approx(3 / 5)


def test_neighbours_change_nothing() -> None:
    crowd = [session(ENGLISH, "a"), session(GERMAN, "b"), session([], "c"), session(ENGLISH, "d")]
    assert flagged(*crowd) == [False, True, False, False]
    assert flagged(*crowd[::-1]) == [False, False, True, False]
    assert english_shares(batch(*crowd))[1] == english_shares(batch(crowd[1]))[0]


def test_the_note_is_in_plain_words_and_repeats_none_of_theirs() -> None:
    sessions = ta.analyze([session(GERMAN, "g"), session(ENGLISH, "e")]).sessions.set_index("session_id")
    assert sessions.loc["g", "notes"] == (
        "Only 0% of the words are common English words (about 40% of an English session are). "
        "The taggers and word lists of this program are for English and mean nothing here."
    )
    assert sessions.loc["e", "notes"] == ""
    assert sessions.loc["g", "n_turns"] == len(GERMAN)


def test_a_session_without_any_word_is_told_so() -> None:
    (noted, talk, empty) = with_language_notes(
        batch(session(["...", "?!"]), session(["Yes.", "?!"]), session([]))
    ).sessions
    assert noted.notes == ("No turn has words, so its rates say nothing.",)
    assert talk.notes == empty.notes == ()


def test_the_words_are_few_and_common() -> None:
    assert 80 <= len(FUNCTION_WORDS) <= 120
    assert all(word.islower() and word.isalpha() for word in FUNCTION_WORDS)


@pytest.mark.parametrize(
    "path", ["annomi/annomi.csv", "hlqc/hlqc.csv", "mibot/mibot.csv", "vera_mh", "spiral_bench", "mindeval"]
)
def test_no_session_of_the_corpora_is_flagged(path: str, corpora: Path) -> None:
    found = batch(*ta.read(corpora / path)[::4])
    assert np.nanmin(english_shares(found)) > 2 * LEAST_SHARE
    assert with_language_notes(found).sessions == found.sessions


def test_no_sample_is_flagged(samples: Path) -> None:
    assert not any(flagged(*ta.read(samples)))


@pytest.mark.parametrize("language", WITHOUT_SPACES)
def test_words_are_not_counted_where_no_spaces_stand_between_them(language: str) -> None:
    texts = WITHOUT_SPACES[language]
    (noted,) = with_language_notes(batch(session(texts))).sessions
    assert [UNDIVIDED in note for note in noted.notes] == [True]
    whole = ta.analyze([session(texts)], measures="all", tagger=ta.TaggerOptions(kind="fast"))
    known = whole.measures.dropna(subset="value").set_index("measure")["value"]
    assert known[["n_turns", "n_turns_client", "n_therapists"]].tolist() == [4, 2, 1]
    of_words = {
        "n_words_client",
        "client_words_per_turn",
        "therapist_talk_share",
        "lsm_turn_mean",
        "semantic_similarity",
    }
    assert not of_words & set(known.index)
    assert not of_words & set(whole.parts.dropna(subset="value")["measure"])
    assert whole.turns["n_words"].isna().all()


def test_some_signs_of_such_a_script_do_not_take_the_words_away() -> None:
    mixed = session([*ENGLISH, "At home we call it 気 and nobody asks."])
    korean = session(["오늘은 무슨 이야기를 하고 싶으세요", "요즘 잠을 잘 못 자고 낮에는 기운이 없어요"])
    for one in (mixed, korean):
        (noted,) = with_language_notes(batch(one)).sessions
        assert not any(UNDIVIDED in note for note in noted.notes)
    assert ta.analyze([mixed], tagger=ta.TaggerOptions(kind="fast")).sessions["n_words_client"].item() > 20
