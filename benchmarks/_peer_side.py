"""The peers' sides of the pairs of `benchmarks.peers`, each in a process of its own, and how both sides answer.

``python -P _peer_side.py JOB FOLDER`` with the Python of the peer's environment: nothing of the package is imported.
Imports what the job needs, reads ``given.json`` in the folder, prepares its own data structures, then waits for lines:
``round`` does the work once and answers with seconds, ``values`` with what came out for each session. Answers hold
times and numbers, never words. Python's sockets are shut.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import os
import re
import resource
import socket
import sys
import time
import types
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TextIO

ROLES = ("therapist", "client")
Given = dict[str, Any]
Values = dict[str, list[float]]


class Job(NamedTuple):
    """What is prepared before each round and not timed, what is timed, and values by session from its result."""

    fresh: Callable[[], Any]
    work: Callable[[Any], Any]
    values: Callable[[Any], Values]


class Side(NamedTuple):
    """The distribution that has the measure, how it is imported, and what prepares the job."""

    package: str
    load: Callable[[], object]
    start: Callable[[Given, Path], Job]


def main(sides: Mapping[str, Side]) -> None:
    """Do the job that the command line names until the other end is gone."""
    answers, (job, folder) = _channel(), sys.argv[1:]
    try:
        _serve(sides[job], Path(folder), answers)
    except Exception as error:  # noqa: BLE001 (told to the other end)
        _say(answers, failed=_reason(error))


def _serve(side: Side, folder: Path, answers: TextIO) -> None:
    socket.socket.connect = _refused  # type: ignore[method-assign]
    socket.getaddrinfo = _refused
    begin = _clocks()
    side.load()
    _say(answers, seconds=_since(begin), version=importlib.metadata.version(side.package), peak=_peak())
    job = side.start(json.loads((folder / "given.json").read_text(encoding="utf-8")), folder)
    _say(answers, ready=True)
    found: Any = None
    for line in sys.stdin:
        if line.strip() == "round":
            prepared = job.fresh()
            begin = _clocks()
            found = job.work(prepared)
            _say(answers, seconds=_since(begin))
        elif line.strip() == "values":
            _say(answers, peak=_peak(), values=job.values(found))
        else:
            return


def _refused(*_: object, **__: object) -> NoReturn:
    raise OSError("no connection may be opened here")


def _reason(error: Exception) -> str:
    """Say what went wrong; what an error says of its data is left out, for it may be said words."""
    plain = isinstance(error, (ImportError, LookupError, OSError)) and not isinstance(error, (KeyError, IndexError))
    spoken = " ".join(re.sub(r"\x1b\[\d+m|\*{3,}", "", str(error)).split())
    return f"{type(error).__name__}: {spoken[:120]}" if plain else type(error).__name__


def _channel() -> TextIO:
    """Keep standard output for answers, and let libraries print to nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return answers


def _say(answers: TextIO, **what: Any) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.flush()


def _clocks() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def _since(begin: tuple[float, float]) -> tuple[float, float]:
    cpu, wall = _clocks()
    return cpu - begin[0], wall - begin[1]


