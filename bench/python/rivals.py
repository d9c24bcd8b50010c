"""Measures the Python package beside other drivers on the same server.

Usage: rivals.py URL CLIENT_LIBRARY FOLDER

The database must have the demo tables. Every result is compared with firearrow's before anything is timed: the number of
rows, and every value. Rounds are interleaved; a ratio is the median of those of the rounds. FOLDER gets report.md and
raw.jsonl.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import firearrow

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "10"))
ROWS = int(os.environ.get("BENCH_ROWS", "200000"))

QUERIES = {
    "10 INTEGER": f"SELECT * FROM T_INT10 ROWS {ROWS}",
    "INTEGER, VARCHAR, INTEGER, DOUBLE, DATE": f"SELECT ID, V16, I32, F64, DT FROM T_WIDE ROWS {ROWS // 2}",
    "22 columns": f"SELECT * FROM T_WIDE ROWS {ROWS // 4}",
}


class Case:
    """Something that each driver does; ours comes first."""

    def __init__(self, name: str, rows: int, drivers: dict[str, Callable[[], Any]]) -> None:
        self.name, self.rows, self.drivers = name, rows, drivers

    def run(self) -> list[dict[str, Any]]:
        samples = []
        for number in range(ROUNDS):
            for driver, work in self.drivers.items():
                cpu, begin = time.process_time(), time.perf_counter()
                result = work()
                took, cpu = time.perf_counter() - begin, time.process_time() - cpu
                del result
                samples.append(
                    {"case": self.name, "round": number, "driver": driver, "seconds": took, "cpu": cpu, "rows": self.rows}
                )
        return samples


def equal(ours: list[tuple[Any, ...]], theirs: list[Any]) -> bool:
    return len(ours) == len(theirs) and all(tuple(a) == tuple(b) for a, b in zip(ours, theirs, strict=True))


def main() -> int:
    url, client, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    parts = urlsplit(url)
    path, user, password = unquote(parts.path)[1:], unquote(parts.username or ""), unquote(parts.password or "")
    plain = f"{url}{'&' if parts.query else '?'}wire_crypt=disabled"
    connection = firearrow.connect(plain)
    version = connection.info["engine_version"]
    others = rivals(version, str(parts.hostname), parts.port or 3050, path, user, password, client)

    samples: list[dict[str, Any]] = []
    notes: list[str] = []
    for name, sql in QUERIES.items():
        ours = connection.execute(sql).fetchall()
        drivers: dict[str, Callable[[], Any]] = {
            "firearrow": lambda sql=sql: connection.execute(sql).fetchall(),
        }
        for other, fetch in others.items():
            try:
                theirs = fetch(sql)
            except Exception as error:
                notes.append(f"{other}, {name}: {type(error).__name__}: {error}".splitlines()[0])
                continue
            if not equal(ours, theirs):
                different = next(
                    ((a, b) for a, b in zip(ours, theirs, strict=False) if tuple(a) != tuple(b)), (len(ours), len(theirs))
                )
                notes.append(f"{other}, {name}: other values, first {different!r}"[:300])
            else:
                drivers[other] = lambda sql=sql, fetch=fetch: fetch(sql)
            del theirs
        if name.startswith("INTEGER"):
            columns = list(zip(*ours, strict=True))
            drivers["the same tuples from lists"] = lambda columns=columns: list(zip(*columns, strict=True))
        samples += Case(f"tuples: {name}", len(ours), drivers).run()

        drivers = {"firearrow": lambda sql=sql: connection.execute(sql).fetch_arrow_table()}
        if "fbfast" in others:
            drivers["fbfast"] = lambda sql=sql: others["fbfast"].arrow(sql)  # type: ignore[attr-defined]
        counts = {driver: work().num_rows for driver, work in drivers.items()}
        assert set(counts.values()) == {len(ours)}, counts
        samples += Case(f"Arrow: {name}", len(ours), drivers).run()
        drivers = {"firearrow": lambda sql=sql: connection.execute(sql).fetch_json()}
        if "fbfast" in others:
            drivers["fbfast"] = lambda sql=sql: others["fbfast"].json(sql)  # type: ignore[attr-defined]
        try:
            counts = {driver: len(json.loads(work())) for driver, work in drivers.items()}
            assert set(counts.values()) == {len(ours)}, counts
            samples += Case(f"JSON: {name}", len(ours), drivers).run()
        except Exception as error:
            notes.append(f"JSON, {name}: {type(error).__name__}: {error}".splitlines()[0])

    samples += inserts(connection, others, notes)
    write(folder, version, samples, notes)
    return 0


def inserts(connection: firearrow.Connection, others: dict[str, Any], notes: list[str]) -> list[dict[str, Any]]:
    """10,000 rows in one transaction."""
    rows = [(number, f"row_{number:04d}", float(number)) for number in range(10_000)]
    sql = "INSERT INTO BENCH_PYTHON VALUES (?, ?, ?)"
    if connection.catalog.tables("BENCH_PYTHON"):
        connection.execute("DROP TABLE BENCH_PYTHON")
        connection.commit()
    connection.execute("CREATE TABLE BENCH_PYTHON (ID INTEGER, NAME VARCHAR(64), VAL DOUBLE PRECISION)")
    connection.commit()

    def check() -> None:
        found = connection.execute("SELECT COUNT(*), SUM(ID), SUM(VAL) FROM BENCH_PYTHON").fetchone()
        assert found == (len(rows), sum(row[0] for row in rows), sum(row[2] for row in rows)), found
        connection.execute("DELETE FROM BENCH_PYTHON")
        connection.commit()

    def ours() -> None:
        connection.executemany(sql, rows)
        connection.commit()

    drivers: dict[str, Callable[[], Any]] = {"firearrow": ours}
    for other, driver in others.items():
        if hasattr(driver, "insert"):
            drivers[other] = lambda driver=driver: driver.insert(sql, rows)
    samples = []
    for number in range(ROUNDS):
        for driver, work in drivers.items():
            cpu, begin = time.process_time(), time.perf_counter()
            work()
            took, cpu = time.perf_counter() - begin, time.process_time() - cpu
            check()
            samples.append(
                {"case": "executemany: 10,000 rows", "round": number, "driver": driver, "seconds": took, "cpu": cpu,
                 "rows": len(rows)}
            )  # fmt: skip
    return samples


class FbFast:
    """fbfast: reads only, Firebird 5."""

    def __init__(self, host: str, port: int, path: str, user: str, password: str) -> None:
        import fbfast

        self.pool = fbfast.Pool(
            fbfast.FirebirdConfig(
                host=host, port=port, database=path, user=user, password=password, wire_crypt="disabled",
                env_file=False, max_result_bytes=None,
            )
        )  # fmt: skip
        self.pool.open()

    def __call__(self, sql: str) -> Any:
        return self.pool.fetch_all(sql)

    def arrow(self, sql: str) -> Any:
        return self.pool.fetch_arrow(sql)

    def json(self, sql: str) -> Any:
        return self.pool.fetch_json(sql)


class DbApi:
    """Any driver of PEP 249."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def __call__(self, sql: str) -> Any:
        cursor = self.connection.cursor()
        cursor.execute(sql)
        rows = cursor.fetchall()
        cursor.close()
        return rows

    def insert(self, sql: str, rows: Any) -> None:
        cursor = self.connection.cursor()
        cursor.executemany(sql, rows)
        self.connection.commit()


