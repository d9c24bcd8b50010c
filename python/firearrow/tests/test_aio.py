"""What ``firearrow.aio`` does, beside the same with the blocking package."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import inspect
import io
import uuid
import zoneinfo
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import pytest

import firearrow
from firearrow import aio

LONG = "SELECT COUNT(*) FROM rdb$types a, rdb$types b, rdb$types c, rdb$types d"


def run(work: Coroutine[Any, Any, Any], seconds: float = 60) -> Any:
    """Run a coroutine in a loop of its own; nothing may hang."""

    async def limited() -> Any:
        return await asyncio.wait_for(work, seconds)

    return asyncio.run(limited())


def test_types(database: str, connection: firearrow.Connection, table: str, version: int) -> None:
    columns = [
        ("SMALLINT", 7),
        ("INTEGER", -(2**31)),
        ("BIGINT", 2**63 - 1),
        ("NUMERIC(18, 4)", decimal.Decimal("-12.3400")),
        ("FLOAT", 0.5),
        ("DOUBLE PRECISION", -1e300),
        ("BOOLEAN", True),
        ("CHAR(3)", "abc"),
        ("VARCHAR(20)", "žluťoučký"),
        ("VARCHAR(16) CHARACTER SET OCTETS", b"\x00\xff"),
        ("DATE", datetime.date(1, 1, 1)),
        ("TIME", datetime.time(23, 59, 59, 999900)),
        ("TIMESTAMP", datetime.datetime(9999, 12, 31, 1, 2, 3, 400)),
        ("BLOB SUB_TYPE TEXT", "text " * 20_000),
        ("BLOB", bytes(range(256)) * 300),
        ("INTEGER[2, 2]", [[1, 2], [3, 4]]),
    ]
    if version >= 4:
        columns += [
            ("INT128", -(2**127)),
            ("DECFLOAT(34)", decimal.Decimal("1.5E+6000")),
            (
                "TIMESTAMP WITH TIME ZONE",
                datetime.datetime(2024, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Prague")),
            ),
            ("TIME WITH TIME ZONE", datetime.time(8, tzinfo=datetime.timezone(datetime.timedelta(hours=-3)))),
        ]
    fields = ", ".join(f"c{number} {sql}" for number, (sql, _) in enumerate(columns))
    row = tuple(value for _, value in columns)

    async def work() -> None:
        async with aio.connect(database) as other:
            await other.execute(f"CREATE TABLE {table} ({fields})")
            await other.commit()
            insert = f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})"
            await other.execute(insert, row)
            await other.execute(insert, [None] * len(row))
            cursor = await other.execute(f"SELECT * FROM {table}")
            assert await cursor.fetchone() == row
            assert await cursor.fetchone() == (None,) * len(row)
            assert await cursor.fetchone() is None

    run(work())
    assert connection.execute(f"SELECT * FROM {table}").fetchall() == [row, (None,) * len(row)]


def test_values_that_depend_on_their_parameter(database: str, table: str) -> None:
    key = uuid.uuid4()

    async def work() -> None:
        async with aio.connect(database) as connection:
            await connection.execute(
                f"CREATE TABLE {table} (k CHAR(16) CHARACTER SET OCTETS, f BOOLEAN, n INTEGER, t VARCHAR(36))"
            )
            await connection.commit()
            await connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", (key, 1, True, key))
            named = {"k": key, "f": 0, "n": False, "t": None}
            await connection.execute(f"INSERT INTO {table} VALUES (:k, :f, :n, :t)", named)
            # An iterator is read once.
            values = iter((key.bytes, None, 3, "x"))
            await connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", values)
            cursor = await connection.execute(f"SELECT * FROM {table}")
            assert await cursor.fetchall() == [
                (key.bytes, True, 1, str(key)),
                (key.bytes, False, 0, None),
                (key.bytes, None, 3, "x"),
            ]

    run(work())


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ((), firearrow.ProgrammingError),
        ((1, 2), firearrow.ProgrammingError),
        ("1", firearrow.ProgrammingError),
        ({"a": 1}, firearrow.ProgrammingError),
        ((object(),), firearrow.DataError),
        (("\ud800",), firearrow.DataError),
        ((2**200,), firearrow.DataError),
        (("x",), firearrow.DataError),
    ],
)
def test_wrong_parameters_are_the_same_errors(
    database: str, connection: firearrow.Connection, parameters: Any, error: type[Exception]
) -> None:
    sql = "SELECT 1 FROM rdb$database WHERE 1 = CAST(? AS INTEGER)"

    async def work() -> None:
        async with aio.connect(database) as other:
            with pytest.raises(error) as raised:
                await (await other.execute(sql, parameters)).fetchall()
            with pytest.raises(error) as expected:
                connection.execute(sql, parameters).fetchall()
            assert str(raised.value) == str(expected.value)
            # The connection goes on.
            assert await (await other.execute(sql, (1,))).fetchall() == [(1,)]

    run(work())


def test_transactions(database: str, connection: firearrow.Connection, table: str) -> None:
    def stored() -> list[int]:
        rows = connection.execute(f"SELECT id FROM {table} ORDER BY id").fetchall()
        connection.commit()
        return [row[0] for row in rows]

    async def work() -> None:
        async with aio.connect(database) as other:
            await other.commit()
            await other.execute(f"CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY)")
            await other.commit()
            insert = f"INSERT INTO {table} VALUES (?)"
            assert (await other.execute(insert, (1,))).rowcount == 1
            assert stored() == []
            await other.rollback()
            assert stored() == []
            await other.execute(insert, (1,))
            await other.commit()
            assert stored() == [1]

            async with other.begin() as transaction:
                await transaction.execute(insert, (2,))
                assert await transaction.number > 0
                assert stored() == [1]
            assert stored() == [1, 2]
            assert not transaction.is_open
            with pytest.raises(firearrow.InterfaceError):
                await transaction.commit()
            with pytest.raises(firearrow.InterfaceError):
                await transaction.execute(insert, (3,))
            with pytest.raises(firearrow.IntegrityError):
                async with other.begin() as transaction:
                    await transaction.execute(insert, (3,))
                    await transaction.execute(insert, (1,))
            assert stored() == [1, 2]

            async with other.begin() as transaction:
                await transaction.execute(insert, (3,))
                with pytest.raises(ZeroDivisionError):
                    async with transaction.savepoint():
                        await transaction.execute(insert, (4,))
                        raise ZeroDivisionError
                async with transaction.savepoint("named"):
                    await transaction.execute(insert, (5,))
            assert stored() == [1, 2, 3, 5]

            # One that was never used costs nothing.
            async with other.begin(isolation="read_committed", read_only=True, lock_timeout=0):
                pass
            async with other.begin(read_only=True) as transaction:
                with pytest.raises(firearrow.DatabaseError):
                    await transaction.execute(insert, (6,))

            await other.set_autocommit(True)
            await other.execute(insert, (7,))
            assert stored()[-1] == 7
            await other.executemany(insert, [(8,), (9,)])
            assert stored()[-1] == 9
            with pytest.raises(firearrow.IntegrityError) as raised:
                await other.executemany(insert, [(10,), (9,), (11,)])
            assert raised.value.row == 1
            assert stored()[-1] == 9
            other.autocommit = False
            await other.execute(insert, (12,))
            with pytest.raises(firearrow.ProgrammingError):
                other.autocommit = True
        # The block has committed.
        assert stored()[-1] == 12
        assert other.closed
        with pytest.raises(ZeroDivisionError):
            async with aio.connect(database) as other:
                await other.execute(insert, (13,))
                raise ZeroDivisionError
        assert stored()[-1] == 12

    run(work())


def test_fetching(database: str, table: str) -> None:
    @dataclass
    class Item:
        id: int
        name: str

    async def work() -> None:
        async with aio.connect(database) as connection:
            await connection.execute(f"CREATE TABLE {table} (id INTEGER, name VARCHAR(10))")
            await connection.commit()
            rows = [(number, f"n{number}") for number in range(25_000)]
            cursor = await connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", (row for row in rows))
            assert cursor.rowcount == len(rows)
            select = f"SELECT id, name FROM {table} ORDER BY id"
            cursor = await connection.execute(select)
            assert cursor.rowcount == -1
            assert [column.name for column in cursor.description or ()] == ["ID", "NAME"]
            assert await cursor.fetchone() == rows[0]
            assert await cursor.fetchmany() == rows[1:101]
            assert await cursor.fetchmany(0) == []
            assert await cursor.fetchmany(9_000) == rows[101:9_101]
            assert await cursor.fetchall() == rows[9_101:]
            assert await cursor.fetchall() == []
            assert cursor.rowcount == len(rows)
            assert [row async for row in await connection.execute(select)] == rows
            cursor = connection.cursor(row_factory=firearrow.dict_row)
            await cursor.execute(select)
            assert await cursor.fetchone() == {"ID": 0, "NAME": "n0"}
            connection.row_factory = firearrow.class_row(Item)
            assert await (await connection.execute(select)).fetchmany(2) == [Item(0, "n0"), Item(1, "n1")]
            with pytest.raises(firearrow.ProgrammingError):
                await cursor.fetchmany(-1)
            with pytest.raises(firearrow.ProgrammingError):
                await connection.cursor().fetchone()
            async with connection.cursor() as cursor:
                await cursor.execute(select)
            with pytest.raises(firearrow.InterfaceError):
                await cursor.fetchone()
            # A cursor begins anew with each statement, whatever was left.
            cursor = connection.cursor()
            for _ in range(3):
                await cursor.execute(select)
                assert await cursor.fetchone() == Item(0, "n0")

    run(work())


def test_returning_procedures_and_errors_of_rows(database: str, table: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            await connection.execute(f"CREATE TABLE {table} (id INTEGER, twice COMPUTED BY (id * 2))")
            await connection.execute(
                f"CREATE PROCEDURE p_{table} (a INTEGER, b INTEGER) RETURNS (s INTEGER) "
                "AS BEGIN s = a + b; END"
            )
            await connection.commit()
            cursor = await connection.execute(f"INSERT INTO {table} (id) VALUES (21) RETURNING twice")
            assert await cursor.fetchall() == [(42,)]
            assert await connection.cursor().callproc(f"p_{table}", (1, 2)) == (3,)
            with pytest.raises(firearrow.ProgrammingError):
                await connection.cursor().callproc("p; DROP")
            # The error of a row comes where the row would.
            cursor = await connection.execute(f"SELECT 1 / (id - 21) FROM {table}")
            with pytest.raises(firearrow.DatabaseError, match="zero"):
                await cursor.fetchone()
            cursor = await connection.executemany(
                f"UPDATE {table} SET id = id + 10 / ?", [(1,), (0,), (2,)], on_error="continue"
            )
            assert [row for row, _ in cursor.failures] == [1]
            assert cursor.rowcount == 2
            with pytest.raises(firearrow.ProgrammingError):
                await connection.execute("COMMIT")
            with pytest.raises(firearrow.ProgrammingError) as raised:
                await connection.execute("SELECT nothing FROM rdb$database")
            assert raised.value.sqlstate == "42S22"

    run(work())


def test_a_table_that_was_altered(database: str, connection: firearrow.Connection, table: str) -> None:
    async def work() -> None:
        async with aio.connect(database, autocommit=True) as other:
            await other.execute(f"CREATE TABLE {table} (id INTEGER)")
            await other.execute(f"INSERT INTO {table} VALUES (1)")
            select = f"SELECT * FROM {table}"
            assert await (await other.execute(select)).fetchall() == [(1,)]
            connection.execute(f"ALTER TABLE {table} ADD name VARCHAR(5) DEFAULT 'x' NOT NULL")
            connection.commit()
            cursor = await other.execute(select)
            assert await cursor.fetchall() == [(1, "x")]
            assert len(cursor.description or ()) == 2

    run(work())


def test_arrow(database: str, connection: firearrow.Connection, table: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")

    async def work() -> None:
        async with aio.connect(database) as other:
            await other.execute(f"CREATE TABLE {table} (id INTEGER, price NUMERIC(9, 2), name VARCHAR(10))")
            await other.commit()
            given = pyarrow.table(
                {
                    "id": pyarrow.array(range(20_000), pyarrow.int32()),
                    "price": pyarrow.array([decimal.Decimal("1.25")] * 20_000, pyarrow.decimal128(9, 2)),
                    "name": ["é", None] * 10_000,
                }
            )
            cursor = await other.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", given)
            assert cursor.rowcount == 20_000
            await other.commit()
            select = f"SELECT * FROM {table} ORDER BY id"
            expected = connection.execute(select).fetch_arrow_table()
            assert expected.num_rows == 20_000
            cursor = await other.execute(select)
            assert await cursor.fetch_arrow_table() == expected
            assert (await cursor.fetch_arrow_table()).num_rows == 0
            cursor = await other.execute(select)
            assert len(await cursor.fetchmany(7)) == 7
            batches = [batch async for batch in cursor.fetch_arrow_batches()]
            assert len(batches) > 1
            assert pyarrow.Table.from_batches(batches).equals(expected.slice(7))
            frame = await (await other.execute(select)).fetch_pandas()
            assert frame["ID"].sum() == sum(range(20_000))
            assert (await (await other.execute(select)).fetch_polars()).height == 20_000
            arrays = await (await other.execute(select)).fetch_numpy()
            assert arrays["NAME"].mask.sum() == 10_000
            relation = await (await other.execute(select)).fetch_duckdb()
            assert relation.aggregate("count(*)").fetchall() == [(20_000,)]
            cursor = await other.execute(f"SELECT * FROM {table} WHERE id < 0")
            empty = await cursor.fetch_arrow_table()
            assert (empty.num_rows, empty.schema) == (0, expected.schema)

    run(work())


def test_connections(database: str, is_wire: bool, version: int) -> None:
    async def work() -> None:
        connection = await asyncio.create_task(aio.connect(database))
        info = await connection.info
        assert str(info["engine_version"]).startswith(f"{version}.")
        assert connection.is_alive and not connection.closed
        await connection.ping()
        assert isinstance(connection.warnings, list)
        assert (connection.wire_stats["round_trips"] > 0) == is_wire
        cursor = await connection.execute("SELECT 1 FROM rdb$database")
        assert "RDB$DATABASE" in str(await cursor.plan).upper()
        assert (cursor.wire_stats["packets_sent"] > 0) == is_wire
        if version >= 4:
            await connection.execute("SELECT RDB$SET_CONTEXT('USER_SESSION', 'a', 'b') FROM rdb$database")
            await connection.reset()
            cursor = await connection.execute("SELECT RDB$GET_CONTEXT('USER_SESSION', 'a') FROM rdb$database")
            assert await cursor.fetchone() == (None,)
            await connection.set_timeouts(statement=0.1)
            with pytest.raises(firearrow.OperationalError):
                await (await connection.execute(LONG)).fetchall()
        await connection.close()
        await connection.close()
        assert connection.closed
        with pytest.raises(firearrow.InterfaceError):
            await connection.ping()
        with pytest.raises(firearrow.InterfaceError):
            await cursor.fetchone()
        with pytest.raises(firearrow.InterfaceError):
            connection.begin()
        await cursor.close()

    run(work())


def test_failed_connects(database: str, is_wire: bool) -> None:
    async def work() -> None:
        with pytest.raises(firearrow.InterfaceError):
            aio.connect()
        with pytest.raises(firearrow.InterfaceError):
            await aio.connect(database, no_such_option=1)
        with pytest.raises(firearrow.OperationalError):
            await aio.connect("firebird://127.0.0.1:1/nothing", connect_timeout=2)
        with pytest.raises(firearrow.OperationalError):
            async with aio.connect("/nowhere/at/all.fdb"):
                pass
        if is_wire:
            with pytest.raises(firearrow.OperationalError):
                await aio.connect(database, user="SYSDBA", password="wrong")

    run(work())


def test_created_and_dropped(tmp_path: Any, database: str, is_wire: bool) -> None:
    name = f"{database.rpartition('.')[0]}_created.fdb" if is_wire else str(tmp_path / "created.fdb")

    async def work() -> None:
        connection = await aio.create_database(name, page_size=16384, overwrite=True)
        assert (await connection.info)["page_size"] == 16384
        cursor = await connection.execute("SELECT 1 FROM rdb$database")
        assert await cursor.fetchone() == (1,)
        await connection.drop_database()
        assert connection.closed
        with pytest.raises(firearrow.OperationalError):
            await aio.connect(name)

    run(work())


# What differs, and why.
ONLY_ASYNCHRONOUS = {"set_autocommit"}  # A property cannot be awaited when it is set.
ONLY_BLOCKING = {"read_partition", "read_partitions"}  # Not there yet.


# What belongs to files of the standard library: lines, and the file descriptor, which BLOBs do not have.
ONLY_OF_FILES = {"fileno", "flush", "isatty", "readline", "readlines", "truncate", "writelines"}
ONLY_OF_READERS = {"read", "readall", "readinto", "seek", "tell"}


@pytest.mark.parametrize(
    ("blocking", "asynchronous"),
    [
        (firearrow.Connection, aio.Connection),
        (firearrow.Transaction, aio.Transaction),
        (firearrow.Cursor, aio.Cursor),
        (firearrow.catalog.Catalog, aio.catalog.Catalog),
        (firearrow.events.Events, aio.events.Events),
        (firearrow.blob.BlobReader, aio.blob.BlobReader),
        (firearrow.blob.BlobWriter, aio.blob.BlobWriter),
    ],
)
def test_the_surfaces_are_the_same(blocking: type, asynchronous: type) -> None:
    def public(cls: type) -> set[str]:
        return {name for name in dir(cls) if not name.startswith("_")}

    both = public(blocking) - ONLY_BLOCKING
    if issubclass(blocking, io.RawIOBase):
        # Attributes of the instances.
        both -= ONLY_OF_FILES | {"closed", "write" if "Reader" in blocking.__name__ else ""}
        both -= set() if "Reader" in blocking.__name__ else ONLY_OF_READERS
    assert public(asynchronous) - ONLY_ASYNCHRONOUS == both
    for member in both:
        ours, theirs = (inspect.getattr_static(cls, member) for cls in (asynchronous, blocking))
        # What a file inherits is written in C.
        assert type(ours) is type(theirs) or inspect.ismethoddescriptor(theirs), member
        if inspect.isfunction(theirs):
            assert parameters(ours) == parameters(theirs), member
            assert ours.__doc__, member


@pytest.mark.parametrize("name", ["connect", "create_database"])
def test_the_functions_are_the_same(name: str) -> None:
    assert parameters(getattr(aio, name)) == parameters(getattr(firearrow, name))


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    return [
        (parameter.name, parameter.kind, parameter.default)
        for parameter in inspect.signature(function).parameters.values()
    ]


# Calls that fail, on a cursor `c` of a connection `x`.
BAD_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "events as a list": lambda x, c: x.events(["a", "b"]),
    "no events": lambda x, c: x.events(),
    "ingest: mode": lambda x, c: c.ingest([], "T", mode="no_such_mode"),
    "ingest: text": lambda x, c: c.ingest({"a": [1]}, "T", text=-1),
    "SQL": lambda x, c: c.execute("SELECT"),
    "SQL of another class": lambda x, c: c.execute(7),
    "parameters": lambda x, c: c.execute("SELECT 1 FROM rdb$database WHERE 1 = ?", ()),
    "rows": lambda x, c: c.fetchall(),
    "size": lambda x, c: c.fetchmany(-1),
    "time limit": lambda x, c: c.execute("SELECT 1 FROM rdb$database", timeout=-1),
    "limit of rows": lambda x, c: c.execute("SELECT 1 FROM rdb$database", max_result_rows=-1),
    "model": lambda x, c: c.execute("SELECT 1 FROM rdb$database", model=int),
    "BLOB": lambda x, c: x.open_blob(99),
    "isolation": lambda x, c: x.begin(isolation="nonsense"),
}


@pytest.mark.parametrize("call", BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_calls_fail_alike(
    database: str, connection: firearrow.Connection, call: Callable[[Any, Any], Any]
) -> None:
    def blocking() -> str:
        with pytest.raises(Exception) as caught, connection.cursor() as cursor:
            call(connection, cursor)
        return f"{type(caught.value).__name__}: {caught.value}"

    async def asynchronous() -> str:
        async with aio.connect(database) as other, other.cursor() as cursor:
            with pytest.raises(Exception) as caught:
                answer = call(other, cursor)
                if inspect.isawaitable(answer):
                    await answer
        return f"{type(caught.value).__name__}: {caught.value}"

    assert run(asynchronous()) == blocking()


def test_the_error_of_a_block_is_the_one_that_is_raised(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        connection = await aio.connect(database)
        close = connection.close

        async def fails() -> None:
            await close()
            raise firearrow.OperationalError("closing failed")

        monkeypatch.setattr(connection, "close", fails)
        with pytest.raises(ValueError, match="mine"):
            async with connection:
                raise ValueError("mine")

    run(work())


def test_a_result_that_has_failed_is_not_at_its_end(database: str) -> None:
    rows = "(SELECT FIRST 300000 1 n FROM rdb$types a, rdb$types b, rdb$types c)"
    sql = f"SELECT n FROM {rows} UNION ALL SELECT 1 / (n - n) FROM rdb$database, {rows}"

    async def work() -> None:
        async with aio.connect(database) as connection:
            cursor = await connection.execute(sql)
            with pytest.raises(firearrow.DatabaseError):
                async for _ in cursor:
                    pass
            for fetch in (cursor.fetchone, cursor.fetchall):
                with pytest.raises(firearrow.Error, match="execute the query again"):
                    await fetch()
            assert cursor.rowcount == -1

    run(work())
