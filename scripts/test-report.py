#!/usr/bin/env python3
"""Sums up a test run: `test-report.py CARGO_OUTPUT REPORT`.

libtest has no skip at run time: a matrix test whose server is absent passes for cargo. REPORT, written by
crates/testkit/src/report.rs, tells those apart, so that they are counted as skipped and not as passed.
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
    """One line per platform: `Firebird 3.0.11: 42 ran, 0 failed, 0 skipped`."""
    by_target: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
    for entry in entries:
        by_target[entry["target"]].append(entry)
    lines = []
    for _, group in sorted(by_target.items()):
        counts = Counter(entry["outcome"] for entry in group)
        # Only entries that ran know the exact version, and it makes the name longer.
        name = max((entry["server"] for entry in group), key=len)
        reasons = sorted({entry["reason"] for entry in group if "reason" in entry})
        line = f"{name}: {counts['ran']} ran, {counts['failed']} failed, {counts['skipped']} skipped"
        lines.append(f"{line} ({'; '.join(reasons)})" if reasons else line)
    return lines


if __name__ == "__main__":
    sys.exit(main())
