"""Loading of libraries so that none sends telemetry, looks up a name, or leaves a file behind.

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
from types import ModuleType


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
