"""Pools on real databases; what a pool decides is in test_pooling.py."""

from __future__ import annotations

import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from forking import in_child
from proxy import Proxy

import firearrow
from firearrow import Pool, PoolClosed, PooledConnection, PoolTimeout
from firearrow._pooling import Limits

ONE = "SELECT 1 FROM RDB$DATABASE"
ME = "SELECT CURRENT_CONNECTION FROM RDB$DATABASE"


@pytest.fixture
def pool(database: str) -> Iterator[Pool]:
    with Pool(database, max_size=3, acquire_timeout=20) as pool:
        yield pool


@pytest.fixture
def proxy(database: str, is_wire: bool) -> Iterator[Proxy]:
    if not is_wire:
        pytest.skip("there is no network between a program and its embedded engine")
    with Proxy(database) as proxy:
        yield proxy


@pytest.fixture
def numbers(connection: firearrow.Connection, table: str) -> str:
    """A table with a column N."""
    connection.execute(f"CREATE TABLE {table} (n INTEGER)")
    connection.commit()
    return table


def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for something that happens in the background."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.005)


def run(*works: Callable[[], object], seconds: float = 60.0) -> list[BaseException]:
    """Run functions in threads, and return what they raised."""
    errors: list[BaseException] = []

    def guarded(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
        assert not thread.is_alive(), f"a thread hangs after {seconds} s"
    return errors


def values(connection: firearrow.Connection, table: str) -> list[Any]:
    rows = connection.execute(f"SELECT n FROM {table} ORDER BY n").fetchall()
    connection.commit()
    return [value for (value,) in rows]


def attachment(connection: firearrow.Connection) -> int:
    return int(connection.execute(ME).fetchone()[0])


# Borrowing and giving back.


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
    left = other.execute(
        "SELECT COUNT(*) FROM MON$TRANSACTIONS t JOIN MON$ATTACHMENTS a USING (MON$ATTACHMENT_ID) "
        "WHERE MON$ATTACHMENT_ID <> CURRENT_CONNECTION AND a.MON$SYSTEM_FLAG = 0 AND t.MON$STATE = 1"
    ).fetchone()
    assert left == (0,)


def test_an_unfinished_result_of_autocommit_ends_with_the_loan(
    database: str, other: firearrow.Connection
) -> None:
    with Pool(database, autocommit=True) as pool:
        connection = pool.acquire()
        cursor = connection.execute("SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c")
        assert cursor.fetchone()
        pool.release(connection)
        left = other.execute(
            "SELECT COUNT(*) FROM MON$TRANSACTIONS t JOIN MON$ATTACHMENTS a USING (MON$ATTACHMENT_ID) "
            "WHERE MON$ATTACHMENT_ID <> CURRENT_CONNECTION AND a.MON$SYSTEM_FLAG = 0 AND t.MON$STATE = 1"
        )
        assert left.fetchone() == (0,)
        assert cursor is not None


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


# Sessions.

SET = "SELECT RDB$SET_CONTEXT('USER_SESSION', 'WHO', 'me') FROM RDB$DATABASE"
GET = "SELECT RDB$GET_CONTEXT('USER_SESSION', 'WHO') FROM RDB$DATABASE"


@pytest.mark.parametrize(("reset", "seen"), [("auto", None), ("always", None), ("never", "me")])
def test_a_changed_session_is_reset(database: str, version: int, reset: str, seen: str | None) -> None:
    with Pool(database, max_size=1, reset=reset) as pool:
        with pool.connection() as connection:
            connection.execute(SET).fetchone()
            first = attachment(connection)
        with pool.connection() as connection:
            assert connection.execute(GET).fetchone() == (seen,)
            is_same = attachment(connection) == first
        # Firebird 3 cannot reset a session.
        assert is_same == (version >= 4 or reset == "never")
        assert (pool.stats.resets > 0) == (reset != "never")


def test_an_unchanged_session_is_not_reset(pool: Pool) -> None:
    for _ in range(3):
        with pool.connection() as connection:
            connection.execute(ONE).fetchall()
    assert pool.stats.resets == 0


def test_always_resets_what_a_routine_has_set(
    database: str, connection: firearrow.Connection, table: str, version: int
) -> None:
    if version < 4:
        pytest.skip("Firebird 3 cannot reset sessions")
    connection.execute(
        f"CREATE PROCEDURE p{table} AS DECLARE x INTEGER; "
        "BEGIN x = RDB$SET_CONTEXT('USER_SESSION', 'WHO', 'it'); END"
    )
    connection.commit()
    for reset, seen in (("auto", "it"), ("always", None)):
        with Pool(database, max_size=1, reset=reset) as pool:
            with pool.connection() as borrowed:
                borrowed.cursor().callproc(f"p{table}")
            with pool.connection() as borrowed:
                assert borrowed.execute(GET).fetchone() == (seen,)


def test_configure_sees_each_session(database: str, version: int) -> None:
    seen: list[int] = []

    def configure(connection: firearrow.Connection) -> None:
        seen.append(attachment(connection))
        connection.execute(
            "SELECT RDB$SET_CONTEXT('USER_SESSION', 'WHO', 'pool') FROM RDB$DATABASE"
        ).fetchone()

    with Pool(database, max_size=1, configure=configure) as pool:
        for _ in range(2):
            with pool.connection() as connection:
                assert connection.execute(GET).fetchone() == ("pool",)
        assert len(seen) == 1
        with pool.connection() as connection:
            connection.execute(SET).fetchone()
        with pool.connection() as connection:
            assert connection.execute(GET).fetchone() == ("pool",)
        assert len(seen) == 2
        assert len(set(seen)) == (1 if version >= 4 else 2)


def test_an_error_in_configure_reaches_the_borrower(database: str) -> None:
    def configure(connection: firearrow.Connection) -> None:
        raise ZeroDivisionError("configure")

    with Pool(database, configure=configure, acquire_timeout=20) as pool:
        start = time.monotonic()
        with pytest.raises(ZeroDivisionError):
            pool.acquire()
        assert time.monotonic() - start < 10
        until(lambda: pool.stats.size == 0)


# What it costs.


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


# Many threads.


def test_fifty_threads_share_four_connections(
    database: str, numbers: str, connection: firearrow.Connection, other: firearrow.Connection
) -> None:
    before = others(other)
    most = 0
    is_over = threading.Event()

    def watch() -> None:
        nonlocal most
        while not is_over.is_set():
            most = max(most, others(other) - before)
            stats = pool.stats
            assert stats.size <= 4 and stats.in_use + stats.idle <= stats.size

    def work(number: int) -> None:
        for turn in range(20):
            with pool.connection() as borrowed:
                borrowed.execute(f"INSERT INTO {numbers} VALUES (?)", (number * 20 + turn,))

    def all_of_them() -> None:
        try:
            errors.extend(run(*(lambda number=number: work(number) for number in range(50))))
        finally:
            is_over.set()

    errors: list[BaseException] = []
    with Pool(database, max_size=4, acquire_timeout=60, lock_timeout=30) as pool:
        errors += run(all_of_them, watch, seconds=120)
        assert errors == []
        stats = pool.stats
        assert stats.acquired == 1000 and stats.opened <= 4 and stats.timeouts == 0
        assert stats.waited > 0 and stats.wait_time > 0
        assert (stats.in_use, stats.waiting) == (0, 0)
        assert 1 <= most <= 4
    assert pool.stats.size == 0
    assert values(connection, numbers) == list(range(1000))


def others(connection: firearrow.Connection) -> int:
    """How many connections the server has."""
    (number,) = connection.execute(
        "SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$SYSTEM_FLAG = 0 AND MON$STATE >= 0"
    ).fetchone()
    connection.commit()
    return int(number)


def test_first_come_first_served(database: str) -> None:
    served: list[int] = []
    with Pool(database, max_size=1, acquire_timeout=20) as pool:
        held = pool.acquire()

        def work(number: int) -> None:
            connection = pool.acquire()
            served.append(number)
            time.sleep(0.002)
            pool.release(connection)

        threads: list[threading.Thread] = []
        for number in range(10):
            threads.append(threading.Thread(target=work, args=(number,), daemon=True))
            threads[-1].start()
            until(lambda: pool.stats.waiting == number + 1)  # noqa: B023
        pool.release(held)
        # Who comes now comes last.
        work(10)
        for thread in threads:
            thread.join(20)
    assert served == list(range(11))


def test_a_wait_ends(database: str) -> None:
    with Pool(database, max_size=1, acquire_timeout=0.2) as pool:
        with pool.connection():
            start = time.monotonic()
            with pytest.raises(PoolTimeout, match=r"1 of 1 are in use.*max_size"):
                pool.acquire()
            assert 0.2 <= time.monotonic() - start < 5
            with pytest.raises(firearrow.OperationalError):
                pool.acquire(timeout=0)
        assert (pool.stats.timeouts, pool.stats.waiting) == (2, 0)
        with pool.connection(timeout=5) as connection:
            assert attachment(connection)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_an_interrupted_wait_leaves_nothing_behind(database: str) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Pool(database, max_size=1, acquire_timeout=20) as pool:
            with pool.connection():
                signal.setitimer(signal.ITIMER_REAL, 0.2)
                with pytest.raises(KeyboardInterrupt):
                    pool.acquire()
                assert pool.stats.waiting == 0
            with pool.connection() as connection:
                assert attachment(connection)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# Opening.


def test_the_minimum_is_opened_in_the_background(database: str) -> None:
    with Pool(database, min_size=3, max_size=5) as pool:
        pool.wait(20)
        assert (pool.stats.idle, pool.stats.opened) == (3, 3)
        connections = [pool.acquire() for _ in range(5)]
        assert len({attachment(connection) for connection in connections}) == 5
        for connection in connections:
            connection.close()
        assert pool.stats.idle == 5


def test_errors_that_do_not_pass_come_at_once(database: str, is_wire: bool) -> None:
    name = database.rpartition("/")[0] + "/nothing-here.fdb"
    with Pool(name, acquire_timeout=20) as pool:
        start = time.monotonic()
        with pytest.raises(firearrow.DatabaseError) as caught:
            pool.acquire()
        assert time.monotonic() - start < 10 and not isinstance(caught.value, PoolTimeout)
        assert pool.stats.failed_opens == 1
    if is_wire:
        with Pool(database, password="wrong", acquire_timeout=20) as pool:
            with pytest.raises(firearrow.OperationalError) as caught:
                pool.acquire()
            assert caught.value.kind == "Login"


def test_wait_says_why_there_is_none(database: str) -> None:
    name = database.rpartition("/")[0] + "/nothing-here.fdb"
    with Pool(name, min_size=1) as pool:
        with pytest.raises(PoolTimeout, match="nothing-here") as caught:
            pool.wait(0.5)
        assert isinstance(caught.value.__cause__, firearrow.DatabaseError)


@pytest.mark.parametrize(
    "options",
    [
        {"max_size": 0},
        {"min_size": 4, "max_size": 3},
        {"min_size": -1},
        {"acquire_timeout": -1},
        {"idle_timeout": float("nan")},
        {"reset": "sometimes"},
    ],
)
def test_impossible_options_are_refused(database: str, options: dict[str, Any]) -> None:
    with pytest.raises(firearrow.InterfaceError):
        Pool(database, **options)


# Growing old.


def test_idle_connections_are_closed_down_to_the_minimum(database: str) -> None:
    with Pool(database, min_size=1, max_size=3, idle_timeout=0.3) as pool:
        for connection in [pool.acquire() for _ in range(3)]:
            connection.close()
        assert pool.stats.idle == 3
        until(lambda: pool.stats.size == 1)
        assert pool.stats.closed == 2
        time.sleep(0.5)
        assert pool.stats.size == 1


def test_old_connections_are_replaced(database: str) -> None:
    with Pool(database, min_size=1, max_size=1, max_lifetime=0.5) as pool:
        with pool.connection() as connection:
            first = attachment(connection)
            time.sleep(0.6)
        with pool.connection(timeout=20) as connection:
            assert attachment(connection) != first
        # An idle one, too.
        until(lambda: pool.stats.opened >= 3)


def test_resizing(database: str) -> None:
    with Pool(database, max_size=1) as pool:
        held = [pool.acquire()]
        with pytest.raises(PoolTimeout):
            pool.acquire(timeout=0.1)
        pool.resize(max_size=3)
        held += [pool.acquire(timeout=20), pool.acquire(timeout=20)]
        pool.resize(max_size=1)
        for connection in held:
            connection.close()
        until(lambda: pool.stats.size == 1)
        with pool.connection() as connection:
            assert attachment(connection)
        pool.resize(min_size=2, max_size=2)
        pool.wait(20)
        assert pool.stats.idle == 2
        with pytest.raises(firearrow.InterfaceError):
            pool.resize(max_size=0)


# Loss.


def test_a_connection_that_was_shut_down_is_replaced(pool: Pool, other: firearrow.Connection) -> None:
    with pool.connection() as connection:
        first = attachment(connection)
    other.execute("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?", (first,))
    other.commit()
    pool._policy.limits = Limits(check_after=0)
    with pool.connection() as connection:
        assert attachment(connection) != first
    assert pool.stats.failed_checks == 1


def test_it_survives_a_restart_of_the_server(proxy: Proxy) -> None:
    with Pool(proxy.url, min_size=2, max_size=4, acquire_timeout=30) as pool:
        pool.wait(20)
        with pytest.raises(firearrow.OperationalError), pool.connection() as connection:
            connection.execute(ONE).fetchone()
            proxy.stop()
            connection.execute(ONE).fetchone()
        # While there is no server, callers wait ...
        with pytest.raises(PoolTimeout) as caught:
            pool.acquire(timeout=0.5)
        assert isinstance(caught.value.__cause__, firearrow.OperationalError)
        threading.Timer(1.0, proxy.start).start()
        # ... and go on when there is one.
        errors = run(*[lambda: borrow(pool) for _ in range(10)])
        assert errors == []
        pool.wait(20)
        stats = pool.stats
        assert stats.in_use == 0 and stats.size <= 4 and stats.failed_opens > 0
        assert stats.failed_checks >= 1


def borrow(pool: Pool) -> None:
    with pool.connection() as connection:
        assert connection.execute(ONE).fetchone() == (1,)


def test_lost_connections_are_found_before_they_are_lent(proxy: Proxy) -> None:
    with Pool(proxy.url, max_size=3) as pool:
        for connection in [pool.acquire() for _ in range(3)]:
            connection.close()
        proxy.drop()
        # The news of it takes a moment.
        until(lambda: not any(member.connection.is_alive for member in pool._policy.idle))
        for _ in range(5):
            borrow(pool)
        assert pool.stats.failed_checks == 3


def test_a_silent_server_does_not_hold_up_a_borrower(proxy: Proxy) -> None:
    with Pool(proxy.url, max_size=1, check_after=0, connect_timeout=2) as pool:
        borrow(pool)
        proxy.freeze()
        start = time.monotonic()
        with pytest.raises(PoolTimeout):
            pool.acquire(timeout=1)
        assert time.monotonic() - start < 8
        proxy.thaw()
        proxy.drop()
        with pool.connection(timeout=20) as connection:
            assert connection.execute(ONE).fetchone() == (1,)


def test_a_release_to_a_silent_server_ends(proxy: Proxy) -> None:
    with Pool(proxy.url, max_size=1) as pool:
        connection = pool.acquire()
        connection.execute(ONE).fetchone()
        proxy.freeze()
        start = time.monotonic()
        connection.close()
        assert time.monotonic() - start < 20
        proxy.thaw()
        assert pool.stats.in_use == 0


# Closing.


def test_closing_waits_for_borrowers(database: str, numbers: str, other: firearrow.Connection) -> None:
    pool = Pool(database)
    connection = pool.acquire()

    def work() -> None:
        connection.execute(f"INSERT INTO {numbers} VALUES (1)")
        time.sleep(0.3)
        connection.commit()
        connection.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    pool.close(timeout=20)
    thread.join(20)
    assert values(other, numbers) == [1]
    assert pool.closed and pool.stats.size == 0
    pool.close()


def test_closing_ends_what_takes_too_long(database: str) -> None:
    pool = Pool(database, max_size=1)
    is_running = threading.Event()

    def endless() -> None:
        with pool.connection() as connection:
            is_running.set()
            connection.execute(
                "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d"
            ).fetchone()

    errors: list[BaseException] = []
    thread = threading.Thread(target=lambda: errors.extend(run(endless)), daemon=True)
    waiter = threading.Thread(target=lambda: errors.extend(run(pool.acquire)), daemon=True)
    thread.start()
    assert is_running.wait(20)
    waiter.start()
    until(lambda: pool.stats.waiting == 1)
    time.sleep(0.2)
    start = time.monotonic()
    pool.close(timeout=0.3)
    assert time.monotonic() - start < 15
    thread.join(20)
    waiter.join(20)
    assert sorted(type(error).__name__ for error in errors)[-1] == "PoolClosed", errors
    assert len(errors) == 2 and all(isinstance(error, firearrow.Error) for error in errors), errors
    assert pool.stats.size == 0
    with pytest.raises(PoolClosed):
        pool.acquire()


def test_no_thread_is_left(database: str) -> None:
    with Pool(database, min_size=2) as pool:
        pool.wait(20)
        assert any(thread.name == "firearrow pool" for thread in threading.enumerate())
    until(lambda: not any(thread.name.startswith("firearrow pool") for thread in threading.enumerate()))


def test_what_was_left_open_is_told(database: str) -> None:
    pool = Pool(database, max_size=1, acquire_timeout=20)
    with pytest.warns(ResourceWarning, match="was not given back"):
        connection: PooledConnection | None = pool.acquire()
        assert connection is not None
        first = attachment(connection)
        connection = None
        gc.collect()
    # It comes back in the background, or makes room for another one.
    with pool.connection() as again:
        assert attachment(again) and first
    with pytest.warns(ResourceWarning, match="Pool.* was not closed"):
        del pool, again
        gc.collect()
    until(lambda: not any(thread.name == "firearrow pool" for thread in threading.enumerate()))


def test_a_program_may_end_without_closing_anything(
    database: str, is_wire: bool, tmp_path: pathlib.Path
) -> None:
    if not is_wire:
        # The engine of this process keeps others out of its databases.
        database = str(tmp_path / "own.fdb")
    program = (
        "import firearrow, sys\n"
        "pool = firearrow.Pool(sys.argv[1], min_size=2, create_if_missing=True)\n"
        "pool.wait(20)\n"
        "connection = pool.acquire()\n"
        "print(connection.execute('SELECT 7 FROM RDB$DATABASE').fetchone()[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", program, database],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
    assert "Traceback" not in done.stderr
    assert "<firearrow.Pool: 1 in use, 1 idle, at most 10> was not closed" in done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_a_pool_of_its_own(pool: Pool, is_wire: bool) -> None:
    with pool.connection() as idle:
        first = attachment(idle)
    borrowed = pool.acquire()

    def borrow_another() -> str:
        assert pool.stats.size == 0
        with pool.connection() as connection:
            mine = attachment(connection)
        pool.close()
        return "another one" if mine != first else "the parent's"

    def use() -> object:
        return borrowed.execute(ONE).fetchone()

    def give_back() -> str:
        borrowed.close()
        return f"{pool.stats.idle} idle"

    if is_wire:
        assert in_child(borrow_another) == "another one"
    else:
        # fork does not copy the engine's threads.
        assert "spawn" in in_child(borrow_another)
    assert "belongs to the process that opened it" in in_child(use)
    assert in_child(give_back) == "0 idle"
    # The parent is unaffected.
    assert borrowed.execute(ONE).fetchone() == (1,)
    borrowed.close()
    with pool.connection() as connection:
        assert attachment(connection) == first
    assert pool.stats.opened == 1


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
    assert isinstance(connection, firearrow.Connection)
