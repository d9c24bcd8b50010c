"""Two-phase commits."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from contextlib import closing

import pytest
from loops import run

import firearrow
from firearrow import aio


def values(connection: firearrow.Connection, table: str) -> list[int]:
    found = connection.execute(f"SELECT n FROM {table} ORDER BY n").fetchall()
    connection.rollback()
    return [n for (n,) in found]


def wait_for(condition: Callable[[], bool]) -> None:
    """A pool closes connections in the background."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def until_listed(connection: firearrow.Connection, expected: list[int]) -> None:
    wait_for(lambda: [one.number for one in connection.limbo_transactions()] == expected)


def test_prepared_transactions_commit_or_roll_back(connection: firearrow.Connection, numbers: str) -> None:
    with connection.begin() as transaction:
        transaction.execute(f"INSERT INTO {numbers} VALUES (1)")
        transaction.prepare_commit("order 7")
        assert repr(transaction).endswith("in limbo>")
        with pytest.raises(firearrow.InterfaceError, match="limbo"):
            transaction.execute(f"INSERT INTO {numbers} VALUES (2)")
    assert values(connection, numbers) == [1]
    transaction = connection.begin()
    transaction.execute(f"INSERT INTO {numbers} VALUES (3)")
    transaction.prepare_commit()
    transaction.rollback()
    assert values(connection, numbers) == [1]
    # One's own are not abandoned, and these have ended.
    assert connection.limbo_transactions() == []


def test_two_connections_commit_together(
    connection: firearrow.Connection, other: firearrow.Connection, numbers: str
) -> None:
    both = connection.begin(), other.begin()
    for n, transaction in enumerate(both):
        transaction.execute(f"INSERT INTO {numbers} VALUES ({n})")
    for transaction in both:
        transaction.prepare_commit("both")
    for transaction in both:
        transaction.commit()
    assert values(connection, numbers) == [0, 1]


def test_what_is_left_is_recovered(database: str, connection: firearrow.Connection, numbers: str) -> None:
    # An error that leaves the block decides nothing.
    first = firearrow.connect(database)
    left = []
    for n, message in enumerate(["grün", b"\xff\x00", ""]):
        with pytest.raises(ZeroDivisionError), first.begin() as transaction:
            transaction.execute(f"INSERT INTO {numbers} VALUES ({n})")
            left.append(transaction.number)
            transaction.prepare_commit(message)
            raise ZeroDivisionError
    first.close()
    found = connection.limbo_transactions()
    assert [one.number for one in found] == left
    assert [one.message for one in found] == ["grün".encode(), b"\xff\x00", b""]
    assert found[0] == firearrow.LimboTransaction(left[0], "grün".encode())
    # Who reads what such a transaction has written is told so.
    with pytest.raises(firearrow.DatabaseError, match="limbo"):
        values(connection, numbers)
    connection.rollback()

    # To take one over decides nothing either.
    with closing(firearrow.connect(database)) as second:
        taken = second.recover(left[0])
        assert taken.number == left[0]
        assert repr(taken).endswith("in limbo>")
        del taken
        gc.collect()
    connection.recover(left[0]).commit()
    connection.recover(left[1]).rollback()
    with connection.recover(left[2]):
        pass
    assert values(connection, numbers) == [0, 2]
    assert connection.limbo_transactions() == []
    with pytest.raises(firearrow.Error, match=str(left[0])):
        connection.recover(left[0])
    with pytest.raises(firearrow.ProgrammingError, match="out of range"):
        connection.recover(-1)


def test_asyncio(database: str, connection: firearrow.Connection, numbers: str) -> None:
    async def work() -> None:
        first = await aio.connect(database)
        async with first.begin() as transaction:
            await transaction.execute(f"INSERT INTO {numbers} VALUES (1)")
            await transaction.prepare_commit("committed at the end")
        left = []
        for n in (2, 3):
            with pytest.raises(ZeroDivisionError):
                async with first.begin() as transaction:
                    await transaction.execute(f"INSERT INTO {numbers} VALUES ({n})")
                    left.append(await transaction.number)
                    await transaction.prepare_commit(f"number {n}")
                    raise ZeroDivisionError
        await first.close()
        async with aio.connect(database) as second:
            found = await second.limbo_transactions()
            assert [(one.number, one.message) for one in found] == list(zip(left, [b"number 2", b"number 3"]))
            taken = await second.recover(left[0])
            assert repr(taken).endswith("in limbo>")
            await taken.commit()
            await (await second.recover(left[1])).rollback()
            assert await second.limbo_transactions() == []
            with pytest.raises(firearrow.Error, match=str(left[0])):
                await second.recover(left[0])

    run(work())
    assert values(connection, numbers) == [1, 2]


def test_pools_leave_the_decision_to_the_program(
    database: str, connection: firearrow.Connection, numbers: str
) -> None:
    with firearrow.Pool(database, max_size=1, acquire_timeout=20) as pool:
        left = []
        for n in (1, 2):
            with pool.connection() as borrowed:
                transaction = borrowed.begin()
                transaction.execute(f"INSERT INTO {numbers} VALUES ({n})")
                left.append(transaction.number)
                transaction.prepare_commit("left")
                if n == 2:
                    # Nobody has it any more.
                    del transaction
                    gc.collect()
        # The connection that had it was closed, so that others can take it over.
        until_listed(connection, left)
        with pool.connection() as borrowed:
            borrowed.recover(left[0]).commit()
            taken = borrowed.recover(left[1])
            with pytest.raises(firearrow.InterfaceError, match="already"):
                borrowed.recover(left[1])
        wait_for(lambda: not taken.is_open)
        with pytest.raises(firearrow.InterfaceError):
            taken.commit()
    second = firearrow.connect(database)
    with pytest.raises(firearrow.InterfaceError, match="stays in limbo"), second.recover(left[1]):
        second.close()
    connection.recover(left[1]).rollback()
    assert values(connection, numbers) == [1]


def test_pools_of_asyncio_leave_it_too(
    database: str, connection: firearrow.Connection, numbers: str
) -> None:
    async def work() -> int:
        async with aio.Pool(database, max_size=1, acquire_timeout=20) as pool:
            async with pool.connection() as borrowed:
                transaction = borrowed.begin()
                await transaction.execute(f"INSERT INTO {numbers} VALUES (1)")
                number = await transaction.number
                await transaction.prepare_commit(b"left")
            # In a thread: 3.0 answers once the pool has closed its connection, for which the loop is needed.
            await asyncio.to_thread(until_listed, connection, [number])
            return number

    connection.recover(run(work())).commit()
    assert values(connection, numbers) == [1]


def test_messages(connection: firearrow.Connection) -> None:
    transaction = connection.begin()
    transaction.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
    with pytest.raises(firearrow.InterfaceError, match="at most 65535"):
        transaction.prepare_commit("x" * 65536)
    # It was refused, and goes on.
    assert repr(transaction).endswith("open>")
    transaction.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
    transaction.prepare_commit(bytearray(b"x" * 65535))
    transaction.rollback()
