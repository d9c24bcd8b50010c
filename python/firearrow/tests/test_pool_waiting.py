"""Threads that wait for a connection of a pool."""

from __future__ import annotations

import signal
import threading
import time

import pytest
from statements import attachment, values
from threads import run, until

import firearrow
from firearrow import Pool, PoolTimeout


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


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no signal.setitimer")
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
