"""Evidence: it adds up to the score, gives the places of words, and quotes them only when asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from talks import session
from typer.testing import CliRunner

import therapy_analytics as ta
from therapy_analytics.behaviours import Tagger, load_tagger
from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.behaviours.explain import COLUMNS, KINDS, N_CONTEXT, N_WORDS, evidence
from therapy_analytics.behaviours.features import BITS, CHAR_WEIGHT, DAMPING, N_BUCKETS, featurize, grams_of, types_of
from therapy_analytics.behaviours.tagger import scores_of
from therapy_analytics.cli import app
from therapy_analytics.errors import BadOptionError, UnknownNameError
from therapy_analytics.language import annotate
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.language.tokens import spans, tokenize
from therapy_analytics.run import Writing
from therapy_analytics.session import Session

ALL = 10**6
EVERY = (ALL, ALL)
HEAD = ["session_id", "turn", "code", "head"]


TALK = session(
    "Hello, what brings you here today?",
    "My doctor sent me. I have not been sleeping.",
    "You have not been sleeping, and it worries you.",
    "Yes. I want to change that, but I can\u2019t stop working late...",
    "You could try to leave the laptop at work. You could, couldn't you?",
    "Maybe.",
)


FAST = ta.TaggerOptions(kind="fast")


def explain(*what: Any, **options: Any) -> pd.DataFrame:
    """Explain the fast tagger, which is all sums."""
    return ta.explain(*what, **({"tagger": FAST} | options))


def with_weights(**arrays: np.ndarray) -> Tagger:
    """Return the tagger with weights that are 0, but for some."""
    tagger = load_tagger()
    old = tagger.weights
    zeros = {name: np.zeros_like(getattr(old, name)) for name in ("buckets", "hand", "lift", "bias")}
    return replace(tagger, weights=replace(old, **(zeros | arrays)))


def all_terms(tagger: Tagger, *sessions: Session, limits: tuple[int, int] = EVERY) -> pd.DataFrame:
    """Explain every code on every turn."""
    batch = annotate(sessions, Matcher([]))
    wanted = np.ones((len(batch.turns), len(tagger.codes)), dtype=np.bool_)
    return evidence(tagger, batch, wanted, limits=limits)


def word_terms(terms: pd.DataFrame, code: str, turn: int = 0) -> list[float]:
    """Weights of a turn's words for a code's own head, in the order of the words."""
    mine = (terms["code"] == code) & (terms["head"] == code) & (terms["turn"] == turn) & (terms["kind"] == "word")
    return list(terms[mine].sort_values("start")["weight"])


def check_sums(tagger: Tagger, sessions: Sequence[Session], limits: tuple[int, int]) -> None:
    """Compare the sum of the terms of each turn, code and head with the tagger's score."""
    batch = annotate(sessions, Matcher([]))
    scores = scores_of(tagger.weights, featurize(batch.turns, batch.starts))
    total = all_terms(tagger, *sessions, limits=limits).groupby(HEAD, sort=False)["weight"].sum()
    rows = [tagger.weights.heads.index(head) for code in tagger.codes for head in code.heads]
    np.testing.assert_allclose(total.to_numpy(), scores[:, rows].ravel(), rtol=1e-9, atol=1e-9)


# How a word falls into buckets, once more, with Python's numbers.

MASK = (1 << 64) - 1
PRIME = 0x100000001B3


