"""A query that several processes read: what each of them is told, and what it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from .. import errors
from .._base import library
from ..connection import Connection
from ..partitions import Partitions
from .place import Place, engine_release

__all__ = ["Division", "Held", "Part", "Query", "divide", "read", "schema_of"]


@dataclass(frozen=True)
class Query:
    """A query and its parameters."""

    sql: str
    parameters: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Part:
    """What one task reads.

    With a descriptor, it is a part of a query that is divided. Without one it is the whole query, which is
    read as of the moment when its task begins.
    """

    query: Query
    descriptor: bytes | None = None


@dataclass(frozen=True)
class Division:
    """The parts of a query, which are together exactly its result."""

    parts: tuple[Part, ...]
    has_snapshot: bool
    """Whether they read a snapshot that somebody has to hold."""
    why_plain: str | None
    """Why there is one part only."""


class Held:
    """A snapshot that is held, until this is closed or collected."""

    def __init__(self, connection: Connection, divided: Partitions) -> None:
        self.connection = connection
        self._divided = divided

    def close(self) -> None:
        """Let it go, and disconnect."""
        self._divided.close()
        self.connection.close()


def divide(
    place: Place, query: Query, n: int, name: str, *, without_snapshot: bool = False
) -> tuple[Division, Held | None]:
    """Divide a query into at most ``n`` parts.

    Returns
    -------
    Division
        Its parts.
    Held or None
        Their snapshot, if they share one.
    """
    connection = place.connect(name)
    try:
        divided = connection.read_partitions(
            query.sql, n, parameters=query.parameters or None, without_snapshot=without_snapshot
        )
        has_snapshot = len(divided) > 1 and engine_release(connection) >= 4
    except BaseException:
        connection.close()
        raise
    if len(divided) == 1:
        # It needs nobody to hold anything: all of it is read in one transaction.
        parts: tuple[Part, ...] = (Part(query),)
    else:
        parts = tuple(Part(query, descriptor) for descriptor in divided)
    division = Division(parts, has_snapshot, divided.why_plain)
    if has_snapshot:
        return division, Held(connection, divided)
    connection.close()
    return division, None


def schema_of(place: Place, query: Query, name: str) -> Any:
    """Return the columns of a query as a ``pyarrow.Schema``, without executing it."""
    pyarrow = library("pyarrow")

    with closing(place.connect(name)) as connection:
        parts = connection.read_partitions(query.sql, 1, parameters=query.parameters or None)
        return pyarrow.schema(parts)


def read(place: Place, part: Part, name: str, *, remedy: str = "") -> Iterator[Any]:
    """Read a part, as batches of pyarrow.

    Raises
    ------
    Error
        Among others when nobody holds the snapshot any more; ``remedy`` is added to the message then.
    """
    with closing(place.connect(name, read_only=True)) as connection:
        if part.descriptor is None:
            cursor = connection.execute(part.query.sql, part.query.parameters or None)
            yield from cursor.fetch_arrow_batches()
            return
        try:
            opened = connection.read_partition(part.descriptor)
        except errors.Error as error:
            if remedy and "taken its snapshot" in str(error):
                raise type(error)(f"{error}; {remedy}") from error
            raise
        with opened:
            yield from opened.fetch_arrow_batches()
