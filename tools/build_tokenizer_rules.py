"""Write down spaCy's rules for English: how a word is divided into tokens, and what their normal forms are.

Run from the root of the repository:

    python tools/build_tokenizer_rules.py

`therapy_analytics.language._divide` reads the rules, so that a run need not load spaCy. tests/language/test_divide.py
compares what it makes of them with what spaCy does.
"""

from __future__ import annotations

import json
from typing import Any

from spacy.lang.en import English
from spacy.lang.norm_exceptions import BASE_NORMS

from therapy_analytics.language._divide import RULES


def main() -> None:
    """Write ``rules.json``."""
    tokenizer: Any = English().tokenizer
    plain: Any = English().tokenizer
    plain.rules = {}
    special = {word: [[token.orth_, token.norm_] for token in tokenizer(word)] for word in tokenizer.rules}
    rules = {
        "prefix": _pattern(tokenizer.prefix_search),
        "suffix": _pattern(tokenizer.suffix_search),
        "infix": _pattern(tokenizer.infix_finditer),
        "url": _pattern(tokenizer.url_match),
        "norms": BASE_NORMS,
        "special": {word: found for word, found in special.items() if not word.isspace()},
        "in_pieces": {
            word: [token.orth_ for token in plain(word)]
            for word in tokenizer.rules
            if not word.isspace() and (plain.find_prefix(word) or plain.find_infix(word) or plain.find_suffix(word))
        },
    }
    RULES.write_text(json.dumps(rules, indent=0) + "\n", encoding="ascii")


def _pattern(search: Any) -> str:
    return str(search.__self__.pattern)


if __name__ == "__main__":
    main()
