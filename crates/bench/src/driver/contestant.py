"""The contestants in Python: reads a job, then its rows once for every further line. See job.rs.

All rows are fetched before any of them is hashed: hashing in Python takes longer than fetching, and a driver that
reads ahead would gain by it.
"""

from __future__ import annotations

import datetime
import decimal
import importlib
import importlib.metadata
import itertools
import json
import os
import sys
import time
from abc import ABC, abstractmethod
from typing import Any

Job = dict[str, Any]


class Contestant(ABC):
    """A driver of PEP 249."""

    distribution = ""
    """The name that pip knows."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.module = importlib.import_module(self.distribution.replace("-", "_"))

    @abstractmethod
    def connect(self) -> Any:
        """Opens a connection."""

    def execute(self, connection: Any, sql: str) -> Any:
        cursor = connection.cursor()
        cursor.execute(sql)
        return cursor

    def fetch(self, cursor: Any) -> list[Any]:
        """All rows: a list of tuples, or of Arrow batches."""
        rows: list[Any] = cursor.fetchall()
        return rows

    def release(self, connection: Any, cursor: Any) -> None:
        cursor.close()
        connection.close()

    def refuse(self, what: str) -> None:
        """Says what this driver cannot do."""
        raise Unable(f"{self.distribution} {what}")

    def wants_plain_server(self, job: Job) -> None:
        """Refuses what is not a server, or compresses."""
        if not job["host"]:
            self.refuse("reads from servers only")
        if job["compressed"]:
            self.refuse("does not compress")


class Unable(Exception):
    """Something else is wanted than this driver can do."""


class Wrong(Exception):
    """The values have other types than the columns."""


class Firearrow(Contestant):
    distribution = "firearrow"

    def connect(self) -> Any:
        login = {name: self.job[name] for name in ("user", "password") if self.job[name]}
        return self.module.connect(self.job["url"], **login)


class Pyodbc(Contestant):
    distribution = "pyodbc"

    def connect(self) -> Any:
        return self.module.connect(self.job["odbc"], autocommit=True)


class Turbodbc(Contestant):
    distribution = "turbodbc"

    def connect(self) -> Any:
        return self.module.connect(connection_string=self.job["odbc"])


class ArrowOdbc(Contestant):
    distribution = "arrow-odbc"

    def connect(self) -> Any:
        return self.module.connect(self.job["odbc"])

    def execute(self, connection: Any, sql: str) -> Any:
        longest = self.job["longest"]
        return connection.read_arrow_batches(
            query=sql, batch_size=self.job["block"], max_text_size=longest, max_binary_size=longest
        )

    def fetch(self, cursor: Any) -> list[Any]:
        return list(cursor)

    def release(self, connection: Any, cursor: Any) -> None:
        del cursor, connection


class FirebirdDriver(Contestant):
    distribution = "firebird-driver"

    def __init__(self, job: Job) -> None:
        self.job = job
        self.module = importlib.import_module("firebird.driver")
        if job["client"] and not job["host"]:
            # Where the engine finds its plugins.
            os.environ.setdefault("FIREBIRD", os.path.dirname(job["client"]))
        if job["client"]:
            self.module.driver_config.fb_client_library.value = job["client"]
        # Its default is the client library's, which encrypts if the server agrees.
        settings = f"WireCrypt={'Enabled' if job['encrypted'] else 'Disabled'}"
        settings += f"\nWireCompression={'true' if job['compressed'] else 'false'}"
        self.module.driver_config.db_defaults.config.value = settings
        # The library is loaded now, and not within the time.
        self.module.get_api()

    def connect(self) -> Any:
        job = self.job
        place = f"{job['host']}/{job['port']}:{job['database']}" if job["host"] else job["database"]
        return self.module.connect(place, user=job["user"], password=job["password"], charset="UTF8")


class FbFast(Contestant):
    distribution = "fbfast"

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.wants_plain_server(job)

    def connect(self) -> Any:
        job = self.job
        pool = self.module.Pool(
            self.module.FirebirdConfig(
                host=job["host"], port=job["port"], database=job["database"],
                user=job["user"], password=job["password"],
                wire_crypt="enabled" if job["encrypted"] else "disabled", env_file=False, max_result_bytes=None,
            )
        )  # fmt: skip
        pool.warmup_sync()
        return pool

    def execute(self, connection: Any, sql: str) -> Any:
        return connection, sql

    def fetch(self, cursor: Any) -> list[Any]:
        pool, sql = cursor
        return list(pool.fetch_all(sql, []))

    def release(self, connection: Any, cursor: Any) -> None:
        connection.close_sync()


class FirebirdSql(Contestant):
    distribution = "firebirdsql"

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.wants_plain_server(job)

    def connect(self) -> Any:
        job = self.job
        return self.module.connect(
            host=job["host"], port=job["port"], database=job["database"], user=job["user"], password=job["password"],
            charset="UTF8", wire_crypt=job["encrypted"],
        )  # fmt: skip


WAYS = {
    each.distribution: each
    for each in (Firearrow, Pyodbc, Turbodbc, ArrowOdbc, FirebirdDriver, FbFast, FirebirdSql)
}


def turn(contestant: Contestant, job: Job) -> dict[str, Any]:
    is_fresh = reset_peak()
    clock = Clock()
    connection = contestant.connect()
    connect_s = clock.lap()
    cursor = contestant.execute(connection, job["sql"])
    execute_s = clock.lap()
    rows = contestant.fetch(cursor)
    drain_s = clock.lap()
    contestant.release(connection, cursor)
    del connection, cursor
    release_s = clock.lap()
    cpu_s, memory = clock.cpu(), peak() if is_fresh else None
    count, hashes = hashed(rows, job["columns"])
    afterwards_s = clock.lap()
    return {
        "rows": count,
        "hashes": [f"{each:016x}" for each in hashes],
        "connect_s": connect_s,
        "execute_s": execute_s,
        "drain_s": drain_s,
        "release_s": release_s,
        "afterwards_s": afterwards_s,
        "cpu_s": cpu_s,
        "peak_rss_bytes": memory,
    }


class Clock:
    """Elapsed time, phase by phase, and processor time of all of them."""

    def __init__(self) -> None:
        self.processor, self.wall = time.process_time(), time.perf_counter()

    def lap(self) -> float:
        before, self.wall = self.wall, time.perf_counter()
        return self.wall - before

    def cpu(self) -> float:
        return time.process_time() - self.processor


def reset_peak() -> bool:
    """Makes the kernel measure the peak of memory from now on; some containers forbid it."""
    try:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
        return True
    except OSError:
        return False


def peak() -> int | None:
    with open("/proc/self/status") as status:
        found = [line.split()[1] for line in status if line.startswith("VmHWM:")]
    return int(found[0]) * 1024 if found else None


def hashed(rows: list[Any], columns: list[dict[str, Any]]) -> tuple[int, list[int]]:
    """The number of rows and the sum of the hashes of each column: crates/bench/src/demo/checksum.rs."""
    sums, count = [0] * len(columns), 0
    while rows:
        if hasattr(rows[0], "columns"):
            batch = rows.pop(0)
            count += batch.num_rows
            parts: Any = [listed(values) for values in batch.columns]
        else:
            block, rows = rows[:BLOCK], rows[BLOCK:]
            count += len(block)
            parts = zip(*block, strict=True)
        parts = list(parts)
        if len(parts) != len(columns):
            raise Wrong(f"{len(parts)} columns, not {len(columns)}")
        for at, (column, values) in enumerate(zip(columns, parts, strict=True)):
            sums[at] = (sums[at] + sum_of(column, values)) & MASK
    return count, sums


def listed(values: Any) -> list[Any]:
    pyarrow: Any = importlib.import_module("pyarrow")
    if pyarrow.types.is_timestamp(values.type):
        values = values.cast(pyarrow.timestamp("us"))
    found: list[Any] = values.to_pylist()
    return found


BLOCK = 65_536
MASK = (1 << 64) - 1
NULL = 0x910A2DEC89025CC1
TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "float32": (float,),
    "float64": (float,),
    "decimal": (decimal.Decimal, int),
    "date": (datetime.date,),
    "time": (datetime.time,),
    "timestamp": (datetime.datetime,),
    "text": (str,),
    "binary": (bytes, bytearray, memoryview),
}


def sum_of(column: dict[str, Any], values: Any) -> int:
    import numpy

    kind = column["kind"]
    there = [value for value in values if value is not None]
    allowed = TYPES.get(kind, (int,))
    if wrong := set(map(type, there)) - set(allowed):
        names = ", ".join(sorted(each.__name__ for each in wrong))
        raise Wrong(f"column {column['name']} ({kind}) has values of the type {names}; its figures are withheld")
    nulls = (len(values) - len(there)) * NULL
    if not there:
        return nulls
    if kind in ("text", "binary"):
        pieces = [value.encode() for value in there] if kind == "text" else [bytes(value) for value in there]
        hashes = of_bytes(pieces, 7 if kind == "text" else 9)
    elif kind in ("float32", "float64"):
        hashes = mix(numpy.array(there, dtype="f8").view("u8") ^ u64(3 << 60))
    elif kind == "boolean":
        hashes = mix(numpy.array(there, dtype="u8") ^ u64(4 << 60))
    elif kind == "timestamp":
        hashes = mix(numpy.array(there, dtype="M8[us]").view("u8") ^ u64(5 << 60))
    elif kind == "date":
        hashes = mix(numpy.array(there, dtype="M8[D]").view("u8") ^ u64(6 << 60))
    elif kind == "time":
        since = [((t.hour * 60 + t.minute) * 60 + t.second) * 1_000_000 + t.microsecond for t in there]
        hashes = mix(numpy.array(since, dtype="u8") ^ u64(8 << 60))
    else:
        hashes = of_numbers(there, column.get("scale", 0))
    return int(hashes.sum(dtype="u8")) + nulls


def of_numbers(values: list[Any], scale: int) -> Any:
    import numpy

    if any(type(value) is decimal.Decimal for value in values):
        values = [unscaled(value, scale) for value in values]
    elif scale:
        values = [value * 10**scale for value in values]
    low = numpy.array([value & MASK for value in values], dtype="u8")
    high = numpy.array([value >> 64 & MASK for value in values], dtype="u8")
    return mix(mix(low) ^ high ^ u64(scale << 56 ^ 2))


def unscaled(value: Any, scale: int) -> int:
    moved = EXACTLY.scaleb(value, scale)
    whole = int(moved)
    if whole != moved:
        raise Wrong(f"{value} has more than {scale} digits after the point; its figures are withheld")
    return whole


EXACTLY = decimal.Context(prec=60)


def of_bytes(pieces: list[bytes], kind: int) -> Any:
    """Word by word: the first words of all values, then the second ones of those that have some."""
    import numpy

    pieces.sort(key=len, reverse=True)
    lengths = numpy.fromiter(map(len, pieces), dtype="u8", count=len(pieces))
    counts = (lengths + u64(7)) // u64(8)
    padded = b"".join(piece.ljust((len(piece) + 7) // 8 * 8, b"\0") for piece in pieces)
    words = numpy.frombuffer(padded, dtype="<u8")
    starts = numpy.fromiter(itertools.accumulate(map(int, counts), initial=0), dtype="i8")[:-1]
    hashes = mix(lengths ^ u64(kind << 60))
    for at in range(int(counts[0])):
        some = int(numpy.searchsorted(-counts.astype("i8"), -at, side="left"))
        hashes[:some] = mix(hashes[:some] ^ words[starts[:some] + at])
    return hashes


def mix(value: Any) -> Any:
    z = value + u64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> u64(30))) * u64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> u64(27))) * u64(0x94D049BB133111EB)
    return z ^ (z >> u64(31))


def u64(value: int) -> Any:
    import numpy

    return numpy.uint64(value & MASK)


def text_of(error: BaseException) -> str:
    lines = f"{type(error).__name__}: {error}".splitlines()
    return " ".join(line.strip() for line in lines)[:400]


def main() -> None:
    job = json.loads(sys.stdin.readline())

    def answer(line: dict[str, Any]) -> None:
        print(json.dumps(line), flush=True)

    try:
        kind = WAYS[job["way"]]
        contestant = kind(job)
        importlib.import_module("numpy")
    except ModuleNotFoundError as missing:
        return answer({"error": f"the module {missing.name} is not installed in {sys.prefix}"})
    except Exception as failed:
        return answer({"error": text_of(failed)})
    answer({"ready": f"{kind.distribution} {importlib.metadata.version(kind.distribution)}"})
    for _ in sys.stdin:
        try:
            answer(turn(contestant, job))
        except Exception as failed:
            answer({"error": text_of(failed)})


if __name__ == "__main__":
    main()
