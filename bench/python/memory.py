"""How much memory a process takes for 100,000 rows: kept as tuples, and passed one by one.

Usage: memory.py DRIVER HOW URL CLIENT_LIBRARY   prints the growth in bytes; HOW is keep or pass.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from drivers import FirebirdDriver, FirebirdSql, Place
from measure import OURS, ROUNDS, Sample, first_line

ROWS = 100_000
TABLE = "BENCH_MEMORY"
SELECT = f"SELECT * FROM {TABLE}"
DRIVERS = (OURS, "firebird-driver", "firebirdsql")


def grown(connection: Any, place: Place, notes: list[str]) -> list[Sample]:
    """Each in a process of its own: memory that was used before would hide what is needed."""
    connection.commit()
    connection.execute(f"RECREATE TABLE {TABLE} (ID INTEGER, NAME VARCHAR(64), VAL DOUBLE PRECISION)")
    connection.commit()
    connection.executemany(f"INSERT INTO {TABLE} VALUES (?, ?, ?)", (row(number) for number in range(ROWS)))
    connection.commit()
    samples: list[Sample] = []
    for how, name in (("keep", "100,000 tuples"), ("pass", "100,000 rows passed one by one")):
        for number in range(ROUNDS):
            for driver in DRIVERS:
                command = [sys.executable, __file__, driver, how, place.url, place.client]
                try:
                    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
                    if done.returncode:
                        raise RuntimeError(done.stderr.strip().splitlines()[-1])
                    found = json.loads(done.stdout)
                except Exception as failed:
                    notes.append(f"{driver}, memory: {name}: {first_line(failed)}")
                    continue
                samples.append({"case": f"memory: {name}", "round": number, "driver": driver, "count": ROWS, **found})
    return samples


def row(number: int) -> tuple[Any, ...]:
    return number, f"row_{number:04d}", float(number)


def status(name: str) -> int:
    """A figure of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"the system does not tell {name}")


def main() -> None:
    driver, how, url, client = sys.argv[1:]
    place = Place.of(url, client)
    # The URL had this option already.
    place = place._replace(url=url)
    if driver == OURS:
        import firearrow

        connection: Any = firearrow.connect(place.url)
    else:
        opened = (FirebirdDriver if driver == "firebird-driver" else FirebirdSql)(place)
        connection = opened.connection
    cursor = connection.cursor()
    # What is made once.
    cursor.execute(f"{SELECT} ROWS 10")
    cursor.fetchall()
    before = status("VmRSS")
    # From here on VmHWM is the highest.
    Path("/proc/self/clear_refs").write_text("5")
    cpu, begin = time.process_time(), time.perf_counter()
    cursor.execute(SELECT)
    if how == "keep":
        kept = cursor.fetchall()
        took, cpu, most = time.perf_counter() - begin, time.process_time() - cpu, status("VmHWM")
        rows = kept
    else:
        rows, sums = None, [0, 0.0]
        count = 0
        for one in cursor:
            count += 1
            sums[0] += one[0]
            sums[1] += one[2]
        took, cpu, most = time.perf_counter() - begin, time.process_time() - cpu, status("VmHWM")
    if rows is not None:
        right = len(rows) == ROWS and all(tuple(one) == row(number) for number, one in enumerate(rows))
    else:
        total = ROWS * (ROWS - 1) // 2
        right = (count, sums) == (ROWS, [total, float(total)])
    if not right:
        raise SystemExit("other rows than there are")
    print(json.dumps({"seconds": took, "cpu": cpu, "values": {"memory_growth_bytes": max(most - before, 0)}}))
    connection.close()


if __name__ == "__main__":
    main()
