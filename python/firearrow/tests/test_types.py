"""Every type of Firebird in both directions, with values at its edges, read back by a second connection."""

from __future__ import annotations

import datetime
import math
import uuid
from datetime import date
from datetime import datetime as moment
from datetime import time as clock
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from columns import assert_same, ids, make, read, read_own

import firearrow

UTC = datetime.timezone.utc

BERLIN = ZoneInfo("Europe/Berlin")

# Type, values, and the first version that has it. Each value comes back equal and of the same class.
EXACT: list[tuple[str, list[Any], int]] = [
    ("SMALLINT", [-32768, -1, 0, 32767], 3),
    ("INTEGER", [-(2**31), 0, 2**31 - 1], 3),
    ("BIGINT", [-(2**63), 0, 2**63 - 1], 3),
    ("INT128", [-(2**127), -(10**38), 0, 10**38, 2**127 - 1], 4),
    ("FLOAT", [0.0, -0.5, 1.5, 2.0**127, 2.0**-126, math.inf, -math.inf], 3),
    (
        "DOUBLE PRECISION",
        [0.0, 0.1, -1e-307, 1.7976931348623157e308, 2.2250738585072014e-308, math.inf, -math.inf],
        3,
    ),
    ("BOOLEAN", [True, False], 3),
    ("NUMERIC(4,2)", [Decimal("-327.68"), Decimal("0.00"), Decimal("327.67")], 3),
    ("NUMERIC(9,9)", [Decimal("-2.147483648"), Decimal("0.000000001")], 3),
    (
        "NUMERIC(18,4)",
        [Decimal("-922337203685477.5808"), Decimal("0.0001"), Decimal("922337203685477.5807")],
        3,
    ),
    ("DECIMAL(18,0)", [Decimal(-(2**63)), Decimal(0), Decimal(2**63 - 1)], 3),
    (
        "NUMERIC(38,10)",
        [Decimal("-9999999999999999999999999999.9999999999"), Decimal("0.0000000001")],
        4,
    ),
    ("DECIMAL(38,0)", [Decimal("9" * 38), Decimal("-" + "9" * 38)], 4),
    (
        "DECFLOAT(16)",
        [Decimal("9.999999999999999E+384"), Decimal("-1E-398"), Decimal("0.1"), Decimal("Infinity")],
        4,
    ),
    (
        "DECFLOAT(34)",
        [
            Decimal("9.999999999999999999999999999999999E+6144"),
            Decimal("1E-6176"),
            Decimal("-1.234567890123456789012345678901234"),
            Decimal("-Infinity"),
        ],
        4,
    ),
    ("DATE", [date(1, 1, 1), date(1858, 11, 17), date(1970, 1, 1), date(2024, 2, 29), date(9999, 12, 31)], 3),
    ("TIME", [clock(0), clock(12, 34, 56, 100), clock(23, 59, 59, 999900)], 3),
    (
        "TIMESTAMP",
        [
            moment(1, 1, 1),
            moment(1969, 12, 31, 23, 59, 59, 999900),
            moment(9999, 12, 31, 23, 59, 59, 999900),
        ],
        3,
    ),
    ("VARCHAR(1)", ["", "a", "ä", "😀"], 3),
    ("VARCHAR(100)", ["", " ", "x" * 100, "😀" * 100, "a\0b", "\r\n\t", "Grüße, Жук, 日本"], 3),
    ("VARCHAR(8191)", ["", "x" * 8191, "😀" * 8191], 3),
    ("CHAR(3)", ["abc", "   ", "ä😀x"], 3),
    ("VARCHAR(10) CHARACTER SET WIN1252", ["", "Grüße €", "ÿþ"], 3),
    ("CHAR(3) CHARACTER SET ISO8859_1", ["äöü"], 3),
    ("VARCHAR(10) CHARACTER SET NONE", ["", "abc", "ä€"], 3),
    ("VARCHAR(5) CHARACTER SET OCTETS", [b"", b"\0", b"\0\x01\xfe\xff\n"], 3),
    ("CHAR(3) CHARACTER SET OCTETS", [b"\0\0\0", b"\xff\xfe\xfd"], 3),
    ("VARCHAR(32765) CHARACTER SET OCTETS", [bytes(range(256)) * 127], 3),
    ("BINARY(3)", [b"\0\0\0", b"\xff\xfe\xfd"], 4),
    ("VARBINARY(5)", [b"", b"\0\x01"], 4),
    ("BLOB", [b"", b"\0", b"x" * 70_000, bytes(range(256)) * 20_480], 3),
    ("BLOB SUB_TYPE TEXT", ["", "a", "ä😀" * 35_000, "0123456789abcdef" * 327_680], 3),
    ("BLOB SUB_TYPE TEXT CHARACTER SET WIN1252", ["", "Grüße €" * 10_000], 3),
    ("BLOB SUB_TYPE TEXT CHARACTER SET NONE", ["", "abc ä"], 3),
    ("BLOB SUB_TYPE -5", [b"", b"\0\xff"], 3),
    (
        "TIMESTAMP WITH TIME ZONE",
        [
            moment(2024, 7, 1, 12, 30, 0, 100, UTC),
            moment(2024, 7, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=-9, minutes=-30))),
            moment(2024, 7, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=14))),
            moment(2024, 7, 1, 12, tzinfo=BERLIN),
            moment(1, 1, 1, tzinfo=UTC),
            moment(9999, 12, 31, 23, 59, 59, 999900, UTC),
        ],
        4,
    ),
    (
        "TIME WITH TIME ZONE",
        [
            clock(12, 30, 0, 100, UTC),
            clock(1, tzinfo=datetime.timezone(datetime.timedelta(hours=5, minutes=30))),
        ],
        4,
    ),
]


