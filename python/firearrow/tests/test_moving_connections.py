"""firebird-driver's usage guide with firearrow: getting started, databases, services."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from statements import stored

import firearrow


def test_connecting_to_a_database(database: str, is_wire: bool) -> None:
    with firearrow.connect(database) as connection:
        assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)
    if is_wire:
        with pytest.raises(firearrow.OperationalError) as caught:
            firearrow.connect(database, user="NOBODY", password="wrong")
        assert caught.value.sqlstate == "28000"
    else:
        with firearrow.connect(Path(database)) as connection:
            assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)


def test_the_keyword_of_fdb_is_explained(database: str) -> None:
    with pytest.raises(firearrow.InterfaceError, match="first argument"):
        firearrow.connect(dsn=database)


def test_creating_a_database(database: str, table: str) -> None:
    name = database.replace(".fdb", f"-{table}.fdb")
    created = firearrow.create_database(name, page_size=16384, db_charset="UTF8")
    try:
        assert created.info["page_size"] == 16384
        assert created.info["database_charset"] == "UTF8"
    finally:
        created.drop_database()
    assert created.closed
    with pytest.raises(firearrow.OperationalError):
        firearrow.connect(name)


def test_deleting_databases(database: str, table: str) -> None:
    name = database.replace(".fdb", f"-{table}.fdb")
    firearrow.create_database(name).close()
    firearrow.connect(name).drop_database()
    with pytest.raises(firearrow.OperationalError):
        firearrow.connect(name)


def test_closing_the_connection(database: str, other: firearrow.Connection, languages: str) -> None:
    """close() rolls back, as in firebird-driver; a with block commits, which it does not there."""
    insert = f"INSERT INTO {languages} VALUES ('Oberon', 1987)"
    connection = firearrow.connect(database)
    connection.execute(insert)
    connection.close()
    assert connection.closed
    assert len(stored(other, languages)) == 2
    with firearrow.connect(database) as connection:
        connection.execute(insert)
    assert connection.closed
    assert len(stored(other, languages)) == 3
    with pytest.raises(ZeroDivisionError), firearrow.connect(database) as connection:
        connection.execute(insert)
        raise ZeroDivisionError
    assert len(stored(other, languages)) == 3


def test_getting_information_about_the_connection(connection: firearrow.Connection) -> None:
    assert not connection.closed
    connection.ping()
    assert connection.info["connection_charset"] == "UTF8"
    assert connection.info["dialect"] == 3


def test_getting_information_about_the_database(connection: firearrow.Connection, version: int) -> None:
    info = connection.info
    assert info["page_size"] >= 4096 and info["pages"] > 0
    assert info["read_only"] is False
    assert str(info["engine_version"]).split(".")[0] == str(version)
    # The rest is in the monitoring tables.
    found = connection.cursor(row_factory=firearrow.dict_row).execute("SELECT * FROM MON$DATABASE").fetchone()
    assert found["MON$PAGE_SIZE"] == info["page_size"]
    assert found["MON$OLDEST_TRANSACTION"] <= found["MON$NEXT_TRANSACTION"]
    assert found["MON$SWEEP_INTERVAL"] == 20000
    assert isinstance(found["MON$CREATION_DATE"], datetime.datetime)
    (number,) = connection.execute("SELECT CURRENT_CONNECTION FROM RDB$DATABASE").fetchone()
    assert number == info["attachment"]
    io_of_all = connection.execute(
        "SELECT s.MON$PAGE_READS, s.MON$PAGE_FETCHES FROM MON$DATABASE d "
        "JOIN MON$IO_STATS s ON s.MON$STAT_ID = d.MON$STAT_ID"
    ).fetchone()
    assert io_of_all[1] > 0


def test_users_by_sql(connection: firearrow.Connection, table: str, is_wire: bool) -> None:
    """There is no service manager. Users, the state of the server and settings have statements."""
    if is_wire:
        connection.execute(f"CREATE USER {table} PASSWORD 'x' FIRSTNAME 'Ada'")
        connection.commit()
        try:
            found = connection.execute(
                "SELECT SEC$FIRST_NAME FROM SEC$USERS WHERE SEC$USER_NAME = ? AND SEC$PLUGIN = 'Srp'",
                (table,),
            ).fetchall()
            assert [name.strip() for (name,) in found] == ["Ada"]
        finally:
            connection.execute(f"DROP USER {table}")
            connection.commit()
    attachments = connection.execute("SELECT MON$ATTACHMENT_ID FROM MON$ATTACHMENTS").fetchall()
    assert (connection.info["attachment"],) in attachments
