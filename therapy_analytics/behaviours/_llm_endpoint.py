"""Where an outside coder listens, and whether the words would leave this machine."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from therapy_analytics.errors import BadOptionError

_FORM = "Give it as in http://127.0.0.1:11434/v1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server's address.

    Attributes
    ----------
    tls : bool
        Whether it is reached by https.
    host, port, path : str, int, str
        Of the questions: ``path`` ends in ``/chat/completions``.
    remote : bool
        Whether it may be another machine than this one.
    """

    tls: bool
    host: str
    port: int
    path: str
    remote: bool

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"


def parse_endpoint(text: str, *, allow_remote: bool) -> Endpoint:
    """Take an address apart.

    Raises
    ------
    BadOptionError
        It is no http address, holds a password, or is on another machine and that is not allowed.
    """
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise BadOptionError("--endpoint", "is not an address", _FORM) from None
    odd = parts.query or parts.fragment or not re.fullmatch(r"[!-~]*", parts.path)
    if parts.scheme not in {"http", "https"} or not host or odd:
        raise BadOptionError("--endpoint", "is not the address of a server", _FORM)
    if parts.username is not None or parts.password is not None:
        raise BadOptionError(
            "--endpoint", "holds a name or a password", "Put the server's key into the variable TANALYZE_API_KEY"
        )
    if not (allow_remote or is_loopback_name(host)):
        raise BadOptionError("--endpoint", _away(host), "Use a server on 127.0.0.1, or add --allow-remote")
    tls = parts.scheme == "https"
    path = parts.path.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
    return Endpoint(tls, host, port or (443 if tls else 80), path, allow_remote)


def is_loopback_name(host: str) -> bool:
    """Whether a host is this machine by its name alone; names that would have to be looked up are not."""
    return host == "localhost" or is_loopback_address(host)


def is_loopback_address(address: str) -> bool:
    """Whether a number is 127.0.0.0/8 or ::1."""
    try:
        one = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(one, ipaddress.IPv4Address):
        return one in ipaddress.IPv4Network("127.0.0.0/8")
    return one == ipaddress.IPv6Address("::1")


def _away(host: str) -> str:
    return f"{host} is another machine: the words of your transcripts would be sent there"
