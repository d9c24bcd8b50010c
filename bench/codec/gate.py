"""Whether a run of the codec's benchmarks is slower than the baseline.

Machines differ, so every figure is divided by that of a calibration loop in the same process. Processes differ, too: by
where their code and data lie, by what else the machine does. So a run has many, a figure is the median of theirs, and a
difference counts only if it is one for nearly every selection of processes: the lower end of a bootstrap interval of the
ratio of the medians must be above the threshold.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from typing import NamedTuple

THRESHOLD = 1.25
"""The ratio to the baseline above which a benchmark fails."""

LEVEL = 0.95
"""The share of the resamples that the interval holds."""

RESAMPLES = 2000


class Verdict(NamedTuple):
    """A benchmark beside its baseline: above one is slower."""

    name: str
    ratio: float
    low: float
    high: float

    def fails(self, threshold: float = THRESHOLD) -> bool:
        """Whether even the lower end is too slow."""
        return self.low > threshold


def compare(name: str, baseline: Sequence[float], current: Sequence[float]) -> Verdict:
    """Compares normalised figures, one for each process, with those of the baseline."""
    if len(baseline) < 10 or len(current) < 10:
        raise ValueError(f"{name}: {len(current)} rounds beside {len(baseline)} of the baseline; at least 10 are needed")
    # The same data give the same verdict.
    chance = random.Random(name)

    def median(samples: Sequence[float]) -> float:
        # The median of as many samples drawn with replacement, without drawing them all: the place of the middle one of n
        # random places has this distribution.
        count = len(samples)
        middle = (count + 1) // 2
        return samples[min(int(count * chance.betavariate(middle, count + 1 - middle)), count - 1)]

    before, after = sorted(baseline), sorted(current)
    ratios = sorted(median(after) / median(before) for _ in range(RESAMPLES))
    outside = round((1 - LEVEL) / 2 * RESAMPLES)
    ratio = statistics.median(current) / statistics.median(baseline)
    return Verdict(name, ratio, ratios[outside], ratios[-1 - outside])


class Figure(NamedTuple):
    """Nanoseconds of one item, and of one record of the calibration loop in the same process."""

    item: float
    calibration: float


Rounds = Sequence[dict[str, Figure]]
"""The figures of each round, by the names of the benchmarks."""


def normalised(rounds: Rounds) -> dict[str, list[float]]:
    """Divides the figures by those of their calibration."""
    names = sorted({name for figures in rounds for name in figures})
    for name in names:
        if any(name not in figures or min(figures[name]) <= 0 for figures in rounds):
            raise ValueError(f"{name}: not measured in every round")
    return {name: [figures[name].item / figures[name].calibration for figures in rounds] for name in names}
