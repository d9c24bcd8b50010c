"""Connections of ``firearrow.aio``: opened, refused, created, dropped, closed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from loops import one, run
from statements import LONG

import firearrow
from firearrow import aio


def test_connections(database: str, is_wire: bool, version: int) -> None:
    async def work() -> None:
        connection = await asyncio.create_task(aio.connect(database))
        info = await connection.info
        assert str(info["engine_version"]).startswith(f"{version}.")
        assert connection.is_alive and not connection.closed
        await connection.ping()
        assert (connection.wire_stats["round_trips"] > 0) == is_wire
        cursor = await connection.execute("SELECT 1 FROM rdb$database")
        assert "RDB$DATABASE" in str(await cursor.plan).upper()
        assert (cursor.wire_stats["packets_sent"] > 0) == is_wire
        if version >= 4:
            await connection.execute("SELECT RDB$SET_CONTEXT('USER_SESSION', 'a', 'b') FROM rdb$database")
            await connection.reset()
            cursor = await connection.execute("SELECT RDB$GET_CONTEXT('USER_SESSION', 'a') FROM rdb$database")
            assert await cursor.fetchone() == (None,)
            await connection.set_timeouts(statement=0.1)
            with pytest.raises(firearrow.OperationalError):
                await (await connection.execute(LONG)).fetchall()
        await connection.close()
        await connection.close()
        assert connection.closed
        with pytest.raises(firearrow.InterfaceError):
            await connection.ping()
        with pytest.raises(firearrow.InterfaceError):
            await cursor.fetchone()
        with pytest.raises(firearrow.InterfaceError):
            connection.begin()
        await cursor.close()
        # A name that two tables have is an error, but in dialect 1 a warning, which is told once.
        async with aio.connect(database, dialect=1) as old:
            known = old.warnings
            assert await one(
                old,
                "SELECT RDB$FIELD_NAME FROM RDB$FIELDS a "
                "JOIN RDB$RELATION_FIELDS b ON b.RDB$FIELD_SOURCE = a.RDB$FIELD_NAME ROWS 1",
            )
            [warning] = [text for text in old.warnings if text not in known]
            assert "Ambiguous field name" in warning
            assert old.warnings == known

    run(work())


def test_failed_connects(database: str, is_wire: bool) -> None:
    async def work() -> None:
        with pytest.raises(firearrow.InterfaceError):
            aio.connect()
        with pytest.raises(firearrow.InterfaceError):
            await aio.connect(database, no_such_option=1)
        with pytest.raises(firearrow.OperationalError):
            await aio.connect("firebird://127.0.0.1:1/nothing", connect_timeout=2)
        with pytest.raises(firearrow.OperationalError):
            async with aio.connect("/nowhere/at/all.fdb"):
                pass
        if is_wire:
            with pytest.raises(firearrow.OperationalError):
                await aio.connect(database, user="SYSDBA", password="wrong")

    run(work())


def test_created_and_dropped(tmp_path: Any, database: str, is_wire: bool) -> None:
    name = f"{database.rpartition('.')[0]}_created.fdb" if is_wire else str(tmp_path / "created.fdb")

    async def work() -> None:
        connection = await aio.create_database(name, page_size=16384, overwrite=True)
        assert (await connection.info)["page_size"] == 16384
        cursor = await connection.execute("SELECT 1 FROM rdb$database")
        assert await cursor.fetchone() == (1,)
        await connection.drop_database()
        assert connection.closed
        with pytest.raises(firearrow.OperationalError):
            await aio.connect(name)

    run(work())


def test_the_error_of_a_block_is_the_one_that_is_raised(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        connection = await aio.connect(database)
        close = connection.close

        async def fails() -> None:
            await close()
            raise firearrow.OperationalError("closing failed")

        monkeypatch.setattr(connection, "close", fails)
        with pytest.raises(ValueError, match="mine"):
            async with connection:
                raise ValueError("mine")

    run(work())
