"""An outside coder: a language model behind OpenAI's interface, told by the codebooks what the codes are."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from therapy_analytics.behaviours import _llm_prompt as prompt
from therapy_analytics.behaviours._llm_ask import DIALECTS, Asker, ask_all, given_up
from therapy_analytics.behaviours._llm_cache import AnswerCache, default_folder
from therapy_analytics.behaviours._llm_client import Client, FaultError
from therapy_analytics.behaviours._llm_endpoint import Endpoint, parse_endpoint
from therapy_analytics.behaviours._llm_prompt import Answer, Question
from therapy_analytics.behaviours.choice import TaggerOptions, chosen_codebooks
from therapy_analytics.behaviours.codebook import Code, Codebook, codebooks_with
from therapy_analytics.behaviours.hierarchy import n_questions, parents, without_contradictions
from therapy_analytics.behaviours.tagger import Codes, load_tagger
from therapy_analytics.errors import BadOptionError
from therapy_analytics.language import Batch
from therapy_analytics.session import ROLES, Role


@dataclass(frozen=True, slots=True)
class LLMCoder:
    """A language model as a coder, with the interface of `Tagger`.

    Attributes
    ----------
    model : str
        As the server names it.
    endpoint : Endpoint
        Where it is asked.
    parallel : int
        How many questions are open at a time.
    timeout_s : float
        How long one answer may take.
    cache : Path
        Folder of the answers so far.
    codebooks : tuple of Codebook
        What the codes are.
    """

    model: str
    endpoint: Endpoint
    parallel: int
    timeout_s: float
    cache: Path
    codebooks: tuple[Codebook, ...] = field(repr=False)

    @classmethod
    def of(cls, options: TaggerOptions) -> Self:
        """Check the options and return their coder.

        Raises
        ------
        BadOptionError
            The endpoint or the model is missing or cannot be used, or codebooks do not go together.
        UnknownNameError, BadDataFileError
            A codebook is not there, or is none.
        """
        if not options.endpoint:
            problem, remedy = "is missing: an outside coder has an address", "Add --endpoint http://127.0.0.1:11434/v1"
            raise BadOptionError("--endpoint", problem, remedy)
        if not options.model:
            raise BadOptionError("--model", "is missing: an outside coder has a name", "Name one that the server has")
        if not 1 <= options.parallel <= 256:
            raise BadOptionError("--llm-parallel", "is not between 1 and 256", "4 is usual")
        if not 0 < options.timeout_s <= 86_400:
            raise BadOptionError("--llm-timeout", "is not between 0 and 86400 seconds", "180 is usual")
        if options.all_codes and options.codebooks:
            problem = "is for the usual codes; of a codebook that is named, all codes are given"
            raise BadOptionError("--all-codes", problem, "Leave it out, or leave out --codebook")
        endpoint = parse_endpoint(options.endpoint, allow_remote=options.allow_remote)
        folder = options.cache or default_folder()
        # Unasked the codes of the tagger, so that the tables are the same.
        books = chosen_codebooks(options) or codebooks_with(load_tagger(all_codes=options.all_codes).names)
        return cls(options.model, endpoint, options.parallel, options.timeout_s, folder, books)

    @property
    def name(self) -> str:
        """The kind of coder; the model is another matter."""
        return "llm"

    @property
    def version(self) -> str:
        """Of the way in which questions are put."""
        return prompt.VERSION

    @property
    def codes(self) -> tuple[Code, ...]:
        """Codes of all codebooks."""
        return tuple(code for book in self.codebooks for code in book.codes)

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the codes."""
        return tuple(code.column for code in self.codes)

    @property
    def told(self) -> dict[Role, str]:
        """What the model is told before a turn, for each role that has codes."""
        roles = dict.fromkeys(code.role for code in self.codes)
        return {role: prompt.instructions(role, self.codebooks) for role in roles}

    @property
    def sha256(self) -> str:
        """Hash of all that the model is told besides the turn, and of how it is asked."""
        return _hash([prompt.VERSION, prompt.AGAIN, DIALECTS, self.told])

    @property
    def cache_file(self) -> Path:
        """Answers of this model to questions put in this way, from whatever server."""
        return self.cache / f"{_hash([self.model, self.sha256])[:32]}.jsonl"

    def check(self) -> None:
        """Make sure that somebody listens, unless there are answers already.

        Raises
        ------
        CoderServerError
            Nobody does.
        """
        if self.cache_file.is_file() and self.cache_file.stat().st_size:
            return
        try:
            Client(self.endpoint, self.timeout_s).connect().close()
        except FaultError as fault:
            raise given_up(self.endpoint, fault) from None

    def predict(self, batch: Batch) -> Codes:
        """Code all turns of a batch, asking the server what was not answered before.

        Returns
        -------
        Codes
            Probabilities are 1 and 0, nan for turns that were not coded. ``counts`` says how
            many turns were asked about and how many were answered before, and what became of
            those that have no codes.

        Raises
        ------
        CoderServerError
            The server is not there, or stopped answering. The answers so far are kept.
        BadOptionError
            The cache cannot be written.
        """
        asked = [one for session in batch.sessions for one in prompt.questions(session, frozenset(self.told))]
        base = _hash([self.model, self.sha256])
        keys = [_hash([base, one.role, one.text]) if one else "" for one in asked]
        questions = {key: one for key, one in zip(keys, asked, strict=True) if one}
        with AnswerCache(self.cache_file) as cache:
            answers, n_asked = self._answers(questions, cache)
        found = [answers[key] if key else None for key in keys]
        return self._as_codes(batch, found, _counts(found, n_asked))

    def _answers(self, questions: Mapping[str, Question], cache: AnswerCache) -> tuple[dict[str, Answer], int]:
        told, known = self.told, self._known()
        kept = {key: cache.get(key) for key in questions}
        answers = {
            key: Answer("coded", codes)
            for key, codes in kept.items()
            if codes is not None and known[questions[key].role].issuperset(codes)
        }
        left = {key: one for key, one in questions.items() if key not in answers}
        asker = Asker(Client(self.endpoint, self.timeout_s), self.model, told, known, cache.put)
        return answers | ask_all(asker, left, self.endpoint, self.parallel), len(left)

    def _known(self) -> dict[Role, frozenset[str]]:
        return {role: frozenset(code.column for code in self.codes if code.role == role) for role in self.told}

    def _as_codes(self, batch: Batch, answers: Sequence[Answer | None], counts: Mapping[str, int]) -> Codes:
        """Codes as arrays; who names a kind of a code means the code, too. A turn without words has none."""
        above = parents(self.codebooks)
        named = [{code for kind in (one.codes if one else ()) for code in (kind, above.get(kind))} for one in answers]
        decision = np.array([[name in one for name in self.names] for one in named], np.bool_)
        decision = decision.reshape(len(answers), len(self.names))
        alike, asked = np.zeros(decision.shape), n_questions(batch.turns)
        decision = without_contradictions(self.names, decision, alike, asked, self.codebooks)
        given = np.array([one is None or one.outcome == "coded" for one in answers], np.bool_)
        roles = np.array([ROLES.index(code.role) for code in self.codes])
        own = batch.turns.roles[:, None] == roles[None, :]
        probability = np.where(own & given[:, None], decision.astype(np.float64), np.nan)
        return Codes(self.names, probability, decision, np.zeros_like(decision), counts)


def _counts(answers: Sequence[Answer | None], n_asked: int) -> dict[str, int]:
    outcomes: Counter[str] = Counter(one.outcome for one in answers if one)
    return {
        "n_asked": n_asked,
        "n_cached": outcomes.total() - n_asked,
        "n_refused": outcomes["refused"],
        "n_nonsense": outcomes["nonsense"],
        "n_failed": outcomes["failed"],
    }


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
