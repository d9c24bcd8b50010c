"""Work in a forked process."""

from __future__ import annotations

import os
import select
import signal
import warnings
from collections.abc import Callable


def in_child(work: Callable[[], object], seconds: float = 20.0) -> str:
    """Return the text of what ``work`` returns or raises in a forked process."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads; the child only runs `work`.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            told = str(work())
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(writer, told.encode())
        os._exit(0)
    os.close(writer)
    try:
        if not select.select([reader], [], [], seconds)[0]:
            os.kill(child, signal.SIGKILL)
            return f"it hung for {seconds} s"
        return os.read(reader, 65536).decode()
    finally:
        os.close(reader)
        os.waitpid(child, 0)
