"""Values with time zones."""

from __future__ import annotations

import datetime
from datetime import datetime as moment
from datetime import time as clock
from zoneinfo import ZoneInfo

import pytest
from columns import make, read_own

import firearrow

UTC = datetime.timezone.utc
BERLIN = ZoneInfo("Europe/Berlin")


def test_an_hour_that_comes_twice(connection: firearrow.Connection, table: str, version: int) -> None:
    """``fold`` tells the two apart, and survives."""
    if version < 4:
        pytest.skip("time zones came with Firebird 4")
    make(connection, table, "TIMESTAMP WITH TIME ZONE")
    values = [moment(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=fold) for fold in (0, 1)]
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", list(enumerate(values)))
    found = read_own(connection, table)
    assert [value.fold for value in found] == [0, 1]
    assert [value.astimezone(UTC).hour for value in found] == [0, 1]
    assert {value.tzinfo for value in found} == {BERLIN}


def test_regions_survive(connection: firearrow.Connection, version: int) -> None:
    """A region is more than its displacement: Python gets the same ZoneInfo back."""
    if version < 4:
        pytest.skip("time zones came with Firebird 4")
    for zone in ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Etc/UTC"):
        sent = moment(2030, 7, 1, 12, tzinfo=ZoneInfo(zone))
        query = "SELECT CAST(? AS TIMESTAMP WITH TIME ZONE) FROM RDB$DATABASE"
        (found,) = connection.execute(query, (sent,)).fetchone()
        assert found == sent
        assert found.tzinfo is ZoneInfo(zone)
        query = "SELECT CAST(? AS TIME WITH TIME ZONE) FROM RDB$DATABASE"
        (found,) = connection.execute(query, (clock(12, tzinfo=ZoneInfo(zone)),)).fetchone()
        assert found == clock(12, tzinfo=ZoneInfo(zone))


def test_aware_times_for_naive_columns(connection: firearrow.Connection, version: int) -> None:
    """The same instant, in the session's time zone or UTC (Firebird 3); a time of day has no instant."""
    sent = moment(2024, 7, 1, 12, tzinfo=BERLIN)
    if version >= 4:
        connection.execute("SET TIME ZONE 'UTC'")
    assert connection.execute("SELECT CAST(? AS TIMESTAMP) FROM RDB$DATABASE", (sent,)).fetchone() == (
        moment(2024, 7, 1, 10),
    )
    with pytest.raises(firearrow.DataError, match="has a zone"):
        connection.execute("SELECT CAST(? AS TIME) FROM RDB$DATABASE", (clock(12, tzinfo=UTC),))


def test_moments_with_zones_are_cut_to_what_the_engine_tells_apart(
    connection: firearrow.Connection, version: int
) -> None:
    """The engine refuses texts with more digits."""
    if version < 4:
        pytest.skip("Firebird 3 has no time zones")
    sql = "SELECT CAST(? AS TIMESTAMP WITH TIME ZONE), CAST(? AS TIME WITH TIME ZONE) FROM RDB$DATABASE"
    sent = (moment(2024, 7, 1, 1, 2, 3, 123456, BERLIN), clock(1, 2, 3, 123456, UTC))
    found = connection.execute(sql, sent).fetchone()
    assert found == tuple(value.replace(microsecond=123400) for value in sent)
