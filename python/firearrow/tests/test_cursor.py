"""Cursors: results, RETURNING, procedures, plans, row factories, large results."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import pytest

import firearrow


@pytest.fixture
def numbers(connection: firearrow.Connection, table: str) -> str:
    """A table with 5,000 rows: id, a name, and NULL in every third note."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20), note BLOB)")
    connection.commit()
    rows = [(n, f"name {n}", None if n % 3 == 0 else b"x" * (n % 50)) for n in range(5000)]
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    connection.commit()
    return table


def expected(n: int) -> tuple[Any, ...]:
    return (n, f"name {n}", None if n % 3 == 0 else b"x" * (n % 50))


@pytest.mark.parametrize("size", [1, 7, 999, 5000, 6000])
def test_fetchmany_of_any_size(connection: firearrow.Connection, numbers: str, size: int) -> None:
    """Rows come in order, none twice and none missing, whatever is asked for at a time."""
    cursor = connection.execute(f"SELECT * FROM {numbers} ORDER BY id")
    found: list[Any] = []
    while rows := cursor.fetchmany(size):
        assert len(rows) == min(size, 5000 - len(found))
        found += rows
    assert found == [expected(n) for n in range(5000)]
    assert cursor.rowcount == 5000


def test_fetchmany_of_none_and_less(connection: firearrow.Connection, numbers: str) -> None:
    cursor = connection.execute(f"SELECT id FROM {numbers} ORDER BY id")
    assert cursor.fetchmany(0) == []
    assert cursor.fetchone() == (0,)
    with pytest.raises(firearrow.ProgrammingError, match="size must not be negative"):
        cursor.fetchmany(-1)
    assert cursor.fetchmany(2) == [(1,), (2,)]
    assert cursor.fetchmany(10**30)[-1] == (4999,)


def test_all_ways_of_fetching_together(connection: firearrow.Connection, numbers: str) -> None:
    cursor = connection.execute(f"SELECT id FROM {numbers} ORDER BY id")
    found = [cursor.fetchone(), *cursor.fetchmany(1500), next(cursor)]
    for row in cursor:
        found.append(row)
        if len(found) == 3000:
            break
    found += cursor.fetchall()
    assert found == [(n,) for n in range(5000)]


def test_executing_again_ends_the_result(connection: firearrow.Connection, numbers: str) -> None:
    cursor = connection.execute(f"SELECT id FROM {numbers} ORDER BY id")
    assert cursor.fetchone() == (0,)
    cursor.execute(f"SELECT name FROM {numbers} ORDER BY id DESC")
    assert cursor.fetchone() == ("name 4999",)
    for _ in range(3):
        cursor.execute(f"SELECT id FROM {numbers} WHERE id = ?", (7,))
        assert cursor.fetchall() == [(7,)]


def test_a_failed_statement_leaves_no_result(connection: firearrow.Connection, numbers: str) -> None:
    cursor = connection.execute(f"SELECT id FROM {numbers}")
    with pytest.raises(firearrow.ProgrammingError):
        cursor.execute("SELECT nothing")
    assert cursor.description is None
    assert cursor.rowcount == -1
    with pytest.raises(firearrow.Error):
        cursor.fetchone()


def test_many_cursors(connection: firearrow.Connection, numbers: str) -> None:
    """Results of several cursors can be read in turns."""
    cursors = [connection.execute(f"SELECT id FROM {numbers} ORDER BY id") for _ in range(20)]
    for step in range(300):
        assert [cursor.fetchone() for cursor in cursors] == [(step,)] * 20
    for cursor in cursors:
        cursor.close()


def alter(connection: firearrow.Connection, table: str) -> firearrow.Cursor:
    """Return a cursor that has queried a table, to which a column was added since."""
    connection.execute(f"CREATE TABLE {table} (a INTEGER)")
    connection.commit()
    cursor = connection.cursor()
    assert cursor.execute(f"SELECT * FROM {table}").fetchall() == []
    connection.commit()
    connection.execute(f"ALTER TABLE {table} ADD b INTEGER")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (1, 2)")
    connection.commit()
    return cursor


