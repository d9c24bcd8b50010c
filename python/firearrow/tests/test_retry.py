"""Transactions that are run again."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from proxy import Proxy
from threads import run

import firearrow
from firearrow import Connection, Pool, retry
from firearrow._retrying import decide


@pytest.fixture
def account(connection: Connection, table: str) -> str:
    """A table with one row: ID 1, N 0."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, n INTEGER)")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (1, 0)")
    connection.commit()
    return table


@pytest.fixture
def pool(database: str) -> Iterator[Pool]:
    with Pool(database, max_size=8, acquire_timeout=20) as pool:
        yield pool


def value(connection: Connection, table: str) -> int:
    (number,) = connection.execute(f"SELECT n FROM {table} WHERE id = 1").fetchone()
    connection.commit()
    return int(number)


def conflict(other: Connection, table: str) -> None:
    """Change the row meanwhile."""
    other.execute(f"UPDATE {table} SET n = n + 100 WHERE id = 1")
    other.commit()


def test_a_conflict_runs_the_whole_transaction_again(
    connection: Connection, other: Connection, account: str
) -> None:
    runs: list[int] = []

    def work(connection: Connection) -> str:
        (n,) = connection.execute(f"SELECT n FROM {account} WHERE id = 1").fetchone()
        runs.append(n)
        connection.execute(f"INSERT INTO {account} VALUES (?, 0)", (10 + len(runs),))
        if len(runs) <= 2:
            conflict(other, account)
        connection.execute(f"UPDATE {account} SET n = ? WHERE id = 1", (n + 1,))
        return "done"

    assert retry(connection, work, attempts=5) == "done"
    # Each attempt saw a new snapshot, and nothing of the failed ones is left.
    assert runs == [0, 100, 200]
    assert value(other, account) == 201
    assert other.execute(f"SELECT id FROM {account} ORDER BY id").fetchall() == [(1,), (13,)]


def test_attempts_end(connection: Connection, other: Connection, account: str) -> None:
    runs = 0

    def work(connection: Connection) -> None:
        nonlocal runs
        runs += 1
        connection.execute(f"SELECT n FROM {account}").fetchall()
        conflict(other, account)
        connection.execute(f"UPDATE {account} SET n = 0")

    with pytest.raises(firearrow.OperationalError) as caught:
        retry(connection, work, attempts=3, base=0)
    assert caught.value.retryable and caught.value.kind == "Conflict"
    assert runs == 3 and caught.value.details["attempts"] == "3"
    with pytest.raises(firearrow.OperationalError):
        retry(connection, work, attempts=50, timeout=0)
    assert runs == 4
    # The connection is free for other work.
    assert value(connection, account) == 400


@pytest.mark.parametrize("raised", [ZeroDivisionError("x"), KeyboardInterrupt(), firearrow.DataError("x")])
def test_other_errors_roll_back_and_come_at_once(
    connection: Connection, other: Connection, account: str, raised: BaseException
) -> None:
    runs = 0

    def work(connection: Connection) -> None:
        nonlocal runs
        runs += 1
        connection.execute(f"UPDATE {account} SET n = 7")
        raise raised

    with pytest.raises(type(raised)):
        retry(connection, work)
    assert runs == 1
    conflict(other, account)
    assert value(other, account) == 100


def test_a_constraint_is_not_tried_again(connection: Connection, account: str) -> None:
    runs: list[int] = []

    def work(connection: Connection) -> None:
        runs.append(1)
        connection.execute(f"INSERT INTO {account} VALUES (1, 1)")

    with pytest.raises(firearrow.IntegrityError):
        retry(connection, work)
    assert len(runs) == 1


def test_as_a_decorator(pool: Pool, connection: Connection, account: str) -> None:
    @retry(pool, attempts=3)
    def add(connection: Connection, number: int, *, twice: bool = False) -> int:
        """Add a number."""
        connection.execute(f"UPDATE {account} SET n = n + ?", (number * (1 + twice),))
        return number

    assert add(5) == 5 and add(1, twice=True) == 1
    assert add.__doc__ == "Add a number."

    @retry(attempts=3)
    def subtract(connection: Connection, number: int) -> None:
        connection.execute(f"UPDATE {account} SET n = n - ?", (number,))

    subtract(connection, 2)
    subtract(pool, 2)

    @retry
    def double(connection: Connection) -> None:
        connection.execute(f"UPDATE {account} SET n = n * 2")

    double(connection)
    assert value(connection, account) == 6
    for wrong in (None, "firebird://localhost/x"):
        with pytest.raises(firearrow.InterfaceError, match="a connection or a pool"):
            double(wrong)  # type: ignore[arg-type]
    with pytest.raises(firearrow.InterfaceError, match="a connection or a pool"):
        retry("firebird://localhost/x", lambda connection: None)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="attempt"):
        retry(connection, lambda connection: None, attempt=3)
    assert pool.stats.in_use == 0


def test_concurrent_work_loses_no_change(pool: Pool, connection: Connection, account: str) -> None:
    @retry(pool, attempts=1000, timeout=60, base=0.002, cap=0.05, lock_timeout=5)
    def add(connection: Connection) -> None:
        (n,) = connection.execute(f"SELECT n FROM {account} WHERE id = 1").fetchone()
        connection.execute(f"UPDATE {account} SET n = ? WHERE id = 1", (n + 1,))

    assert run(*[lambda: [add() for _ in range(10)] for _ in range(8)]) == []
    assert value(connection, account) == 80


