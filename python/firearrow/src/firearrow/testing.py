"""Fixtures for pytest: a fresh embedded database for each test, copied from a template.

pytest finds them by itself once firearrow is installed:

>>> def test_insert(firebird_connection):
...     firebird_connection.execute("INSERT INTO ...")

``docs/python-testing.md`` describes them.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import pytest

from ._script import statements
from .connection import Connection, connect, create_database
from .errors import DatabaseError, Error

if TYPE_CHECKING:
    from . import aio

__all__ = [
    "Schema",
    "firebird_aio_connection",
    "firebird_connection",
    "firebird_database",
    "firebird_schema",
    "firebird_templates",
]

Schema: TypeAlias = "str | Sequence[str] | Callable[[Connection], object] | None"
"""A script, statements, or a function that is called with a connection to the template."""

_ADVICE = (
    'firearrow\'s fixtures need the embedded engine: pip install "firearrow[embedded]", or let '
    "FIREARROW_ENGINE name the folder of an engine"
)


class Templates:
    """The databases that tests get copies of: one for each schema."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[object, Path] = {}
        self._numbers = itertools.count(1)

    def copy(self, schema: Schema) -> Path:
        """Return a fresh database with a schema."""
        key: object = (
            schema if schema is None or isinstance(schema, str) or callable(schema) else tuple(schema)
        )
        template = self._made.get(key)
        if template is None:
            template = self._made[key] = self._make(schema)
        path = self._folder / f"test{next(self._numbers)}.fdb"
        shutil.copyfile(template, path)
        return path

    def _make(self, schema: Schema) -> Path:
        path = self._folder / f"template{next(self._numbers)}.fdb"
        try:
            # Nobody needs it after a power failure.
            connection = create_database(str(path), force_writes=False)
        except Error as error:
            if error.kind == "EngineMissing":
                _refuse(f"{_ADVICE} ({error})")
            raise
        # A release may have a database format of its own, so its number belongs to the name.
        version = str(connection.info["engine_version"])
        with connection:
            _fill(connection, schema)
        return path.rename(path.with_stem(f"{path.stem}-{version}"))


def _fill(connection: Connection, schema: Schema) -> None:
    if schema is None:
        return
    if callable(schema):
        schema(connection)
        return
    for sql in statements(schema) if isinstance(schema, str) else schema:
        try:
            connection.execute(sql)
            # What a statement creates can only be used after a commit.
            connection.commit()
        except DatabaseError as error:
            _refuse(f"firebird_schema: {error}\n{sql}")


def _refuse(message: str) -> NoReturn:
    # Where in these files it was noticed is nothing that users want to read.
    raise pytest.fail.Exception(message, pytrace=False) from None


@pytest.fixture(scope="session")
def firebird_schema() -> Schema:
    """What a fresh database contains. Override it: return a script, a list of statements, or a function."""
    return None


@pytest.fixture(scope="session")
def firebird_templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """The templates of this run; its ``copy(schema)`` returns the path of one more database."""
    return Templates(tmp_path_factory.mktemp("firebird"))


@pytest.fixture
def firebird_database(firebird_templates: Templates, firebird_schema: Schema) -> Generator[str]:
    """The path of a fresh embedded database for ``firearrow.connect``; it is deleted after the test."""
    path = firebird_templates.copy(firebird_schema)
    yield str(path)
    # If the test has left connections open, the folder's turn comes later.
    with suppress(OSError):
        path.unlink()


@pytest.fixture
def firebird_connection(firebird_database: str) -> Generator[Connection]:
    """A connection to ``firebird_database``, which is rolled back and closed after the test."""
    connection = connect(firebird_database)
    try:
        yield connection
    finally:
        connection.close()


@pytest.fixture
def firebird_aio_connection(firebird_database: str) -> Generator[aio.Connection]:
    """An asynchronous connection to ``firebird_database``, which is rolled back and closed after the test.

    It belongs to no event loop, so it needs no plugin, and works with that of any.
    """
    from . import aio

    async def opened() -> aio.Connection:
        return await aio.connect(firebird_database)

    connection: aio.Connection = _run(opened())
    try:
        yield connection
    finally:
        _run(connection.close())


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in a thread of its own: this one may have an event loop, of which nothing is known."""
    import asyncio

    results: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(work))
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run, name="firebird_aio_connection")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
