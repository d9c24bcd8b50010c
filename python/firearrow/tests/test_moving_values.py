"""firebird-driver's usage guide with firearrow: conversions, BLOBs, arrays."""

from __future__ import annotations

import datetime
import io
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from statements import stored

import firearrow


def test_conversion_of_parameters_from_strings(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (i INTEGER, t TIMESTAMP, v VARCHAR(10))")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", ("123", "yesterday", 456))
    number, moment, text = connection.execute(f"SELECT * FROM {table}").fetchone()
    today = connection.execute("SELECT CURRENT_DATE FROM RDB$DATABASE").fetchone()[0]
    assert (number, text) == (123, "456")
    # Midnight may have come in between.
    assert moment.date() in (today - datetime.timedelta(days=1), today - datetime.timedelta(days=2))


def test_digits_that_do_not_fit_are_refused(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (n NUMERIC(9,2))")
    connection.commit()
    for value in (Decimal("0.005"), "x"):
        with pytest.raises(firearrow.DataError):
            connection.execute(f"INSERT INTO {table} VALUES (?)", (value,))
    connection.execute(f"INSERT INTO {table} VALUES (?)", (Decimal("0.05"),))
    assert connection.execute(f"SELECT n FROM {table}").fetchall() == [(Decimal("0.05"),)]


def test_conversion_from_and_to_unicode(
    connection: firearrow.Connection, other: firearrow.Connection, table: str
) -> None:
    connection.execute(
        f"CREATE TABLE {table} (id INTEGER, w VARCHAR(20) CHARACTER SET WIN1250, "
        "u VARCHAR(20) CHARACTER SET UTF8, o VARCHAR(20) CHARACTER SET OCTETS)"
    )
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (1, ?, ?, ?)", ("příliš", "žluťoučký 🐎", b"\x00\xff"))
    connection.commit()
    assert stored(other, table) == [(1, "příliš", "žluťoučký 🐎", b"\x00\xff")]
    with pytest.raises(firearrow.DataError):
        connection.execute(f"INSERT INTO {table} (w) VALUES (?)", ("🐎",))


def test_time_zones(
    connection: firearrow.Connection, other: firearrow.Connection, table: str, version: int
) -> None:
    """zoneinfo and timezone, where firebird-driver needs objects of its own."""
    region = datetime.datetime(2020, 12, 31, 23, 55, 35, 123400, ZoneInfo("Europe/Prague"))
    offset = region.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    if version < 4:
        with pytest.raises(firearrow.ProgrammingError):
            connection.execute(f"CREATE TABLE {table} (t TIMESTAMP WITH TIME ZONE)")
        return
    connection.execute(f"CREATE TABLE {table} (id INTEGER, t TIMESTAMP WITH TIME ZONE)")
    connection.commit()
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", [(1, region), (2, offset)])
    connection.commit()
    assert stored(other, table) == [(1, region), (2, offset)]
    ((zone,), (displacement,)) = stored(other, table, "t")[::-1]
    assert isinstance(zone, datetime.datetime) and isinstance(displacement, datetime.datetime)
    assert {str(zone.tzinfo), str(displacement.tzinfo)} == {"Europe/Prague", "UTC+02:00"}


@pytest.fixture
def blobs(connection: firearrow.Connection, table: str) -> str:
    connection.execute(f"CREATE TABLE {table} (id INTEGER, t BLOB SUB_TYPE TEXT, b BLOB)")
    connection.commit()
    return table


def test_materialized_blobs(
    connection: firearrow.Connection, other: firearrow.Connection, blobs: str
) -> None:
    """Values of any length, where firebird-driver returns readers above 64 KB."""
    text, data = "žluť" * 50_000, bytes(range(256)) * 2_000
    connection.execute(f"INSERT INTO {blobs} VALUES (1, ?, ?)", (text, data))
    connection.commit()
    assert stored(other, blobs) == [(1, text, data)]


def test_streamed_blobs(connection: firearrow.Connection, other: firearrow.Connection, blobs: str) -> None:
    data = bytes(range(256)) * 2_000
    # An open file is a value.
    connection.execute(f"INSERT INTO {blobs} VALUES (1, ?, ?)", (io.StringIO("text"), io.BytesIO(data)))
    # In pieces, for what memory should not hold.
    with connection.create_blob() as writer:
        for at in range(0, len(data), 10_000):
            writer.write(data[at : at + 10_000])
    connection.execute(f"INSERT INTO {blobs} (id, b) VALUES (2, ?)", (writer.id,))
    connection.commit()
    assert stored(other, blobs) == [(1, "text", data), (2, None, data)]
    ids = other.execute(f"SELECT b FROM {blobs} ORDER BY id", read={"blobs": "lazy"}).fetchall()
    for (number,) in ids:
        with other.open_blob(number) as reader:
            assert reader.length == len(data)
            assert reader.read(5) == data[:5]
            assert reader.read() == data[5:]


def test_text_blobs_line_by_line(connection: firearrow.Connection, blobs: str) -> None:
    """BlobReader is a raw binary file of Python's: the io module makes text and lines of it."""
    connection.execute(f"INSERT INTO {blobs} (id, t) VALUES (1, ?)", ("first ž\nsecond\nthird",))
    (number,) = connection.execute(f"SELECT t FROM {blobs}", read={"blobs": "lazy"}).fetchone()
    with io.TextIOWrapper(io.BufferedReader(connection.open_blob(number)), "utf-8") as text:
        assert list(text) == ["first ž\n", "second\n", "third"]


def test_arrays(connection: firearrow.Connection, other: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (a INTEGER[3,4])")
    connection.commit()
    numbers = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
    connection.execute(f"INSERT INTO {table} VALUES (?)", (numbers,))
    connection.commit()
    other.rollback()
    assert other.execute(f"SELECT a FROM {table}").fetchall() == [(numbers,)]
    with pytest.raises(firearrow.DataError, match="never shorter or longer"):
        connection.execute(f"INSERT INTO {table} VALUES (?)", (numbers[:2],))
