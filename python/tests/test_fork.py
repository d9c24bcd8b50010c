"""A connection belongs to the process that opened it: two processes on one socket would read each other's answers."""

import os
import warnings

import pytest
from adbc_driver_firebird import dbapi

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def in_child(work) -> str:
    """Return what `work` returns in a forked process."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads; the child only runs `work`.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            told = work()
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(writer, told.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        told = answer.read().decode()
    os.waitpid(child, 0)
    return told


def test_a_forked_process_is_refused_and_does_no_harm(connection, cursor, table):
    cursor.execute(f"CREATE TABLE {table} (n INTEGER)")
    cursor.execute(f"INSERT INTO {table} VALUES (1)")
    with connection.cursor() as reading:
        reading.execute("SELECT RDB$FIELD_NAME FROM RDB$FIELDS")

        def query() -> str:
            with connection.cursor() as forked:
                forked.execute("SELECT 1 FROM RDB$DATABASE")
                return "it ran"

        def commit() -> str:
            connection.commit()
            return "it was committed"

        def fetch() -> str:
            return str(len(reading.fetchall()))

        def close() -> str:
            reading.close()
            connection.close()
            return "closed"

        for work in (query, commit):
            told = in_child(work)
            assert "belongs to the process that opened it" in told, told
        assert in_child(close) == "closed"
        assert not in_child(fetch).isdigit()
        # The parent process is unaffected.
        assert len(reading.fetchall()) > 100
    cursor.execute(f"SELECT COUNT(*) FROM {table}")
    assert cursor.fetchone() == (1,)
    connection.commit()


def test_a_forked_process_opens_connections_of_its_own_or_is_told_why_not(uri, connection, cursor):
    cursor.execute("SELECT 1 FROM RDB$DATABASE")
    assert cursor.fetchone() == (1,)

    def open_another() -> str:
        with dbapi.connect(uri) as own, own.cursor() as asking:
            asking.execute("SELECT 42 FROM RDB$DATABASE")
            return str(asking.fetchone()[0])

    told = in_child(open_another)
    if uri.startswith("firebird:///"):
        # fork does not copy the engine's threads: the child would wait for them for ever.
        assert "INVALID_STATE" in told and "spawn" in told, told
    else:
        assert told == "42"
