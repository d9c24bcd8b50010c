"""Python classes as parameters, in every way that they can be given."""

from __future__ import annotations

import datetime
import enum
import math
import re
from collections import ChainMap, OrderedDict, UserDict
from collections.abc import Iterator
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import firearrow


class Text(str):
    pass


class Integer(int):
    pass


class Real(float):
    pass


class Octets(bytes):
    pass


class Money(Decimal):
    pass


class Moment(datetime.datetime):
    pass


class Day(datetime.date):
    pass


class Color(enum.Enum):
    RED = "red"
    NONE = None


class Size(enum.IntEnum):
    SMALL = 1


class Letter(str, enum.Enum):  # enum.StrEnum came with Python 3.11
    A = "a"


class Flag(enum.IntFlag):
    READ = 4
    WRITE = 2


MIDNIGHT = datetime.datetime(2020, 1, 1)

# SQL type, parameter, value that comes back.
TAKEN: list[tuple[str, Any, Any]] = [
    # Subclasses
    ("VARCHAR(9)", Text("x"), "x"),
    ("INTEGER", Integer(5), 5),
    ("DOUBLE PRECISION", Real(1.5), 1.5),
    ("BLOB", Octets(b"x"), b"x"),
    ("NUMERIC(9,2)", Money("1.25"), Decimal("1.25")),
    ("TIMESTAMP", Moment(2020, 1, 1), MIDNIGHT),
    ("DATE", Day(2020, 1, 1), MIDNIGHT.date()),
    # Enumerations are their values.
    ("VARCHAR(9)", Color.RED, "red"),
    ("VARCHAR(9)", Color.NONE, None),
    ("INTEGER", Size.SMALL, 1),
    ("VARCHAR(9)", Letter.A, "a"),
    ("INTEGER", Flag.READ | Flag.WRITE, 6),
    # Booleans and numbers
    ("INTEGER", True, 1),
    ("BIGINT", False, 0),
    ("BOOLEAN", 1, True),
    ("BOOLEAN", 0, False),
    ("INTEGER", 2.0, 2),
    ("INTEGER", Decimal("2.000"), 2),
    ("INTEGER", "12", 12),
    ("DOUBLE PRECISION", 3, 3.0),
    ("DOUBLE PRECISION", 2**70, float(2**70)),
    ("DOUBLE PRECISION", Decimal("1.1"), 1.1),
    ("NUMERIC(18,4)", 1, Decimal("1.0000")),
    ("NUMERIC(18,4)", 1.25, Decimal("1.2500")),
    ("NUMERIC(18,4)", Decimal("1E+3"), Decimal("1000.0000")),
    ("NUMERIC(18,4)", Decimal("12300E-2"), Decimal("123.0000")),
    ("NUMERIC(18,4)", Decimal("-0"), Decimal("0.0000")),
    # Text of other things
    ("VARCHAR(40)", 5, "5"),
    ("VARCHAR(40)", 2**100, str(2**100)),
    ("VARCHAR(40)", Decimal("1.50"), "1.50"),
    ("VARCHAR(40)", Decimal("-0.00"), "-0.00"),
    ("VARCHAR(40)", datetime.date(2020, 1, 2), "2020-01-02"),
    ("VARCHAR(40)", b"abc", "abc"),
    ("DATE", "2020-01-02", datetime.date(2020, 1, 2)),
    ("BOOLEAN", "true", True),
    ("BLOB SUB_TYPE TEXT", b"abc", "abc"),
    ("BLOB", "ab\u00e4", b"ab\xc3\xa4"),
    # Dates and times
    ("TIMESTAMP", datetime.date(2020, 1, 1), MIDNIGHT),
    ("DATE", MIDNIGHT, MIDNIGHT.date()),
    # Bytes
    ("BLOB", bytearray(b"\0q"), b"\0q"),
    ("BLOB", memoryview(b"abc")[1:], b"bc"),
    ("BLOB", memoryview(b"abcdef")[::2], b"ace"),
    ("CHAR(2) CHARACTER SET OCTETS", bytearray(b"ab"), b"ab"),
    # NumPy, pandas and pyarrow
    ("SMALLINT", np.int8(-1), -1),
    ("BIGINT", np.int64(-(2**63)), -(2**63)),
    ("BIGINT", np.uint64(2**63 - 1), 2**63 - 1),
    ("INTEGER", np.bool_(True), 1),
    ("BOOLEAN", np.bool_(False), False),
    ("DOUBLE PRECISION", np.float64(1.5), 1.5),
    ("DOUBLE PRECISION", np.float32(0.5), 0.5),
    ("FLOAT", np.float16(0.25), 0.25),
    ("VARCHAR(9)", np.str_("n"), "n"),
    ("BLOB", np.bytes_(b"z"), b"z"),
    ("INTEGER", np.array(5), 5),
    ("DATE", np.datetime64("2020-01-01"), MIDNIGHT.date()),
    ("TIMESTAMP", np.datetime64("2020-01-01T00:00:01"), MIDNIGHT.replace(second=1)),
    ("TIMESTAMP", np.datetime64("2020-01-01T00:00:00.0005", "ns"), MIDNIGHT.replace(microsecond=500)),
    ("TIMESTAMP", np.datetime64("NaT"), None),
    ("TIMESTAMP", np.datetime64("NaT", "ns"), None),
    ("TIMESTAMP", pd.Timestamp("2020-01-01 00:00:00.0005"), MIDNIGHT.replace(microsecond=500)),
    ("INTEGER", pd.NA, None),
    ("INTEGER", pa.scalar(5), 5),
    ("NUMERIC(9,2)", pa.scalar(Decimal("1.25")), Decimal("1.25")),
    ("VARCHAR(9)", pa.scalar(None, pa.string()), None),
]  # fmt: skip