def _peak() -> float:
    """Peak memory in MB; Linux's own figure, as `getrusage` would count the process that began this one too."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+)", status.read_text(encoding="ascii")) if status.exists() else None
    return (int(found[1]) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024


def modules(*names: str) -> Callable[[], object]:
    """Return what imports these."""
    return lambda: [importlib.import_module(name) for name in names]


def mean(values: Sequence[float]) -> float:
    """Return the mean of what is defined, nan of nothing."""
    defined = [float(value) for value in values if value == value]  # noqa: PLR0124 (nan)
    return sum(defined) / len(defined) if defined else float("nan")


# ---- coordination: ConvoKit


def _corpus(given: Given) -> Any:
    convokit: Any = importlib.import_module("convokit")
    spoken = []
    for session in given["sessions"]:
        who = {role: convokit.Speaker(id=f"{session['id']}/{role}") for role in set(session["roles"])}
        names = [f"{session['id']}/{i}" for i in range(len(session["roles"]))]
        for i, (role, text) in enumerate(zip(session["roles"], session["texts"], strict=True)):
            about = {"conversation_id": names[0], "reply_to": names[i - 1] if i else None, "timestamp": i}
            spoken.append(convokit.Utterance(id=names[i], speaker=who[role], text=text, **about))
    return convokit.Corpus(utterances=spoken)


def _coordinated(corpus: Any) -> Any:
    """Fit and transform, a marker counted from the first turn before that has it."""
    coordination: Any = importlib.import_module("convokit").Coordination(target_thresh=1)
    coordination.fit(corpus)
    return coordination.transform(corpus)


def _by_speaker(corpus: Any, given: Given) -> Values:
    values: Values = {f"{role}'s replies": [] for role in ROLES}
    for session in given["sessions"]:
        for role, other in (ROLES, ROLES[::-1]):
            name = f"{session['id']}/{role}"
            speaker = corpus.get_speaker(name) if corpus.has_speaker(name) else None
            found = speaker.meta.get("coord") if speaker is not None else None
            scores = (found or {}).get(f"{session['id']}/{other}", {})
            values[f"{role}'s replies"].append(mean(list(scores.values())))
    return values


def _convokit_texts(given: Given, _: Path) -> Job:
    return Job(lambda: _corpus(given), _coordinated, lambda corpus: _by_speaker(corpus, given))


def _convokit_marks(given: Given, folder: Path) -> Job:
    module: Any = importlib.import_module("convokit.coordination.coordinationScore")
    corpus, coordination = _corpus(given), importlib.import_module("convokit").Coordination(target_thresh=1)
    coordination.fit(corpus)
    categories = list(module.CoordinationWordCategories)
    marks = []
    for session in given["sessions"]:
        turns = [corpus.get_utterance(f"{session['id']}/{i}") for i in range(len(session["roles"]))]
        marks.append([[int(one in turn.meta["liwc-categories"]) for one in categories] for turn in turns])
    (folder / "marks.json").write_text(json.dumps(marks), encoding="utf-8")
    return Job(lambda: corpus, coordination.transform, lambda found: _by_speaker(found, given))


# ---- alignment: ALIGN


def _align_frames(given: Given) -> list[Any]:
    pandas: Any = importlib.import_module("pandas")
    rows = [list(zip(one["roles"], one["texts"], strict=True)) for one in given["sessions"]]
    return [pandas.DataFrame(one, columns=["participant", "content"]) for one in rows]


def _align_prepare() -> Any:
    module: Any = importlib.import_module("align.prepare_transcripts")
    whole = module.word_tokenize
    # Punkt's data would have to be downloaded; what is left of a turn here has no sign that could end a sentence.
    module.word_tokenize = lambda text: whole(text, preserve_line=True)
    return module


def _align_lexical(prepare: Any, frame: Any) -> tuple[list[str], list[list[float]]]:
    """Tokenise and compare neighbouring turns, without spelling, lemmas and tags; apostrophes go as when it reads."""
    calculate: Any = importlib.import_module("align.calculate_alignment")
    words = [[re.sub(r"[^\w\s]+", "", word) for word in turn] for turn in frame["content"].apply(prepare.Tokenize)]
    pairs = list(pairwise(words))
    each = [[calculate.get_cosine(*calculate.ngram_lexical(*pair, ngramsize=n)) for pair in pairs] for n in (1, 2)]
    return list(frame["participant"]), each


def _align_values(found: Any) -> Values:
    return {
        name: [mean([mean(_of(each[n], who, role)) for role in ROLES]) for who, each in found]
        for n, name in enumerate(("words", "pairs of words"))
    }


def _align_texts(given: Given, _: Path) -> Job:
    prepare = _align_prepare()

    def work(frames: list[Any]) -> Any:
        return [_align_lexical(prepare, prepare.AdjacentMerge(prepare.InitialCleanup(frame))) for frame in frames]

    return Job(lambda: _align_frames(given), work, _align_values)


def _align_cleaned(given: Given, folder: Path) -> Job:
    """As from texts, but its cleaning comes before, and both sides have what it leaves."""
    prepare = _align_prepare()
    frames = [prepare.AdjacentMerge(prepare.InitialCleanup(frame)) for frame in _align_frames(given)]
    left = [
        {"id": one["id"], "roles": list(frame["participant"]), "texts": list(frame["content"])}
        for one, frame in zip(given["sessions"], frames, strict=True)
    ]
    (folder / "cleaned.json").write_text(json.dumps({"sessions": left}), encoding="utf-8")
    return Job(lambda: frames, lambda each: [_align_lexical(prepare, frame) for frame in each], _align_values)


def _of(values: list[float], who: list[str], role: str) -> list[float]:
    """Return the values of one's replies to the other."""
    ours = zip(values, pairwise(who), strict=True)
    return [value for value, (before, after) in ours if after == role and before in ROLES and before != role]


