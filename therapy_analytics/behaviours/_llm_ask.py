"""Questions in parallel to an outside coder, with what a server may refuse and a model may get wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from therapy_analytics.behaviours._llm_client import Client, FaultError, NotAcceptedError
from therapy_analytics.behaviours._llm_endpoint import Endpoint
from therapy_analytics.behaviours._llm_prompt import AGAIN, Answer, Question, read_answer
from therapy_analytics.errors import CoderServerError
from therapy_analytics.session import Role

_EXACT: dict[str, Any] = {"temperature": 0, "seed": 0, "max_tokens": 2048}
_SCHEMA = {
    "type": "object",
    "properties": {"codes": {"type": "array", "items": {"type": "string"}}},
    "required": ["codes"],
    "additionalProperties": False,
}
DIALECTS: tuple[dict[str, Any], ...] = (
    {**_EXACT, "response_format": {"type": "json_object"}},
    {**_EXACT, "response_format": {"type": "json_schema", "json_schema": {"name": "codes", "schema": _SCHEMA}}},
    _EXACT,
    {"temperature": 0},
    {},
)
"""What is wished for besides the answer; the next where the server takes no such wish.

LM Studio knows no ``json_object``, and some models take no temperature.
"""
_FEW = 8
"""When as many questions in a row come to nothing, it is the server and not the questions."""
_LONGEST_QUOTE = 2_000
Keep = Callable[[str, tuple[str, ...]], None]


@dataclass(frozen=True, slots=True)
class Asker:
    """Puts questions to one model.

    Attributes
    ----------
    client : Client
        The way to the server.
    model : str
        As the server names it.
    told : mapping of role to str
        The instructions before a question.
    known : mapping of role to frozenset of str
        The ids that an answer may hold.
    keep : callable
        Told the key and the codes of each answer that has codes, at once.
    wishes : mapping
        One of `DIALECTS`.
    """

    client: Client
    model: str
    told: Mapping[Role, str] = field(repr=False)
    known: Mapping[Role, frozenset[str]] = field(repr=False)
    keep: Keep
    wishes: Mapping[str, Any] = field(default_factory=dict)

    def ask(self, key: str, question: Question) -> Answer:
        """Ask once, and once more with what was wrong with the answer."""
        messages = [
            {"role": "system", "content": self.told[question.role]},
            {"role": "user", "content": question.text},
        ]
        for _ in range(2):
            said = self.client.ask({"model": self.model, "messages": messages, "stream": False, **self.wishes})
            answer = read_answer(said, self.known[question.role])
            if answer.outcome == "coded":
                self.keep(key, answer.codes)
                break
            messages += [
                {"role": "assistant", "content": said[:_LONGEST_QUOTE] or "(nothing)"},
                {"role": "user", "content": AGAIN.format(problem=answer.problem)},
            ]
        return answer

    def try_to_ask(self, key: str, question: Question) -> Answer:
        """Ask, and count as answers what concerns this question alone."""
        try:
            return self.ask(key, question)
        except NotAcceptedError as error:
            return Answer("refused", problem=f"status {error.status}")
        except FaultError as fault:
            if fault.absent:
                raise
            return Answer("failed", problem=fault.problem)


def ask_all(asker: Asker, questions: Mapping[str, Question], endpoint: Endpoint, parallel: int) -> dict[str, Answer]:
    """Answer all questions; the shortest goes first and alone, to learn what the server takes.

    Raises
    ------
    CoderServerError
        The server is not there, or answers nothing.
    """
    if not questions:
        return {}
    first, *rest = sorted(questions.items(), key=lambda one: (len(one[1].text), one[0]))
    with ThreadPoolExecutor(parallel) as pool, asker.client:
        try:
            asker, answer = _first(asker, first, endpoint)
            return {first[0]: answer, **_others(asker, dict(rest), pool, max(2 * _FEW, 4 * parallel))}
        except FaultError as fault:
            raise given_up(endpoint, fault) from None


def _first(asker: Asker, question: tuple[str, Question], endpoint: Endpoint) -> tuple[Asker, Answer]:
    """Find the first dialect that the server takes."""
    status = 0
    for wishes in DIALECTS:
        speaking = replace(asker, wishes=wishes)
        try:
            return speaking, speaking.ask(*question)
        except NotAcceptedError as error:
            status = error.status
    problem = f"it accepts no question (status {status})"
    remedy = "Check the model's name; a model must take 8,192 tokens at least (for Ollama: OLLAMA_CONTEXT_LENGTH=8192)"
    raise CoderServerError(str(endpoint), problem, remedy)


def _others(asker: Asker, questions: Mapping[str, Question], pool: ThreadPoolExecutor, step: int) -> dict[str, Answer]:
    """Ask in steps, and stop after one in which everything failed."""
    answers: dict[str, Answer] = {}
    keys = list(questions)
    for start in range(0, len(keys), step):
        part = keys[start : start + step]
        found = list(pool.map(asker.try_to_ask, part, [questions[key] for key in part]))
        answers.update(zip(part, found, strict=True))
        if len(part) >= _FEW and all(one.outcome == "failed" for one in found):
            raise FaultError(found[-1].problem)
    return answers


def given_up(endpoint: Endpoint, fault: FaultError) -> CoderServerError:
    """Say what a person can do about a server that is not there or does not answer."""
    remedy = "Look into the server's log and start the same command again: the answers so far are kept"
    if fault.absent:
        remedy = "Start the server (for Ollama: ollama serve) and the same command again"
    return CoderServerError(str(endpoint), fault.problem, remedy)
