"""Databases for the tests.

FIREARROW_TEST_URLS has the URLs of databases on servers, separated by blanks; the tests create them.
FIREARROW_TEST_ENGINE is the folder of an embedded engine. Every test runs on each of them.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import Any

import pytest

import firearrow

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
    connection = firearrow.connect(database)
    try:
        yield connection
    finally:
        connection.close()


@pytest.fixture
def other(database: str) -> Iterator[firearrow.Connection]:
    """A second connection to the same database."""
    connection = firearrow.connect(database)
    try:
        yield connection
    finally:
        connection.close()


@pytest.fixture
def version(connection: firearrow.Connection) -> int:
    """The engine's major release."""
    return int(str(connection.info["engine_version"]).split(".")[0])


@pytest.fixture
def is_wire(database: str) -> bool:
    """Whether a server is asked over the network."""
    return database.startswith("firebird://")


@pytest.fixture
def table() -> str:
    """A table name that no other test uses."""
    return f"T{next(_numbers)}"
