"""Connections of a pool: what a borrower gets, and what happens when it gives them back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from statements import ME, ONE, attachment, left_open, values

import firearrow
from firearrow import Pool


def test_a_block_commits_and_a_failed_one_rolls_back(
    pool: Pool, numbers: str, other: firearrow.Connection
) -> None:
    with pool.connection() as connection:
        connection.execute(f"INSERT INTO {numbers} VALUES (1)")
    with pytest.raises(ZeroDivisionError), pool.connection() as connection:
        connection.execute(f"INSERT INTO {numbers} VALUES (2)")
        raise ZeroDivisionError
    assert values(other, numbers) == [1]


def test_the_connection_used_last_is_lent_first(pool: Pool) -> None:
    with pool.connection() as connection:
        first = attachment(connection)
    for _ in range(5):
        with pool.connection() as connection:
            assert attachment(connection) == first
    stats = pool.stats
    assert (stats.opened, stats.size, stats.idle, stats.in_use, stats.acquired) == (1, 1, 1, 0, 6)


def test_closing_a_connection_gives_it_back(pool: Pool) -> None:
    connection = pool.acquire()
    assert (pool.stats.in_use, pool.stats.idle) == (1, 0)
    assert connection.pool is pool
    connection.close()
    connection.close()
    pool.release(connection)
    assert (pool.stats.in_use, pool.stats.idle) == (0, 1)
    with pool.acquire() as connection:
        attachment(connection)
    assert (pool.stats.in_use, pool.stats.idle, pool.stats.opened) == (0, 1, 1)


def test_what_was_given_back_is_refused(pool: Pool) -> None:
    connection = pool.acquire()
    cursor = connection.execute(ONE)
    unfinished = connection.execute("SELECT RDB$FIELD_NAME FROM RDB$FIELDS")
    unfinished.fetchone()
    transaction = connection.begin()
    reading = transaction.execute(ONE)
    pool.release(connection)
    assert connection.closed and not transaction.is_open
    for use in (
        connection.cursor,
        lambda: connection.execute(ONE),
        connection.begin,
        connection.commit,
        connection.rollback,
        connection.ping,
        lambda: connection.info,
        cursor.fetchone,
        unfinished.fetchall,
        lambda: unfinished.execute(ONE),
        reading.fetchone,
        transaction.cursor,
        transaction.commit,
    ):
        with pytest.raises(firearrow.InterfaceError):
            use()
    with pool.connection() as again:
        assert attachment(again)
    assert pool.stats.opened == 1


def test_a_connection_of_another_pool_is_refused(pool: Pool, connection: firearrow.Connection) -> None:
    with pytest.raises(firearrow.InterfaceError, match="not from this pool"):
        pool.release(connection)
    assert not connection.closed


def test_release_rolls_back_and_frees_locks(pool: Pool, numbers: str, other: firearrow.Connection) -> None:
    with pool.connection() as connection:
        connection.execute(f"INSERT INTO {numbers} VALUES (1)")
    borrowed = pool.acquire()
    borrowed.execute(f"UPDATE {numbers} SET n = 2")
    beside = borrowed.begin()
    beside.execute(f"INSERT INTO {numbers} VALUES (3)")
    pool.release(borrowed)
    assert values(other, numbers) == [1]
    with other.begin(lock_timeout=0) as transaction:
        transaction.execute(f"UPDATE {numbers} SET n = 5")
    assert values(other, numbers) == [5]
    # No transaction of the pool is left.
    assert left_open(other) == 0


def test_an_unfinished_result_of_autocommit_ends_with_the_loan(
    database: str, other: firearrow.Connection
) -> None:
    with Pool(database, autocommit=True) as pool:
        connection = pool.acquire()
        cursor = connection.execute("SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c")
        assert cursor.fetchone()
        pool.release(connection)
        assert left_open(other) == 0
        with pytest.raises(firearrow.InterfaceError):
            cursor.fetchone()


def test_settings_of_the_python_side_do_not_reach_the_next_borrower(
    pool: Pool, numbers: str, other: firearrow.Connection
) -> None:
    with pool.connection() as connection:
        connection.autocommit = True
        connection.row_factory = firearrow.dict_row
        connection.isolation, connection.read_only = "read_committed", True
        first = attachment_of_dict(connection)
    with pool.connection() as connection:
        assert not connection.autocommit and not connection.read_only and connection.isolation is None
        assert attachment(connection) == first
        # Transactions of single statements begin as those of a new connection.
        connection.autocommit = True
        connection.execute(f"INSERT INTO {numbers} VALUES (1)")
    assert values(other, numbers) == [1]


def attachment_of_dict(connection: firearrow.Connection) -> int:
    return int(connection.execute(ME).fetchone()["CURRENT_CONNECTION"])


def test_borrowing_costs_no_round_trip(database: str, is_wire: bool) -> None:
    with Pool(database, max_size=1) as pool:

        def cost(work: Callable[[], object]) -> int:
            with pool.connection() as connection:
                core = connection._core
            before = core.wire_stats()["round_trips"]
            for _ in range(10):
                work()
            return core.wire_stats()["round_trips"] - before

        def borrow() -> None:
            with pool.connection() as connection:
                assert connection.execute(ONE).fetchone() == (1,)

        held = firearrow.connect(database)
        for _ in range(3):
            borrow()
            held.execute(ONE).fetchone()
            held.commit()
        before = held.wire_stats["round_trips"]
        for _ in range(10):
            assert held.execute(ONE).fetchone() == (1,)
            held.commit()
        alone = held.wire_stats["round_trips"] - before
        held.close()
        assert cost(borrow) == alone
        assert (alone > 0) == is_wire

        def nothing() -> None:
            pool.acquire().close()

        assert cost(nothing) == 0


def test_reprs_tell_the_state_and_no_password(database: str, is_wire: bool) -> None:
    with Pool(database, max_size=2) as pool:
        connection = pool.acquire()
        place = database.rpartition("/")[2].partition("?")[0]
        assert place in repr(connection) and "masterkey" not in repr(connection)
        assert repr(pool) == "<firearrow.Pool: 1 in use, 0 idle, at most 2>"
        assert repr(connection).endswith("open>")
        connection.execute(ONE)
        assert repr(connection).endswith("open, in a transaction>")
        connection.close()
        assert repr(connection).endswith("released>")
    assert repr(pool) == "<firearrow.Pool: closed>"
