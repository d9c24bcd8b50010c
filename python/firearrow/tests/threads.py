"""Work in threads."""

from __future__ import annotations

import threading
import time
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
