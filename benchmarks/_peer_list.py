"""What `benchmarks.peers` compares with which tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Pair(NamedTuple):
    """A job of `_peer_side` and `_peer_ours`, and what exactly each side does in it."""

    job: str
    what: str
    ours: str
    theirs: str


class Peer(NamedTuple):
    """A tool: its name on PyPI, what is compared, and code to see whether its other parts run without a download."""

    name: str
    package: str
    pairs: tuple[Pair, ...]
    needs: Mapping[str, str]
    instead: str


PEERS = (
    Peer(
        "ConvoKit",
        "convokit",
        (
            Pair(
                "coordination",
                "coordination, from texts",
                "`annotate` (tokens, all word lists), then `coordination` of the replies of either, without "
                "null distributions; nine lists of our own",
                "`Coordination(target_thresh=1)`: `fit` (finds the words of its eight lists) and `transform`",
            ),
            Pair(
                "marks",
                "coordination, on its marks",
                "`coordination_of`, `mean_of_markers` on which of its eight markers each turn has",
                "`transform` alone, after `fit`",
            ),
        ),
        {},
        "",
    ),
    Peer(
        "ALIGN",
        "align",
        (
            Pair(
                "alignment",
                "lexical alignment turn to turn, words and pairs of words, from texts",
                "`annotate` without word lists, `count_ngrams`, `cosine` of each reply, without shuffles",
                "`InitialCleanup`, `AdjacentMerge`, `Tokenize` (no spelling), then `ngram_lexical` and `get_cosine`",
            ),
            Pair(
                "cleaned",
                "the same on the turns that its cleaning leaves (it drops those under two words)",
                "as above",
                "`Tokenize`, `ngram_lexical`, `get_cosine`",
            ),
        ),
        {
            "`word_tokenize` of `prepare_transcripts`": "import nltk; nltk.word_tokenize('a b')",
            "its tagger (nltk's)": "import nltk; nltk.pos_tag(['a'])",
            "its lemmas (WordNet)": "import nltk; nltk.stem.WordNetLemmatizer().lemmatize('a')",
        },
        "`word_tokenize(preserve_line=True)`, which is the same on turns without full stops as its cleaning leaves "
        "them; tokens without lemmas. Its entry points also write and read files: left out",
    ),
    Peer(
        "Team Communication Toolkit",
        "team_comm_tools",
        (
            Pair(
                "lists",
                "all word lists counted in each turn",
                "`annotate` with all lists of the package",
                "`liwc_features`: its 55 lists as regular expressions",
            ),
            Pair(
                "words",
                "words of either, and how unequally the two talk",
                "`annotate` without word lists (it tokenises), and `talk`; the Gini of two is how far the "
                "talk share lies from 1/2",
                "`preprocess_text`, `count_words` (parts between spaces), sums by speaker, `get_gini`",
            ),
        ),
        {
            "`import team_comm_tools`": "import team_comm_tools",
            "`ChatLevelFeaturesCalculator`": (
                "import importlib.util as u, sys, types; m = types.ModuleType('team_comm_tools'); "
                "m.__path__ = list(u.find_spec('team_comm_tools').submodule_search_locations); "
                "sys.modules['team_comm_tools'] = m; import team_comm_tools.utils.calculate_chat_level_features"
            ),
        },
        "its feature functions, imported past its first file, which downloads; `FeatureBuilder` as a whole, and what "
        "needs sentence vectors, are not compared",
    ),
    Peer(
        "TextDescriptives",
        "textdescriptives",
        (
            Pair(
                "counts",
                "words and sentences of each turn",
                "`annotate` without word lists",
                "`spacy.blank('en')` with `descriptive_stats`: `doc._.counts`, through `nlp.pipe`",
            ),
        ),
        {"its models for English": "import spacy; spacy.load('en_core_web_sm')"},
        "a blank pipeline. Parts of speech, coherence, dependency distance, quality and readability have no "
        "counterpart here",
    ),
)
