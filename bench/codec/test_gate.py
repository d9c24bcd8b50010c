"""Tests of the gate, with runs that are made up: `python3 -m unittest discover bench/codec`."""

from __future__ import annotations

import contextlib
import io
import json
import random
import stat
import statistics
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import run
from gate import Figure, Rounds, compare, normalised
from table import figures

NAMES = ("decode/value/int", "decode/row/five", "encode/row/five")

TABLE = """\
codec                            fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ calibration                                 │               │               │               │         │
│  ╰─ record                     3.244 µs      │ 35.22 µs      │ 3.351 µs      │ 3.991 µs      │ 100     │ 100
│                                308.1 Mitem/s │ 28.38 Mitem/s │ 298.3 Mitem/s │ 250.5 Mitem/s │         │
├─ decode                                      │               │               │               │         │
│  ├─ row                                      │               │               │               │         │
│  │  ├─ five                    20.73 µs      │ 26.33 µs      │ 21.41 µs      │ 21.5 µs       │ 100     │ 100
│  │  │                          2.315 GB/s    │ 1.822 GB/s    │ 2.241 GB/s    │ 2.232 GB/s    │         │
│  │  │                          48.22 Mitem/s │ 37.96 Mitem/s │ 46.69 Mitem/s │ 46.49 Mitem/s │         │
│  ╰─ value                                    │               │               │               │         │
│     ├─ decfloat34              55.48 µs      │ 8.091 ms      │ 56.82 µs      │ 138.5 µs      │ 100     │ 100
│     │                          18.02 Mitem/s │ 123.5 Kitem/s │ 17.59 Mitem/s │ 7.216 Mitem/s │         │
│     ╰─ varchar_255             11.64 µs      │ 78.77 µs      │ 12.68 µs      │ 12.99 µs      │ 100     │ 100
│                                85.9 Mitem/s  │ 12.69 Mitem/s │ 78.8 Mitem/s  │ 76.95 Mitem/s │         │
╰─ transforms                                  │               │               │               │         │
   ├─ byte_encrypt                             │               │               │               │         │
   │  ╰─ ChaCha                  107.9 µs      │ 4.172 ms      │ 108.3 µs      │ 190.1 µs      │ 100     │ 100
   │                             2.427 Gitem/s │ 62.82 Mitem/s │ 2.42 Gitem/s  │ 1.378 Gitem/s │         │
   ╰─ byte_inflate               180.7 µs      │ 4.274 ms      │ 184.1 µs      │ 440 µs        │ 48      │ 48
                                 999 item/s    │ 61.32 item/s  │ 500 item/s    │ 595.7 Mitem/s │         │
"""


def rounds(
    seed: int, slower: float = 1.0, noise: float = 0.03, machine: float = 1.0, count: int = 25
) -> list[dict[str, Figure]]:
    """A run in which the first benchmark is slower, on a machine that is."""
    chance = random.Random(seed)

    def figure(nanoseconds: float) -> Figure:
        calibration = 3.3 * machine * chance.lognormvariate(0, 0.02)
        return Figure(nanoseconds * machine * chance.lognormvariate(0, noise), calibration)

    def of_round() -> dict[str, Figure]:
        found = {name: figure(10.0 * (slower if name == NAMES[0] else 1)) for name in NAMES}
        # What is not compared.
        return {**found, "transforms/byte_deflate": figure(5.0 * slower)}

    return [of_round() for _ in range(count)]


def baseline() -> dict[str, object]:
    return {"normalised": normalised(rounds(1))}