def test_a_deadlock_is_tried_again(pool: Pool, connection: Connection, account: str) -> None:
    connection.execute(f"INSERT INTO {account} VALUES (2, 0)")
    connection.commit()
    barrier = threading.Barrier(2)
    runs: list[int] = []

    def work(first: int, second: int) -> None:
        def cross(connection: Connection) -> None:
            runs.append(first)
            connection.execute(f"UPDATE {account} SET n = n + 1 WHERE id = ?", (first,))
            if len(runs) <= 2:
                barrier.wait(20)
            connection.execute(f"UPDATE {account} SET n = n + 1 WHERE id = ?", (second,))

        retry(pool, cross, attempts=10, isolation="read_committed_record_version")

    assert run(lambda: work(1, 2), lambda: work(2, 1)) == []
    assert len(runs) >= 3
    assert connection.execute(f"SELECT n FROM {account} ORDER BY id").fetchall() == [(2,), (2,)]


def test_options_of_the_transaction(connection: Connection, other: Connection, account: str) -> None:
    def write(connection: Connection) -> None:
        connection.execute(f"UPDATE {account} SET n = 1")

    with pytest.raises(firearrow.Error, match="read-only"):
        retry(connection, write, read_only=True)
    other.execute(f"UPDATE {account} SET n = 2")
    with pytest.raises(firearrow.OperationalError):
        retry(connection, write, attempts=2, lock_timeout=0)
    other.rollback()
    retry(connection, write, lock_timeout=0)
    assert value(other, account) == 1


def test_autocommit_is_off_for_the_work(database: str, other: Connection, account: str) -> None:
    connection = firearrow.connect(database, autocommit=True)
    try:

        def work(connection: Connection) -> None:
            connection.execute(f"UPDATE {account} SET n = 1")
            assert value(other, account) == 0

        retry(connection, work)
        assert value(other, account) == 1
        assert connection.autocommit
    finally:
        connection.close()


def test_work_in_progress_is_not_put_at_risk(connection: Connection, other: Connection, account: str) -> None:
    connection.execute(f"UPDATE {account} SET n = 3")
    with pytest.raises(firearrow.ProgrammingError, match="commit it or roll it back"):
        retry(connection, lambda connection: None)
    connection.commit()
    assert value(other, account) == 3


def test_a_pool_replaces_a_lost_connection(
    database: str, is_wire: bool, connection: Connection, account: str
) -> None:
    if not is_wire:
        pytest.skip("there is no network between a program and its embedded engine")
    runs = 0

    def work(connection: Connection) -> None:
        nonlocal runs
        runs += 1
        connection.execute(f"UPDATE {account} SET n = n + 1")
        if runs == 1:
            proxy.drop()
        connection.execute(f"UPDATE {account} SET n = n + 1")

    with Proxy(database) as proxy, Pool(proxy.url, acquire_timeout=20) as pool:
        retry(pool, work, attempts=10, cap=0.2)
        assert runs == 2
        assert value(connection, account) == 2
        # A connection alone cannot be replaced.
        runs = 0
        with pool.connection() as alone, pytest.raises(firearrow.OperationalError):
            retry(alone, work)
        assert runs == 1


def error(
    kind: str | None = None, commit: str | None = None, retryable: bool = False, gds: int = 0
) -> firearrow.Error:
    made = firearrow.OperationalError("x")
    made.kind, made.commit, made.retryable, made.gds_codes = kind, commit, retryable, (gds,)
    return made


@pytest.mark.parametrize(
    ("failed", "alone", "pooled"),
    [
        (error("Conflict", retryable=True), "again", "again"),
        (error("Engine", gds=335544336), "again", "again"),
        (error("Closed"), "raise", "again"),
        (error("Unreachable"), "raise", "again"),
        (error("Closed", commit="rolled_back"), "raise", "again"),
        (error("CommitUnknown", commit="unknown"), "raise", "raise"),
        # Whatever else is said about it.
        (error("Conflict", commit="unknown", retryable=True), "raise", "raise"),
        (error("CommitUnknown", commit="committed"), "done", "done"),
        (error("CommitUnknown"), "raise", "raise"),
        (error("Constraint"), "raise", "raise"),
        (error("Timeout"), "raise", "raise"),
        (error("Cancelled"), "raise", "raise"),
        (error(), "raise", "raise"),
    ],
)
def test_what_is_tried_again(failed: firearrow.Error, alone: str, pooled: str) -> None:
    assert decide(failed, is_replaceable=False) == alone
    assert decide(failed, is_replaceable=True) == pooled


@pytest.mark.parametrize(("outcome", "runs"), [("unknown", 1), ("committed", 1), ("rolled_back", 2)])
def test_a_lost_commit(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, outcome: str, runs: int, connection: Connection
) -> None:
    """The outcome decides; what a client can know of it is tested where it is found out."""
    seen = 0

    def work(connection: Connection) -> str:
        nonlocal seen
        seen += 1
        connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone()
        return "result"

    commit = firearrow.PooledConnection.commit

    def lose(connection: firearrow.PooledConnection) -> None:
        commit(connection)
        if seen == 1:
            raise error("CommitUnknown" if outcome != "rolled_back" else "Closed", commit=outcome)

    monkeypatch.setattr(firearrow.PooledConnection, "commit", lose)
    if outcome == "unknown":
        with pytest.raises(firearrow.OperationalError):
            retry(pool, work)
    else:
        assert retry(pool, work) == "result"
    assert seen == runs
