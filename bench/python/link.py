"""Many rows over a slow link: `firearrow wan-proxy` with the round trip and the rate of Firebird's article on BLOBs."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import firearrow

from bulk import same
from drivers import FirebirdDriver, FirebirdSql, Place
from measure import OURS, ROUNDS, Sample, first_line

RTT, RATE = "12.5ms", "71Mbit"
TABLE = "BENCH_LINK"
INSERT = f"INSERT INTO {TABLE} VALUES (?, ?, ?)"
ROWS = 10_000
# For drivers that send each row alone, which would take minutes; what counts is the time of a row.
FEW = 200
PATIENCE = 20.0


def distant(connection: firearrow.Connection, place: Place, notes: list[str]) -> list[Sample]:
    connection.commit()
    connection.execute(f"RECREATE TABLE {TABLE} (ID INTEGER, NAME VARCHAR(64), VAL DOUBLE PRECISION)")
    connection.commit()
    case = f"executemany over a link of {RTT} and {RATE}"
    program = os.environ.get("FIREARROW")
    if program is None:
        notes.append(f"{case}: FIREARROW names no program")
        return []
    samples: list[Sample] = []
    with proxied(program, place) as far:
        opened: dict[str, Any] = {}
        for name, open_one in (
            (OURS, lambda: firearrow.connect(far.url)),
            ("firebird-driver", lambda: FirebirdDriver(far).connection),
            ("firebirdsql", lambda: FirebirdSql(far).connection),
        ):
            try:
                opened[name] = open_one()
                took, _ = timed(opened[name], FEW, connection)
            except Exception as failed:
                notes.append(f"{name}, {case}: {first_line(failed)}")
                continue
            counts = {f"{name}, {FEW} rows": FEW}
            if took / FEW * ROWS < PATIENCE:
                counts = {name: ROWS, **counts} if name == OURS else {name: ROWS}
            for driver, count in counts.items():
                for number in range(ROUNDS):
                    try:
                        took, cpu = timed(opened[name], count, connection)
                    except Exception as failed:
                        notes.append(f"{driver}, {case}: {first_line(failed)}")
                        break
                    sample = {"case": case, "round": number, "driver": driver}
                    samples.append({**sample, "seconds": took, "cpu": cpu, "count": count})
        for one in opened.values():
            one.close()
    return samples


def timed(far: Any, count: int, near: firearrow.Connection) -> tuple[float, float]:
    """Inserts rows; returns the time, and that of the processor, if they are there."""
    rows = [(n, f"row_{n:04d}", float(n)) for n in range(count)]
    cpu, begin = time.process_time(), time.perf_counter()
    send(far, rows)
    took, cpu = time.perf_counter() - begin, time.process_time() - cpu
    same(near.execute(f"SELECT * FROM {TABLE} ORDER BY ID").fetchall(), rows)
    near.execute(f"DELETE FROM {TABLE}")
    near.commit()
    return took, cpu


def send(connection: Any, rows: list[tuple[Any, ...]]) -> None:
    """Inserts rows in one transaction."""
    cursor = connection.cursor()
    cursor.executemany(INSERT, rows)
    connection.commit()
    cursor.close()


@contextmanager
def proxied(program: str, place: Place) -> Iterator[Place]:
    """The place as it is seen over the link."""
    command = [program, "--json", "wan-proxy", f"{place.host}:{place.port}", "--rtt", RTT, "--rate", RATE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as proxy:
        try:
            assert proxy.stdout is not None
            port = int(json.loads(proxy.stdout.readline())["port"])
            parts = urlsplit(place.url)
            login = parts.netloc.rpartition("@")[0]
            there = f"127.0.0.1:{port}"
            url = urlunsplit(parts._replace(netloc=f"{login}@{there}" if login else there))
            yield place._replace(url=url, host="127.0.0.1", port=port)
        finally:
            proxy.terminate()