def rivals(version: str, host: str, port: int, path: str, user: str, password: str, client: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if version.startswith("5"):
        found["fbfast"] = FbFast(host, port, path, user, password)
    import firebird.driver
    import firebirdsql

    firebird.driver.driver_config.fb_client_library.value = client
    dsn = f"{host}/{port}:{path}"
    found["firebird-driver"] = DbApi(firebird.driver.connect(dsn, user=user, password=password, charset="UTF8"))
    found["firebirdsql"] = DbApi(
        firebirdsql.connect(
            host=host, port=port, database=path, user=user, password=password, charset="UTF8", wire_crypt=False
        )
    )
    return found


def write(folder: Path, version: str, samples: list[dict[str, Any]], notes: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        "firearrow": firearrow.__version__,
        "firebird": version,
        "python": platform.python_version(),
        "machine": f"{os.cpu_count()} processors, {platform.platform()}",
        "rounds": ROUNDS,
    }
    with open(folder / "raw.jsonl", "w", encoding="utf-8") as file:
        for line in [environment, *samples]:
            file.write(json.dumps(line) + "\n")
    lines = [
        f"# Python drivers, Firebird {version}",
        "",
        f"firearrow {firearrow.__version__}, Python {platform.python_version()}, {environment['machine']}; loopback, firearrow and",
        f"fbfast plain. Medians of {ROUNDS} interleaved rounds; speed: how many times as fast firearrow is, the median of the rounds'",
        "ratios; CPU: processor time of firearrow's process ÷ that of the other. Values were compared before.",
        "",
        "| what | driver | seconds | processor seconds | rows/s | speed | CPU |",
        "|---|---|---|---|---|---|---|",
    ]
    for case in dict.fromkeys(sample["case"] for sample in samples):
        of_case = [sample for sample in samples if sample["case"] == case]
        ours = [sample for sample in of_case if sample["driver"] == "firearrow"]
        for driver in dict.fromkeys(sample["driver"] for sample in of_case):
            theirs = [sample for sample in of_case if sample["driver"] == driver]
            seconds = statistics.median(sample["seconds"] for sample in theirs)
            cpu = statistics.median(sample["cpu"] for sample in theirs)
            speed = statistics.median(b["seconds"] / a["seconds"] for a, b in zip(ours, theirs, strict=True))
            share = statistics.median(a["cpu"] / max(b["cpu"], 1e-9) for a, b in zip(ours, theirs, strict=True))
            ratios = "| |" if driver == "firearrow" else f"| {speed:.2f} | {share:.2f} |"
            rate = theirs[0]["rows"] / seconds
            lines.append(f"| {case} | {driver} | {seconds:.4f} | {cpu:.4f} | {rate:,.0f} {ratios}")
    if notes:
        lines += ["", "Not measured, because it failed or gave other values:", ""] + [f"- {note}" for note in notes]
    text = "\n".join(lines) + "\n"
    (folder / "report.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    sys.exit(main())
