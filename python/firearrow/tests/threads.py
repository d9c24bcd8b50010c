"""Work in threads."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable


def run(*works: Callable[[], object], seconds: float = 60.0) -> list[BaseException]:
    """Run functions in threads, and return what they raised."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
        assert not thread.is_alive(), f"a thread hangs after {seconds} s"
    return errors


def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for something that happens in the background."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.005)


class Started:
    """The threads with a name that were started since then, and whether they have ended."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._before = set(threading.enumerate())

    def left(self) -> list[threading.Thread]:
        return [
            thread
            for thread in threading.enumerate()
            if thread.name.startswith(self._name) and thread not in self._before
        ]

    def wait(self, seconds: float = 20.0) -> None:
        end = time.monotonic() + seconds
        while left := self.left():
            assert time.monotonic() < end, f"after {seconds} s, in {self._places(left)}"
            time.sleep(0.005)

    @staticmethod
    def _places(threads: list[threading.Thread]) -> str:
        """Where they are: the only trace of a thread that should have ended."""
        frames = sys._current_frames()
        return "\n".join(
            f"{thread.name}:\n{''.join(traceback.format_stack(frames.get(thread.ident or 0)))}"
            for thread in threads
        )
