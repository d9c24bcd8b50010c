"""Statements, transactions and rows of ``firearrow.aio``, beside the same with the blocking package."""

from __future__ import annotations

import datetime
import decimal
import uuid
import zoneinfo
from dataclasses import dataclass

import pytest
from loops import run

import firearrow
from firearrow import aio


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
