"""Processes that outlive the one that starts them, and how to speak with them: pickles over their standard
streams.

Nothing secret is in their arguments or environment: what they need comes through a pipe.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO

from ..errors import Error, OperationalError

__all__ = ["Child", "answer", "detach", "detach_output", "fail", "requests"]


_START = "import sys; del sys.path[0]; import runpy; runpy.run_module({name!r}, run_name='__main__')"


class Child:
    """A helper process that runs one of this package's modules."""

    def __init__(self, module: str) -> None:
        # The child must import what this process can: Spark's workers have folders of their own.
        paths = os.pathsep.join(os.path.abspath(path) for path in sys.path if path)
        name = f"firearrow._jobs.{module}"
        self._process = subprocess.Popen(
            # Not with -m, which would import from the current folder first, whoever can write there.
            [sys.executable, "-c", _START.format(name=name), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
            # Signals for this process's group must not reach the child.
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self.input: BinaryIO = self._process.stdin  # type: ignore[assignment]
        self._output: BinaryIO = self._process.stdout  # type: ignore[assignment]

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def send(self, request: object) -> None:
        """Send a request. A process that has ended is noticed when its answer is missing."""
        with suppress(BrokenPipeError):
            pickle.dump(request, self.input)
            self.input.flush()

    def answer(self, seconds: float | None = None) -> Any:
        """Wait for its answer, and raise it if it is an error.

        Raises
        ------
        OperationalError
            It has ended without one, or has not answered in time; it is killed then.
        """
        found: list[tuple[bool, Any]] = []

        def load() -> None:
            with suppress(EOFError, pickle.UnpicklingError, OSError):
                found.append(pickle.load(self._output))

        reader = threading.Thread(target=load, name="firearrow answer", daemon=True)
        reader.start()
        reader.join(seconds)
        if not found:
            late = reader.is_alive()
            self._process.kill()
            self._process.wait()
            what = (
                f"has not answered within {seconds:g} s"
                if late
                else f"ended with exit code {self._process.returncode}"
            )
            raise OperationalError(f"a helper process of this job {what}")
        is_good, value = found[0]
        if not is_good:
            raise value
        return value

    def leave(self) -> None:
        """Detach it."""
        for stream in (self.input, self._output):
            with suppress(OSError):
                stream.close()
        # Reap it when it ends.
        threading.Thread(target=self._process.wait, name="firearrow child", daemon=True).start()


def requests() -> Any:
    """In the helper process: return the next request; raises EOFError when nobody can send one any more."""
    return pickle.load(sys.stdin.buffer)


def answer(value: object) -> None:
    """In the helper process: answer."""
    _write((True, value))


def fail(error: BaseException) -> None:
    """In the helper process: answer with an error, which is raised in the process that has asked."""
    if not isinstance(error, Error):
        error = OperationalError(f"{type(error).__name__}: {error}")
    _write((False, error))


def detach_output() -> None:
    """In the helper process: close its output."""
    _close(1)


def detach() -> None:
    """In the helper process: close its input and output."""
    _close(0)
    _close(1)


def _close(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor)
    os.close(null)


def _write(message: tuple[bool, object]) -> None:
    # The parent may be gone.
    with suppress(BrokenPipeError):
        sys.stdout.buffer.write(pickle.dumps(message))
        sys.stdout.buffer.flush()
