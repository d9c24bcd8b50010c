"""Transactions: the connection's own, others beside it, savepoints, isolation."""

from __future__ import annotations

import threading
import time

import pytest

import firearrow


@pytest.fixture
def counter(connection: firearrow.Connection, table: str) -> str:
    """A table with one row: number 1 with the value 0."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, n INTEGER)")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (1, 0)")
    connection.commit()
    return table


def value(source: firearrow.Connection | firearrow.Transaction, table: str) -> int:
    found: int = source.execute(f"SELECT SUM(n) FROM {table}").fetchone()[0]
    return found


def test_commit_shows_changes(
    connection: firearrow.Connection, other: firearrow.Connection, counter: str
) -> None:
    connection.execute(f"UPDATE {counter} SET n = 5")
    assert value(other, counter) == 0
    other.rollback()
    connection.commit()
    assert value(other, counter) == 5


def test_rollback_hides_them(
    connection: firearrow.Connection, other: firearrow.Connection, counter: str
) -> None:
    connection.execute(f"UPDATE {counter} SET n = 5")
    connection.rollback()
    assert value(connection, counter) == 0
    assert value(other, counter) == 0


def test_snapshot_by_default(
    connection: firearrow.Connection, other: firearrow.Connection, counter: str
) -> None:
    """A transaction sees what was committed before it, and nothing later."""
    assert value(other, counter) == 0
    connection.execute(f"UPDATE {counter} SET n = 5")
    connection.commit()
    assert value(other, counter) == 0
    other.commit()
    assert value(other, counter) == 5


@pytest.mark.parametrize(
    "isolation",
    ["read_committed", "read_committed_record_version", "read_committed_no_record_version", "READ COMMITTED"],
)
def test_read_committed(
    connection: firearrow.Connection, other: firearrow.Connection, counter: str, isolation: str
) -> None:
    """Each statement sees what is committed by then."""
    with other.begin(isolation=isolation) as transaction:
        assert value(transaction, counter) == 0
        connection.execute(f"UPDATE {counter} SET n = 5")
        connection.commit()
        assert value(transaction, counter) == 5


def test_isolation_of_the_connection(database: str, connection: firearrow.Connection, counter: str) -> None:
    """What ``connect`` is told holds for every transaction of the connection."""
    with firearrow.connect(database, isolation="read_committed") as reader:
        for n in (1, 2):
            value(reader, counter)
            connection.execute(f"UPDATE {counter} SET n = {n}")
            connection.commit()
            assert value(reader, counter) == n


def test_table_stability_locks_others_out(
    connection: firearrow.Connection, other: firearrow.Connection, counter: str
) -> None:
    with (
        connection.begin(isolation="snapshot_table_stability") as transaction,
        other.begin(lock_timeout=0) as writer,
    ):
        assert value(transaction, counter) == 0
        with pytest.raises(firearrow.OperationalError) as caught:
            writer.execute(f"UPDATE {counter} SET n = 1")
        assert caught.value.retryable


def test_unknown_isolation(connection: firearrow.Connection) -> None:
    with pytest.raises(firearrow.ProgrammingError, match="levels are snapshot"):
        connection.begin(isolation="chaos")


@pytest.mark.parametrize("seconds", [-1, 40_000, float("nan"), float("inf")])
def test_impossible_lock_timeouts(connection: firearrow.Connection, seconds: float) -> None:
    with pytest.raises(firearrow.ProgrammingError, match="lock timeout"):
        connection.begin(lock_timeout=seconds)


@pytest.mark.parametrize("way", ["begin", "connect"])
def test_read_only(database: str, connection: firearrow.Connection, counter: str, way: str) -> None:
    reader = firearrow.connect(database, read_only=way == "connect")
    try:
        place = reader if way == "connect" else reader.begin(read_only=True)
        assert value(place, counter) == 0
        with pytest.raises(firearrow.DatabaseError, match="read-only"):
            place.execute(f"UPDATE {counter} SET n = 1")
        place.rollback()
    finally:
        reader.close()
    assert value(connection, counter) == 0


def test_conflict_without_waiting(
    connection: firearrow.Connection, other: firearrow.Connection, counter: str
) -> None:
    """``lock_timeout=0`` fails at once, with an error that says that a new transaction may succeed."""
    connection.execute(f"UPDATE {counter} SET n = 1")
    started = time.monotonic()
    with pytest.raises(firearrow.OperationalError) as caught, other.begin(lock_timeout=0) as transaction:
        transaction.execute(f"UPDATE {counter} SET n = 2")
    assert time.monotonic() - started < 1
    assert caught.value.retryable
    assert caught.value.kind == "Conflict"
    assert caught.value.sqlstate == "40001"
    connection.commit()
    with other.begin() as transaction:
        transaction.execute(f"UPDATE {counter} SET n = n + 2")
    assert value(connection, counter) == 3


def test_conflict_after_a_time(
    connection: firearrow.Connection, other: firearrow.Connection, counter: str
) -> None:
    connection.execute(f"UPDATE {counter} SET n = 1")
    started = time.monotonic()
    with pytest.raises(firearrow.OperationalError), other.begin(lock_timeout=2) as transaction:
        transaction.execute(f"UPDATE {counter} SET n = 2")
    # The engine counts whole seconds.
    assert 0.8 < time.monotonic() - started < 10


def test_waiting_for_another_transaction(
    connection: firearrow.Connection, other: firearrow.Connection, counter: str
) -> None:
    """Without a limit it waits; here the other one rolls back, and the update goes on."""
    connection.execute(f"UPDATE {counter} SET n = 1")
    threading.Timer(0.3, connection.rollback).start()
    started = time.monotonic()
    with other.begin() as transaction:
        transaction.execute(f"UPDATE {counter} SET n = 2")
    assert time.monotonic() - started > 0.2
    assert value(connection, counter) == 2


def test_several_transactions(connection: firearrow.Connection, counter: str) -> None:
    """A connection has as many as it begins, and they do not see each other."""
    first, second = connection.begin(), connection.begin()
    first.execute(f"INSERT INTO {counter} VALUES (2, 10)")
    second.execute(f"INSERT INTO {counter} VALUES (3, 100)")
    assert (value(first, counter), value(second, counter), value(connection, counter)) == (10, 100, 0)
    connection.rollback()
    first.commit()
    second.rollback()
    assert value(connection, counter) == 10


def test_transactions_have_numbers(connection: firearrow.Connection, version: int) -> None:
    with connection.begin() as first, connection.begin() as second:
        assert first.number < second.number
        if version >= 4:
            assert first.snapshot_number > 0


def test_a_shared_snapshot(
    connection: firearrow.Connection, other: firearrow.Connection, counter: str, version: int
) -> None:
    """Another connection reads what a snapshot reads."""
    if version < 4:
        with pytest.raises(firearrow.Error), connection.begin(snapshot=1) as transaction:
            value(transaction, counter)
        return
    with connection.begin() as first:
        assert value(first, counter) == 0
        number = first.snapshot_number
        other.execute(f"UPDATE {counter} SET n = 7")
        other.commit()
        with other.begin(snapshot=number) as second:
            assert value(second, counter) == 0
        with other.begin() as third:
            assert value(third, counter) == 7


def test_a_transaction_as_a_block(
    connection: firearrow.Connection, other: firearrow.Connection, counter: str
) -> None:
    with connection.begin() as transaction:
        transaction.execute(f"UPDATE {counter} SET n = 1")
        assert transaction.is_open
    assert not transaction.is_open
    assert value(other, counter) == 1
    with pytest.raises(RuntimeError, match="away"), connection.begin() as transaction:
        transaction.execute(f"UPDATE {counter} SET n = 2")
        raise RuntimeError("away")
    assert not transaction.is_open
    other.rollback()
    assert value(other, counter) == 1


def test_a_block_that_ends_its_transaction(connection: firearrow.Connection, counter: str) -> None:
    """Ending it within the block is allowed."""
    with connection.begin() as transaction:
        transaction.execute(f"UPDATE {counter} SET n = 1")
        transaction.rollback()
    with connection.begin() as transaction:
        transaction.execute(f"UPDATE {counter} SET n = 2")
        transaction.commit()
    assert value(connection, counter) == 2


def test_ended_transactions_refuse(connection: firearrow.Connection, counter: str) -> None:
    transaction = connection.begin()
    cursor = transaction.cursor()
    transaction.commit()
    for work in (
        transaction.commit,
        transaction.rollback,
        lambda: transaction.number,
        lambda: transaction.execute("SELECT 1 FROM RDB$DATABASE"),
        lambda: cursor.execute("SELECT 1 FROM RDB$DATABASE"),
        lambda: cursor.executemany(f"INSERT INTO {counter} VALUES (?, ?)", [(7, 7)]),
    ):
        with pytest.raises(firearrow.InterfaceError, match="ended"):
            work()
    assert "ended" in repr(transaction)


def test_closing_ends_transactions(database: str, counter: str, other: firearrow.Connection) -> None:
    connection = firearrow.connect(database)
    transaction = connection.begin()
    transaction.execute(f"UPDATE {counter} SET n = 1")
    connection.close()
    assert not transaction.is_open
    with pytest.raises(firearrow.InterfaceError):
        transaction.commit()
    with other.begin(lock_timeout=0) as free:
        free.execute(f"UPDATE {counter} SET n = 2")


def test_a_connection_as_a_block(database: str, counter: str, other: firearrow.Connection) -> None:
    """It commits, or rolls back if an error leaves it, and closes."""
    with firearrow.connect(database) as connection:
        connection.execute(f"UPDATE {counter} SET n = 1")
    assert connection.closed
    assert value(other, counter) == 1
    with pytest.raises(RuntimeError, match="away"), firearrow.connect(database) as connection:
        connection.execute(f"UPDATE {counter} SET n = 2")
        raise RuntimeError("away")
    assert connection.closed
    other.rollback()
    assert value(other, counter) == 1


def test_autocommit(database: str, other: firearrow.Connection, counter: str) -> None:
    """Each statement is a transaction of its own; queries can be read while others run."""
    with firearrow.connect(database, autocommit=True) as connection:
        connection.execute(f"INSERT INTO {counter} VALUES (2, 5)")
        assert value(other, counter) == 5
        other.rollback()
        rows = connection.execute(f"SELECT id FROM {counter} ORDER BY id")
        assert rows.fetchone() == (1,)
        connection.execute(f"INSERT INTO {counter} VALUES (3, 5)")
        assert rows.fetchall() == [(2,)], "a snapshot"
        connection.executemany(f"INSERT INTO {counter} VALUES (?, ?)", [(4, 5), (5, 5)])
        assert value(other, counter) == 20
        other.rollback()
        with pytest.raises(firearrow.IntegrityError):
            connection.executemany(f"INSERT INTO {counter} VALUES (?, ?)", [(6, 5), (1, 5)])
        assert value(other, counter) == 20, "all rows of a call are one transaction"
        with pytest.raises(firearrow.ProgrammingError, match="autocommit"), connection.savepoint():
            pass
        connection.commit()
        connection.rollback()


def test_autocommit_begins_as_told(database: str, counter: str) -> None:
    """Options of transactions hold in autocommit mode, too."""
    connection = firearrow.connect(database, autocommit=True, read_only=True)
    try:
        assert value(connection, counter) == 0
        with pytest.raises(firearrow.DatabaseError, match="read-only"):
            connection.execute(f"UPDATE {counter} SET n = 1")
        with pytest.raises(firearrow.DatabaseError, match="read-only"):
            connection.executemany(f"UPDATE {counter} SET n = ?", [(1,)])
    finally:
        connection.close()


def test_switching_autocommit_on_commits(
    connection: firearrow.Connection, other: firearrow.Connection, counter: str
) -> None:
    connection.execute(f"UPDATE {counter} SET n = 1")
    connection.autocommit = True
    assert value(other, counter) == 1
    other.rollback()
    connection.execute(f"UPDATE {counter} SET n = 2")
    assert value(other, counter) == 2
    other.rollback()
    connection.autocommit = False
    connection.execute(f"UPDATE {counter} SET n = 3")
    assert value(other, counter) == 2
    connection.rollback()


def test_savepoints(connection: firearrow.Connection, counter: str) -> None:
    """What fails within one is undone alone; they nest."""
    with connection.savepoint():
        connection.execute(f"UPDATE {counter} SET n = 1")
        with pytest.raises(RuntimeError, match="inner"), connection.savepoint("inner"):
            connection.execute(f"UPDATE {counter} SET n = 2")
            assert value(connection, counter) == 2
            raise RuntimeError("inner")
        assert value(connection, counter) == 1
    with pytest.raises(firearrow.IntegrityError), connection.savepoint():
        connection.execute(f"INSERT INTO {counter} VALUES (2, 10)")
        connection.execute(f"INSERT INTO {counter} VALUES (1, 10)")
    assert value(connection, counter) == 1
    connection.commit()
    assert value(connection, counter) == 1


def test_savepoints_of_transactions(connection: firearrow.Connection, counter: str) -> None:
    with connection.begin() as transaction:
        with transaction.savepoint() as name:
            assert name
            transaction.execute(f"UPDATE {counter} SET n = 1")
        with pytest.raises(KeyError), transaction.savepoint():
            transaction.execute(f"UPDATE {counter} SET n = 2")
            raise KeyError
        # A name is a name, not SQL.
        with transaction.savepoint('odd "name"; DROP'):
            transaction.execute(f"UPDATE {counter} SET n = n + 10")
    assert value(connection, counter) == 11


def test_a_savepoint_whose_transaction_ends(connection: firearrow.Connection, counter: str) -> None:
    with connection.savepoint():
        connection.execute(f"UPDATE {counter} SET n = 1")
        connection.commit()
    assert value(connection, counter) == 1


@pytest.mark.parametrize("sql", ["COMMIT", "ROLLBACK", "SET TRANSACTION", "commit work"])
def test_transactions_in_sql(connection: firearrow.Connection, counter: str, sql: str) -> None:
    """The connection would not know: it says what to call instead."""
    connection.execute(f"UPDATE {counter} SET n = 1")
    with pytest.raises(firearrow.ProgrammingError, match="begin\\(\\), commit\\(\\) and rollback\\(\\)"):
        connection.execute(sql)
    assert value(connection, counter) == 1
    connection.rollback()
    assert value(connection, counter) == 0


def test_ddl_needs_a_commit(
    connection: firearrow.Connection, other: firearrow.Connection, table: str
) -> None:
    """DDL belongs to the transaction as everything else does."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    with pytest.raises(firearrow.ProgrammingError) as caught:
        other.execute(f"SELECT * FROM {table}")
    assert caught.value.sqlstate == "42S02"
    connection.rollback()
    with pytest.raises(firearrow.ProgrammingError):
        connection.execute(f"SELECT * FROM {table}")


def test_open_results_and_commit(connection: firearrow.Connection, counter: str) -> None:
    """A result ends with its transaction, and says so; it does not stand in the way of the commit."""
    connection.executemany(f"INSERT INTO {counter} VALUES (?, ?)", [(n, n) for n in range(10, 5000)])
    connection.commit()
    cursor = connection.execute(f"SELECT id FROM {counter}, RDB$TYPES")
    assert cursor.fetchone() is not None
    connection.commit()
    with pytest.raises(firearrow.Error):
        cursor.fetchall()
    assert value(connection, counter) == sum(range(10, 5000))


def test_reset(connection: firearrow.Connection, other: firearrow.Connection, counter: str) -> None:
    """``reset`` rolls back and makes the session new."""
    connection.execute(f"UPDATE {counter} SET n = 1")
    connection.execute("SELECT RDB$SET_CONTEXT('USER_SESSION', 'X', '1') FROM RDB$DATABASE").fetchall()
    connection.reset()
    assert value(other, counter) == 0
    assert value(connection, counter) == 0