def test_altered_tables(connection: firearrow.Connection, table: str) -> None:
    """A statement that the connection has seen is prepared again when what it uses has changed."""
    alter(connection, table)
    cursor = connection.execute(f"SELECT * FROM {table}")
    assert cursor.fetchall() == [(1, 2)]
    assert cursor.description is not None
    assert [column.name for column in cursor.description] == ["A", "B"]


def test_altered_tables_and_the_same_cursor(connection: firearrow.Connection, table: str) -> None:
    cursor = alter(connection, table)
    assert cursor.execute(f"SELECT * FROM {table}").fetchall() == [(1, 2)]


def test_insert_returning(connection: firearrow.Connection, numbers: str) -> None:
    cursor = connection.execute(
        f"INSERT INTO {numbers} VALUES (5000, 'new', NULL) RETURNING id, UPPER(name) AS big"
    )
    assert cursor.description is not None
    assert [column.name for column in cursor.description] == ["ID", "BIG"]
    assert cursor.fetchone() == (5000, "NEW")
    assert cursor.fetchone() is None
    assert cursor.rowcount == 1


def test_update_returning(connection: firearrow.Connection, numbers: str, version: int) -> None:
    """One row on every version; any number on Firebird 5, all changed whether they are fetched or not."""
    cursor = connection.execute(f"UPDATE {numbers} SET name = 'x' WHERE id = 3 RETURNING OLD.name, NEW.name")
    assert cursor.fetchall() == [("name 3", "x")]
    cursor = connection.execute(f"UPDATE {numbers} SET name = 'x' WHERE id = -1 RETURNING id")
    assert cursor.fetchall() == [], "3.0 and 4.0 return a row without values"
    update = f"UPDATE {numbers} SET name = 'y' WHERE id < 4000 RETURNING id"
    if version < 5:
        with pytest.raises(firearrow.DatabaseError, match="multiple rows in singleton select"):
            connection.execute(update)
        return
    cursor = connection.execute(update)
    assert cursor.fetchone() is not None
    connection.commit()
    count = connection.execute(f"SELECT COUNT(*) FROM {numbers} WHERE name = 'y'").fetchone()
    assert count == (4000,)


def test_executemany_returning(connection: firearrow.Connection, numbers: str) -> None:
    """The rows of all executions, in their order."""
    cursor = connection.executemany(
        f"INSERT INTO {numbers} (id) VALUES (?) RETURNING id, id * 2 AS twice",
        [(n,) for n in range(6000, 6500)],
    )
    assert cursor.description is not None
    assert [column.name for column in cursor.description] == ["ID", "TWICE"]
    assert cursor.fetchmany(2) == [(6000, 12000), (6001, 12002)]
    assert cursor.fetchall() == [(n, n * 2) for n in range(6002, 6500)]
    assert cursor.rowcount == 500


def test_executemany_returning_what_is_found(connection: firearrow.Connection, numbers: str) -> None:
    """Executions that find no row give none, on servers that return one of NULLs, too; found NULLs stay."""
    connection.execute(f"UPDATE {numbers} SET name = NULL WHERE id = 4")
    update = f"UPDATE {numbers} SET id = id WHERE id = ? RETURNING name"
    ids = [-1, 3, -2, 4, 5, -3]
    cursor = connection.executemany(update, [(n,) for n in ids])
    assert cursor.fetchall() == [("name 3",), (None,), ("name 5",)]
    assert cursor.rowcount == 3
    assert connection.executemany(update, [(-1,), (-2,)]).fetchall() == []
    delete = f"DELETE FROM {numbers} WHERE id = ? RETURNING id"
    # In several batches of parameters, and over several batches of rows.
    cursor = connection.executemany(delete, ((n if n % 3 else -n - 1,) for n in range(12_000)))
    wanted = [(n,) for n in range(12_000) if n % 3]
    existing = connection.execute(f"SELECT COUNT(*) FROM {numbers}").fetchone()[0]
    found = cursor.fetchall()
    assert found == wanted[: len(found)]
    assert cursor.rowcount == len(found) > 1000
    assert existing + len(found) >= 4000