class Gate(unittest.TestCase):
    def failing(self, current: Rounds) -> list[str]:
        return [verdict.name for verdict in run.failures(baseline(), current)]

    def test_forty_percent_slower_fails(self) -> None:
        for seed in range(2, 12):
            self.assertEqual(self.failing(rounds(seed, slower=1.4)), [NAMES[0]])

    def test_ten_percent_slower_passes(self) -> None:
        for seed in range(2, 12):
            self.assertEqual(self.failing(rounds(seed, slower=1.1)), [])

    def test_noise_passes(self) -> None:
        for seed in range(2, 12):
            self.assertEqual(self.failing(rounds(seed, noise=0.8)), [])

    def test_a_difference_within_the_noise_passes(self) -> None:
        # 40 percent in the median, but not for every selection of rounds.
        noisy = [10.0, 18.0] * 12
        steady = [12.0] * 25
        verdict = compare("noisy", steady, [value * 1.2 for value in noisy])
        self.assertGreater(verdict.ratio, 1.25)
        self.assertFalse(verdict.fails(), verdict)

    def test_the_interval_is_that_of_resampled_medians(self) -> None:
        chance = random.Random(0)
        before, after = ([chance.lognormvariate(mean, 0.3) for _ in range(25)] for mean in (0, 0.2))

        def median(samples: list[float]) -> float:
            return statistics.median(chance.choices(samples, k=len(samples)))

        ratios = sorted(median(after) / median(before) for _ in range(4000))
        verdict = compare("name", before, after)
        self.assertAlmostEqual(verdict.low / ratios[100], 1, delta=0.04)
        self.assertAlmostEqual(verdict.high / ratios[-100], 1, delta=0.04)

    def test_a_few_slow_processes_pass(self) -> None:
        current = rounds(3)
        for figures_of_round in current[:8]:
            figure = figures_of_round[NAMES[0]]
            figures_of_round[NAMES[0]] = figure._replace(item=figure.item * 20)
        self.assertEqual(self.failing(current), [])

    def test_a_slower_machine_passes_and_hides_nothing(self) -> None:
        self.assertEqual(self.failing(rounds(4, machine=3.0)), [])
        self.assertEqual(self.failing(rounds(4, machine=0.3, slower=1.4)), [NAMES[0]])

    def test_a_faster_run_passes(self) -> None:
        self.assertEqual(self.failing(rounds(5, slower=0.3)), [])

    def test_benchmarks_that_come_or_go_need_a_new_baseline(self) -> None:
        change: dict[str, Figure]
        for change in ({"decode/value/new": Figure(1.0, 3.3)}, {}):
            current = [{**figures_of_round, **change} for figures_of_round in rounds(6)]
            if not change:
                for figures_of_round in current:
                    del figures_of_round[NAMES[0]]
            with self.assertRaisesRegex(SystemExit, "bench-save"):
                self.failing(current)

    def test_too_few_rounds_are_an_error(self) -> None:
        with self.assertRaisesRegex(ValueError, "at least 10"):
            self.failing(rounds(7, count=9))

    def test_a_benchmark_must_be_in_every_round(self) -> None:
        current = rounds(8)
        del current[3][NAMES[1]]
        with self.assertRaisesRegex(ValueError, "not measured in every round"):
            self.failing(current)


class Table(unittest.TestCase):
    def test_medians_per_item_are_read(self) -> None:
        expected = {
            "calibration/record": 3.352,
            "decode/row/five": 21.418,
            "decode/value/decfloat34": 56.85,
            "decode/value/varchar_255": 12.69,
            "transforms/byte_encrypt/ChaCha": 0.4132,
            "transforms/byte_inflate": 2_000_000.0,
        }
        found = figures(TABLE)
        self.assertEqual(found.keys(), expected.keys())
        for name, nanoseconds in expected.items():
            self.assertAlmostEqual(found[name] / nanoseconds, 1, places=3, msg=name)

    def test_a_benchmark_without_items_is_an_error(self) -> None:
        lines = TABLE.splitlines()
        without = "\n".join(line for line in lines if "17.59 Mitem/s" not in line)
        with self.assertRaisesRegex(ValueError, "decode/value/decfloat34"):
            figures(without)

    def test_nothing_is_an_error(self) -> None:
        with self.assertRaisesRegex(ValueError, "no benchmarks"):
            figures("")


class Program(unittest.TestCase):
    """run.py with a program that prints a table."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, value in {"BASELINE": self.folder / "baseline" / "codec.json", "GROUPS": ("all",)}.items():
            mocked = mock.patch.object(run, name, value)
            mocked.start()
            self.addCleanup(mocked.stop)

    def run_it(self, *arguments: str, table: str = TABLE) -> tuple[int, str]:
        program = self.folder / "program"
        program.write_text(f"#!/bin/sh\ncat <<END\n{table}END\n", encoding="utf-8")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        out = io.StringIO()
        command = ["run.py", str(program), "--rounds", "10", *arguments]
        with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(out):
            status = run.main()
        return status, out.getvalue()

    def test_saves_and_compares(self) -> None:
        raw = self.folder / "raw" / "codec.jsonl"
        self.assertEqual(self.run_it("--save", "--raw", str(raw))[0], 0)
        self.assertEqual(len(raw.read_text(encoding="utf-8").splitlines()), 1 + 10 * 5)
        saved = json.loads(run.BASELINE.read_text(encoding="utf-8"))
        self.assertEqual(len(saved["normalised"]["decode/row/five"]), 10)
        status, out = self.run_it("--check")
        self.assertEqual(status, 0, out)
        self.assertIn("as fast as its baseline (3 benchmarks)", out)
        status, out = self.run_it("--check", table=TABLE.replace("46.69 Mitem/s", "33.35 Mitem/s"))
        self.assertEqual(status, 1, out)
        self.assertIn("FAILED decode/row/five: 1.40 times the baseline", out)
        self.assertEqual(out.count("FAILED"), 1)
        status, out = self.run_it("--check", table=TABLE.replace("46.69 Mitem/s", "42.45 Mitem/s"))
        self.assertEqual(status, 0, out)


if __name__ == "__main__":
    unittest.main()
