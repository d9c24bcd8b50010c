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

import firearrow

UTC = datetime.timezone.utc
KOLKATA = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
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


def ids(case: object) -> str | None:
    return case.replace(" ", "_") if isinstance(case, str) else None


def make(connection: firearrow.Connection, table: str, sql_type: str) -> None:
    connection.execute(f"CREATE TABLE {table} (id INTEGER NOT NULL, v {sql_type})")
    connection.commit()


def read(other: firearrow.Connection, table: str) -> list[Any]:
    """Return the values as another connection sees them."""
    other.rollback()
    return [row[0] for row in other.execute(f"SELECT v FROM {table} ORDER BY id")]


def assert_same(found: list[Any], wanted: list[Any]) -> None:
    assert len(found) == len(wanted)
    for number, (left, right) in enumerate(zip(found, wanted, strict=True)):
        # Long values would make long reports.
        assert left == right, f"value {number}: {str(left)[:80]} is not {str(right)[:80]}"
        assert type(left) is type(right), f"value {number}"


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


def read_own(connection: firearrow.Connection, table: str) -> list[Any]:
    return [row[0] for row in connection.execute(f"SELECT v FROM {table} ORDER BY id")]


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


def test_an_hour_that_comes_twice(connection: firearrow.Connection, table: str, version: int) -> None:
    """``fold`` tells the two apart, and survives."""
    if version < 4:
        pytest.skip("time zones came with Firebird 4")
    make(connection, table, "TIMESTAMP WITH TIME ZONE")
    values = [moment(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=fold) for fold in (0, 1)]
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", list(enumerate(values)))
    found = read_own(connection, table)
    assert [value.fold for value in found] == [0, 1]
    assert [value.astimezone(UTC).hour for value in found] == [0, 1]
    assert {value.tzinfo for value in found} == {BERLIN}


def test_regions_survive(connection: firearrow.Connection, version: int) -> None:
    """A region is more than its displacement: Python gets the same ZoneInfo back."""
    if version < 4:
        pytest.skip("time zones came with Firebird 4")
    for zone in ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Etc/UTC"):
        sent = moment(2030, 7, 1, 12, tzinfo=ZoneInfo(zone))
        query = "SELECT CAST(? AS TIMESTAMP WITH TIME ZONE) FROM RDB$DATABASE"
        (found,) = connection.execute(query, (sent,)).fetchone()
        assert found == sent
        assert found.tzinfo is ZoneInfo(zone)
        query = "SELECT CAST(? AS TIME WITH TIME ZONE) FROM RDB$DATABASE"
        (found,) = connection.execute(query, (clock(12, tzinfo=ZoneInfo(zone)),)).fetchone()
        assert found == clock(12, tzinfo=ZoneInfo(zone))


def test_aware_times_for_naive_columns(connection: firearrow.Connection, version: int) -> None:
    """The same instant, in the session's time zone or UTC (Firebird 3); a time of day has no instant."""
    sent = moment(2024, 7, 1, 12, tzinfo=BERLIN)
    if version >= 4:
        connection.execute("SET TIME ZONE 'UTC'")
    assert connection.execute("SELECT CAST(? AS TIMESTAMP) FROM RDB$DATABASE", (sent,)).fetchone() == (
        moment(2024, 7, 1, 10),
    )
    with pytest.raises(firearrow.DataError, match="has a zone"):
        connection.execute("SELECT CAST(? AS TIME) FROM RDB$DATABASE", (clock(12, tzinfo=UTC),))


ARRAYS: list[tuple[str, list[Any], int]] = [
    ("SMALLINT[2]", [[-32768, 32767]], 3),
    ("INTEGER[3]", [[1, 2, 3], [-(2**31), 0, 2**31 - 1]], 3),
    ("BIGINT[0:1]", [[-(2**63), 2**63 - 1]], 3),
    ("INTEGER[2,3]", [[[1, 2, 3], [4, 5, 6]]], 3),
    ("DOUBLE PRECISION[2,2]", [[[1.5, -0.0], [1e300, 4.0]]], 3),
    ("FLOAT[2]", [[0.5, -0.25]], 3),
    ("NUMERIC(9,2)[2]", [[Decimal("1.25"), Decimal("-1.00")]], 3),
    ("VARCHAR(5)[2]", [["ab", "ä"], ["", "x" * 5]], 3),
    ("CHAR(3)[2]", [["abc", "x  "]], 3),
    ("DATE[2]", [[date(1, 1, 1), date(9999, 12, 31)]], 3),
    ("TIME[2]", [[clock(0), clock(23, 59, 59, 999900)]], 3),
    ("TIMESTAMP[-1:0]", [[moment(1, 1, 1), moment(9999, 12, 31, 23, 59, 59, 999900)]], 3),
    ("INTEGER[2,2,2]", [[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]], 3),
]


