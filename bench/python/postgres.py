"""The same rows through PostgreSQL's drivers, on a private server: what processor time a row costs there."""

from __future__ import annotations

import asyncio
import glob
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import firearrow

from bulk import FIVE, QUERIES, agrees, attempt, same
from measure import OURS, Sample, first_line

SQL = "SELECT id, v16, i32, f64, dt FROM five"


def rows_of_five(connection: firearrow.Connection, notes: list[str]) -> list[Sample]:
    ours = connection.execute(QUERIES[FIVE]).fetchall()
    try:
        with server() as place:
            return compared(place, connection, ours, notes)
    except Exception as failed:
        notes.append(f"PostgreSQL: {first_line(failed)}")
        return []


def compared(place: str, connection: firearrow.Connection, ours: Any, notes: list[str]) -> list[Sample]:
    import asyncpg
    import psycopg

    works: dict[str, Callable[[], Any]] = {OURS: lambda: connection.execute(QUERIES[FIVE]).fetchall()}
    with psycopg.connect(place) as postgres, asyncio.Runner() as runner:
        same(psycopg.pq.__impl__ in ("c", "binary"), True)
        with postgres.cursor() as cursor:
            cursor.execute("CREATE TABLE five (id integer, v16 varchar(64), i32 integer, f64 double precision, dt date)")
            with cursor.copy("COPY five FROM STDIN") as copy:
                for row in ours:
                    copy.write_row(row)
        postgres.commit()
        awaited = runner.run(asyncpg.connect(place))
        works["psycopg, binary"] = lambda: postgres.cursor(binary=True).execute(SQL).fetchall()
        works["asyncpg"] = lambda: runner.run(awaited.fetch(SQL))
        for work in works.values():
            agrees(ours, work())
        samples = attempt(f"beside PostgreSQL: {FIVE}", works, lambda _, rows: same(len(rows), len(ours)), len(ours), notes)
        runner.run(awaited.close())
    return samples


@contextmanager
def server() -> Iterator[str]:
    """A server with a database of its own, which ends with the block."""
    binaries = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    if not binaries:
        raise RuntimeError("PostgreSQL is not installed (apt-get install postgresql)")
    # It refuses to run as root.
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    folder = Path(tempfile.mkdtemp(prefix="bench-postgres-"))
    if as_user:
        shutil.chown(folder, "postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = str(folder / "data")

    def run(program: str, *arguments: str) -> None:
        command = [*as_user, f"{binaries[-1]}/{program}", *arguments]
        subprocess.run(command, check=True, timeout=120, stdout=subprocess.DEVNULL, cwd="/")

    options = f"-p {port} -h 127.0.0.1 -k {folder} -c shared_buffers=256MB"
    try:
        run("initdb", "-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--no-sync")
        run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-w", "-o", options, "start")
        try:
            yield f"postgresql://bench@127.0.0.1:{port}/postgres?sslmode=disable"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
