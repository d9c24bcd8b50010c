#!/usr/bin/env python3
"""Sums up a test run: `test-report.py CARGO_OUTPUT REPORT`.

libtest cannot skip a test at run time: to cargo, a matrix test without its server has passed. REPORT, written by
crates/testkit/src/report.rs, distinguishes those tests, so that they count as skipped and not as passed.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed;", re.MULTILINE)


def main() -> int:
    output, report = (Path(name).read_text(encoding="utf-8", errors="replace") for name in sys.argv[1:])
    entries = [json.loads(line) for line in report.splitlines()]
    results = [tuple(map(int, counts)) for counts in RESULT.findall(output)]
    passed, failed = (sum(column) for column in zip(*results)) if results else (0, 0)
    skipped = sum(entry["outcome"] == "skipped" for entry in entries)

    print()
    for line in per_target(entries):
        print(line)
    print(f"{passed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


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
