"""What the tiers of an annotated recording hold, by their names, and whose they are."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from therapy_analytics.readers._labels import SAID
from therapy_analytics.readers._roles import role_of_label

SPEECH, WORDS, SEGMENTS, NOTES = "speech", "single words", "segments", "notes"
WHO, NUMBERS = "names of speakers", "numbers of utterances"
LOOKS_LIKE_MARKS = "codes or marks"
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
"""Of two kinds that a name tells, the one that stands first here is meant: ``gesture notes``, ``word gloss``."""
_LONGEST_SHORT = 3
_NEVER_INITIALS = frozenset({"ipa", "vad", "ipu", "mau", "ort", "kan", "trn"})
_WORD = re.compile(r"[A-Z\u00c0-\u00de]?[^\W\d_A-Z\u00c0-\u00de]+|[A-Z\u00c0-\u00de]+(?![^\W\d_A-Z\u00c0-\u00de])")
_ALIGNED_WORDS = "ort-mau"
"""The words of an aligner whose other tiers (KAN-MAU, MAU) hold sounds."""
_ANY_NAME = frozenset({"default", "tier", "untitled"})
_LETTERS = re.compile(r"[^\W_]+")
_HEARD = frozenset({"aha", "hm", "hmm", "huh", "mmhm", "mhmm", "uhuh", "uhhuh", "ja", "nein", "oui", "non", "si", "no"})
"""What listeners say again and again, beside the short answers that are known."""
_EDGES = " \t-_@.:,;/|()[]#*%\\\u2013\u2014"
_DIGITS = re.compile(r"\d+")
_FEWEST = 4
_MOST_WORDS_OF_CODES = 2
_SLOWEST = 0.1
"""Words in a second of its spans: people say twenty times as many, sections of a recording have fewer."""
_LONG_S = 60.0
_LONGEST_NAME = 4


@dataclass(frozen=True, slots=True)
class Span:
    """Words from a begin to an end.

    Attributes
    ----------
    begin, end : float
        In seconds.
    words : str
        As written.
    unit : str
        Of single words: to which utterance they belong, where the format says so.
    order : int
        Which of the spans that begin at one time is first, where the format says so.
    """

    begin: float
    end: float
    words: str = field(repr=False)
    unit: str = ""
    order: int = 0


@dataclass(frozen=True, slots=True)
class Tier:
    """All spans of one tier.

    Attributes
    ----------
    name : str
        As written.
    spans : list of Span
        In the order of the file.
    person : str
        The participant that the format names, or nothing.
    type : str
        What the format says of its kind: a linguistic type, a category.
    parent : str
        The tier that it depends on, or nothing.
    """

    name: str
    spans: list[Span] = field(repr=False)
    person: str = ""
    type: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """A tier, what it holds, as far as names tell (else nothing), and whose it is by its own name."""

    tier: Tier
    kind: str
    who: str


def named(tier: Tier) -> Named:
    """Tell kind and owner of a tier by its name, failing that its kind by its type.

    Examples
    --------
    >>> [(one.kind, one.who) for one in (named(Tier(name, [])) for name in ("tx@ANN", "Anna - words", "Mark", "ref"))]
    [('speech', 'ANN'), ('single words', 'Anna'), ('', 'Mark'), ('numbers of utterances', '')]
    """
    name = tier.name.strip()
    before, at, after = name.partition("@")
    if at and (kind := _kind(before, as_code=True)):
        return Named(tier, kind, after.strip(_EDGES))
    if at and (kind := _kind(after, as_code=True)):
        return Named(tier, kind, before.strip(_EDGES))
    if name.casefold() == tier.person.strip().casefold():
        return Named(tier, _kind(tier.type, as_code=True), name)
    kind = _kind(name, as_code=bool(tier.parent))
    if kind == WHO and any(len(span.words.split()) > _LONGEST_NAME for span in tier.spans):
        return Named(tier, "", name)
    return Named(tier, kind or _kind(tier.type, as_code=True), _without_kinds(name, as_code=bool(tier.parent)))


def _kind(name: str, *, as_code: bool) -> str:
    if name.casefold() == _ALIGNED_WORDS:
        return WORDS
    found = {_KINDS[word] for word, _ in _telling(name, as_code=as_code)}
    if found == {WHO} and _without_kinds(name, as_code=as_code):
        return ""  # Speaker A is somebody, and speaker says who
    return next((kind for kind in _ORDER if kind in found - ({WHO} if len(found) > 1 else set())), "")


def _telling(name: str, *, as_code: bool) -> list[tuple[str, re.Match[str]]]:
    """Return the words of a name that tell a kind; short ones in capitals may be a person's initials."""
    words = [(match[0].casefold(), match) for match in _WORD.finditer(name)]
    known = [(word, match) for word, match in words if word in _KINDS]
    if as_code or (len(known) == len(words) > 1):
        return known
    return [(word, match) for word, match in known if _is_plain(word, match[0])]


def _is_plain(word: str, written: str) -> bool:
    return len(word) > _LONGEST_SHORT or written.islower() or word in _NEVER_INITIALS


def _without_kinds(name: str, *, as_code: bool) -> str:
    """Return what a name says beside the kind of the tier: whose it is."""
    telling = [match for word, match in _telling(name, as_code=as_code) if _KINDS[word] != WHO]
    rest, end = "", 0
    for match in telling:
        rest, end = rest + name[end : match.start()], match.end()
    rest = " ".join((rest + name[end:]).split()).strip(_EDGES) if telling else name
    words = [match[0].casefold() for match in _WORD.finditer(rest)]
    only_who = all(_KINDS.get(word) == WHO or word in _ANY_NAME for word in words)
    return "" if only_who and not _DIGITS.search(rest) else rest


def is_numbering(tier: Tier) -> bool:
    """Tell a tier whose spans are numbered (``ANN_001``, ``ANN_002``), not said."""
    values = [span.words for span in tier.spans]
    forms = Counter(_DIGITS.sub("0", value) for value in values)
    return (
        all(map(_DIGITS.search, values))
        and 5 * len(forms) <= max(5, len(values))
        and len(set(values)) > len(values) / 2
    )


def looks_like_marks(tier: Tier) -> bool:
    """Tell a tier of codes, or of sections: nobody says so few different things, or so little in so long a time."""
    values = [span.words for span in tier.spans]
    words = [word for value in values for word in _LETTERS.findall(value.casefold())]
    few = len(set(values)) <= len(values) / 2 and len(words) <= _MOST_WORDS_OF_CODES * len(values)
    spoken = not (SAID | _HEARD).isdisjoint(words) or any(value[-1:] in set(".?!\u2026") for value in values)
    lengths = [span.end - span.begin for span in tier.spans]
    long = sum(length for length in lengths if 0.0 < length < math.inf)
    slow = long >= _LONG_S and len(words) < _SLOWEST * long
    return role_of_label(tier.name) is None and (slow or (len(values) >= _FEWEST and few and not spoken))
