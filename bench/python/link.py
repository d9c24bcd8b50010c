"""Many rows over a slow link: `firearrow wan-proxy` with the round trip and the rate of Firebird's article on BLOBs."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
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
# Drivers that send each row alone would take minutes; what counts is the time of a row.
FEW = 200


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
        works: dict[str, tuple[int, Any, Callable[..., None]]] = {}
        try:
            ours = firearrow.connect(far.url)
            works[OURS] = ROWS, ours, send
            works[f"firearrow, {FEW} rows"] = FEW, ours, send
            for name, kind in (("firebird-driver", FirebirdDriver), ("firebirdsql", FirebirdSql)):
                works[f"{name}, {FEW} rows"] = FEW, kind(far).connection, send
        except Exception as failed:
            notes.append(f"{case}: {first_line(failed)}")
        for driver, (count, open_one, work) in list(works.items()):
            for number in range(ROUNDS):
                rows = [(n, f"row_{n:04d}", float(n)) for n in range(count)]
                try:
                    cpu, begin = time.process_time(), time.perf_counter()
                    work(open_one, rows)
                    took, cpu = time.perf_counter() - begin, time.process_time() - cpu
                    same(connection.execute(f"SELECT * FROM {TABLE} ORDER BY ID").fetchall(), rows)
                    connection.execute(f"DELETE FROM {TABLE}")
                    connection.commit()
                except Exception as failed:
                    notes.append(f"{driver}, {case}: {first_line(failed)}")
                    break
                samples.append(
                    {"case": case, "round": number, "driver": driver, "seconds": took, "cpu": cpu, "count": count}
                )
        for open_one in {id(work[1]): work[1] for work in works.values()}.values():
            open_one.close()
    return samples


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
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as proxy:
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
