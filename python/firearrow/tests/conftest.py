"""Databases for the tests.

FIREARROW_TEST_URLS has the URLs of databases on servers, separated by blanks; the tests create them.
FIREARROW_TEST_ENGINE is the folder of an embedded engine. Every test runs on each of them.
With FIREARROW_TEST_SHARE=databases, tests that need no database are left to another run.
"""

from __future__ import annotations

import gc
import itertools
import os
import warnings
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from proxy import Proxy

import firearrow

if TYPE_CHECKING:
    import sqlalchemy as sa

# Programs that tests start need to find the engine, too.
if os.environ.get("FIREARROW_TEST_ENGINE"):
    os.environ["FIREARROW_ENGINE"] = os.environ["FIREARROW_TEST_ENGINE"]

_numbers = itertools.count(1)


def targets() -> list[Any]:
    """Return one parameter for each database."""
    found: list[Any] = [
        pytest.param(url, id=f"server{index}")
        for index, url in enumerate(os.environ.get("FIREARROW_TEST_URLS", "").split())
    ]
    if os.environ.get("FIREARROW_TEST_ENGINE"):
        found.append(pytest.param(None, id="embedded"))
    if not found:
        pytest.exit("no database: set FIREARROW_TEST_URLS or FIREARROW_TEST_ENGINE", returncode=4)
    return found


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another run does."""
    if os.environ.get("FIREARROW_TEST_SHARE") == "databases":
        left = [item for item in items if "database" not in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if "database" in getattr(item, "fixturenames", ())]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Before another attempt, forget what the failed one left open, which would fail this one."""
    # Only here pytest has forgotten the error, and with it the frames of the failed attempt.
    if getattr(pyfuncitem, "execution_count", 1) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why tests had to run again."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"first attempt of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


@pytest.fixture(scope="session", params=targets())
def database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The argument of ``connect`` for an existing database."""
    if request.param is None:
        name = str(tmp_path_factory.mktemp("databases") / "test.fdb")
    else:
        name = str(request.param)
    firearrow.connect(name, create_if_missing=True).close()
    return name


@pytest.fixture
def connection(database: str) -> Iterator[firearrow.Connection]:
    """A connection, which is rolled back and closed at the end."""
    with closing(firearrow.connect(database)) as connection:
        yield connection


@pytest.fixture
def other(database: str) -> Iterator[firearrow.Connection]:
    """A second connection to the same database."""
    with closing(firearrow.connect(database)) as connection:
        yield connection


@pytest.fixture
def version(connection: firearrow.Connection) -> int:
    """The engine's major release."""
    return int(str(connection.info["engine_version"]).split(".")[0])


@pytest.fixture
def is_wire(database: str) -> bool:
    """Whether a server is asked over the network."""
    return database.startswith("firebird://")


@pytest.fixture
def proxy(database: str, is_wire: bool) -> Iterator[Proxy]:
    """A proxy before the server, which can lose connections."""
    if not is_wire:
        pytest.skip("there is no network between a program and its embedded engine")
    with Proxy(database) as proxy:
        yield proxy


@pytest.fixture
def pool(database: str) -> Iterator[firearrow.Pool]:
    """A pool of up to three connections."""
    with firearrow.Pool(database, max_size=3, acquire_timeout=20) as pool:
        yield pool


@pytest.fixture
def table() -> str:
    """A table name that no other test uses."""
    return f"T{next(_numbers)}"


@pytest.fixture
def numbers(connection: firearrow.Connection, table: str) -> str:
    """An empty table with a column N."""
    connection.execute(f"CREATE TABLE {table} (n INTEGER)")
    connection.commit()
    return table


@pytest.fixture
def languages(connection: firearrow.Connection, table: str) -> str:
    """A table with two committed rows of a name and a year."""
    connection.execute(f"CREATE TABLE {table} (name VARCHAR(20), year_released INTEGER)")
    connection.commit()
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", [("C", 1972), ("Python", 1991)])
    connection.commit()
    return table


@pytest.fixture
def engine(database: str) -> Iterator[sa.Engine]:
    """An engine of SQLAlchemy."""
    from engines import create

    engine = create(database)
    yield engine
    engine.dispose()


@pytest.fixture
def people(engine: sa.Engine, table: str) -> Iterator[sa.Table]:
    """A table of SQLAlchemy with an identity column and a text."""
    import sqlalchemy as sa

    metadata = sa.MetaData()
    made = sa.Table(
        f"people_{table.lower()}",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(10)),
    )
    metadata.create_all(engine)
    yield made
    engine.dispose()
    metadata.drop_all(engine)
