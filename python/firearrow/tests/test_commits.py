"""Commits that fail, or are cancelled: nothing is lost silently."""

from __future__ import annotations

import asyncio
import dis
import itertools
import sys
import types
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest
from programs import script

import firearrow
from firearrow import DatabaseError, Pool, ProgrammingError, aio

BAD = "SELECT RDB$SET_CONTEXT('USER_SESSION', 'BAD_COMMIT', ?) FROM RDB$DATABASE"


@pytest.fixture
def numbers(connection: firearrow.Connection, table: str) -> Iterator[str]:
    """A table, and a trigger that refuses commits of sessions that want it to."""
    connection.execute(f"RECREATE TABLE {table} (n INTEGER)")
    connection.execute("CREATE OR ALTER EXCEPTION bad_commit 'no'")
    connection.commit()
    connection.execute(
        "CREATE OR ALTER TRIGGER refuse_commit ON TRANSACTION COMMIT AS BEGIN "
        "IF (RDB$GET_CONTEXT('USER_SESSION', 'BAD_COMMIT') = '1') THEN EXCEPTION bad_commit; END"
    )
    connection.commit()
    yield table
    connection.rollback()
    connection.execute("DROP TRIGGER refuse_commit")
    connection.commit()


def count(connection: firearrow.Connection, table: str) -> int:
    connection.rollback()
    row: tuple[int] = connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
    connection.rollback()
    return row[0]


def fail(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"INSERT INTO {table} VALUES (1)")
    connection.execute(BAD, ("1",)).fetchall()
    with pytest.raises(DatabaseError, match="BAD_COMMIT"):
        connection.commit()


def test_another_commit_is_refused_until_rollback(
    connection: firearrow.Connection, other: firearrow.Connection, numbers: str
) -> None:
    fail(connection, numbers)
    assert "its last commit failed" in repr(connection)
    cursor = connection.cursor()
    uses: list[Any] = [
        connection.commit,
        connection.commit,
        lambda: connection.commit(retaining=True),
        lambda: connection.execute(f"INSERT INTO {numbers} VALUES (2)"),
        lambda: cursor.executemany(f"INSERT INTO {numbers} VALUES (?)", [(3,)]),
        lambda: cursor.execute("SELECT 1 FROM RDB$DATABASE"),
        lambda: connection.create_blob(),
        lambda: setattr(connection, "autocommit", True),
        lambda: firearrow.retry(connection, lambda connection: None),
    ]
    for use in uses:
        with pytest.raises(ProgrammingError, match=r"rolled back: call rollback\(\)") as raised:
            use()
        assert raised.value.kind == "CommitFailed"
        assert isinstance(raised.value.__cause__, DatabaseError)
    assert connection.autocommit is False
    connection.rollback()
    connection.rollback()
    assert "failed" not in repr(connection)
    connection.execute(BAD, (None,)).fetchall()
    connection.execute(f"INSERT INTO {numbers} VALUES (4)")
    connection.commit()
    connection.commit()
    assert other.execute(f"SELECT n FROM {numbers}").fetchall() == [(4,)]


def test_a_transaction_beside_it_still_works(
    connection: firearrow.Connection, other: firearrow.Connection, numbers: str
) -> None:
    fail(connection, numbers)
    with connection.begin() as transaction:
        transaction.execute(BAD, (None,)).fetchall()
        transaction.execute(f"INSERT INTO {numbers} VALUES (5)")
    assert other.execute(f"SELECT n FROM {numbers}").fetchall() == [(5,)]
    with pytest.raises(ProgrammingError, match="the last commit failed"):
        connection.commit()


def test_a_block_raises_the_error_of_its_commit_once(
    database: str, other: firearrow.Connection, numbers: str
) -> None:
    with pytest.raises(DatabaseError, match="BAD_COMMIT"), firearrow.connect(database) as connection:
        connection.execute(BAD, ("1",)).fetchall()
    assert connection.closed
    with firearrow.connect(database) as connection:
        fail(connection, numbers)
    assert connection.closed
    with Pool(database, max_size=1, acquire_timeout=20) as pool:
        with pool.connection() as connection:
            fail(connection, numbers)
        with pool.connection() as connection:
            # The next borrower knows nothing of it.
            connection.execute(BAD, (None,)).fetchall()
            connection.execute(f"INSERT INTO {numbers} VALUES (6)")
    assert other.execute(f"SELECT n FROM {numbers}").fetchall() == [(6,)]


