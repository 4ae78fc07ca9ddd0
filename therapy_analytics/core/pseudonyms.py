"""Pseudonyms: names that stand for names of people, sessions and files, the same wherever one key is used."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from therapy_analytics.core import private
from therapy_analytics.core.errors import BadOptionError

OPTION = "--pseudonyms"
FIELD = "pseudonyms"
"""Where ``run.json`` has the fingerprint of the key, among the options."""
_HEAD = "key of pseudonyms, therapy-analytics 1\n"
_N_BYTES, _N_LETTERS = 32, 10
_LETTERS = "bcdfghjklmnpqrstvwxz"
"""Without vowels there are no words; without digits a label such as ``client_...`` still names its role."""
_PSEUDONYM = re.compile(rf"[a-z]+_[{_LETTERS}]{{{_N_LETTERS}}}")
_EXACT = frozenset({"session", "place"})
"""Kinds in whose names each sign counts."""


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """Gives names for names; made from a file by `load_pseudonyms`.

    Attributes
    ----------
    secret : bytes
        The key: whoever has it can find out whether a name belongs to a pseudonym.
    """

    secret: bytes = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """What tells keys apart and says nothing of the names."""
        return self._digest("fingerprint", "").hex()[:16]

    def name_for(self, kind: str, name: str) -> str:
        """Return the pseudonym of a name; nothing for nothing, and a pseudonym for itself.

        Parameters
        ----------
        kind : str
            ``client``, ``counselor``, ``session``, ...: the beginning of the pseudonym.
        name : str
            Upper and lower case, and which of spaces, ``-`` and ``_`` part its words, make no difference; in ids of
            sessions the latter does.

        Examples
        --------
        >>> key = Pseudonyms(b"0" * 32)
        >>> key.name_for("client", "Anna Smith"), key.name_for("client", " anna-smith")
        ('client_sgznwvqjxb', 'client_sgznwvqjxb')
        """
        text = unicodedata.normalize("NFKC", name).strip().casefold()
        if not text or is_pseudonym(text):
            return text
        if kind not in _EXACT:
            text = re.sub(r"[\s_-]+", " ", text).strip()
            text = re.sub(r"\A(\d+)\.0\Z", r"\1", text)
        number = int.from_bytes(self._digest(kind, text)[:16])
        letters = []
        for _ in range(_N_LETTERS):
            number, at = divmod(number, len(_LETTERS))
            letters.append(_LETTERS[at])
        return f"{kind}_{''.join(letters)}"

    def _digest(self, kind: str, text: str) -> bytes:
        return hmac.digest(self.secret, f"{kind}\0{text}".encode("utf-8", "surrogatepass"), hashlib.sha256)


def is_pseudonym(text: str) -> bool:
    """Tell whether a text has the form of a pseudonym, by whatever key."""
    return _PSEUDONYM.fullmatch(text) is not None


def load_pseudonyms(path: str | Path, *, make: bool = False) -> Pseudonyms:
    """Read the key of pseudonyms from its file.

    Parameters
    ----------
    path : str or Path
        The file.
    make : bool, optional
        Whether a new key is made where there is no file, readable by its owner alone.

    Raises
    ------
    BadOptionError
        There is no such file, it holds no key, or others can read it.
    """
    path = Path(path)
    try:
        if make:
            with suppress(FileExistsError):  # another command may make it at the same time
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, private.FILE)
                with os.fdopen(handle, "w", encoding="ascii", newline="\n") as file:
                    file.write(f"{_HEAD}{base64.b64encode(secrets.token_bytes(_N_BYTES)).decode()}\n")
        mode, data = path.stat().st_mode, path.read_bytes()[:4096]
    except FileNotFoundError:
        there = path.parent.is_dir()
        problem = f"there is no {'key' if there else 'folder'} {path if there else path.parent}"
        remedy = "Name the key that tanalyze run --pseudonyms made" if there else "Make it, or name another place"
        raise BadOptionError(OPTION, problem, remedy) from None
    except OSError as error:
        problem = f"{path} cannot be used ({error.strerror or type(error).__name__})"
        raise BadOptionError(OPTION, problem, "Name a file of your own, or one that is not there") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        problem = f"others can read the key {path}, and with it find out who is who"
        raise BadOptionError(OPTION, problem, f"Make it yours alone: chmod 600 {path}")
    try:
        head, _, rest = data.decode("ascii").replace("\r\n", "\n").partition("\n")
        secret_bytes = base64.b64decode(rest.strip(), validate=True)
    except ValueError:
        head, secret_bytes = "", b""
    if f"{head}\n" != _HEAD or len(secret_bytes) != _N_BYTES:
        problem = f"{path} holds something other than a key of pseudonyms, or only a part of one"
        raise BadOptionError(OPTION, problem, "Name the key, or a file that is not there: tanalyze run makes one")
    return Pseudonyms(secret_bytes)


def _made_with(recipes: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the fingerprints of the keys that results were made with, "" for none; nothing for tables in memory."""
    return {str(recipe["options"].get(FIELD) or "") for recipe in recipes if "options" in recipe}


def lacking_key(recipes: Iterable[Mapping[str, Any]], pseudonyms: Pseudonyms | None) -> str:
    """Return what to do where nothing matches results for want of their key; empty where that is not the reason."""
    if pseudonyms is None and _made_with(recipes) - {""}:
        return f"These results were made with {OPTION}: give the same key to this command, too"
    return ""


def refuse_other_key(recipes: Iterable[Mapping[str, Any]], pseudonyms: Pseudonyms | None) -> None:
    """Refuse a key that results were not made with, with which nothing could match.

    Parameters
    ----------
    recipes : iterable of mapping
        The ``run.json`` of each folder of results; for a table in memory, a mapping without options.
    pseudonyms : Pseudonyms or None
        The key that is given.

    Raises
    ------
    BadOptionError
        The results, or some of them, were made with another key, or with none.
    """
    made_with = _made_with(recipes)
    if pseudonyms is None or made_with <= {pseudonyms.fingerprint}:
        return
    if made_with != {""}:
        problem, remedy = "these results were made with another key", "Name that key"
    else:
        problem = "these results were made without pseudonyms"
        remedy = f"Leave it out, or run again with {OPTION}"
    raise BadOptionError(OPTION, problem, remedy)
