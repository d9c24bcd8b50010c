"""How many connections a pool opens, and how long it keeps them."""

from __future__ import annotations

import time
from typing import Any

import pytest
from statements import attachment
from threads import until

import firearrow
from firearrow import Pool, PoolTimeout


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
