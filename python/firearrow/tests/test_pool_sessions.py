"""Sessions of a pool's connections: when they are reset, and how they are configured."""

from __future__ import annotations

import time

import pytest
from statements import GET, ONE, SET, attachment
from threads import until

import firearrow
from firearrow import Pool


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
        connection.execute(SET.replace("me", "pool")).fetchone()

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
