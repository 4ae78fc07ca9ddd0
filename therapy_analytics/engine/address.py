"""Addresses of schedulers: which are one, and which of them is on this machine."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from therapy_analytics.errors import BadOptionError

SCHEDULER = "--scheduler"


def checked(address: str, *, remote: bool) -> str:
    """Return the address of a scheduler in full.

    Parameters
    ----------
    address : str
        ``tcp://HOST:PORT``, ``tls://HOST:PORT`` or ``HOST:PORT``.
    remote : bool
        Whether it may be on another machine.

    Raises
    ------
    BadOptionError
        It is no such address, or one of another machine.

    Examples
    --------
    >>> checked("localhost:8786", remote=False)
    'tcp://localhost:8786'
    """
    found = address if "://" in address else f"tcp://{address}"
    if not _is_one(found):
        raise BadOptionError(
            SCHEDULER,
            f"{address} is not the address of a Dask scheduler",
            "Give it as the scheduler prints it when it starts, such as tcp://127.0.0.1:8786 or tls://127.0.0.1:8786",
        )
    if not remote and not is_here(found):
        raise BadOptionError(
            SCHEDULER,
            f"{address} is on another machine",
            "Give --allow-remote as well if the transcripts and results may be read and written from there; between"
            " machines use tls://, which encrypts what they send and admits only those who have the certificate",
        )
    return found


def _is_one(address: str) -> bool:
    with suppress(ValueError):
        parts = urlsplit(address)
        return parts.scheme in {"tcp", "tls"} and bool(parts.hostname) and bool(parts.port) and not parts.path
    return False


def is_here(address: str) -> bool:
    """Tell whether an address can only be that of this machine.

    Examples
    --------
    >>> is_here("tcp://127.0.0.1:8786"), is_here("tcp://[::1]:8786"), is_here("tcp://192.168.0.7:8786")
    (True, True, False)
    """
    host = urlsplit(address).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
