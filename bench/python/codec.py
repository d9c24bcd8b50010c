"""The codec through Python, without a server: from the bytes of packed rows to tuples and to Arrow.

Usage: codec.py [FOLDER]

Beside it the row parser of informix-driver, in Python alone, and what the tuples cost without any parsing. Everything is
compared with the rows that the bytes were made of. FOLDER gets report.md and raw.jsonl.
"""

from __future__ import annotations

import datetime
import io
import statistics
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from firearrow import _core

from bulk import same
from measure import OURS, Sample, environment, measure, per, shown, write

ROWS = 1000
REPEAT = 20

# Numbers of Firebird's types.
VARYING, DOUBLE, LONG, DATE = 448, 480, 496, 570
UTF8 = 4
MODIFIED_JULIAN = datetime.date(1858, 11, 17)
INFORMIX = datetime.date(1899, 12, 31)

FIVE = [(LONG, 4, 0, 0), (VARYING, 256, 0, UTF8), (LONG, 4, 0, 0), (DOUBLE, 8, 0, 0), (DATE, 4, 0, 0)]


def five(row: int) -> tuple[Any, ...]:
    return row, f"row_{row:04d}", 7 * row, 1.5 * row, datetime.date(2026, 5, 4) - datetime.timedelta(row)


def packed(row: tuple[Any, ...]) -> bytes:
    """A row as Firebird sends it: which values are NULL, then the others in units of four bytes."""
    parts = [bytes(4)]
    for value in row:
        if isinstance(value, int):
            parts.append(struct.pack(">i", value))
        elif isinstance(value, float):
            parts.append(struct.pack(">d", value))
        elif isinstance(value, str):
            text = value.encode()
            parts.append(struct.pack(">I", len(text)) + text + bytes(-len(text) % 4))
        else:
            parts.append(struct.pack(">i", (value - MODIFIED_JULIAN).days))
    return b"".join(parts)


def informix(rows: list[tuple[Any, ...]]) -> Callable[[], list[tuple[Any, ...]]]:
    """The same rows as that driver's server sends them, and its parser."""
    from informix_db._protocol import IfxStreamReader
    from informix_db._resultset import (
        ColumnInfo,
        compile_column_readers,
        compile_row_decoder,
        parse_tuple_payload,
    )
    from informix_db._types import IfxType

    kinds = {int: IfxType.INT, str: IfxType.VARCHAR, float: IfxType.FLOAT, datetime.date: IfxType.DATE}
    types = [kinds[type(value)] for value in rows[0]]
    columns = [ColumnInfo(f"C{number}", int(kind), int(kind), 64) for number, kind in enumerate(types)]
    readers = compile_column_readers(columns)
    decoder = compile_row_decoder(readers, columns)
    same(decoder is not None, True)

    def sent(row: tuple[Any, ...]) -> bytes:
        parts = []
        for value in row:
            if isinstance(value, int):
                parts.append(struct.pack(">i", value))
            elif isinstance(value, float):
                parts.append(struct.pack(">d", value))
            elif isinstance(value, str):
                parts.append(bytes([len(value)]) + value.encode())
            else:
                parts.append(struct.pack(">i", (value - INFORMIX).days))
        payload = b"".join(parts)
        return struct.pack(">hi", 0, len(payload)) + payload + bytes(len(payload) % 2)

    data = b"".join(map(sent, rows))

    def parse() -> list[tuple[Any, ...]]:
        reader = IfxStreamReader(io.BytesIO(data))
        return [parse_tuple_payload(reader, columns, "utf-8", readers, decoder) for _ in range(ROWS)]

    return parse


def main() -> int:
    import pyarrow

    about = environment("none", "bytes in memory")
    samples: list[Sample] = []
    shapes = {
        "1 INTEGER": ([(LONG, 4, 0, 0)], [(7 * row,) for row in range(ROWS)]),
        "10 INTEGER": ([(LONG, 4, 0, 0)] * 10, [tuple(range(row * 7, row * 7 + 10)) for row in range(ROWS)]),
        "INTEGER, VARCHAR, INTEGER, DOUBLE, DATE": (FIVE, [five(row) for row in range(ROWS)]),
    }
    for name, (columns, rows) in shapes.items():
        data = b"".join(map(packed, rows))
        decoder = _core.Decoder(columns)
        lists = list(zip(*rows, strict=True))
        works: dict[str, Callable[[], Any]] = {
            OURS: lambda decoder=decoder, data=data: decoder.rows(data),
            "firearrow, to Arrow": lambda decoder=decoder, data=data: pyarrow.table(decoder.arrow(data)),
            "informix-driver": informix(rows),
            "tuples of objects that exist": lambda lists=lists: list(zip(*lists, strict=True)),
        }

        def check(driver: str, found: Any, rows: list[tuple[Any, ...]] = rows) -> None:
            if driver == "firearrow, to Arrow":
                found = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
            same(found, rows)

        for driver, work in works.items():
            check(driver, work())
        samples += measure(name, works, check, ROWS, REPEAT)

    print(f"{'':40} {'driver':30} {'a row':>9} {'firearrow is':>13} times as fast")
    for case in shapes:
        ours = [sample for sample in samples if (sample["case"], sample["driver"]) == (case, OURS)]
        for driver in works:
            theirs = [sample for sample in samples if (sample["case"], sample["driver"]) == (case, driver)]
            ratio = statistics.median(per(b, "seconds") / per(a, "seconds") for a, b in zip(ours, theirs, strict=True))
            row = shown(statistics.median(per(sample, "seconds") for sample in theirs))
            print(f"{case:40} {driver:30} {row:>9} {ratio:13.2f}")
    if len(sys.argv) > 1:
        write(Path(sys.argv[1]), about, samples, [])
    return 0


if __name__ == "__main__":
    sys.exit(main())
