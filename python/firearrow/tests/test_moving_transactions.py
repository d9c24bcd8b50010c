"""firebird-driver's usage guide with firearrow: transactions."""

from __future__ import annotations

import asyncio

import pytest
from statements import stored

import firearrow
from firearrow import aio


def test_basics_of_transactions(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    insert = f"INSERT INTO {languages} VALUES (?, 0)"
    connection.execute(insert, ("Oz",))
    connection.commit()
    connection.execute(insert, ("Barsoom",))
    connection.rollback()
    connection.execute(insert, ("Pellucidar",))
    connection.close()
    assert [name for (name,) in stored(other, languages, "name")] == ["C", "Oz", "Python"]


def test_auto_commit(database: str, other: firearrow.Connection, languages: str) -> None:
    connection = firearrow.connect(database, autocommit=True)
    try:
        connection.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
        assert len(stored(other, languages)) == 3
        connection.autocommit = False
        connection.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
        assert len(stored(other, languages)) == 3
    finally:
        connection.close()


def test_transaction_parameters(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    reader = connection.begin(isolation="read_committed_record_version", read_only=True)
    with pytest.raises(firearrow.ProgrammingError):
        reader.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
    reader.rollback()
    # Each transaction of a connection begins in the same way.
    other.isolation, other.lock_timeout = "read_committed", 0
    connection.execute(f"UPDATE {languages} SET year_released = 1 WHERE name = 'C'")
    with pytest.raises(firearrow.OperationalError) as caught:
        other.execute(f"UPDATE {languages} SET year_released = 2 WHERE name = 'C'")
    assert caught.value.retryable
    other.rollback()
    connection.rollback()
    other.isolation = None
    # No reservation of tables, but a transaction that locks each table that it touches.
    with connection.begin(isolation="snapshot_table_stability") as alone:
        assert alone.execute(f"SELECT COUNT(*) FROM {languages}").fetchone() == (2,)
        with pytest.raises(firearrow.OperationalError):
            other.execute(f"UPDATE {languages} SET year_released = 2 WHERE name = 'C'")
    other.rollback()


def test_a_refused_isolation_changes_nothing(connection: firearrow.Connection) -> None:
    with pytest.raises(firearrow.ProgrammingError, match="no isolation level"):
        connection.isolation = "no such level"
    assert connection.isolation is None
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)


def test_getting_information_about_the_transaction(connection: firearrow.Connection) -> None:
    with connection.begin(isolation="read_committed_record_version", lock_timeout=7) as transaction:
        found = transaction.execute(
            "SELECT CURRENT_TRANSACTION, RDB$GET_CONTEXT('SYSTEM', 'ISOLATION_LEVEL'), "
            "RDB$GET_CONTEXT('SYSTEM', 'LOCK_TIMEOUT'), RDB$GET_CONTEXT('SYSTEM', 'READ_ONLY') "
            "FROM RDB$DATABASE"
        ).fetchone()
        assert found == (transaction.number, "READ COMMITTED", "7", "FALSE")


def test_retaining_transactions(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    number = "SELECT CURRENT_TRANSACTION FROM RDB$DATABASE"
    connection.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
    before = connection.execute(number).fetchone()
    rows = connection.execute(f"SELECT name FROM {languages} ORDER BY name")
    assert rows.fetchone() == ("C",)
    connection.commit(retaining=True)
    assert len(stored(other, languages)) == 3
    # The open cursor goes on, and the transaction sees what it saw before.
    assert rows.fetchall() == [("Oz",), ("Python",)]
    other.execute(f"DELETE FROM {languages}")
    other.commit()
    assert len(connection.execute(f"SELECT name FROM {languages}").fetchall()) == 3
    connection.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
    connection.rollback(retaining=True)
    assert len(connection.execute(f"SELECT name FROM {languages}").fetchall()) == 3
    connection.commit()
    assert connection.execute(number).fetchone() != before
    assert stored(other, languages) == []


def test_retaining_a_transaction_of_its_own(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    with connection.begin() as transaction:
        before = transaction.number
        transaction.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
        transaction.commit(retaining=True)
        # Firebird gives the same snapshot a new number.
        assert transaction.is_open and transaction.number > before
        transaction.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
        transaction.rollback(retaining=True)
        assert transaction.is_open
    assert len(stored(other, languages)) == 3


def test_retaining_in_asyncio(database: str, other: firearrow.Connection, languages: str) -> None:
    async def work() -> None:
        connection = await aio.connect(database)
        try:
            rows = await connection.execute(f"SELECT name FROM {languages} ORDER BY name")
            assert await rows.fetchone() == ("C",)
            await connection.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
            await connection.commit(retaining=True)
            assert len(stored(other, languages)) == 3
            assert await rows.fetchone() is not None
            await connection.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
            await connection.rollback(retaining=True)
            transaction = connection.begin()
            await transaction.execute(f"INSERT INTO {languages} VALUES ('Mongo', 0)")
            await transaction.commit(retaining=True)
            await transaction.execute(f"INSERT INTO {languages} VALUES ('Pellucidar', 0)")
            await transaction.rollback(retaining=True)
            assert transaction.is_open
            await transaction.commit()
        finally:
            await connection.close()

    asyncio.run(asyncio.wait_for(work(), 60))
    assert [name for (name,) in stored(other, languages, "name")] == ["C", "Mongo", "Oz", "Python"]


def test_savepoints(connection: firearrow.Connection, other: firearrow.Connection, languages: str) -> None:
    """Blocks; names in SQL work as well."""
    insert = f"INSERT INTO {languages} VALUES (?, 0)"
    connection.execute(insert, ("Oz",))
    with pytest.raises(ZeroDivisionError), connection.savepoint():
        connection.execute(insert, ("Barsoom",))
        raise ZeroDivisionError
    connection.execute("SAVEPOINT b")
    connection.execute(insert, ("Pellucidar",))
    connection.execute("ROLLBACK TO SAVEPOINT b")
    connection.commit()
    assert [name for (name,) in stored(other, languages, "name")] == ["C", "Oz", "Python"]


def test_multiple_transactions_with_one_connection(connection: firearrow.Connection, languages: str) -> None:
    reader = connection.begin(isolation="read_committed_record_version", read_only=True)
    select = f"SELECT name FROM {languages} WHERE name = ?"
    connection.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
    connection.commit()
    assert reader.execute(select, ("Oz",)).fetchall() == [("Oz",)]
    connection.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
    assert reader.execute(select, ("Barsoom",)).fetchall() == []
    reader.commit()


def test_distributed_transactions(connection: firearrow.Connection) -> None:
    """There are none."""
    assert not hasattr(firearrow, "DistributedTransactionManager")
    assert not hasattr(connection.begin(), "prepare")


def test_transaction_context_manager(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    with connection.begin() as transaction:
        transaction.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
    with pytest.raises(ZeroDivisionError), connection.begin() as transaction:
        transaction.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
        raise ZeroDivisionError
    assert [name for (name,) in stored(other, languages, "name")] == ["C", "Oz", "Python"]
