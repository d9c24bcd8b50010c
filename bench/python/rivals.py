"""Measures the Python package beside other drivers on the same server.

Usage: rivals.py URL CLIENT_LIBRARY FOLDER [PART...]

The database must have the demo tables. What is fetched is compared with firearrow's before anything is timed: the number of
rows, and every value. Rounds are interleaved; a ratio is the median of those of the rounds. FOLDER gets report.md and
raw.jsonl. Parts are fetch, insert, small, scaling, memory, pool, concurrency, link and postgres; all if none is named.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import firearrow

import bulk
import concurrency
import link
import measure
import memory
import pools
import postgres
import scaling
import small
from drivers import Place, rivals

PARTS = ("fetch", "insert", "small", "scaling", "memory", "pool", "concurrency", "link", "postgres")


def main() -> int:
    url, client, folder, *parts = sys.argv[1:]
    if unknown := set(parts) - set(PARTS):
        raise SystemExit(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    parts = parts or os.environ.get("BENCH_PARTS", "").split() or list(PARTS)
    place = Place.of(url, client)
    connection = firearrow.connect(place.url)
    version = str(connection.info["engine_version"])
    about = measure.environment(version)
    notes: list[str] = []
    others = rivals(place, version, notes)
    samples: list[measure.Sample] = []

    def begin(part: str) -> bool:
        for other in others.values():
            if hasattr(other, "refresh"):
                other.refresh()
        if part in parts:
            print(f"Firebird {version}: {part}", file=sys.stderr, flush=True)
        return part in parts

    if begin("fetch"):
        samples += bulk.fetches(connection, others, notes)
    if begin("insert"):
        samples += bulk.inserts(connection, others, notes)
    small.fill(connection)
    if begin("small"):
        samples += small.selects(connection, others, notes)
        samples += small.prepared(place, others, notes)
    if begin("scaling"):
        samples += scaling.scaled(connection, others, notes)
    if begin("memory"):
        samples += memory.grown(connection, place, notes)
    if begin("pool"):
        samples += small.connections(place, notes)
        samples += pools.shared(place, others, notes)
    if begin("concurrency"):
        samples += concurrency.concurrent(place, notes)
    if begin("link"):
        samples += link.distant(connection, place, notes)
    if begin("postgres"):
        samples += postgres.rows_of_five(connection, notes)
    measure.write(Path(folder), about, samples, notes)
    for other in others.values():
        other.close()
    connection.close()
    return 0 if samples else 1


if __name__ == "__main__":
    sys.exit(main())
