"""Reads the table that divan prints."""

from __future__ import annotations

import re

BRANCH = re.compile(r"^((?:│  |   )*)[├╰]─ (\S+)")
RATE = re.compile(r"([0-9.]+) ([KMGT]?)item/s")
UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
MEDIAN = 2
"""The column, after those of the fastest and the slowest."""


def figures(text: str) -> dict[str, float]:
    """Returns the median nanoseconds per item of each benchmark.

    A benchmark is a branch of the tree, with its times; lines for its counters follow, one of which has items per second.
    """
    found: dict[str, float] = {}
    measured: set[str] = set()
    path: list[str] = []
    for line in text.splitlines():
        if branch := BRANCH.match(line):
            path = [*path[: len(branch[1]) // 3], branch[2]]
            if re.search(r"\d [nµm]?s ", line[branch.end() :]):
                measured.add("/".join(path))
        elif "item/s" in line:
            # What is left of the first figure is the tree, whose bars are those between the columns.
            columns = line[line.index(next(iter(re.findall(r"[0-9]", line)))) :].split("│")
            rate = RATE.search(columns[MEDIAN])
            if rate is None:
                raise ValueError(f"no rate in the column of medians: {line}")
            found["/".join(path)] = 1e9 / (float(rate[1]) * UNITS[rate[2]])
    if missing := measured - found.keys():
        raise ValueError(f"benchmarks that count no items: {', '.join(sorted(missing))}")
    if not found:
        raise ValueError(f"no benchmarks in what was printed: {text[:200]!r}")
    return found
