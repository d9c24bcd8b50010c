"""A small comparison for `make demo`: reading by firearrow and by firebird-driver, which share an embedded engine.

Usage: demo.py DATABASE CLIENT_LIBRARY FOLDER

DATABASE is a file with the demo tables. FOLDER gets report.md and raw.jsonl.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import firearrow

from bulk import same
from measure import OURS, Sample, environment, measure, write

QUERIES = {
    "rows as tuples: 10 INTEGER": "SELECT * FROM T_INT10 ROWS 50000",
    "rows as tuples: 22 columns": "SELECT * FROM T_WIDE ROWS 10000",
}


def main() -> int:
    database, client, folder = sys.argv[1:]
    samples: list[Sample] = []
    # The first one tells the engine where its files are.
    with firearrow.connect(database) as ours:
        about = environment(str(ours.info["engine_version"]), "an engine in the process")
        import firebird.driver

        firebird.driver.driver_config.fb_client_library.value = client
        theirs = firebird.driver.connect(database, user="SYSDBA")

        def rows(connection: Any, sql: str) -> Any:
            cursor = connection.cursor()
            cursor.execute(sql)
            rows = cursor.fetchall()
            cursor.close()
            return rows

        for name, sql in QUERIES.items():
            expected = rows(ours, sql)
            works = {OURS: lambda sql=sql: rows(ours, sql), "firebird-driver": lambda sql=sql: rows(theirs, sql)}

            def check(_: str, result: Any, expected: Any = expected) -> None:
                same([tuple(row) for row in result], expected)

            samples += measure(name, works, check, len(expected))
        theirs.close()
    write(Path(folder), about, samples, [])
    return 0


if __name__ == "__main__":
    sys.exit(main())
