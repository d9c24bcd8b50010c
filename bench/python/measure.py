"""Measures what several drivers do in turn, and writes what came out."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROUNDS = max(int(os.environ.get("BENCH_ROUNDS", "10")), 1)

OURS = "firearrow"

Sample = dict[str, Any]

FIGURE = "a figure: "
"""Begins a note that is one."""


class Wrong(Exception):
    """What was measured did not do its work, so there is no figure."""


def measure(
    case: str,
    works: dict[str, Callable[[], Any]],
    check: Callable[[str, Any], None],
    count: int,
    repeat: int = 1,
) -> list[Sample]:
    """Runs each work in every round.

    Parameters
    ----------
    works
        What each driver does; ours is called OURS.
    check
        Raises if the result is wrong. Not timed, and called for every round.
    count
        What a work does, in rows or calls.
    repeat
        How often a work is done in a row: the time of small ones.
    """
    samples = []
    for number in range(ROUNDS):
        for driver, work in works.items():
            cpu, begin = time.process_time(), time.perf_counter()
            try:
                for _ in range(repeat):
                    result = work()
                took, cpu = time.perf_counter() - begin, time.process_time() - cpu
                check(driver, result)
            except Exception as failed:
                raise Wrong(f"{driver}: {type(failed).__name__}: {failed}") from failed
            del result
            samples.append(
                {
                    "case": case,
                    "round": number,
                    "driver": driver,
                    "seconds": took,
                    "cpu": cpu,
                    "count": count * repeat,
                }
            )
    return samples


def first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]


def environment(firebird: str, transport: str = "loopback, plain") -> dict[str, Any]:
    import firearrow

    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "firearrow": firearrow.__version__,
        "firebird": firebird,
        "transport": transport,
        "python": platform.python_version(),
        "machine": f"{os.cpu_count()} processors, {platform.platform()}",
        "rounds": ROUNDS,
        "load_before": round(os.getloadavg()[0], 2),
    }


def write(folder: Path, about: dict[str, Any], samples: list[Sample], notes: Iterable[str]) -> None:
    notes = list(notes)
    folder.mkdir(parents=True, exist_ok=True)
    record = "".join(json.dumps(line, allow_nan=False) + "\n" for line in recorded(about, samples, list(notes)))
    (folder / "raw.jsonl").write_text(record, encoding="utf-8")
    lines = [
        f"# Python drivers, Firebird {about['firebird']}",
        "",
        f"firearrow {about['firearrow']}, Python {about['python']}, {about['machine']},",
        f"load {about['load_before']:.1f} before.",
        f"Over: {about['transport']}. Medians of {ROUNDS} interleaved rounds. Speed: how many times as fast",
        "firearrow is, median of the rounds' ratios. CPU: processor time of the other ÷ that of firearrow's process.",
        "Above 1, firearrow is better. What each driver fetched was compared before it was timed, and checked each time.",
        "",
        "| what | driver | time | each | processor time of each | speed | CPU |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for case in dict.fromkeys(sample["case"] for sample in samples):
        of_case = [sample for sample in samples if sample["case"] == case]
        ours = [sample for sample in of_case if sample["driver"] == OURS]
        for driver in dict.fromkeys(sample["driver"] for sample in of_case):
            theirs = [sample for sample in of_case if sample["driver"] == driver]
            seconds = statistics.median(sample["seconds"] for sample in theirs)
            each = statistics.median(sample["seconds"] / sample["count"] for sample in theirs)
            cpu = statistics.median(sample["cpu"] / sample["count"] for sample in theirs)
            speed, share = "", ""
            if driver != OURS and ours:
                both = list(zip(ours, theirs, strict=False))
                speed = f"{statistics.median(per(b, 'seconds') / per(a, 'seconds') for a, b in both):.2f}"
                # Programs that are only started have no processor time here.
                if cpu:
                    share = f"{statistics.median(per(b, 'cpu') / max(per(a, 'cpu'), 1e-12) for a, b in both):.2f}"
            processor = shown(cpu) if cpu else ""
            lines.append(f"| {case} | {driver} | {shown(seconds)} | {shown(each)} | {processor} | {speed} | {share} |")
    lines += memory_grown(samples)
    told = [note.removeprefix(FIGURE) for note in notes if note.startswith(FIGURE)]
    if told:
        lines += ["", "Percentiles:", ""] + [f"- {note}" for note in told]
    notes = [note for note in notes if not note.startswith(FIGURE)]
    if notes:
        lines += ["", "Without a figure, because it failed or gave other values:", ""] + [f"- {note}" for note in notes]
    text = "\n".join(lines) + "\n"
    (folder / "report.md").write_text(text, encoding="utf-8")
    print(text, flush=True)


def memory_grown(samples: list[Sample]) -> list[str]:
    """A table of what was measured beside time, if anything was."""
    grown: dict[tuple[str, str], list[int]] = {}
    for sample in samples:
        if "memory_growth_bytes" in sample.get("values", {}):
            found = grown.setdefault((sample["case"], sample["driver"]), [])
            found.append(sample["values"]["memory_growth_bytes"])
    if not grown:
        return []
    lines = ["", "| what | driver | growth of memory |", "|---|---|---:|"]
    return lines + [
        f"| {case} | {driver} | {statistics.median(sizes) / 2**20:.1f} MiB |" for (case, driver), sizes in grown.items()
    ]


def recorded(about: dict[str, Any], samples: list[Sample], notes: list[str]) -> list[dict[str, Any]]:
    """The lines of a record as `firearrow bench report` reads it (crates/report/src/record.rs)."""
    server = "without a server" if about["firebird"] == "none" else f"Firebird {about['firebird']}"
    head = {"kind": "head", "schema": "firearrow-bench", "version": 1, "benchmark": "python"}
    lines = [head | {"title": f"Python drivers, {server}", "environment": about}]
    # What stands before the colon is the same work on other data.
    tables = list(dict.fromkeys(sample["case"].split(":")[0] for sample in samples))
    for table in tables:
        chart = {"title": "Time of each", "mark": "bars", "y": "each_s"}
        columns = ["each_s", "wall_s", "client_cpu_each_s"]
        more = {name for sample in samples if sample["case"].split(":")[0] == table for name in sample.get("values", {})}
        columns += sorted(more)
        lines.append({"kind": "table", "id": table, "title": table, "columns": columns, "charts": [chart]})
    for sample in samples:
        values = {"wall_s": sample["seconds"], "rows": sample["count"], "each_s": per(sample, "seconds")}
        values |= sample.get("values", {})
        # Processes that only start another one say nothing about its processor time.
        if sample["cpu"] > sample["seconds"] / 1e6:
            values["client_cpu_each_s"] = per(sample, "cpu")
        lines.append(
            {
                "kind": "sample",
                "table": sample["case"].split(":")[0],
                "case": sample["case"],
                "contestant": sample["driver"],
                "repetition": sample["round"] + 1,
                "values": values,
            }
        )
    missing = [note for note in notes if not note.startswith(FIGURE)]
    return [*lines, {"kind": "end", "complete": not missing, "missing": missing}]


def per(sample: Sample, what: str) -> float:
    return float(sample[what]) / int(sample["count"])


def shown(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"
