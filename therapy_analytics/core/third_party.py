"""Libraries: loaded so that none sends telemetry, looks up a name, or leaves a file behind; and with how many threads.

Python's audit hooks do not see what native code does. `tests/test_system_calls.py` therefore runs every command while
the operating system records its calls, and fails on any socket of the internet and any file outside of the output.
"""

from __future__ import annotations

import atexit
import importlib
import os
import shutil
import socket
import sys
import tempfile
from threading import Event
from types import ModuleType
from typing import Any

from therapy_analytics.core.errors import BadOptionError, how_to_install

_ONE = Event()


def onnxruntime() -> ModuleType:
    """Load onnxruntime with its telemetry switched off.

    From version 1.29 on, onnxruntime uploads events to its vendor and keeps a device id under ``~/.cache``, unless an
    environment variable is set before its native code is loaded. A contract test checks that nothing else imports it.

    Raises
    ------
    ImportError
        It is not installed, or does not run on this machine.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    loaded = importlib.import_module("onnxruntime")
    # Windows has a second channel with a switch of its own, which also works where a notebook loaded the library before
    loaded.disable_telemetry_events()
    return loaded


def spacy() -> ModuleType:
    """Load spaCy without the test socket with which its dependency urllib3 checks for IPv6.

    urllib3 then assumes what Python was built for, so later downloads in a notebook are not restricted.
    """
    built_for, fresh = socket.has_ipv6, "urllib3.util.connection" not in sys.modules
    socket.has_ipv6 = False
    try:
        loaded = importlib.import_module("spacy")
    finally:
        socket.has_ipv6 = built_for
    if fresh and "urllib3.util.connection" in sys.modules:
        sys.modules["urllib3.util.connection"].HAS_IPV6 = built_for  # type: ignore[attr-defined]
    return loaded


def leave_no_font_list() -> None:
    """Keep matplotlib from running other programs for fonts and from writing its font list to the user's home.

    Only for processes of the command: in a notebook, matplotlib and its settings belong to the user. Figures use only
    the fonts of matplotlib; their list is in a temporary folder until the command ends.
    """
    if "MPLCONFIGDIR" in os.environ:
        return
    try:
        folder = tempfile.mkdtemp(prefix="tanalyze-fonts-")
    except OSError:
        return  # Without a temporary folder matplotlib uses its own place, which is no reason to stop.
    os.environ.update(MPLCONFIGDIR=folder, MPL_IGNORE_SYSTEM_FONTS="1")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def pyarrow(option: str, *, needed: str) -> Any:
    """Return pyarrow, which reads and writes Parquet, with its module for that: optional, and slow to load.

    Parameters
    ----------
    option : str
        The option that needs it, which the error names.
    needed : str
        What needs it, as the subject of a sentence: "writing Parquet".

    Raises
    ------
    BadOptionError
        It is not installed.
    """
    try:
        importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow")
    except ImportError:
        problem = f"{needed} needs the package pyarrow, which is not installed"
        raise BadOptionError(option, problem, f"Install it with: {how_to_install('pyarrow')}") from None


def threads() -> int:
    """Return the number of cores, or one in a worker process, whose siblings use the other cores."""
    from multiprocessing import parent_process  # noqa: PLC0415 (the command loads this module before anything else)

    if _ONE.is_set() or parent_process() is not None:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def take_one() -> None:
    """Make this process a worker that uses one core, whoever started it."""
    _ONE.set()
