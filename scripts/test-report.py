#!/usr/bin/env python3
"""Sums up a test run: `cargo test 2>&1 | test-report.py BUILT REPORT FAILED`.

Passes the output on. BUILT is what `cargo test --no-run --message-format json` has written; it names the package of each
test binary, whose times go to the file that FIREARROW_STEPS names (see step.sh).

libtest has no skip at run time: a matrix test whose server is absent passes for cargo. REPORT, written by
crates/testkit/src/report.rs, distinguishes skipped tests from passed ones.

Writes the names of the tests that failed to FAILED, a line each, unless it does not know them all.
"""

import json
import os
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

RESULT = re.compile(r"test result: \w+\. (\d+) passed; (\d+) failed;")
BINARY = re.compile(r"\s*Running .*\((.+)\)$")
DOCS = re.compile(r"\s*Doc-tests (\S+)$")
FAILURE = re.compile(r"---- (.+) stdout ----$")
# A failed test's output may be long; what it says first and last is enough to go on.
FAILURE_LINES = 12


def main() -> int:
    built, report, names_of_failed = map(Path, sys.argv[1:])
    watched = watch(sys.stdin.buffer, names(read(built)))
    results, failures = watched.results, watched.failures
    write_steps(watched.steps)
    # The tests write it, so it is complete when their output has ended.
    entries = [json.loads(line) for line in read(report).splitlines()]
    passed, failed = (sum(column) for column in zip(*results)) if results else (0, 0)
    skipped = sum(entry["outcome"] == "skipped" for entry in entries)
    again = [f"{entry['test']} on {entry['target']}" for entry in entries if entry["outcome"] == "again"]
    # That test kills its servers itself.
    again = [test for test in again if not test.startswith("broken_server::")]

    # Again, because thousands of lines may lie between a failure and the end.
    for test, output in failures:
        print(f"\nFAILED {test}")
        for line in shortened([line for line in output if line.strip()]):
            print(f"  {line}")
    print()
    for line in per_target(entries):
        print(line)
    for test in again:
        print(f"AGAIN {test}: its server had stopped working and was replaced")
    print(f"{passed - skipped} passed, {failed} failed, {skipped} skipped, {len(again)} run again")
    # A binary that ends early does not say what else would have failed.
    if len(failures) == failed and len(results) == watched.started:
        names_of_failed.write_text("".join(f"{name.split(': ', 1)[1]}\n" for name, _ in failures), encoding="utf-8")
    return 1 if failed else 0


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def names(built: str) -> dict[str, str]:
    """Test binaries by their paths: `firearrow, it`."""
    found = {}
    for line in built.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["profile"]["test"]:
            target = message["target"]
            package = Path(message["manifest_path"]).parent.name
            is_test = "test" in target["kind"]
            found[Path(message["executable"]).name] = f"{package}, {target['name'] if is_test else 'unit tests'}"
    return found


def shortened(lines: list[str]) -> list[str]:
    if len(lines) <= 2 * FAILURE_LINES:
        return lines
    left_out = len(lines) - 2 * FAILURE_LINES
    return [*lines[:FAILURE_LINES], f"... {left_out} lines ...", *lines[-FAILURE_LINES:]]


class Watched(NamedTuple):
    """What a run's output told."""

    results: list[tuple[int, int]]
    """Passed and failed, for each test binary."""
    steps: list[tuple[str, float]]
    """Each binary's name, and its seconds."""
    failures: list[tuple[str, list[str]]]
    """Each failed test with its binary's name, and what it printed."""
    started: int
    """Test binaries, and crates with documentation, that have begun."""


def watch(lines: Iterable[bytes], binaries: dict[str, str]) -> Watched:
    """Passes the output on."""
    results: list[tuple[int, int]] = []
    steps: list[tuple[str, float]] = []
    failures: list[tuple[str, list[str]]] = []
    output: list[str] | None = None
    started, docs = 0, 0.0
    name, begin = None, 0.0

    def end() -> None:
        nonlocal docs
        if name == "doc tests":
            docs += time.monotonic() - begin
        elif name is not None:
            steps.append((name, time.monotonic() - begin))

    for raw in lines:
        sys.stdout.buffer.write(raw)
        sys.stdout.buffer.flush()
        line = raw.decode(errors="replace").rstrip()
        if found := FAILURE.match(line):
            output = []
            failures.append((f"{name}: {found[1]}", output))
        elif line == "failures:":
            output = None
        elif output is not None:
            output.append(line)
        elif found := RESULT.match(line):
            results.append((int(found[1]), int(found[2])))
        elif found := BINARY.match(line):
            end()
            started += 1
            path = Path(found[1]).name
            name, begin = binaries.get(path, path), time.monotonic()
        elif DOCS.match(line):
            end()
            started += 1
            name, begin = "doc tests", time.monotonic()
    end()
    if docs:
        steps.append(("doc tests", docs))
    return Watched(results, steps, failures, started)


def write_steps(steps: list[tuple[str, float]]) -> None:
    if path := os.environ.get("FIREARROW_STEPS"):
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"{seconds:.0f}\t{name}\n" for name, seconds in steps)


def per_target(entries: list[dict[str, str]]) -> list[str]:
    """Returns one line per platform: `Firebird 3.0.11: 42 ran, 0 failed, 0 skipped`."""
    by_target: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for entry in entries:
        by_target[entry["target"]].append(entry)
    lines = []
    for _, group in sorted(by_target.items()):
        counts = Counter(entry["outcome"] for entry in group)
        # Only entries that ran know the exact version, which makes the name longer.
        name = max((entry["server"] for entry in group), key=len)
        reasons = sorted({entry["reason"] for entry in group if "reason" in entry})
        line = f"{name}: {counts['ran']} ran, {counts['failed']} failed, {counts['skipped']} skipped"
        lines.append(f"{line} ({'; '.join(reasons)})" if reasons else line)
    return lines


if __name__ == "__main__":
    sys.exit(main())