def test_a_retaining_commit_that_fails_loses_nothing(
    connection: firearrow.Connection, other: firearrow.Connection, numbers: str
) -> None:
    connection.execute(f"INSERT INTO {numbers} VALUES (7)")
    connection.execute(BAD, ("1",)).fetchall()
    with pytest.raises(DatabaseError, match="BAD_COMMIT"):
        connection.commit(retaining=True)
    connection.execute(BAD, (None,)).fetchall()
    connection.commit()
    assert other.execute(f"SELECT n FROM {numbers}").fetchall() == [(7,)]


class Interrupted:
    """A transaction during whose commit somebody types Ctrl+C."""

    is_open = True

    def commit(self) -> None:
        self.is_open = False
        raise KeyboardInterrupt


def test_an_interrupted_commit_is_remembered(connection: firearrow.Connection, numbers: str) -> None:
    connection._main = Interrupted()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        connection.commit()
    with pytest.raises(ProgrammingError, match="nobody knows") as raised:
        connection.commit()
    assert isinstance(raised.value.__cause__, KeyboardInterrupt)
    connection.rollback()
    connection.execute(f"INSERT INTO {numbers} VALUES (8)")
    connection.commit()
    assert count(connection, numbers) == 1


def run(work: Coroutine[Any, Any, Any]) -> None:
    asyncio.run(asyncio.wait_for(work, 60))


