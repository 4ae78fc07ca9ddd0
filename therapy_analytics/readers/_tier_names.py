"""Tiers of annotated recordings, and what their names tell: what a tier holds, and whose it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

SPEECH, WORDS, SEGMENTS, NOTES = "speech", "single words", "segments", "notes"
WHO, NUMBERS = "names of speakers", "numbers of utterances"
MARKS, REPEATS, DEPENDENT = "codes or marks", "repeats of the words", "dependent annotations"
_KIND_WORDS: Mapping[str, str] = {
    "codes": """
code codes coding type types act acts function functions category categories status quality rate level addressee tag
tags emotion emotions affect valence arousal mood stance vcm xds mwu lex lexicon score scores rating ratings
""",
    "gestures, looks and movements": """
gesture gestures gesticulation gaze look looks posture head hand hands arm arms eye eyes eyebrows brow brows face facial
smile smiles nod nods nodding motion movement movements behavior behaviors behaviour behaviours mouthing mouth stroke
strokes handshape handedness sign signs body torso touch action actions nonverbal kinesic kinesics proxemics lh rh
""",
    NOTES: """
note notes notizen nota notas comment comments commentary kommentar comentario comentarios commentaire remark remarks
observation observations nt
""",
    "translations": """
translation translations translated traducci\u00f3n traduccion traduction tradu\u00e7\u00e3o traducao \u00fcbersetzung
vertaling traduzione free ft ftf ftg fte fe fg fr fn tn trad
""",
    "glosses and parts of words": """
gloss glosses morpheme morphemes morph morphs lemma lemmas pos msa mb mp gl gls ge gn ps mot mor gra cf hn
""",
    "sounds": """
phone phones phoneme phonemes phon phonemic phonetic phonetics ph ipa syllable syllables syl sylls silence silences vad
gap gaps noise noises tones tobi prosody pitch intensity breath breathing breaths laughter mau kan event events pause
pauses music
""",
    "sections and marks": """
section sections scene scenes topic topics task tasks phase phases episode episodes context marker markers sync beep
media video audio camera interlinear title
""",
    NUMBERS: "ref refs reference id ids idx index segnum number numbers num",
    WHO: "speaker speakers who talker sp spk elanparticipant diarization diarisation",
    WORDS: "word words wd wds wrd wrds wf token tokens tok wordform wordforms mots palabras",
    SPEECH: """
speech tx text transcript transcripts transcription transcriptions transcripci\u00f3n transcripcion
transcri\u00e7\u00e3o transkription transcrizione trascrizione utterance utterances utt utts ut orth ortho orthography
orthographic ort or verbatim spoken talk turn turns ipu ipus sentence sentences trs trn txt vernacular dialogue
dialog po
""",
    SEGMENTS: "segment segments annotation annotations label labels phrase phrases chunk chunks",
}
_KINDS = {word: kind for kind, words in _KIND_WORDS.items() for word in words.split()}
_ORDER = list(_KIND_WORDS)
"""Of two kinds in one name, the first of these is meant: ``gesture notes``, ``word gloss``."""
_LONGEST_SHORT = 3
_NEVER_INITIALS = frozenset({"ipa", "vad", "ipu", "mau", "ort", "kan", "trn"})
_WORD = re.compile(r"[A-Z\u00c0-\u00de]?[^\W\d_A-Z\u00c0-\u00de]+|[A-Z\u00c0-\u00de]+(?![^\W\d_A-Z\u00c0-\u00de])")
_ANY_NAME = frozenset({"default", "tier", "untitled"})
_EDGES = " \t-_@.:,;/|()[]#*%\\\u2013\u2014"
_DIGITS = re.compile(r"\d+")
_LONGEST_NAME = 4


@dataclass(frozen=True, slots=True)
class Annotation:
    """Words from a begin to an end in seconds.

    `unit` is the utterance that a single word belongs to, `order` the rank among annotations that begin at one time,
    where the format has them.
    """

    begin: float
    end: float
    words: str = field(repr=False)
    unit: str = ""
    order: int = 0


@dataclass(frozen=True, slots=True)
class Tier:
    """All annotations of one tier in the order of the file.

    Attributes
    ----------
    name : str
        As written.
    spans : list of Annotation
        The annotations.
    person, type, parent : str
        The participant, the kind of the tier, and the tier that it depends on, where the format has them.
    kind, who : str
        What it holds and whose it is, as far as names tell: see `named`.
    """

    name: str
    spans: list[Annotation] = field(repr=False)
    person: str = ""
    type: str = ""
    parent: str = ""
    kind: str = ""
    who: str = ""


def named(tier: Tier) -> Tier:
    """Return a tier with its kind and owner by its name; failing that, its kind by its type.

    Examples
    --------
    >>> [(one.kind, one.who) for one in (named(Tier(name, [])) for name in ("tx@ANN", "Anna - words", "Mark", "ref"))]
    [('speech', 'ANN'), ('single words', 'Anna'), ('', 'Mark'), ('numbers of utterances', '')]
    """
    name = tier.name.strip()
    before, at, after = name.partition("@")
    if at and (kind := _kind(before, as_code=True)):
        return replace(tier, kind=kind, who=after.strip(_EDGES))
    if name.casefold() == tier.person.strip().casefold():
        return replace(tier, kind=_kind(tier.type, as_code=True), who=name)
    as_code = bool(at or tier.parent)
    kind = _kind(name, as_code=as_code)
    if kind == WHO and any(len(span.words.split()) > _LONGEST_NAME for span in tier.spans):
        return replace(tier, who=name)
    return replace(tier, kind=kind or _kind(tier.type, as_code=True), who=_without_kinds(name, as_code=as_code))


def _kind(name: str, *, as_code: bool) -> str:
    if name.casefold() == "ort-mau":
        return WORDS  # of an aligner whose other tiers (KAN-MAU, MAU) hold sounds
    found = {_KINDS[word] for word, _ in _telling(name, as_code=as_code)}
    if found == {WHO} and _without_kinds(name, as_code=as_code):
        return ""  # Speaker A is somebody, and speaker says who
    return next((kind for kind in _ORDER if kind in found - ({WHO} if len(found) > 1 else set())), "")


def _telling(name: str, *, as_code: bool) -> list[tuple[str, re.Match[str]]]:
    """Return the words of a name that tell a kind; short ones in capitals may be initials of a person."""
    words = [(match[0].casefold(), match) for match in _WORD.finditer(name)]
    known = [(word, match) for word, match in words if word in _KINDS]
    if as_code or (len(known) == len(words) > 1):
        return known
    return [
        (word, match)
        for word, match in known
        if len(word) > _LONGEST_SHORT or match[0].islower() or word in _NEVER_INITIALS
    ]


def _without_kinds(name: str, *, as_code: bool) -> str:
    """Return a name without the words that tell its kind: whose it is."""
    telling = [match for word, match in _telling(name, as_code=as_code) if _KINDS[word] != WHO]
    rest, end = "", 0
    for match in telling:
        rest, end = rest + name[end : match.start()], match.end()
    rest = " ".join((rest + name[end:]).split()).strip(_EDGES) if telling else name
    words = [match[0].casefold() for match in _WORD.finditer(rest)]
    only_who = all(_KINDS.get(word) == WHO or word in _ANY_NAME for word in words)
    return "" if only_who and not _DIGITS.search(rest) else rest
