"""firebird-driver's usage guide with firearrow: events."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

import firearrow


@pytest.fixture
def posting(connection: firearrow.Connection, table: str) -> Iterator[str]:
    """A table that posts an event for each row: its name and the row's number."""
    connection.execute(f"CREATE TABLE {table} (n INTEGER)")
    connection.commit()
    connection.execute(
        f"CREATE TRIGGER {table}_AI FOR {table} AFTER INSERT AS BEGIN POST_EVENT '{table}_' || NEW.n; END"
    )
    connection.commit()
    yield table


def test_one_event_of_another_connection(
    connection: firearrow.Connection, other: firearrow.Connection, posting: str
) -> None:
    def post() -> None:
        other.execute(f"INSERT INTO {posting} VALUES (1)")
        other.commit()

    later = threading.Timer(0.2, post)
    with connection.events(f"{posting}_1") as events:
        later.start()
        assert events.wait(timeout=30) == {f"{posting}_1": 1}
    later.join(30)


def test_many_events(connection: firearrow.Connection, posting: str) -> None:
    """Only what was posted is counted: names without events are missing, not zero."""
    names = [f"{posting}_{number}" for number in range(20)]
    counts: dict[str, int] = {}
    with connection.events(*names) as events:
        connection.executemany(f"INSERT INTO {posting} VALUES (?)", [(1,), (2,), (3,), (1,), (77,)])
        connection.commit()
        end = time.monotonic() + 30
        while sum(counts.values()) < 4 and time.monotonic() < end:
            for name, count in (events.wait(timeout=1) or {}).items():
                counts[name] = counts.get(name, 0) + count
    assert counts == {f"{posting}_1": 2, f"{posting}_2": 1, f"{posting}_3": 1}


def test_flushing_events(connection: firearrow.Connection, posting: str) -> None:
    """There is no flush: reading until nothing comes does it."""
    with connection.events(f"{posting}_1") as events:
        connection.executemany(f"INSERT INTO {posting} VALUES (?)", [(1,), (1,)])
        connection.commit()
        assert events.wait(timeout=30) == {f"{posting}_1": 2}
        while events.wait(timeout=0.2):
            pass
        connection.execute(f"INSERT INTO {posting} VALUES (1)")
        connection.commit()
        assert events.wait(timeout=30) == {f"{posting}_1": 1}


def test_events_in_a_list_are_explained(connection: firearrow.Connection) -> None:
    with pytest.raises(firearrow.InterfaceError, match="names as arguments"):
        connection.events(["a", "b"])  # type: ignore[arg-type]