def case(value: object) -> str:
    """The name of a test, without addresses in memory: it is the same in each run."""
    return re.sub(r" at 0x[0-9a-f]+", "", ascii(value))[:40]


def cast(connection: firearrow.Connection, sql_type: str, value: object) -> Any:
    return connection.execute(f"SELECT CAST(? AS {sql_type}) FROM RDB$DATABASE", (value,)).fetchone()[0]


@pytest.mark.parametrize(("sql_type", "value", "wanted"), TAKEN, ids=case)
def test_taken(connection: firearrow.Connection, sql_type: str, value: Any, wanted: Any) -> None:
    found = cast(connection, sql_type, value)
    assert found == wanted
    assert type(found) is type(wanted)


# SQL type, parameter, exception, words of its text.
REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    # Numbers that do not fit
    ("SMALLINT", 32768, firearrow.DataError, "out of range"),
    ("INTEGER", -(2**31) - 1, firearrow.DataError, "out of range"),
    ("BIGINT", 2**63, firearrow.DataError, "beyond BIGINT"),
    ("BIGINT", np.uint64(2**64 - 1), firearrow.DataError, "beyond BIGINT"),
    ("BIGINT", 10**400, firearrow.DataError, ""),
    ("INTEGER", 1.5, firearrow.DataError, "whole number"),
    ("INTEGER", Decimal("1.5"), firearrow.DataError, "whole number"),
    ("INTEGER", math.nan, firearrow.DataError, "NaN"),
    ("INTEGER", math.inf, firearrow.DataError, "inf"),
    ("NUMERIC(18,4)", Decimal("1.00005"), firearrow.DataError, "round it to 4 decimals"),
    ("NUMERIC(18,4)", Decimal("1E-30"), firearrow.DataError, "round it to 4 decimals"),
    ("NUMERIC(18,4)", Decimal("1" * 50), firearrow.DataError, "out of range"),
    ("NUMERIC(18,4)", Decimal("1E+400"), firearrow.DataError, ""),
    ("NUMERIC(18,4)", Decimal("NaN"), firearrow.DataError, "NaN"),
    ("NUMERIC(18,4)", Decimal("Infinity"), firearrow.DataError, "Infinity"),
    ("NUMERIC(18,4)", math.nan, firearrow.DataError, "NaN"),
    ("FLOAT", 1e39, firearrow.DataError, "beyond FLOAT"),
    ("BOOLEAN", 2, firearrow.DataError, "conversion error"),
    ("BOOLEAN", "perhaps", firearrow.DataError, "conversion error"),
    # Text
    ("VARCHAR(3)", "abcd", firearrow.DataError, "expected length 3"),
    ("CHAR(3)", "😀😀😀😀", firearrow.DataError, "expected length 3"),
    ("VARCHAR(9)", "\ud800", firearrow.DataError, "lone surrogate"),
    ("VARCHAR(9)", "a\udfffb", firearrow.DataError, "lone surrogate"),
    ("VARCHAR(9)", b"\xff", firearrow.DataError, "Malformed string"),
    ("VARCHAR(9) CHARACTER SET WIN1252", "😀", firearrow.DataError, "transliterate"),
    ("VARCHAR(9) CHARACTER SET ASCII", "ä", firearrow.DataError, "transliterate"),
    ("INTEGER", "x", firearrow.DataError, 'conversion error from string "x"'),
    ("INTEGER", "", firearrow.DataError, "conversion error"),
    ("INTEGER", b"1", firearrow.NotSupportedError, "Binary values cannot go"),
    ("CHAR(2) CHARACTER SET OCTETS", b"abc", firearrow.DataError, "expected length 2"),
    # Dates and times
    ("DATE", "2020-02-30", firearrow.DataError, "conversion error"),
    ("DATE", datetime.datetime(2020, 1, 1, 12), firearrow.DataError, "lose its time"),
    ("DATE", datetime.time(1), firearrow.DataError, "conversion error"),
    ("DATE", 5, firearrow.DataError, "conversion error"),
    ("TIME", MIDNIGHT, firearrow.NotSupportedError, "lose its date"),
    ("TIME", MIDNIGHT.date(), firearrow.DataError, "conversion error"),
    ("INTEGER", MIDNIGHT.date(), firearrow.DataError, "conversion error"),
    (
        "TIMESTAMP",
        MIDNIGHT.replace(tzinfo=datetime.timezone(datetime.timedelta(seconds=1))),
        firearrow.DataError,
        "whole number of minutes",
    ),
    (
        "TIMESTAMP",
        datetime.datetime.min.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
        firearrow.DataError,
        "out of range",
    ),
    (
        "TIMESTAMP",
        datetime.datetime.max.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=-1))),
        firearrow.DataError,
        "out of range",
    ),
    # Classes that mean nothing here
    ("INTEGER", object(), firearrow.DataError, "objects of object cannot be parameters"),
    ("INTEGER", 1j, firearrow.DataError, "complex"),
    ("INTEGER", {}, firearrow.DataError, "dict"),
    ("INTEGER", {1}, firearrow.DataError, "set"),
    ("INTEGER", [1], firearrow.DataError, "a list can only be the value of an array"),
    ("INTEGER", (1,), firearrow.DataError, "a list can only be the value of an array"),
    ("INTEGER", np.array([1, 2]), firearrow.DataError, "a list can only be the value of an array"),
    ("TIME", datetime.timedelta(1), firearrow.DataError, "timedelta"),
    ("TIME", np.timedelta64(5, "s"), firearrow.DataError, "timedelta"),
    ("INTEGER", int, firearrow.DataError, "type"),
    ("INTEGER", range(3), firearrow.DataError, "range"),
]