def test_tasks_are_refused_until_rollback(database: str, other: firearrow.Connection, numbers: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            await connection.execute(f"INSERT INTO {numbers} VALUES (1)")
            await (await connection.execute(BAD, ("1",))).fetchall()
            with pytest.raises(DatabaseError, match="BAD_COMMIT"):
                await connection.commit()
            for use in (
                lambda: connection.commit(),
                lambda: connection.execute(f"INSERT INTO {numbers} VALUES (2)"),
                lambda: connection.executemany(f"INSERT INTO {numbers} VALUES (?)", [(3,)]),
                lambda: connection.set_autocommit(True),
                lambda: aio.retry(connection, lambda connection: asyncio.sleep(0)),
            ):
                with pytest.raises(ProgrammingError, match=r"rolled back: call rollback\(\)") as raised:
                    await use()
                assert raised.value.kind == "CommitFailed"
            await connection.rollback()
            await (await connection.execute(BAD, (None,))).fetchall()
            await connection.execute(f"INSERT INTO {numbers} VALUES (4)")

    run(work())
    assert other.execute(f"SELECT n FROM {numbers}").fetchall() == [(4,)]


def test_a_cancelled_commit_is_remembered(database: str, other: firearrow.Connection, numbers: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            await connection.execute(f"INSERT INTO {numbers} VALUES (1)")
            task = asyncio.create_task(connection.commit())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(ProgrammingError, match="nobody knows") as raised:
                await connection.commit()
            assert isinstance(raised.value.__cause__, asyncio.CancelledError)
            await connection.rollback()
            await connection.execute(f"INSERT INTO {numbers} VALUES (2)")

    run(work())
    rows = other.execute(f"SELECT n FROM {numbers} ORDER BY n").fetchall()
    assert rows in ([(2,)], [(1,), (2,)])


def test_interrupted_anywhere_within_commit(
    database: str, connection: firearrow.Connection, table: str
) -> None:
    """Where Python looks for signals: the next commit is refused unless the changes are there."""
    connection.execute(f"CREATE TABLE {table} (n INTEGER)")
    connection.commit()
    files = ("firearrow/connection.py", "firearrow/_base.py")

    def calls(code: types.CodeType) -> set[int]:
        names = [(each.offset, each.opname) for each in dis.get_instructions(code)]
        after = {"CALL", "CALL_FUNCTION", "CALL_METHOD", "CALL_FUNCTION_EX", "RESUME"}
        return {offset for (_, before), (offset, _) in itertools.pairwise(names) if before in after}

    places = 0
    with firearrow.connect(database, autocommit=True) as other:
        for step in range(1, 100):
            connection.execute(f"INSERT INTO {table} VALUES (?)", (step,))
            seen = 0

            def trace(frame: types.FrameType, event: str, argument: Any, step: int = step) -> Any:
                nonlocal seen
                if not frame.f_code.co_filename.endswith(files):
                    return None
                frame.f_trace_opcodes = True
                if event == "opcode" and frame.f_lasti in calls(frame.f_code):
                    seen += 1
                    if seen == step:
                        raise KeyboardInterrupt
                return trace

            before = sys.gettrace()
            sys.settrace(trace)
            try:
                connection.commit()
            except KeyboardInterrupt:
                places += 1
            finally:
                sys.settrace(before)
            try:
                connection.commit()
            except ProgrammingError as error:
                assert error.kind == "CommitFailed"
                connection.rollback()
            else:
                there = other.execute(f"SELECT COUNT(*) FROM {table} WHERE n = ?", (step,)).fetchone()
                assert there == (1,)
            if seen < step:
                break
    assert places > 4


def test_a_block_whose_transaction_ended_without_a_commit(database: str, table: str) -> None:
    with firearrow.connect(database) as connection:
        connection.execute(f"CREATE TABLE {table} (n INTEGER)")
        connection.commit()
        for end in ("commit", "rollback"):
            with connection.begin() as transaction:
                transaction.execute(f"INSERT INTO {table} VALUES (1)")
                getattr(transaction, end)()
    connection = firearrow.connect(database)
    with (
        pytest.raises(firearrow.InterfaceError, match="ended without a commit"),
        connection.begin() as transaction,
    ):
        transaction.execute(f"INSERT INTO {table} VALUES (2)")
        connection.close()
    # The original error is the one worth reporting.
    connection = firearrow.connect(database)
    with pytest.raises(ZeroDivisionError), connection.begin():
        connection.close()
        raise ZeroDivisionError

    async def work() -> None:
        other = await aio.connect(database)
        with pytest.raises(firearrow.InterfaceError, match="ended without a commit"):
            async with other.begin() as transaction:
                await transaction.execute(f"INSERT INTO {table} VALUES (3)")
                await other.close()

    asyncio.run(work())
    with firearrow.connect(database) as connection:
        assert connection.execute(f"SELECT n FROM {table}").fetchall() == [(1,)]


WITHIN = {
    "commit": lambda connection: connection.commit(),
    "rollback": lambda connection: connection.rollback(),
    "autocommit": lambda connection: setattr(connection, "autocommit", True),
}


@pytest.mark.parametrize("end", WITHIN.values(), ids=WITHIN)
def test_an_end_that_is_refused_within_a_call_ends_nothing(
    connection: firearrow.Connection, other: firearrow.Connection, table: str, end: Any
) -> None:
    """A generator of rows must not end the transaction into which they go, and nothing of that is lost."""
    pyarrow = pytest.importorskip("pyarrow")
    connection.execute(f"RECREATE TABLE {table} (n INTEGER)")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (100)")
    schema = pyarrow.schema([("N", pyarrow.int32())])

    def batches() -> Iterator[Any]:
        for number in range(3):
            yield pyarrow.record_batch([pyarrow.array([number], pyarrow.int32())], schema)
            with pytest.raises(ProgrammingError, match="in use by the call"):
                end(connection)

    stream = pyarrow.RecordBatchReader.from_batches(schema, batches())
    connection.executemany(f"INSERT INTO {table} VALUES (?)", stream)
    connection.commit()
    assert other.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (4,)


def test_a_signal_handler_that_comes_at_a_bad_moment_is_refused(connection: firearrow.Connection) -> None:
    """While its own thread changes which transaction is the connection's."""
    connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
    with connection._lock:
        assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall() == [(1,)]
        for use in (connection.commit, connection.rollback):
            with pytest.raises(ProgrammingError, match="in use by the call"):
                use()
    connection.commit()
    with connection._lock, pytest.raises(ProgrammingError, match="in use by the call"):
        connection.execute("SELECT 1 FROM RDB$DATABASE")
    connection.commit()


def test_a_handler_that_ends_the_transaction_at_any_moment_hangs_nothing(database: str) -> None:
    """The timer of a program that rolls back."""
    done = script(
        database,
        """
        import signal, sys, time, firearrow
        connection = firearrow.connect(sys.argv[1])
        ticks = 0
        def handler(*_):
            global ticks
            ticks += 1
            try:
                connection.rollback()
            except firearrow.Error:
                pass
            signal.setitimer(signal.ITIMER_REAL, 0.0007 + (ticks % 53) * 0.00003)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            try:
                connection.execute("SELECT 1 FROM RDB$DATABASE")
                connection.commit()
            except firearrow.Error:
                pass
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(ticks > 50)
        connection.close()
        """,
        timeout=30,
    )
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stdout + done.stderr