@pytest.mark.parametrize(("sql_type", "values", "since"), EXACT, ids=ids)
def test_values_come_back(
    connection: firearrow.Connection,
    other: firearrow.Connection,
    table: str,
    version: int,
    sql_type: str,
    values: list[Any],
    since: int,
) -> None:
    """By ``execute`` and by ``executemany``, with NULL before, between and after."""
    if version < since:
        with pytest.raises(firearrow.Error):
            make(connection, table, sql_type)
        return
    make(connection, table, sql_type)
    wanted = [None, *values, None]
    insert = f"INSERT INTO {table} VALUES (?, ?)"
    for number, value in enumerate(wanted):
        connection.execute(insert, (number, value))
    connection.commit()
    assert_same(read(other, table), wanted)
    connection.execute(f"DELETE FROM {table}")
    cursor = connection.executemany(insert, list(enumerate(wanted)))
    assert cursor.rowcount == len(wanted)
    connection.commit()
    assert_same(read(other, table), wanted)


@pytest.mark.parametrize(("sql_type", "values", "since"), EXACT, ids=ids)
def test_values_pass_through_expressions(
    connection: firearrow.Connection, version: int, sql_type: str, values: list[Any], since: int
) -> None:
    """A value is the same after a cast, without a table."""
    if version < since:
        pytest.skip(f"{sql_type} came with Firebird {since}")
    for value in values:
        row = connection.execute(f"SELECT CAST(? AS {sql_type}) FROM RDB$DATABASE", (value,)).fetchone()
        assert_same(list(row), [value])


LITERALS: list[tuple[str, str, Any, int]] = [
    ("SMALLINT", "-32768", -32768, 3),
    ("BIGINT", "9223372036854775807", 2**63 - 1, 3),
    ("INT128", "170141183460469231731687303715884105727", 2**127 - 1, 4),
    ("NUMERIC(9,2)", "-12.3", Decimal("-12.30"), 3),
    ("NUMERIC(38,4)", "-0.0001", Decimal("-0.0001"), 4),
    ("DECFLOAT", "1.5E+400", Decimal("1.5E+400"), 4),
    ("DOUBLE PRECISION", "1e300", 1e300, 3),
    ("BOOLEAN", "TRUE", True, 3),
    ("DATE", "'0001-01-01'", date(1, 1, 1), 3),
    ("TIME", "'23:59:59.9999'", clock(23, 59, 59, 999900), 3),
    ("TIMESTAMP", "'9999-12-31 00:00:00.0001'", moment(9999, 12, 31, 0, 0, 0, 100), 3),
    (
        "TIMESTAMP WITH TIME ZONE",
        "'2026-07-01 12:00:00 Europe/Berlin'",
        moment(2026, 7, 1, 12, tzinfo=BERLIN),
        4,
    ),
    ("VARCHAR(10) CHARACTER SET WIN1252", "'Grüße €'", "Grüße €", 3),
    ("CHAR(5)", "'ä'", "ä    ", 3),
    ("CHAR(4) CHARACTER SET OCTETS", "x'00ff'", b"\0\xff\0\0", 3),
    ("BLOB SUB_TYPE TEXT", "'lang'", "lang", 3),
    ("BLOB", "x'0001'", b"\0\x01", 3),
]


@pytest.mark.parametrize(("sql_type", "literal", "value", "since"), LITERALS, ids=ids)
def test_literals_and_parameters_are_equal(
    connection: firearrow.Connection,
    table: str,
    version: int,
    sql_type: str,
    literal: str,
    value: Any,
    since: int,
) -> None:
    """Python gets what the engine makes of SQL text, and what Python sends is the same to the engine."""
    if version < since:
        pytest.skip(f"{sql_type} came with Firebird {since}")
    make(connection, table, sql_type)
    connection.execute(f"INSERT INTO {table} VALUES (1, {literal})")
    connection.execute(f"INSERT INTO {table} VALUES (2, ?)", (value,))
    assert_same(read_own(connection, table), [value, value])
    same = connection.execute(f"SELECT COUNT(DISTINCT v) FROM {table}").fetchone()
    assert same == ((2,) if sql_type.startswith("BLOB") else (1,)), "BLOBs are compared by their ids"