# ---- counts: the Team Communication Toolkit


def _without_its_download(*names: str) -> Callable[[], object]:
    """Import parts of the toolkit past its first file, which downloads when it is imported."""

    def load() -> None:
        found = importlib.util.find_spec("team_comm_tools")
        bare = types.ModuleType("team_comm_tools")
        bare.__path__ = list(found.submodule_search_locations or ()) if found else []
        sys.modules["team_comm_tools"] = bare
        modules("pandas", *(f"team_comm_tools.{name}" for name in names))()

    return load


def _messages(given: Given) -> Any:
    rows = [
        (one["id"], role, text)
        for one in given["sessions"]
        for role, text in zip(one["roles"], one["texts"], strict=True)
    ]
    return importlib.import_module("pandas").DataFrame(rows, columns=["conversation_num", "speaker", "message"])


def _toolkit_lists(given: Given, _: Path) -> Job:
    lexical: Any = importlib.import_module("team_comm_tools.features.lexical_features_v2")

    def work(frame: Any) -> Any:
        return frame["conversation_num"], lexical.liwc_features(frame, "message")

    def values(found: Any) -> Values:
        counts = found[1]["first_person_singular_lexical_wordcount"].groupby(found[0], sort=False).sum()
        return {"first person singular": [float(counts[one["id"]]) for one in given["sessions"]]}

    return Job(lambda: _messages(given), work, values)


def _toolkit_words(given: Given, _: Path) -> Job:
    basic: Any = importlib.import_module("team_comm_tools.features.basic_features")
    gini: Any = importlib.import_module("team_comm_tools.utils.gini_coefficient")
    preprocess: Any = importlib.import_module("team_comm_tools.utils.preprocess")

    def work(frame: Any) -> Any:
        frame["words"] = frame["message"].apply(preprocess.preprocess_text).apply(basic.count_words)
        both = frame.groupby(["conversation_num", "speaker"], sort=False)["words"].sum().reset_index()
        return both, gini.get_gini(both[both["speaker"].isin(ROLES)], "words", "conversation_num")

    def values(found: Any) -> Values:
        sums = {(one.conversation_num, one.speaker): float(one.words) for one in found[0].itertuples()}
        uneven = dict(found[1].itertuples(index=False))
        ids = [one["id"] for one in given["sessions"]]
        words = {f"words of the {role}": [sums.get((one, role), 0.0) for one in ids] for role in ROLES}
        return words | {"Gini of words": [float(uneven.get(one, "nan")) for one in ids]}

    return Job(lambda: _messages(given), work, values)


# ---- counts of turns: TextDescriptives


def by_session(values: Sequence[float], given: Given) -> list[float]:
    """Return the mean over the turns of each session."""
    found, start = [], 0
    for session in given["sessions"]:
        stop = start + len(session["texts"])
        found.append(mean(values[start:stop]))
        start = stop
    return found


def _texts(given: Given) -> list[str]:
    return [text for session in given["sessions"] for text in session["texts"]]


def _described_counts(given: Given, _: Path) -> Job:
    nlp: Any = importlib.import_module("spacy").blank("en")
    nlp.add_pipe("textdescriptives/descriptive_stats")  # brings a sentencizer

    def values(found: Any) -> Values:
        names = {"words": "n_tokens", "sentences": "n_sentences"}
        return {name: by_session([float(one[of]) for one in found], given) for name, of in names.items()}

    return Job(lambda: _texts(given), lambda texts: [doc._.counts for doc in nlp.pipe(texts)], values)


_CONVOKIT = modules("convokit", "convokit.coordination")
_ALIGN = modules("pandas", "align")
_DESCRIBE = modules("spacy", "textdescriptives")
SIDES = {
    "coordination": Side("convokit", _CONVOKIT, _convokit_texts),
    "marks": Side("convokit", _CONVOKIT, _convokit_marks),
    "alignment": Side("align", _ALIGN, _align_texts),
    "cleaned": Side("align", _ALIGN, _align_cleaned),
    "lists": Side("team_comm_tools", _without_its_download("features.lexical_features_v2"), _toolkit_lists),
    "words": Side(
        "team_comm_tools",
        _without_its_download("features.basic_features", "utils.gini_coefficient", "utils.preprocess"),
        _toolkit_words,
    ),
    "counts": Side("textdescriptives", _DESCRIBE, _described_counts),
}

if __name__ == "__main__":
    main(SIDES)
