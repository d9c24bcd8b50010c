"""The end of a pool: closed, left open, at the end of the program, in a forked process."""

from __future__ import annotations

import gc
import os
import pathlib
import threading
import time

import pytest
from forking import in_child
from programs import script
from statements import LONG, ONE, attachment, values
from threads import Started, run, until

import firearrow
from firearrow import Pool, PoolClosed, PooledConnection


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
            connection.execute(LONG).fetchone()

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
    threads = Started("firearrow pool")
    with Pool(database, min_size=2) as pool:
        pool.wait(20)
        assert threads.left()
    threads.wait()


def test_no_thread_comes_back(database: str) -> None:
    """Borrowers that come late make the background thread of a closed pool start again."""
    threads = Started("firearrow pool")
    pool = Pool(database)
    pool.acquire().close()
    pool.close(timeout=20)
    threads.wait()
    pool._tell((None, False))
    threads.wait()
    # The pool itself is still there.
    assert pool.closed


def test_what_was_left_open_is_told(database: str) -> None:
    threads = Started("firearrow pool")
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
    threads.wait()


def test_a_program_may_end_without_closing_anything(
    database: str, is_wire: bool, tmp_path: pathlib.Path
) -> None:
    if not is_wire:
        # The engine of this process keeps others out of its databases.
        database = str(tmp_path / "own.fdb")
    done = script(
        database,
        """
        import firearrow, sys
        pool = firearrow.Pool(sys.argv[1], min_size=2, create_if_missing=True)
        pool.wait(20)
        connection = pool.acquire()
        print(connection.execute('SELECT 7 FROM RDB$DATABASE').fetchone()[0])
        """,
        "-W",
        "default::ResourceWarning",
    )
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
    assert "Traceback" not in done.stderr
    assert "<firearrow.Pool: 1 in use, 1 idle, at most 10> was not closed" in done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork processes: it has no os.fork")
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
