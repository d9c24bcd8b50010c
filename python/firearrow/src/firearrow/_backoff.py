"""Pauses between attempts, which the blocking and the asynchronous functions share."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Backoff"]


@dataclass(frozen=True)
class Backoff:
    """How often something is attempted, and how long the pauses are: exponential, with full jitter.

    It neither sleeps nor reads a clock itself.

    Attributes
    ----------
    attempts : int
        All of them, the first included.
    timeout : float
        Seconds from the beginning of the first attempt after which no other one begins.
    base : float
        Seconds; the longest pause before the second attempt. The limit doubles with each attempt.
    cap : float
        Seconds; no pause is longer.
    """

    attempts: int = 5
    timeout: float = 30.0
    base: float = 0.01
    cap: float = 1.0

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts must be 1 or more, not {self.attempts}")
        for name in ("timeout", "base", "cap"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be a number of seconds, not {getattr(self, name)}")

    def pause(self, failures: int, jitter: Callable[[], float] = random.random) -> float:
        """Return the seconds to pause after so many failures in a row (1 = the first)."""
        # 2 ** 60 is more than any cap; larger exponents would overflow.
        return jitter() * min(self.cap, self.base * 2.0 ** min(failures - 1, 60))

    def delays(
        self, clock: Callable[[], float], jitter: Callable[[], float] = random.random
    ) -> Iterator[float]:
        """Yield the pause before each further attempt, and end when there is to be none.

        Parameters
        ----------
        clock
            Returns the time in seconds; it is asked when an attempt has failed.
        jitter
            Returns a number from 0 to 1.
        """
        end = clock() + self.timeout
        for failures in range(1, self.attempts):
            pause = self.pause(failures, jitter)
            if clock() + pause >= end:
                return
            yield pause