def mixed(key: int) -> int:
    key = ((key ^ (key >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    key = ((key ^ (key >> 27)) * 0x94D049BB133111EB) & MASK
    return key ^ (key >> 31)


def bucket(key: int) -> int:
    return mixed(key & MASK) >> (64 - BITS)


def hashed(word: str) -> int:
    return mixed(sum(ord(letter) * PRIME ** (i + 1) for i, letter in enumerate(f"<{word}>")) & MASK)


def n_grams(word: str) -> list[int]:
    letters = [ord(letter) for letter in f"<{word}>"]
    found = []
    for n in range(2, 6):
        for start in range(len(letters) - n + 1):
            key = 0
            for letter in letters[start : start + n]:
                key = key * PRIME + letter
            found.append(bucket(key + n))
    return found


def test_a_turn_of_one_word_has_the_weights_of_its_buckets() -> None:
    weights = load_tagger().weights
    found = explain(session("Okay"), "mi_question", n_words=ALL, n_context=ALL).set_index("kind")
    column = weights.heads.index("mi_question")
    of_bucket = weights.buckets[:, column]
    parts = n_grams("okay")
    assert len(parts) == 5 + 4 + 3 + 2
    alone = of_bucket[bucket(hashed("okay"))] + CHAR_WEIGHT / len(parts) ** 0.5 * of_bucket[parts].sum()
    ends = of_bucket[bucket(hashed("okay") ^ 11)] + of_bucket[bucket(hashed("okay") ^ 12)]
    assert found.loc["word", "weight"] == pytest.approx(alone + ends / 2 ** (DAMPING / 2), rel=1e-9)
    assert found.loc["bias", "weight"] == weights.bias[column]
    assert found.loc["rest", "weight"] == 0
    assert (found.loc["word", "start"], found.loc["word", "end"]) == (0, 4)
    forms = found.loc["form"].set_index("name")["weight"]
    for name in ("one_word", "has_backchannel", "rate_backchannel", "plain"):
        assert forms.get(name, 0.0) == pytest.approx(weights.hand[HAND.index(name), column])
    assert not {"before", "after", "code"} & set(found.index)


def test_pairs_are_shared_by_their_words_and_counts_by_their_tokens() -> None:
    pair = bucket(mixed((hashed("so") * PRIME + hashed("what")) & MASK))
    buckets = np.zeros_like(load_tagger().weights.buckets)
    buckets[pair] = 1
    n_grams = 2 + 2 + 1 + 1 + 1  # first and last word, pairs, opening pair, triple, opening triple
    terms = all_terms(with_weights(buckets=buckets), session("so, what now"))
    share = n_grams ** (-DAMPING / 2)
    assert word_terms(terms, "mi_question") == pytest.approx([share / 2, share / 2])
    buckets[:] = 0
    buckets[bucket(hashed("no"))] = 1
    terms = all_terms(with_weights(buckets=buckets), session("no no yes no"))
    count, rest = 1 + np.log(3), 1
    one = count / (count**2 + rest) ** (DAMPING / 2) / 3
    assert word_terms(terms, "mi_question") == pytest.approx([one, one, one])


def test_neighbours_count_in_the_first_layer_and_its_scores_in_the_second() -> None:
    tagger = load_tagger()
    rows = explain(TALK, "bolt_planning", n_words=ALL, n_context=ALL)
    assert not {"before", "after"} & set(rows["kind"])
    heads = tagger.weights.heads
    n = tagger.weights.n_context
    batch = annotate([TALK], Matcher([]))
    scores = scores_of(tagger.weights, featurize(batch.turns, batch.starts))
    lift = tagger.weights.lift[:, heads.index("bolt_planning") - n]
    lifted = rows[(rows["kind"] == "code") & (rows["turn"] == 2)].set_index("name")["weight"]
    assert set(lifted.index) >= {"mi_question", "mi_reflection", "mi_input", "mi_change", "mi_sustain"}
    for head in range(n):
        assert lifted[heads[head]] == pytest.approx(scores[2, head] * lift[head])

    rows = explain(TALK, "mi_question", n_words=ALL, n_context=ALL)
    has = {kind: set(rows.loc[rows["kind"] == kind, "turn"]) for kind in ("before", "after")}
    assert has == {"before": {2, 4}, "after": {0, 2, 4}}
    other = replace(TALK, turns=(*TALK.turns[:3], replace(TALK.turns[3], text="Blue rabbits."), *TALK.turns[4:]))
    again = explain(other, "mi_question", n_words=ALL, n_context=ALL)

    def words_of(table: pd.DataFrame) -> pd.DataFrame:
        return table[(table["kind"] == "word") & (table["turn"] == 4)].reset_index(drop=True)

    assert_frame_equal(words_of(rows), words_of(again))
    before = [one.loc[(one["kind"] == "before") & (one["turn"] == 4), "weight"].item() for one in (rows, again)]
    assert before[0] != before[1]


WORDS = ["why", "do", "you", "feel", "I", "am", "so", "?", ".", "...", "--", "don\u2019t", "no", "3", "\U0001f600"]
texts = st.lists(
    st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)), max_size=5
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(texts, max_size=3), st.integers(0, 9), st.integers(0, 9))
def test_the_terms_add_up_to_the_score(talks: list[list[str]], n_words: int, n_context: int) -> None:
    sessions = [session(*each, name=str(i)) for i, each in enumerate(talks)]
    check_sums(load_tagger(), sessions, (n_words, n_context))


def test_the_terms_of_the_samples_add_up(samples: Path) -> None:
    sessions = ta.read(samples)[:3]
    check_sums(load_tagger(), sessions, (N_WORDS, N_CONTEXT))
    check_sums(load_tagger(), sessions[:1], EVERY)


def test_what_is_cut_off_a_score_is_in_the_rest() -> None:
    old = load_tagger().weights
    steep = replace(load_tagger(), weights=replace(old, hand=old.hand * 100, lift=old.lift * 10))
    check_sums(steep, [TALK], (N_WORDS, N_CONTEXT))
    check_sums(steep, [TALK], (0, 0))


def test_the_table_gives_the_probabilities() -> None:
    likely = ta.analyze([TALK], tagger=FAST).probabilities
    for code in ("mi_question", "mi_change", "bolt_planning", "bolt_questions_on_experiences"):
        rows = explain(TALK, code)
        score = rows.groupby(["turn", "head"])["weight"].sum()
        probability = (1 / (1 + np.exp(-score))).groupby("turn").prod()
        expected = likely.set_index("turn")[code].dropna()
        assert probability.index.tolist() == expected.index.tolist()
        np.testing.assert_allclose(probability, expected, rtol=1e-6)


def test_without_a_code_the_decided_and_the_unsure_are_explained() -> None:
    table = explain(TALK)
    assert tuple(table) == COLUMNS
    turns = ta.analyze([TALK], tagger=FAST).wide_turns
    wanted = {
        (row["turn"], code)
        for row in turns.to_dict("records")
        for code in load_tagger().names
        if row[code] == 1 or code in row["unsure_codes"].split(";")
    }
    assert set(zip(table["turn"], table["code"], strict=True)) == wanted
    heads = explain(TALK, "bolt_questions_on_experiences")["head"]
    assert heads.unique().tolist() == ["mi_question", "bolt_questions_on_experiences"]
    counts = table.groupby([*HEAD, "kind"]).size().unstack(fill_value=0)
    assert (counts["word"] <= N_WORDS).all()
    assert (counts[[kind for kind in ("before", "after", "form", "code") if kind in counts]].sum(axis=1) <= 4).all()
    assert (counts["rest"] == 1).all()
    assert (counts["bias"] == 1).all()
    for _, rows in table[table["kind"] == "word"].groupby(HEAD):
        assert rows["weight"].abs().is_monotonic_decreasing


def test_the_aim_decides_what_is_explained() -> None:
    few, many = (explain(TALK, tagger=ta.TaggerOptions(kind="fast", aim=aim)) for aim in ("precision", "recall"))
    assert set(few["code"]) <= set(load_tagger().names)
    assert len(few) <= len(many)


SPANS = [
    ("I don\u2019t know", ["I", "do", "n\u2019t", "know"]),
    ("I can't, we cannot", ["I", "ca", "n't", ",", "we", "can", "not"]),
    ("\U0001f600 hi \U0001f44d\U0001f3fd!", None),
    ("Well... I-- I am", ["Well", "...", "I", "I", "am"]),
    ("so--I\u2019m tired\u2014really", ["so", "I", "\u2019m", "tired", "really"]),
    ("wait.......no", ["wait", ".......", "no"]),
    ("wait \u2026 no", ["wait", "\u2026", "no"]),
    ("a  b\n\tc ", ["a", "b", "c"]),
    ("\u0130stanbul I\u2019M", None),
    ("WHY?!", ["WHY", "?", "!"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "wanted"), SPANS, ids=[ascii(text) for text, _ in SPANS])
def test_spans_point_at_the_words(text: str, wanted: list[str] | None) -> None:
    found = [text[start:end] for start, end in spans(text)]
    assert "".join(found) == re.sub(r"\s|--|\u2014", "", text)
    if wanted is not None:
        assert found == wanted
    rows = explain(session(text), "mi_question", quotes=True, n_words=ALL)
    rows = rows[rows["kind"] == "word"].sort_values("start")
    assert rows["name"].tolist() == found
    assert [text[start:end] for start, end in zip(rows["start"], rows["end"], strict=True)] == found


@given(st.text(max_size=80))
def test_spans_are_those_of_the_tokens(text: str) -> None:
    tokens = tokenize([text])
    found = spans(text)
    assert len(found) == len(tokens.ids)
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(one[1] <= two[0] for one, two in pairwise(found))


def test_the_order_and_number_of_sessions_change_nothing(samples: Path) -> None:
    sessions = ta.read(samples)[:5]
    whole = explain(sessions)
    backwards = explain(reversed(sessions))
    for one in sessions:
        alone = explain(one)
        for table in (whole, backwards):
            assert_frame_equal(table[table["session_id"] == one.id].reset_index(drop=True), alone, check_exact=True)


def test_nothing_to_explain() -> None:
    for nothing in ([], [session()], [session("", " ")]):
        table = explain(nothing, quotes=True)
        assert tuple(table) == COLUMNS
        assert not (table["kind"] == "word").any()
    assert len(explain([], "mi_question")) == 0


def test_a_code_that_is_not_there_and_a_coder_that_cannot_say() -> None:
    with pytest.raises(UnknownNameError, match="no code named 'mi_nothing'"):
        explain(TALK, "mi_nothing")
    with pytest.raises(BadOptionError, match="--explain: the codes of a language model"):
        explain(TALK, tagger=ta.TaggerOptions(kind="llm"))
    with pytest.raises(BadOptionError, match="no tagger named 'slow'"):
        explain(TALK, tagger=ta.TaggerOptions(kind="slow"))


def test_the_grams_cover_words_alone() -> None:
    tokens = tokenize(["so, what now?", "!", "yes"])
    turn_of = np.repeat(np.arange(3), np.diff(tokens.offsets))
    spoken, grams = grams_of(types_of(tokens), tokens.ids, turn_of)
    assert [tokens.lower[i] for i in tokens.ids[spoken]] == ["so", "what", "now", "yes"]
    assert [(size, at.tolist()) for size, at, _ in grams] == [
        (1, [0, 3]),
        (1, [2, 3]),
        (2, [0, 1]),
        (2, [0]),
        (3, [0]),
        (3, [0]),
    ]
    assert all(bucket.min() >= 0 and bucket.max() < N_BUCKETS for _, _, bucket in grams)


def test_a_run_writes_evidence_only_when_asked(samples: Path, tmp_path: Path) -> None:
    paths, out = [samples / "nair_yuki.txt", samples / "aria_ben.json"], tmp_path / "r"
    ta.run(paths, out, settings=ta.Settings(tagger=FAST), writing=Writing(figures=(), report=False, explain=True))
    for one in (ta.read(path)[0] for path in paths):
        written = pd.read_csv(out / "sessions" / one.id / "evidence.csv")
        assert tuple(written) == COLUMNS
        assert set(written["kind"]) <= set(KINDS)
        assert set(written["session_id"]) == {one.id}
        expected = explain(one)
        assert len(written) == len(expected)
        np.testing.assert_allclose(written["weight"], expected["weight"], rtol=1e-5)
        words = written[written["kind"] == "word"]
        assert words["name"].isna().all()
        assert words[["start", "end"]].notna().all(axis=None)
        assert written.loc[written["kind"] != "word", "name"].notna().all()
    ta.run(paths, out, settings=ta.Settings(tagger=FAST), writing=Writing(figures=(), report=False))
    assert not list(out.rglob("evidence.csv"))


def test_no_word_is_written_without_quotes(tmp_path: Path) -> None:
    lines = ["Quokka marmalade zeppelin?", "Wombat trousers, I don't xylophone."]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(f"{'TC'[i % 2]}: {text}" for i, text in enumerate(lines * 3)))
    secret = {word for text in lines for word in re.findall(r"\w{3,}", text.lower())}
    for quotes in (False, True):
        chosen = ta.Settings(quotes=quotes, tagger=FAST)
        ta.run([path], tmp_path / "r", settings=chosen, writing=Writing(figures=(), report=False, explain=True))
        written = set(re.findall(r"\w+", (tmp_path / "r" / "sessions" / "a" / "evidence.csv").read_text().lower()))
        assert {"quokka", "marmalade", "zeppelin"} <= written if quotes else not secret & written


def test_one_process_or_two_small_batches_or_large(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [samples / "nair_yuki.txt", samples / "aria_ben.json", samples / "boyle_lucia.txt"]
    chosen = ta.Settings(tagger=FAST)
    ta.run(paths, tmp_path / "one", settings=chosen, writing=Writing(figures=(), report=False, explain=True))
    two = Writing(figures=(), report=False, explain=True, processes=2)
    ta.run(paths, tmp_path / "two", settings=chosen, writing=two)
    monkeypatch.setattr("therapy_analytics.settings.TURNS_PER_BATCH", 60)
    ta.run(paths, tmp_path / "small", settings=chosen, writing=Writing(figures=(), report=False, explain=True))
    tables = [sorted((tmp_path / name).rglob("evidence.csv")) for name in ("one", "two", "small")]
    assert len(tables[0]) == 3
    for files in zip(*tables, strict=True):
        assert len({path.read_bytes() for path in files}) == 1


def test_the_command_takes_explain_and_refuses_it_for_an_outside_coder(samples: Path, tmp_path: Path) -> None:
    run = ["run", str(samples / "nair_yuki.txt"), "--no-plots", "--explain", "--out"]
    done = CliRunner().invoke(app, [*run, str(tmp_path / "r")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "r" / "sessions" / "nair_yuki" / "evidence.csv").is_file()
    llm = ["--tagger", "llm", "--endpoint", "http://192.0.2.1/v1", "--model", "m", "--allow-remote"]
    done = CliRunner().invoke(app, [*run, str(tmp_path / "other"), *llm])
    assert done.exit_code == 2
    assert "--explain: the codes of a language model cannot be explained" in done.output
    assert "are sent" not in done.output
    assert not (tmp_path / "other").exists()
    outside = ta.Settings(tagger=ta.TaggerOptions(kind="llm", endpoint="http://127.0.0.1:9/v1", model="m"))
    with pytest.raises(BadOptionError, match="--explain"):
        ta.run([samples], tmp_path / "other", settings=outside, writing=Writing(explain=True))
    assert not (tmp_path / "other").exists()
