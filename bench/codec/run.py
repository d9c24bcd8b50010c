"""Runs the benchmarks of the codec, prints them, and compares them with the baseline.

Usage: run.py BINARY [--rounds N] [--raw FILE] [--save | --check]

BINARY is the program of the benchmarks, which `scripts/bench-codec.sh` builds. --save writes the baseline, --check fails if
something is slower than that: see gate.py. --raw keeps the figures of each round.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gate import THRESHOLD, Figure, Rounds, Verdict, compare, normalised
from table import figures

BASELINE = Path(__file__).parents[1] / "baseline" / "codec.json"
CALIBRATION = "calibration/record"
GATED = ("decode/", "encode/", "packets/")
"""What is compared. Ciphers and compression depend on which vector instructions a processor has, and are other people's."""
GROUPS = ("decode::row", "decode::value", "encode", "packets", "transforms")
"""Each runs in a process of its own, with the calibration before it."""
SAMPLES = ("--sample-count", "200")
"""Of each benchmark in each round. No time limit: on a busy machine it would end them after a cold start."""
GOALS = {"decode/value/int": 5.0, "decode/row/five": 80.0}
"""Nanoseconds."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--raw", type=Path)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--save", action="store_true")
    what.add_argument("--check", action="store_true")
    arguments = parser.parse_args()

    groups = [group for group in GROUPS if group != "transforms"] if arguments.save or arguments.check else GROUPS
    rounds = measure(arguments.binary, arguments.rounds, groups)
    print(report(rounds))
    if arguments.raw:
        keep(arguments.raw, rounds)
    if arguments.save:
        save(rounds)
    if not arguments.check:
        return 0
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))
    verdicts = failures(baseline, rounds)
    if verdicts:
        # Once more, in case the machine was busy with something for as long as the first run took.
        names = {verdict.name for verdict in verdicts}
        print(f"slower than the baseline: {', '.join(sorted(names))}; measuring again")
        again = failures(baseline, measure(arguments.binary, arguments.rounds, groups))
        verdicts = [verdict for verdict in again if verdict.name in names]
    for verdict in verdicts:
        print(
            f"FAILED {verdict.name}: {verdict.ratio:.2f} times the baseline ({verdict.low:.2f} to {verdict.high:.2f}), "
            f"and {THRESHOLD} is the limit"
        )
    if verdicts:
        print("If that is meant to be: make bench-save, commit the baseline, and say why in the changelog.")
    if not verdicts:
        print(f"the codec is as fast as its baseline ({len(gated(baseline['normalised']))} benchmarks)")
    return 1 if verdicts else 0


def measure(binary: Path, rounds: int, groups: Sequence[str]) -> list[dict[str, Figure]]:
    """Runs the benchmarks."""
    command = [str(binary), "--bench", "--color", "never", *SAMPLES, CALIBRATION.replace("/", "::")]
    found = []
    for _ in range(rounds):
        of_round: dict[str, Figure] = {}
        for group in groups:
            pipe = subprocess.PIPE
            done = subprocess.run([*command, group], stdout=pipe, stderr=pipe, text=True, timeout=600)
            if done.returncode:
                raise SystemExit(f"{binary} has failed:\n{done.stderr}")
            nanoseconds = figures(done.stdout)
            calibration = nanoseconds.pop(CALIBRATION)
            of_round |= {name: Figure(item, calibration) for name, item in nanoseconds.items()}
        found.append(of_round)
    return found


def gated(names: Any) -> list[str]:
    return sorted(name for name in names if name.startswith(GATED))


def failures(baseline: dict[str, Any], rounds: Rounds) -> list[Verdict]:
    """Compares a run with the baseline, which must have the same benchmarks."""
    current = normalised(rounds)
    expected = baseline["normalised"]
    if gated(current) != gated(expected):
        differing = sorted(set(gated(current)) ^ set(gated(expected)))
        raise SystemExit(f"the baseline has other benchmarks: {', '.join(differing)}. Run make bench-save.")
    verdicts = [compare(name, expected[name], current[name]) for name in gated(current)]
    return [verdict for verdict in verdicts if verdict.fails()]


def report(rounds: Rounds) -> str:
    """Returns the table for people."""
    relative = normalised(rounds)
    calibration = statistics.median(figure.calibration for figures in rounds for figure in figures.values())
    lines = [
        f"Medians of {len(rounds)} rounds; {machine()}.",
        f"One record of the calibration loop takes {calibration:.2f} ns; 'relative' is to that of the same process.",
        "",
        f"{'':40} {'ns':>9} {'relative':>9} {'spread':>7}  per",
    ]
    for name, values in relative.items():
        nanoseconds = statistics.median(figures[name].item for figures in rounds)
        quarters = statistics.quantiles(values, n=4)
        spread = (quarters[2] - quarters[0]) / statistics.median(values)
        goal = GOALS.get(name)
        remark = "" if goal is None else f", at most {goal:.0f} ns wanted"
        ratio = statistics.median(values)
        lines.append(f"{name:40} {nanoseconds:9.3f} {ratio:9.4f} {spread:7.1%}  {unit(name)}{remark}")
    return "\n".join(lines)


def unit(name: str) -> str:
    words = name.split("/")[1].split("_")
    return next(word for word in ("value", "row", "packet", "byte") if word in words)


def machine() -> str:
    model = platform.processor()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model or 'unknown processor'}, {os.cpu_count()} logical, {platform.system()}"


def keep(path: Path, rounds: Rounds) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps({"machine": machine(), "rounds": len(rounds), "unit": "ns per item"}) + "\n")
        for number, round_figures in enumerate(rounds):
            for name, (item, calibration) in round_figures.items():
                sample = {"case": name, "round": number, "ns": round(item, 4), "calibration_ns": round(calibration, 4)}
                file.write(json.dumps(sample) + "\n")


def save(rounds: Rounds) -> None:
    samples = normalised(rounds)
    content = {
        "machine": machine(),
        "rounds": len(rounds),
        "ns": {name: round(statistics.median(figures[name].item for figures in rounds), 3) for name in samples},
        "normalised": {name: [float(f"{value:.4g}") for value in values] for name, values in samples.items()},
    }
    BASELINE.parent.mkdir(parents=True, exist_ok=True)
    # A line for each benchmark.
    text = json.dumps(content, indent=1)
    for values in samples.values():
        shown = [float(f"{value:.4g}") for value in values]
        text = text.replace(json.dumps(shown, indent=1).replace("\n", "\n  "), json.dumps(shown))
    BASELINE.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {os.path.relpath(BASELINE)}: commit it, and say in the changelog why it has changed")


if __name__ == "__main__":
    sys.exit(main())