@pytest.mark.parametrize(("sql_type", "value", "error", "words"), REFUSED, ids=case)
def test_refused(
    connection: firearrow.Connection, sql_type: str, value: Any, error: type[Exception], words: str
) -> None:
    """What does not fit is refused in words that help, and the connection goes on."""
    with pytest.raises(error) as caught:
        cast(connection, sql_type, value)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 500
    assert cast(connection, "INTEGER", 7) == 7


def test_refused_values_name_their_place(connection: firearrow.Connection, table: str) -> None:
    """The error says which parameter it was."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER, price NUMERIC(9,2))")
    connection.commit()
    with pytest.raises(firearrow.DataError, match="parameter 2: objects of object"):
        connection.execute(f"INSERT INTO {table} VALUES (?, ?)", (1, object()))


def test_numpy_arrays_are_arrays(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (a INTEGER[2,2], d DATE[2])")
    connection.commit()
    days = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")
    connection.execute(f"INSERT INTO {table} VALUES (?, ?)", (np.array([[1, 2], [3, 4]]), days))
    assert connection.execute(f"SELECT a, d FROM {table}").fetchone() == (
        [[1, 2], [3, 4]],
        [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)],
    )


class Tuple2(tuple[Any, ...]):
    pass


class Sequence:
    """Has a length and items, and is no class that Python knows."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> int:
        return (4, 5)[index]


