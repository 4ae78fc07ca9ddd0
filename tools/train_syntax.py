"""Rebuild the part-of-speech tagger from the treebank UD English-EWT, and write down how good it is.

Run from the root of the repository, with the treebank's files en_ewt-ud-train.conllu and en_ewt-ud-dev.conllu
(https://universaldependencies.org, licence CC BY-SA 4.0):

    python tools/train_syntax.py --treebank FOLDER

It takes about ten minutes on one core. Two runs on one machine write the same weights; other machines add floats up
in another order, and come out a little different. To choose settings, train on nine tenths of the documents of the
training file and look at the tenth (nothing is written; the dev file is not read):

    python tools/train_syntax.py --treebank FOLDER --tune
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, fix_random_seed
from threadpoolctl import threadpool_limits

from therapy_analytics.language.syntax import UPOS, tag
from therapy_analytics.language.tokens import spans

SEED = 1
VERSION = "1.0.0"
WIDTH, DEPTH = 96, 4
ATTRIBUTES = {"NORM": 5000, "PREFIX": 500, "SUFFIX": 2500, "SHAPE": 1000}
"""What is seen of a word, and the rows of the hashed table of each."""
EPOCHS = 10
BATCH_TOKENS = 300
RATE = 0.002
DROPOUT = 0.3
KINDS = {(False, False): 0.45, (True, True): 0.35, (True, False): 0.1, (False, True): 0.1}
"""Copies (lower-cased, without punctuation) and how often a sentence comes as which."""
RUNS = (1, 1, 2, 3)
"""How many sentences in a row stand in one text, since turns hold several."""
TALK = 0.3
"""Share of texts that get fillers and repeated words, which writing has not; the tags of both are certain."""
FILLERS = (
    *("um", "uh", "um ,", "uh ,", "Um ,", "Uh ,", "er", "hm", "hmm", "Hmm .", "mm", "Mm .", "mhm", "Mhm .", "huh"),
    *("mm - hmm", "Mm - hmm .", "mm hmm", "uh - huh", "Uh - huh .", "uh huh"),
)
REPEATED = frozenset({"ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"})
APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc\u00b4", "'"))


NOTICE = """\
# The part-of-speech tagger