def test_executemany_returning_after_failures(connection: firearrow.Connection, table: str) -> None:
    """Failed rows and rows that were not found, mixed."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER, part INTEGER CHECK (part > 0))")
    connection.commit()
    connection.executemany(f"INSERT INTO {table} VALUES (?, 1)", [(1,), (2,), (3,)])
    update = f"UPDATE {table} SET part = ? WHERE id = ? RETURNING id"
    rows = [(5, 1), (-5, 2), (5, 9), (5, 3), (-5, 9), (-5, 3)]
    cursor = connection.executemany(update, rows, on_error="continue")
    assert cursor.fetchall() == [(1,), (3,)]
    assert [row for row, _ in cursor.failures] == [1, 5]
    assert cursor.rowcount == 2
    with pytest.raises(firearrow.IntegrityError) as caught:
        connection.executemany(update, [(6, 9), (6, 1), (-6, 2)])
    assert caught.value.row == 2


def test_executemany_of_queries(connection: firearrow.Connection, numbers: str) -> None:
    """The rows of the queries, one after the other."""
    cursor = connection.executemany(f"SELECT id FROM {numbers} WHERE id = ?", [(4,), (2,), (-1,), (4,)])
    assert cursor.fetchall() == [(4,), (2,), (4,)]


def test_procedures(connection: firearrow.Connection, table: str) -> None:
    connection.execute(
        f"CREATE PROCEDURE {table} (a INTEGER, b INTEGER) RETURNS (total INTEGER, word VARCHAR(5)) "
        "AS BEGIN total = a + b; word = 'ok'; SUSPEND; total = -1; SUSPEND; END"
    )
    connection.commit()
    cursor = connection.cursor()
    assert cursor.callproc(table, (1, 2)) == (3, "ok")
    assert cursor.execute(f"SELECT total FROM {table}(?, ?)", (1, 2)).fetchall() == [(3,), (-1,)]
    for name in ("x; DROP", "a b", "", '"', "a.b.c(1)"):
        with pytest.raises(firearrow.ProgrammingError, match="procedure name"):
            cursor.callproc(name)
    with pytest.raises(firearrow.ProgrammingError):
        cursor.callproc("nothing_of_the_kind")
    with pytest.raises(firearrow.DatabaseError):
        cursor.callproc(table, (1,))


def test_quoted_procedures(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f'CREATE PROCEDURE "{table} Ä" RETURNS (n INTEGER) AS BEGIN n = 1; END')
    connection.commit()
    assert connection.cursor().callproc(f'"{table} Ä"') == (1,)


def test_blocks(connection: firearrow.Connection) -> None:
    block = (
        "EXECUTE BLOCK (n INTEGER = ?) RETURNS (i INTEGER) AS BEGIN "
        "i = 0; WHILE (i < n) DO BEGIN i = i + 1; SUSPEND; END END"
    )
    assert connection.execute(block, (3,)).fetchall() == [(1,), (2,), (3,)]
    cursor = connection.execute("EXECUTE BLOCK AS DECLARE n INTEGER; BEGIN n = 1; END")
    assert cursor.description is None


def test_plan(connection: firearrow.Connection, numbers: str) -> None:
    cursor = connection.cursor()
    assert cursor.plan is None
    cursor.execute(f"SELECT * FROM {numbers} WHERE id = 1")
    plan = cursor.plan
    assert plan is not None
    assert numbers in plan
    assert "Unique Scan" in plan
    assert cursor.fetchone() == expected(1)


def test_wire_stats(connection: firearrow.Connection, numbers: str, is_wire: bool) -> None:
    """Counters of a statement and of the connection."""
    cursor = connection.execute(f"SELECT * FROM {numbers}")
    cursor.fetchall()
    stats, total = cursor.wire_stats, connection.wire_stats
    assert stats.keys() == total.keys()
    if is_wire:
        assert 100_000 < stats["bytes_received"] <= total["bytes_received"]
        assert 0 < stats["round_trips"] < 200
    else:
        assert stats["round_trips"] == total["round_trips"] == 0


def test_large_results_come_in_parts(connection: firearrow.Connection, numbers: str, is_wire: bool) -> None:
    """The first row does not wait for the last one."""
    cursor = connection.execute(f"SELECT a.id, b.name FROM {numbers} a CROSS JOIN {numbers} b")
    assert cursor.fetchone() is not None
    if is_wire:
        assert cursor.wire_stats["bytes_received"] < 20_000_000
    cursor.close()
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)


@pytest.mark.parametrize("parallel", [0, 2])
def test_parallel(connection: firearrow.Connection, numbers: str, parallel: int) -> None:
    """Several connections read one table, in its order."""
    with connection.begin(isolation="snapshot", read_only=True) as transaction:
        found = transaction.execute(f"SELECT id FROM {numbers}", parallel=parallel).fetchall()
    assert sorted(found) == [(n,) for n in range(5000)]


def test_dict_rows(connection: firearrow.Connection, numbers: str) -> None:
    connection.row_factory = firearrow.dict_row
    cursor = connection.execute(f'SELECT id, name AS "Name" FROM {numbers} WHERE id < 2 ORDER BY id')
    assert cursor.fetchone() == {"ID": 0, "Name": "name 0"}
    assert cursor.fetchall() == [{"ID": 1, "Name": "name 1"}]
    connection.row_factory = firearrow.tuple_row
    assert connection.execute(f"SELECT id FROM {numbers} WHERE id = 1").fetchone() == (1,)


def test_row_factory_of_one_cursor(connection: firearrow.Connection, numbers: str) -> None:
    query = f"SELECT id FROM {numbers} WHERE id = 1"
    assert connection.cursor(row_factory=firearrow.dict_row).execute(query).fetchone() == {"ID": 1}
    assert connection.cursor().execute(query).fetchone() == (1,)
    with connection.begin() as transaction:
        cursor = transaction.cursor(row_factory=firearrow.dict_row)
        assert list(cursor.execute(query)) == [{"ID": 1}]


def test_row_factory_of_connect(database: str) -> None:
    with firearrow.connect(database, row_factory=firearrow.dict_row) as connection:
        assert connection.execute("SELECT 1 AS one FROM RDB$DATABASE").fetchone() == {"ONE": 1}


def test_namedtuple_rows(connection: firearrow.Connection) -> None:
    """Names become identifiers, each of its own."""
    cursor = connection.cursor(row_factory=firearrow.namedtuple_row)
    row = cursor.execute(
        'SELECT 1 AS one, 2 AS one, 3, 4 AS "class", 5 AS "with space", 6 AS "_9x" FROM RDB$DATABASE'
    ).fetchone()
    assert row._fields[0] == "one"
    assert row._fields[1] == "one_2"
    assert len(set(row._fields)) == 6
    assert row.one == 1
    assert row.one_2 == 2
    assert row.class_ == 4
    assert row.with_space == 5
    assert tuple(row) == (1, 2, 3, 4, 5, 6)


@dataclasses.dataclass
class Named:
    id: int
    name: str


class NamedPair(NamedTuple):
    id: int
    name: str


@pytest.mark.parametrize("cls", [Named, NamedPair])
def test_class_rows(connection: firearrow.Connection, numbers: str, cls: Any) -> None:
    cursor = connection.cursor(row_factory=firearrow.class_row(cls))
    found = cursor.execute(f"SELECT id, name FROM {numbers} WHERE id < 3 ORDER BY id").fetchall()
    assert found == [cls(n, f"name {n}") for n in range(3)]
    with pytest.raises(TypeError):
        cursor.execute(f"SELECT id, name, note FROM {numbers} WHERE id = 1").fetchone()


def test_factories_of_users(connection: firearrow.Connection) -> None:
    """Any function of the columns that returns a function of a row."""

    def lengths(columns: Any) -> Any:
        assert [column.name for column in columns] == ["A", "B"]
        return lambda row: len(row)

    cursor = connection.cursor(row_factory=lengths)
    assert cursor.execute("SELECT 1 AS a, 2 AS b FROM RDB$DATABASE").fetchall() == [2]


def test_lazy_blobs_are_ids(connection: firearrow.Connection, numbers: str) -> None:
    """``read`` overrides how columns are read, for one statement."""
    query = f"SELECT note FROM {numbers} WHERE id = 1"
    assert connection.execute(query).fetchone() == (b"x",)
    (found,) = connection.execute(query, read={"blobs": "lazy"}).fetchone()
    assert isinstance(found, int)
    assert connection.execute(query).fetchone() == (b"x",)
    with pytest.raises(firearrow.ProgrammingError):
        connection.execute(query, read={"blobs": "perhaps"})
    with pytest.raises(firearrow.ProgrammingError):
        connection.execute(query, read={"colour": "red"})


def test_reprs(connection: firearrow.Connection, numbers: str) -> None:
    assert "open" in repr(connection)
    cursor = connection.cursor()
    assert repr(cursor) == "<firearrow.Cursor: no rows>"
    cursor.execute(f"SELECT id, name FROM {numbers}")
    assert "ID, NAME" in repr(cursor)
    cursor.close()
    assert "closed" in repr(cursor)
    connection.close()
    assert "closed" in repr(connection)


def test_info(connection: firearrow.Connection, version: int, is_wire: bool) -> None:
    info = connection.info
    assert info["user"] == "SYSDBA"
    assert info["page_size"] in (4096, 8192, 16384, 32768)
    assert info["dialect"] == 3
    assert info["connection_charset"] == "UTF8"
    assert (info["protocol"] is None) == (not is_wire)
    assert version in (3, 4, 5)
    connection.ping()
    assert connection.is_alive


def test_create_and_drop(database: str, is_wire: bool, table: str) -> None:
    """``create_database`` makes one, ``overwrite`` replaces it, ``drop_database`` deletes it."""
    base, _, options = database.partition("?")
    name = f"{base}.{table}" + (f"?{options}" if options else "")
    first = firearrow.create_database(name, page_size=16384)
    try:
        assert first.info["page_size"] == 16384
        with pytest.raises(firearrow.DatabaseError):
            firearrow.create_database(name)
    finally:
        first.close()
    second = firearrow.create_database(name, overwrite=True, page_size=8192)
    assert second.info["page_size"] == 8192
    second.drop_database()
    assert second.closed
    with pytest.raises(firearrow.OperationalError):
        firearrow.connect(name)


def test_a_result_that_has_failed_is_not_at_its_end(connection: firearrow.Connection) -> None:
    """Otherwise a loop that goes on after errors would take a part of the rows for all."""
    rows = "(SELECT FIRST 300000 1 n FROM rdb$types a, rdb$types b, rdb$types c)"
    sql = f"SELECT n FROM {rows} UNION ALL SELECT 1 / (n - n) FROM rdb$database, {rows}"
    cursor = connection.execute(sql)
    with pytest.raises(firearrow.DatabaseError, match=r"[Dd]ivi"):
        for _ in cursor:
            pass
    for fetch in (cursor.fetchone, cursor.fetchall, cursor.fetch_arrow_table):
        with pytest.raises(firearrow.Error, match="execute the query again"):
            fetch()
    assert cursor.rowcount == -1
    assert "all" not in repr(cursor)
    assert cursor.execute("SELECT 1 FROM RDB$DATABASE").fetchall() == [(1,)]