@pytest.mark.parametrize(("sql_type", "values", "since"), ARRAYS, ids=ids)
def test_arrays_are_lists(
    connection: firearrow.Connection,
    other: firearrow.Connection,
    table: str,
    sql_type: str,
    values: list[Any],
    since: int,
) -> None:
    """Arrays of every dimension are lists within lists; NULL is None."""
    make(connection, table, sql_type)
    wanted = [None, *values]
    for number, value in enumerate(wanted):
        connection.execute(f"INSERT INTO {table} VALUES (?, ?)", (number, value))
    connection.commit()
    assert read(other, table) == wanted
    connection.execute(f"DELETE FROM {table}")
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", list(enumerate(wanted)))
    connection.commit()
    assert read(other, table) == wanted


def test_arrays_take_tuples(connection: firearrow.Connection, table: str) -> None:
    make(connection, table, "INTEGER[2,2]")
    connection.execute(f"INSERT INTO {table} VALUES (1, ?)", (((1, 2), (3, 4)),))
    assert read_own(connection, table) == [[[1, 2], [3, 4]]]


@pytest.mark.parametrize(
    ("sql_type", "value", "found"),
    [
        ("DOUBLE PRECISION[3]", [1, 2.5, Decimal("0.1")], [1.0, 2.5, 0.1]),
        ("DOUBLE PRECISION[2]", [2**53, -0.5], [2.0**53, -0.5]),
        ("FLOAT[2]", [1, 0.25], [1.0, 0.25]),
        ("NUMERIC(9,2)[4]", [1, 2.5, Decimal("0.25"), True], [1, Decimal("2.5"), Decimal("0.25"), 1]),
        ("NUMERIC(18,4)[2]", [0.1, 10**13], [Decimal("0.1"), 10**13]),
        ("INTEGER[3]", [1, 2.0, Decimal(3)], [1, 2, 3]),
        ("DOUBLE PRECISION[2,2]", [[1, 2], [0.5, 1]], [[1.0, 2.0], [0.5, 1.0]]),
    ],
    ids=ids,
)
def test_numbers_of_several_classes(
    connection: firearrow.Connection, table: str, sql_type: str, value: list[Any], found: list[Any]
) -> None:
    """An array takes numbers that its type has, whatever their classes; rows may differ, too."""
    make(connection, table, sql_type)
    insert = f"INSERT INTO {table} VALUES (?, ?)"
    connection.execute(insert, (1, value))
    connection.executemany(insert, [(2, found), (3, value), (4, None), (5, value)])
    assert read_own(connection, table) == [found, found, found, None, found]


@pytest.mark.parametrize(
    ("sql_type", "value"),
    [
        ("INTEGER[2]", [1, 2.5]),
        ("NUMERIC(9,2)[2]", [1, 0.005]),
        ("DOUBLE PRECISION[2]", [2**53 + 1, 0.5]),
        ("INTEGER[2]", [1, float("nan")]),
        ("NUMERIC(9,2)[2]", [1, float("inf")]),
    ],
    ids=ids,
)
def test_numbers_that_an_array_would_change(
    connection: firearrow.Connection, table: str, sql_type: str, value: list[Any]
) -> None:
    make(connection, table, sql_type)
    with pytest.raises(firearrow.DataError):
        connection.execute(f"INSERT INTO {table} VALUES (1, ?)", (value,))
    assert read_own(connection, table) == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1, 2], "has 3 elements, the data has 2"),
        ([1, 2, 3, 4], "has 3 elements, the data has 4"),
        ([], "has 3 elements, the data has 0"),
        ([1, None, 3], "never NULL"),
        ([[1, 2, 3]], "a list can only be"),
        (["x", 2, 3], "of one type"),
        ([1, 2, object()], "cannot be parameters"),
        (5, "takes a list"),
    ],
)
def test_wrong_arrays(connection: firearrow.Connection, table: str, value: Any, words: str) -> None:
    make(connection, table, "INTEGER[3]")
    with pytest.raises(firearrow.DatabaseError, match=words):
        connection.execute(f"INSERT INTO {table} VALUES (1, ?)", (value,))
    connection.execute(f"INSERT INTO {table} VALUES (1, ?)", ([7, 8, 9],))
    assert read_own(connection, table) == [[7, 8, 9]]