The files of this folder are licensed under **CC BY-SA 4.0** (https://creativecommons.org/licenses/by-sa/4.0/), not
under the licence of the package around them, because they were made from a treebank that has this licence:

UD English-EWT, release 2.15 of Universal Dependencies (https://universaldependencies.org), over the English Web
Treebank. Silveira, N., Dozat, T., de Marneffe, M.-C., Bowman, S., Connor, M., Bauer, J., & Manning, C. D. (2014). A
gold standard dependency corpus for English. *Proceedings of LREC 2014*. With the contributors of the UD project.

**What was changed.** No text of the treebank is in these files. The words, universal tags and Penn tags of its training
file were used to fit the numbers of a small neural network (spaCy, {size:.1f} MB): a hashed table for each of
{attributes}; {depth} convolutions of width {width};
one output for either kind of tag. Sentences stood in runs of one to three; {plain:.0%} of the copies were lower-cased,
without punctuation, or both, as speech recognition writes; {talk:.0%} were given fillers (*um*, *mm-hmm*) and repeated
words, as people talk. `vocab/strings.json` holds the labels alone; the words in `tokenizer` are spaCy's own exceptions
(MIT License). Rebuilt by `tools/train_syntax.py`.

**How good it is**, on the dev file, which was used neither to train nor to choose settings ({n:,} words; the
network and its rates were chosen on a tenth of the training file, fillers and the number of passes set by hand):

| words with the right tag | as written | lower-cased, without punctuation |
| --- | --- | --- |
| universal tags, the treebank's words | {upos_as_written:.1%} | {upos_lower_bare:.1%} |
| Penn tags, the treebank's words | {xpos_as_written:.1%} | {xpos_lower_bare:.1%} |
| words that the package's tokeniser cuts alike | {cut_alike_as_written:.1%} | {cut_alike_lower_bare:.1%} |
| universal tags, of these | {upos_cut_alike_as_written:.1%} | {upos_cut_alike_lower_bare:.1%} |

The treebank is web writing (blogs, mail, reviews, answers, news groups). How good the tagger is on counseling was not
measured; repairs and wrongly recognised words are rare in writing, so expect less there.
"""


class Word(NamedTuple):
    """A word of the treebank, with where it stands in its sentence's text (-1 where that is not known)."""

    form: str
    upos: str
    xpos: str
    begin: int


class Sentence(NamedTuple):
    """A sentence of the treebank."""

    text: str
    words: tuple[Word, ...]


def main() -> None:
    """Train, write, measure."""
    options = command().parse_args()
    documents = read(options.treebank / "en_ewt-ud-train.conllu")
    with threadpool_limits(1):  # the order of additions must not depend on the number of cores
        if options.tune:
            kept = [one for i, one in enumerate(documents) if i % 10 != 3]
            nlp = trained(kept)
            print(gold_tokens(nlp, [sentence for one in documents[3::10] for sentence in one]))
            return
        nlp = trained(documents)
    unseen = [sentence for one in read(options.treebank / "en_ewt-ud-dev.conllu") for sentence in one]
    figures = gold_tokens(nlp, unseen)
    write(nlp, options.out, figures)
    figures |= own_tokens(options.out, unseen)
    notice(options.out, figures)
    print(json.dumps(figures, indent=1))


def command() -> argparse.ArgumentParser:
    """Return the options."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--treebank", type=Path, default=root.parent / "shared" / "data" / "ud_ewt")
    parser.add_argument("--out", type=Path, default=root / "therapy_analytics" / "language" / "syntax_model")
    parser.add_argument("--tune", action="store_true", help="hold a tenth of the training file out, write nothing")
    return parser


def read(path: Path) -> list[list[Sentence]]:
    """Return the sentences of each document of a treebank file."""
    documents: list[list[Sentence]] = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = block.splitlines()
        if any(line.startswith("# newdoc") for line in lines):
            documents.append([])
        text = next((line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")), "")
        fields = [line.split("\t") for line in lines if line[:1].isdigit()]
        if fields:
            documents[-1].append(Sentence(text, tuple(_placed(text, [one for one in fields if one[0].isdigit()]))))
    return documents


def _placed(text: str, fields: list[list[str]]) -> Iterator[Word]:
    end = 0
    for _, form, _, upos, xpos, *_ in fields:
        begin = text.find(form, end)
        end = end if begin < 0 else begin + len(form)
        yield Word(form.translate(APOSTROPHES), upos, xpos, begin)


def copied(words: Iterable[Word], *, lower: bool, bare: bool) -> list[Word]:
    """Return words lower-cased, or without punctuation (unless they are nothing else)."""
    words = list(words)
    if bare:
        words = [word for word in words if word.upos != "PUNCT"] or words
    return [word._replace(form=word.form.lower()) for word in words] if lower else words


def spoken(words: Iterable[Word], draw: random.Random) -> list[Word]:
    """Return words with fillers, often one at the beginning, and with function words said twice."""
    talk = filler(draw) if draw.random() < 0.3 else []
    for word in words:
        talk.append(word)
        talk += filler(draw) if draw.random() < 0.05 else []
        talk += [word] if word.upos in REPEATED and draw.random() < 0.05 else []
    return talk


def filler(draw: random.Random) -> list[Word]:
    """Return a filler, in some of its spellings with punctuation."""
    marks = {",": ",", ".": ".", "-": "HYPH"}
    forms = draw.choice(FILLERS).split()
    return [Word(form, "PUNCT", marks[form], -1) if form in marks else Word(form, "INTJ", "UH", -1) for form in forms]


def trained(documents: list[list[Sentence]]) -> Language:
    """Train the tagger on documents."""
    fix_random_seed(SEED)
    draw = random.Random(SEED)
    nlp = blank()
    sample = [example(nlp, sentence.words) for one in documents for sentence in one]
    nlp.initialize(lambda: sample)
    adam = Adam(RATE, L2=0.01, L2_is_weight_decay=True, grad_clip=1.0, use_averages=False)
    for epoch in range(EPOCHS):
        for share, batch in batches(documents, draw):
            done = epoch + share
            adam.learn_rate = RATE * min(1.0, done / 0.2) * max(0.02, 1.0 - done / EPOCHS)
            nlp.update([example(nlp, words) for words in batch], sgd=adam, drop=DROPOUT)
    return nlp


def blank() -> Language:
    """Return the untrained pipeline: what both taggers share, Penn tags, universal tags."""
    nlp = spacy.blank("en")
    embed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": WIDTH,
        "attrs": list(ATTRIBUTES),
        "rows": list(ATTRIBUTES.values()),
        "include_static_vectors": False,
    }
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": WIDTH,
        "depth": DEPTH,
        "window_size": 1,
        "maxout_pieces": 3,
    }
    shared = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH, "upstream": "tok2vec"}
    head = {"@architectures": "spacy.Tagger.v2", "nO": None, "normalize": False, "tok2vec": shared}
    body = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    nlp.add_pipe("tok2vec", config={"model": body})
    nlp.add_pipe("tagger", config={"model": head})
    nlp.add_pipe("morphologizer", config={"model": head})
    return nlp


def batches(documents: list[list[Sentence]], draw: random.Random) -> Iterator[tuple[float, list[list[Word]]]]:
    """Yield every sentence once, in one of its copies, in random order; with the share of the epoch that is behind."""
    texts: list[list[Word]] = []
    for sentences in documents:
        first = 0
        while first < len(sentences):
            run = sentences[first : first + draw.choice(RUNS)]
            first += len(run)
            texts.append([word for one in run for word in one.words])
            if draw.random() < TALK:
                texts[-1] = spoken(texts[-1], draw)
                texts += [filler(draw)] if draw.random() < 0.1 else []
    kinds = draw.choices(list(KINDS), list(KINDS.values()), k=len(texts))
    texts = [copied(words, lower=lower, bare=bare) for words, (lower, bare) in zip(texts, kinds, strict=True)]
    draw.shuffle(texts)
    batch_of = np.cumsum([len(words) for words in texts]) // BATCH_TOKENS
    starts = np.flatnonzero(np.diff(batch_of, prepend=-1)).tolist()
    for start, stop in zip(starts, [*starts[1:], len(texts)], strict=True):
        yield start / len(texts), texts[start:stop]


def example(nlp: Language, words: Iterable[Word]) -> Example:
    """Return words as spaCy learns from them."""
    forms, upos, xpos, _ = zip(*words, strict=True)
    told = Doc(nlp.vocab, words=list(forms), pos=list(upos), tags=list(xpos))
    return Example(Doc(nlp.vocab, words=list(forms)), told)


def gold_tokens(nlp: Language, sentences: list[Sentence]) -> dict[str, float]:
    """Return shares of words with the right tag, of the treebank's own words, as they are and bare."""
    found: dict[str, float] = {}
    for name, change in (("as_written", False), ("lower_bare", True)):
        copies = [copied(one.words, lower=change, bare=change) for one in sentences]
        copies = [one for one in copies if not change or one[0].upos != "PUNCT"]
        docs = nlp.pipe([Doc(nlp.vocab, words=[word.form for word in one]) for one in copies])
        pairs = [pair for doc, one in zip(docs, copies, strict=True) for pair in zip(doc, one, strict=True)]
        found[f"upos_{name}"] = float(np.mean([token.pos_ == word.upos for token, word in pairs]))
        found[f"xpos_{name}"] = float(np.mean([token.tag_ == word.xpos for token, word in pairs]))
    found["n"] = sum(len(one.words) for one in sentences)
    return {key: round(value, 4) for key, value in found.items()}


def own_tokens(model: Path, sentences: list[Sentence]) -> dict[str, float]:
    """Return how many words the package's tokeniser cuts as the treebank does, and the right tags among these.

    The written model is used, by the package's own functions.
    """
    found: dict[str, float] = {}
    for name, change in (("as_written", False), ("lower_bare", True)):
        copies = [_bare(one) if change else one for one in sentences]
        tags = iter(tag([one.text for one in copies], model=str(model)).tolist())
        right = []
        cut_alike = n_words = 0
        for one in copies:
            gold = {(word.begin, word.begin + len(word.form)): word.upos for word in one.words}
            given = {place: UPOS[next(tags)] for place in spans(one.text)}
            alike = [place for place in gold if place in given]
            right += [given[place] == gold[place] for place in alike]
            cut_alike += len(alike)
            n_words += len(one.words)
        found[f"cut_alike_{name}"] = round(cut_alike / n_words, 4)
        found[f"upos_cut_alike_{name}"] = round(float(np.mean(right)), 4)
    return found


def _bare(sentence: Sentence) -> Sentence:
    """Return a sentence lower-cased, its punctuation made space."""
    text = list(sentence.text)
    for word in sentence.words:
        if word.upos == "PUNCT" and word.begin >= 0:
            text[word.begin : word.begin + len(word.form)] = " " * len(word.form)
    return Sentence("".join(text).lower(), tuple(word for word in sentence.words if word.upos != "PUNCT"))


def write(nlp: Language, folder: Path, figures: dict[str, float]) -> None:
    """Write the pipeline without a word of the treebank: labels are the only strings that it needs."""
    nlp.meta |= {
        "name": "ewt_upos",
        "version": VERSION,
        "description": "Universal and Penn parts of speech of English, written and recognised by machine",
        "license": "CC BY-SA 4.0",
        "sources": [
            {"name": "UD English-EWT 2.15", "url": "https://universaldependencies.org", "license": "CC BY-SA 4.0"}
        ],
        "spacy_version": ">=3.8.2,<4.0.0",
        "performance": figures,
    }
    shutil.rmtree(folder, ignore_errors=True)
    nlp.to_disk(folder)
    for name in ("lookups.bin", "vectors", "vectors.cfg", "key2row"):
        (folder / "vocab" / name).unlink(missing_ok=True)
    labels = set(UPOS).union(*nlp.pipe_labels.values())
    (folder / "vocab" / "strings.json").write_text(json.dumps(sorted(labels), indent=0) + "\n", encoding="utf-8")


def notice(folder: Path, figures: dict[str, float]) -> None:
    """Write where the model comes from, under which licence, and how good it is."""
    facts = {
        "size": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6,
        "attributes": ", ".join(f"{name} ({rows:,} rows)" for name, rows in ATTRIBUTES.items()),
        "depth": DEPTH,
        "width": WIDTH,
        "talk": TALK,
        "plain": 1 - KINDS[False, False],
    }
    (folder / "NOTICE.md").write_text(NOTICE.format_map(facts | figures), encoding="utf-8")


if __name__ == "__main__":
    main()
