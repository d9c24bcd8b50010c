"""Pools that lose connections, or their server."""

from __future__ import annotations

import threading
import time

import pytest
from proxy import Proxy
from statements import ONE, attachment
from threads import run, until

import firearrow
from firearrow import Pool, PoolTimeout
from firearrow._pooling import Limits


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