def test_nan_comes_back(connection: firearrow.Connection, version: int) -> None:
    """NaN is a value of DOUBLE PRECISION, and of DECFLOAT."""
    row = connection.execute("SELECT CAST(? AS DOUBLE PRECISION) FROM RDB$DATABASE", (math.nan,)).fetchone()
    assert math.isnan(row[0])
    if version >= 4:
        for value in ("NaN", "sNaN"):
            row = connection.execute(
                "SELECT CAST(? AS DECFLOAT) FROM RDB$DATABASE", (Decimal(value),)
            ).fetchone()
            assert row[0].is_nan()
            assert row[0].is_snan() == (value == "sNaN")


def test_char_is_padded(connection: firearrow.Connection) -> None:
    """CHAR has its whole length, as in SQL; the connection's option ``char_padding`` would say otherwise."""
    query = "SELECT CAST(? AS CHAR(5)), CAST(? AS CHAR(3) CHARACTER SET OCTETS) FROM RDB$DATABASE"
    assert connection.execute(query, ("ä", b"x")).fetchone() == ("ä    ", b"x\0\0")
    assert connection.execute(query, ("", b"")).fetchone() == ("     ", b"\0\0\0")


def test_microseconds_are_cut_to_what_firebird_has(connection: firearrow.Connection) -> None:
    """Firebird counts in 100 µs; what is finer is cut, never rounded up into another day."""
    query = "SELECT CAST(? AS TIMESTAMP), CAST(? AS TIME) FROM RDB$DATABASE"
    row = connection.execute(query, (moment.max, clock.max)).fetchone()
    assert row == (moment(9999, 12, 31, 23, 59, 59, 999900), clock(23, 59, 59, 999900))


def test_long_text_of_one_byte_characters(connection: firearrow.Connection, table: str) -> None:
    """The server converts text to UTF-8 within 32 KB: values beyond 8,191 characters are read as BLOBs."""
    make(connection, table, "VARCHAR(32765) CHARACTER SET ASCII")
    connection.execute(f"INSERT INTO {table} VALUES (1, ?)", ("y" * 8191,))
    assert_same(read_own(connection, table), ["y" * 8191])
    with pytest.raises(firearrow.DataError, match="expected length 8191, actual 8192"):
        connection.execute(f"INSERT INTO {table} VALUES (2, ?)", ("y" * 8192,))
    connection.execute(f"UPDATE {table} SET v = RPAD(_ASCII 'x', 32765, _ASCII 'x')")
    with pytest.raises(firearrow.DataError, match="string right truncation"):
        read_own(connection, table)
    row = connection.execute(f"SELECT CAST(v AS BLOB SUB_TYPE TEXT) FROM {table}").fetchone()
    assert_same(list(row), ["x" * 32765])


def test_uuid(connection: firearrow.Connection) -> None:
    """A UUID is 16 bytes for OCTETS, and text otherwise."""
    value = uuid.UUID("12345678-9abc-def0-1234-56789abcdef0")
    row = connection.execute(
        "SELECT CAST(? AS CHAR(16) CHARACTER SET OCTETS), CAST(? AS VARCHAR(36)) FROM RDB$DATABASE",
        (value, value),
    ).fetchone()
    assert row == (value.bytes, str(value))
    assert uuid.UUID(bytes=row[0]) == value
    text = connection.execute(
        "SELECT UUID_TO_CHAR(CAST(? AS CHAR(16) CHARACTER SET OCTETS)) FROM RDB$DATABASE", (value,)
    ).fetchone()
    assert uuid.UUID(text[0]) == value


def test_bytes_without_a_character_set(connection: firearrow.Connection, table: str) -> None:
    """CHARACTER SET NONE has bytes; those that are no UTF-8 need to be told what they are."""
    make(connection, table, "VARCHAR(5) CHARACTER SET NONE")
    connection.execute(f"INSERT INTO {table} VALUES (1, ?)", (b"\xe4\xf6",))
    query = f"SELECT v FROM {table}"
    with pytest.raises(firearrow.DataError, match="none_encoding"):
        connection.execute(query).fetchall()
    assert connection.execute(query, read={"none_encoding": "win1252"}).fetchall() == [("äö",)]
    assert connection.execute(query, read={"none_encoding": "binary"}).fetchall() == [(b"\xe4\xf6",)]