class Mapping(dict[str, Any]):
    def __missing__(self, name: str) -> int:
        return 5


@pytest.mark.parametrize(
    "given",
    [(4, 5), [4, 5], Tuple2((4, 5)), range(4, 6), Sequence(), np.array([4, 5]), {4: 0, 5: 0}.keys()],
    ids=lambda value: type(value).__name__,
)
def test_sequences(connection: firearrow.Connection, given: Any) -> None:
    """Anything that gives values in order is a sequence of parameters."""
    query = "SELECT CAST(? AS INTEGER), CAST(? AS INTEGER) FROM RDB$DATABASE"
    assert connection.execute(query, given).fetchone() == (4, 5)


def test_iterators(connection: firearrow.Connection) -> None:
    def values() -> Iterator[int]:
        yield 4
        yield 5

    query = "SELECT CAST(? AS INTEGER), CAST(? AS INTEGER) FROM RDB$DATABASE"
    assert connection.execute(query, values()).fetchone() == (4, 5)


@pytest.mark.parametrize(
    "given",
    [
        {"one": 4, "two": 5},
        OrderedDict(two=5, one=4),
        MappingProxyType({"one": 4, "two": 5}),
        ChainMap({"one": 4}, {"two": 5}),
        UserDict({"one": 4, "two": 5}),
        Mapping(one=4),
        {"one": 4, "two": 5, "three": "not asked for"},
    ],
    ids=lambda value: type(value).__name__,
)
def test_mappings(connection: firearrow.Connection, given: Any) -> None:
    """Names can come twice, and stand in any order; what is more than they need is no error."""
    query = "SELECT CAST(:one AS INTEGER), CAST(:two AS INTEGER), CAST(:one AS INTEGER) FROM RDB$DATABASE"
    assert connection.execute(query, given).fetchone() == (4, 5, 4)


def test_names_within_text_and_comments(connection: firearrow.Connection) -> None:
    """Only markers are markers."""
    query = "SELECT ':no', CAST(:yes AS INTEGER) /* :no */ AS \":no\" FROM RDB$DATABASE -- :no"
    cursor = connection.execute(query, {"yes": 1})
    assert cursor.fetchone() == (":no", 1)
    assert cursor.description is not None
    assert cursor.description[1].name == ":no"


def test_question_marks_within_text(connection: firearrow.Connection) -> None:
    query = "SELECT '?', CAST(? AS INTEGER) /* ? */ AS \"?\" FROM RDB$DATABASE -- ?"
    assert connection.execute(query, (1,)).fetchone() == ("?", 1)


def test_psql_has_colons_of_its_own(connection: firearrow.Connection, table: str) -> None:
    """Without a mapping, ``:name`` is what it is in PSQL."""
    block = "EXECUTE BLOCK (n INTEGER = ?) RETURNS (m INTEGER) AS BEGIN m = :n + 1; SUSPEND; END"
    assert connection.execute(block, (4,)).fetchall() == [(5,)]


