"""Options of connections, pools and cursors: what is wrong is refused when it is given."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import firearrow
from firearrow import InterfaceError, Pool, ProgrammingError, aio

FILE = "/nowhere/x.fdb"
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"dbname": FILE}, "there is no option 'dbname'; is 'database' meant"),
    ({"db": FILE}, "there is no option 'db'; is 'database' meant"),
    ({"dsn": FILE}, "pass the DSN as the first argument"),
    ({"host": "localhost"}, r"a host alone names no database: connect\('/path/or/alias', host="),
    ({}, "name a database"),
    ({"database": 3}, "database must be a str or a path, not int"),
    ({"database": FILE, "passwd": "x"}, "is 'password' meant"),
    ({"database": FILE, "isolation_level": "x"}, "is 'isolation' meant"),
    ({"database": FILE, "cursor_factory": dict}, "is 'row_factory' meant"),
    ({"database": FILE, "port": 3050}, "a port needs a host"),
    ({"database": FILE, "row_factory": "dict"}, "row_factory must be a function such as firearrow.dict_row"),
    ({"database": FILE, "isolaton": "x"}, "there is no option 'isolaton'; is 'isolation' meant"),
    ({"database": FILE, "auto_commit": True}, "there is no option 'auto_commit'; is 'autocommit' meant"),
    ({"database": FILE, "xyz": 3}, "there is no option 'xyz'; remove it"),
    ({"database": f"{FILE}?isolation=snapshot"}, r"'isolation' is no option of URLs here; .*isolation=…\)"),
    ({"database": f"{FILE}?autocommit=1"}, r"no option 'autocommit' in URLs; .*autocommit=…\)"),
    (
        {"database": FILE, "lock_timeout": "5"},
        "lock_timeout must be a number of seconds from 0 to 32767, or None, not '5'",
    ),
    ({"database": FILE, "isolation": 3}, "isolation must be a str such as 'read_committed', not 3"),
    ({"database": FILE, "autocommit": "no"}, "autocommit must be True or False, not 'no'"),
    ({"database": FILE, "read_only": "no"}, "read_only must be True or False, not 'no'"),
    ({"database": FILE, "max_result_rows": -1}, "max_result_rows must be a number of rows or None, not -1"),
    ({"database": FILE, "max_result_bytes": "x"}, "bytes must be a number of bytes or None, not 'x'"),
    (
        {"database": f"{FILE}?max_result_rows=-1"},
        "max_result_rows='-1' is not possible; it must be a number of rows",
    ),
    (
        {"database": f"{FILE}?max_result_bytes=1MB"},
        "max_result_bytes='1MB' is not possible; .* a number of bytes",
    ),
    ({"database": f"{FILE}?max_result_rows=1&maxResultRows=2"}, "max_result_rows is given twice"),
    ({"database": f"{FILE}?nowait=1"}, "'nowait' is an option of the ODBC driver"),
    ({"database": f"{FILE}?max_result_row=1"}, "there is no option 'max_result_row'"),
    ({"database": FILE, "lock_timeout": float("nan")}, "seconds from 0 to 32767, or None, not nan"),
    ({"database": FILE, "lock_timeout": -1}, "seconds from 0 to 32767, or None, not -1"),
    ({"database": FILE, "lock_timeout": float("inf")}, "seconds from 0 to 32767, or None, not inf"),
    ({"database": FILE, "lock_timeout": 10**400}, "seconds from 0 to 32767, or None, not 1000*…"),
    ({"database": FILE, "lock_timeout": 10**5000}, "seconds from 0 to 32767, or None, not"),
    ({"database": FILE, "max_result_rows": 2**70}, "max_result_rows must be a number of rows or None, not"),
    ({"database": FILE, "connect_timeout": 10**5000}, "connect_timeout is out of range"),
    ({"database": FILE, "connect_timeout": [1]}, "connect_timeout must be a str, int, .*, not list"),
    ({"database": FILE, "host": 5}, "host must be a str, not int"),
    ({"database": FILE, "user": 5}, "user must be a str, not int"),
    ({"database": FILE, "password": b"x"}, "password must be a str, not bytes"),
    ({"database": FILE, "password": "x\ud800"}, "password contains a lone surrogate .* at position 1"),
    ({"database": "x\ud800"}, "database contains a lone surrogate"),
    ({"database": FILE, "\ud800": 1}, "contains a lone surrogate"),
    ({"database": FILE, "isolation": "x\ud800"}, "isolation contains a lone surrogate"),
    ({"database": FILE, "autocommit": 1.0}, "autocommit must be True or False, not 1.0"),
    ({"database": FILE, "autocommit": [1, 0]}, "autocommit must be True or False"),
]


class Bytes:
    """A path that is not of str."""

    def __fspath__(self) -> bytes:
        return b"/x"


WRONG.append(({"database": Bytes()}, "database must be a str or a path of str, not of bytes"))
SECRET = "hunter2secret"


@pytest.mark.parametrize("call", [firearrow.connect, aio.connect, Pool, aio.Pool])
@pytest.mark.parametrize(("options", "message"), WRONG)
def test_what_is_wrong_is_refused_at_once(call: Any, options: dict[str, Any], message: str) -> None:
    # None of these waits, or has a connection.
    with pytest.raises(InterfaceError, match=message):
        call(**options)


@pytest.mark.parametrize("call", [firearrow.connect, aio.connect, Pool, aio.Pool])
@pytest.mark.parametrize(
    "options",
    [
        {"database": {"password": SECRET}},
        {"database": ("h:/x", "u", SECRET)},
        {"database": f"firebird://u:{SECRET}@h/x".encode()},
        {"host": f"u:{SECRET}@h"},
        {"database": FILE, "password": [SECRET]},
        {"database": FILE, "password": SECRET.encode()},
        {"database": FILE, "password": SECRET + "\ud800"},
    ],
)
def test_no_secret_is_in_a_message(call: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InterfaceError) as raised:
        call(**options)
    error: BaseException | None = raised.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("autocommit", "no"),
        ("read_only", "no"),
        ("isolation", 5),
        ("lock_timeout", "x"),
        ("lock_timeout", 10**400),
        ("max_result_rows", "x"),
        ("max_result_rows", -1),
        ("max_result_bytes", 1.5),
    ],
)
def test_attributes_are_checked_when_they_are_set(
    database: str, connection: firearrow.Connection, name: str, value: Any
) -> None:
    before = getattr(connection, name)
    with pytest.raises(InterfaceError, match=f"{name} must be"):
        setattr(connection, name, value)
    assert getattr(connection, name) == before

    async def work() -> None:
        async with aio.connect(database) as other:
            with pytest.raises(InterfaceError, match=f"{name} must be"):
                setattr(other, name, value)
            if name == "autocommit":
                with pytest.raises(InterfaceError, match=f"{name} must be"):
                    await other.set_autocommit(value)

    asyncio.run(work())


@pytest.mark.parametrize(
    ("name", "meant"),
    [("auto_commit", "autocommit"), ("isolation_level", "isolation"), ("rowfactory", "row_factory"), ("xyz", None)],
)
def test_misspelt_attributes(
    database: str, connection: firearrow.Connection, name: str, meant: str | None
) -> None:
    told = f"'Connection' object has no attribute '{name}'" + (f"; is '{meant}' meant\\?" if meant else "")
    with pytest.raises(AttributeError, match=f"^{told}$"):
        setattr(connection, name, None)

    async def work() -> None:
        async with aio.connect(database) as other:
            with pytest.raises(AttributeError, match=f"^{told}$"):
                setattr(other, name, None)

    asyncio.run(work())
    with Pool(database) as pool, pytest.raises(AttributeError, match="is 'closed' meant"):
        pool.close_d = 3  # type: ignore[attr-defined]

    class Mine(firearrow.Connection):
        pass

    with firearrow.connect(database) as base:
        mine = Mine(base._core)
        setattr(mine, name, 5)
        assert getattr(mine, name) == 5


def test_no_row_factory_means_tuples(database: str) -> None:
    with firearrow.connect(database, row_factory=None) as connection:
        assert connection.row_factory is firearrow.tuple_row
        connection.row_factory = firearrow.dict_row
        connection.row_factory = None
        assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)


def test_a_block_needs_an_open_connection(database: str) -> None:
    connection = firearrow.connect(database)
    connection.close()
    with pytest.raises(InterfaceError, match="the connection is closed"), connection:
        pass

    async def work() -> None:
        other = await aio.connect(database)
        await other.close()
        with pytest.raises(InterfaceError, match="the connection is closed"):
            async with other:
                pass

    asyncio.run(work())


def test_public_names_are_those_that_are_imported() -> None:
    for package in (firearrow, aio):
        for name in package.__all__:
            module = getattr(getattr(package, name), "__module__", "")
            assert not module.startswith("firearrow.") or module == "firearrow.aio", name
    assert repr(Pool) == "<class 'firearrow.Pool'>" and repr(aio.Pool) == "<class 'firearrow.aio.Pool'>"


@pytest.mark.parametrize("pool", [Pool, aio.Pool])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_size": "3"}, "max_size must be a number of connections, not '3'"),
        ({"min_size": 0.5}, "min_size must be a number of connections, not 0.5"),
        ({"acquire_timeout": None}, "acquire_timeout must be a number of seconds, not None"),
        ({"idle_timeout": "1"}, "idle_timeout must be a number of seconds, not '1'"),
        ({"reset": None}, "reset must be one of auto, always, never, not None"),
        ({"configure": "SET ROLE x"}, "configure is called with each new connection"),
        ({"maxsize": 3}, "there is no option 'maxsize'; is 'max_size' meant"),
        ({"maxconn": 3}, "there is no option 'maxconn'; is 'max_size' meant"),
        ({"auto_commit": True}, "there is no option 'auto_commit'; is 'autocommit' meant"),
    ],
)
def test_options_of_pools(pool: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InterfaceError, match=message):
        pool(FILE, **options)


def test_row_factories_are_checked_when_they_are_set(connection: firearrow.Connection) -> None:
    cursor = connection.cursor()
    for use in (
        lambda: setattr(connection, "row_factory", 3),
        lambda: setattr(cursor, "row_factory", "dict"),
        lambda: connection.cursor(row_factory={}),  # type: ignore[arg-type]
    ):
        with pytest.raises(InterfaceError, match="row_factory must be a function such as"):
            use()
    assert connection.row_factory is firearrow.tuple_row and cursor.row_factory is None
    cursor.row_factory = firearrow.dict_row
    assert cursor.execute("SELECT 1 AS n FROM RDB$DATABASE").fetchone() == {"N": 1}


def test_a_row_factory_that_was_called_says_so(connection: firearrow.Connection) -> None:
    wrong: Any = lambda columns: [1]  # noqa: E731
    with pytest.raises(ProgrammingError, match="not a function of a row"):
        connection.cursor(row_factory=wrong).execute("SELECT 1 FROM RDB$DATABASE")


def test_no_rows_of_parameters_affect_no_rows(
    database: str, connection: firearrow.Connection, table: str
) -> None:
    connection.execute(f"CREATE TABLE {table} (n INTEGER)")
    connection.commit()
    assert connection.executemany(f"INSERT INTO {table} VALUES (?)", []).rowcount == 0
    assert connection.executemany(f"INSERT INTO {table} VALUES (?)", iter(())).rowcount == 0
    assert connection.executemany(f"INSERT INTO {table} VALUES (?)", [(1,), (2,)]).rowcount == 2
    connection.rollback()

    async def work() -> int:
        async with aio.connect(database) as other:
            return (await other.executemany(f"INSERT INTO {table} VALUES (?)", [])).rowcount

    assert asyncio.run(work()) == 0


def test_duckdb_reads_a_cursor(connection: firearrow.Connection) -> None:
    duckdb = pytest.importorskip("duckdb")
    many = "SELECT a.rdb$type AS n FROM rdb$types a, rdb$types b"
    expected = connection.execute(f"SELECT COUNT(*), SUM(n) FROM ({many})").fetchone()
    cursor = connection.execute(many)
    assert duckdb.sql("SELECT COUNT(*), SUM(n) FROM cursor").fetchall() == [expected]
    with pytest.raises(ProgrammingError, match="the rows have gone to Arrow"):
        cursor.fetch_arrow_table()
    cursor.execute(many)
    assert duckdb.from_arrow(cursor).aggregate("COUNT(*), SUM(n)").fetchall() == [expected]
    # The cursor can be used again.
    assert cursor.execute("SELECT 1 FROM RDB$DATABASE").fetchall() == [(1,)]


def test_columns_of_one_name_are_no_dict(connection: firearrow.Connection) -> None:
    cursor = connection.cursor(row_factory=firearrow.dict_row)
    with pytest.raises(firearrow.ProgrammingError, match="two columns are called A"):
        cursor.execute("SELECT 1 AS a, 2 AS a FROM RDB$DATABASE").fetchone()


def test_sets_have_no_order(connection: firearrow.Connection) -> None:
    for values in ({1, 2}, frozenset((1, 2))):
        with pytest.raises(firearrow.ProgrammingError, match="has no order"):
            connection.execute("SELECT CAST(? AS INTEGER), CAST(? AS INTEGER) FROM RDB$DATABASE", values)  # type: ignore[arg-type]


@pytest.mark.parametrize("pool", [firearrow.Pool, firearrow.aio.Pool])
def test_options_of_connections_are_checked_with_the_pool(pool: Any, database: str) -> None:
    with pytest.raises(firearrow.InterfaceError, match="maxsize"):
        pool(database, maxsize=3)
    with pytest.raises(firearrow.ProgrammingError, match="no isolation level"):
        pool(database, isolation="nonsense")
    with pytest.raises(firearrow.InterfaceError, match="max_size"):
        pool(database, max_size=True)
