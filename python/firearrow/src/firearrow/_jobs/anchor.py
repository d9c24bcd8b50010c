"""The program that owns a job; the job's processes end with it.

Spark plans in a short-lived Python worker; its Java process is the driver. So the anchor is the nearest
ancestor that is not a Python process, or this process's parent where that is unknown (no /proc).
"""

from __future__ import annotations

import os
from typing import NamedTuple

__all__ = ["Anchor", "driver", "of", "this_process"]


class Anchor(NamedTuple):
    """A process, and when it began, since process ids are reused."""

    process: int
    started: str | None

    @property
    def is_alive(self) -> bool:
        if os.name == "nt":
            return True
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        found = _facts(self.process)
        return found is None or (found.state != "Z" and found.started == self.started)


class _Facts(NamedTuple):
    name: str
    state: str
    parent: int
    started: str


def this_process() -> Anchor:
    """Return this process."""
    return of(os.getpid())


def driver() -> Anchor:
    """Return the nearest ancestor that is not a Python process; see above."""
    process = os.getppid()
    while (found := _facts(process)) and "python" in found.name and found.parent > 1:
        process = found.parent
    return of(process)


def of(process: int) -> Anchor:
    """Return a process."""
    found = _facts(process)
    return Anchor(process, found.started if found else None)


def _facts(process: int) -> _Facts | None:
    """Return what Linux says about a process; ``None`` elsewhere."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    # NUMBER (NAME) STATE PARENT …; a name may have spaces and parentheses. The start is field 22.
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    return _Facts(name, fields[0], int(fields[1]), fields[19])
