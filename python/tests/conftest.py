"""Databases for the tests.

FIREARROW_TEST_URLS has the URLs of databases on servers, separated by blanks; the tests create them.
FIREARROW_TEST_ENGINE is the folder of an embedded engine. Every test runs on each of them.
"""

import itertools
import os
from urllib.parse import quote

import pytest
from adbc_driver_firebird import dbapi

# A URI cannot choose the engine; the environment can.
if os.environ.get("FIREARROW_TEST_ENGINE"):
    os.environ["FIREARROW_ENGINE"] = os.environ["FIREARROW_TEST_ENGINE"]

_numbers = itertools.count(1)


def targets() -> list:
    """Return one parameter for each database."""
    found = [
        pytest.param(url, id=f"server{index}")
        for index, url in enumerate(os.environ.get("FIREARROW_TEST_URLS", "").split())
    ]
    if os.environ.get("FIREARROW_TEST_ENGINE"):
        found.append(pytest.param(None, id="embedded"))
    if not found:
        pytest.exit("no database: set FIREARROW_TEST_URLS or FIREARROW_TEST_ENGINE", returncode=4)
    return found


@pytest.fixture(scope="session", params=targets())
def uri(request, tmp_path_factory) -> str:
    """The URI of an existing database."""
    if request.param is None:
        path = quote(str(tmp_path_factory.mktemp("databases") / "test.fdb"))
        address = f"firebird://{path}?create_if_missing=true"
    else:
        address = f"{request.param}{'&' if '?' in request.param else '?'}create_if_missing=true"
    dbapi.connect(address).close()
    return address


@pytest.fixture
def connection(uri):
    """A connection in manual mode, as PEP 249 requires."""
    with dbapi.connect(uri) as connection:
        yield connection


@pytest.fixture
def cursor(connection):
    """A cursor of that connection."""
    with connection.cursor() as cursor:
        yield cursor


@pytest.fixture
def version(cursor) -> int:
    """The engine's major release."""
    cursor.execute("SELECT RDB$GET_CONTEXT('SYSTEM', 'ENGINE_VERSION') FROM RDB$DATABASE")
    return int(cursor.fetchone()[0].split(".")[0])


@pytest.fixture
def table() -> str:
    """A table name that no other test uses."""
    return f"T{next(_numbers)}"