DESCRIBED: list[tuple[str, str, int | None, int | None, int | None, int]] = [
    ("SMALLINT", "SMALLINT", None, 4, 0, 3),
    ("INTEGER", "INTEGER", None, 9, 0, 3),
    ("BIGINT", "BIGINT", None, 18, 0, 3),
    ("INT128", "INT128", None, 38, 0, 4),
    ("NUMERIC(9,2)", "NUMERIC", None, 9, 2, 3),
    ("DECIMAL(18,3)", "DECIMAL", None, 18, 3, 3),
    ("DECFLOAT(16)", "DECFLOAT", None, 16, None, 4),
    ("DECFLOAT(34)", "DECFLOAT", None, 34, None, 4),
    ("FLOAT", "FLOAT", None, 7, None, 3),
    ("DOUBLE PRECISION", "DOUBLE PRECISION", None, 15, None, 3),
    ("BOOLEAN", "BOOLEAN", None, None, None, 3),
    ("DATE", "DATE", None, None, None, 3),
    ("TIME", "TIME", None, None, None, 3),
    ("TIMESTAMP", "TIMESTAMP", None, None, None, 3),
    ("TIME WITH TIME ZONE", "TIME WITH TIME ZONE", None, None, None, 4),
    ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE", None, None, None, 4),
    ("CHAR(5)", "CHAR", 5, None, None, 3),
    ("VARCHAR(100)", "VARCHAR", 100, None, None, 3),
    ("CHAR(5) CHARACTER SET OCTETS", "BINARY", 5, None, None, 3),
    ("VARCHAR(5) CHARACTER SET OCTETS", "VARBINARY", 5, None, None, 3),
    ("BLOB SUB_TYPE TEXT", "BLOB SUB_TYPE TEXT", None, None, None, 3),
    ("BLOB", "BLOB", None, None, None, 3),
    ("INTEGER[3]", "ARRAY", None, None, None, 3),
]


@pytest.mark.parametrize(("sql_type", "name", "size", "precision", "scale", "since"), DESCRIBED, ids=ids)
def test_description(
    connection: firearrow.Connection,
    table: str,
    version: int,
    sql_type: str,
    name: str,
    size: int | None,
    precision: int | None,
    scale: int | None,
    since: int,
) -> None:
    """``description`` tells type, length, precision, scale, and whether NULL may come."""
    if version < since:
        pytest.skip(f"{sql_type} came with Firebird {since}")
    connection.execute(f"CREATE TABLE {table} (v {sql_type}, n {sql_type} NOT NULL)")
    connection.commit()
    described = connection.execute(f'SELECT v, n AS "Other" FROM {table}').description
    assert described is not None
    first, second = described
    assert (first.name, second.name) == ("V", "Other")
    for column in described:
        assert column.type_code == name
        assert (column.display_size, column.precision, column.scale) == (size, precision, scale)
        if name in ("NUMERIC", "DECIMAL"):
            assert column.internal_size is None
        else:
            assert column.internal_size is not None and column.internal_size > 0
    assert (first.null_ok, second.null_ok) == (True, False)


def test_moments_with_zones_are_cut_to_what_the_engine_tells_apart(
    connection: firearrow.Connection, version: int
) -> None:
    """The engine refuses texts with more digits."""
    if version < 4:
        pytest.skip("Firebird 3 has no time zones")
    berlin = ZoneInfo("Europe/Berlin")
    sql = "SELECT CAST(? AS TIMESTAMP WITH TIME ZONE), CAST(? AS TIME WITH TIME ZONE) FROM RDB$DATABASE"
    moment = datetime.datetime(2024, 7, 1, 1, 2, 3, 123456, berlin)
    time = datetime.time(1, 2, 3, 123456, datetime.UTC)
    found = connection.execute(sql, (moment, time)).fetchone()
    assert found[0] == moment.replace(microsecond=123400)
    assert found[1] == time.replace(microsecond=123400)