def test_adapters(connection: firearrow.Connection) -> None:
    """Other classes become parameters by an adapter, and subclasses with them."""

    class Point:
        def __init__(self, x: int, y: int) -> None:
            self.x, self.y = x, y

    class Special(Point):
        pass

    with pytest.raises(firearrow.DataError, match="register_adapter"):
        cast(connection, "VARCHAR(9)", Point(1, 2))
    firearrow.register_adapter(Point, lambda point: f"{point.x};{point.y}")
    assert cast(connection, "VARCHAR(9)", Point(1, 2)) == "1;2"
    assert cast(connection, "VARCHAR(9)", Special(3, 4)) == "3;4"
    firearrow.register_adapter(Special, lambda point: None)
    assert cast(connection, "VARCHAR(9)", Special(3, 4)) is None
    assert cast(connection, "VARCHAR(9)", Point(1, 2)) == "1;2"


def test_an_adapter_that_fails(connection: firearrow.Connection) -> None:
    """Its error is the cause of what the caller sees."""

    class Broken:
        pass

    def fail(value: object) -> object:
        raise RuntimeError("no idea")

    firearrow.register_adapter(Broken, fail)
    with pytest.raises((firearrow.DataError, RuntimeError), match="no idea"):
        cast(connection, "INTEGER", Broken())
    assert cast(connection, "INTEGER", 1) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((), "1 parameters, 0 were given"),
        (None, "1 parameters, 0 were given"),
        ((1, 2), "1 parameters, 2 were given"),
        ([], "1 parameters, 0 were given"),
        ("1", r"write \(value,\)"),
        (b"1", r"write \(value,\)"),
        (1, "must be a sequence"),
        ({"one": 1}, "need markers such as :name"),
    ],
)
def test_wrong_numbers(connection: firearrow.Connection, given: Any, words: str) -> None:
    """Too many, too few, and what is no sequence at all."""
    query = "SELECT CAST(? AS INTEGER) FROM RDB$DATABASE"
    with pytest.raises(firearrow.ProgrammingError, match=words):
        connection.execute(query, given)
    assert connection.execute(query, (1,)).fetchone() == (1,)


def test_missing_names(connection: firearrow.Connection) -> None:
    query = "SELECT CAST(:one AS INTEGER), CAST(:two AS INTEGER) FROM RDB$DATABASE"
    with pytest.raises(firearrow.ProgrammingError, match="no parameter :two"):
        connection.execute(query, {"one": 1})
    with pytest.raises(firearrow.ProgrammingError):
        connection.execute(query, {})
    with pytest.raises(firearrow.ProgrammingError):
        connection.execute(query, (1, 2))


def test_parameters_that_are_not_asked_for(connection: firearrow.Connection, table: str) -> None:
    """A statement without markers takes none."""
    with pytest.raises(firearrow.ProgrammingError, match="0 parameters, 1 were given"):
        connection.execute("SELECT 1 FROM RDB$DATABASE", (1,))
    with pytest.raises(firearrow.ProgrammingError, match="0 parameters, 1 were given"):
        connection.execute(f"CREATE TABLE {table} (id INTEGER)", (1,))


def test_the_sign_of_a_decimal_zero_is_kept(connection: firearrow.Connection, version: int) -> None:
    """Where the engine's type has one, and also beside other numbers."""
    sql = "SELECT CAST(? AS DOUBLE PRECISION) FROM RDB$DATABASE"
    assert math.copysign(1, connection.execute(sql, [Decimal("-0")]).fetchone()[0]) == -1
    if version < 4:
        pytest.skip("DECFLOAT came with Firebird 4")
    sql = "SELECT CAST(? AS DECFLOAT(34)), CAST(? AS DECFLOAT(16)) FROM RDB$DATABASE"
    found = connection.execute(sql, [Decimal("-0"), Decimal("-0E+3")]).fetchone()
    assert [str(number) for number in found] == ["-0", "-0E+3"]
