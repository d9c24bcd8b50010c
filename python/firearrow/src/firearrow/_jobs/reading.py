"""A query that several processes read: how it is divided and read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from .. import errors
from .._base import engine_release, library
from ..connection import Connection
from ..partitions import Partitions
from .place import Place

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
    """Why there is only one part."""


class Held:
    """A snapshot that is held, until this is closed or collected."""

    def __init__(self, connection: Connection, divided: Partitions) -> None:
        self.connection = connection
        self._divided = divided

    def close(self) -> None:
        """Release it, and disconnect."""
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
        has_snapshot = len(divided) > 1 and engine_release(connection.info) >= 4
    except BaseException:
        connection.close()
        raise
    if len(divided) == 1:
        # No snapshot is needed: all of it is read in one transaction.
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


def read(place: Place, part: Part, name: str, *, remedy: str = "", lingers: float = 0) -> Iterator[Any]:
    """Read a part, as batches of pyarrow.

    Parameters
    ----------
    name
        Under which monitoring tables show the connection.
    remedy
        What the error says in addition if the snapshot is gone.
    lingers
        Seconds for which the connection stays open afterwards, so that whoever looks for readers sees this one; another part
        that is read under the same name uses it.

    Raises
    ------
    Error
        For example, the snapshot is gone.
    """
    connection = _lingering.take(name) or place.connect(name, read_only=True)
    try:
        if part.descriptor is None:
            yield from connection.execute(part.query.sql, part.query.parameters or None).fetch_arrow_batches()
        else:
            try:
                opened = connection.read_partition(part.descriptor)
            except errors.Error as error:
                if remedy and "taken its snapshot" in str(error):
                    raise type(error)(f"{error}; {remedy}") from error
                raise
            with opened:
                yield from opened.fetch_arrow_batches()
        connection.rollback()
    except BaseException:
        connection.close()
        raise
    if lingers:
        _lingering.leave(name, connection, lingers)
    else:
        connection.close()


class _Lingering:
    """Connections that stay open for a while, by their names."""

    def __init__(self) -> None:
        # Each with the timer that closes it.
        self._connections: dict[str, list[tuple[Connection, threading.Timer]]] = {}
        self._lock = threading.Lock()

    def take(self, name: str) -> Connection | None:
        """Take one that still works."""
        while (found := self._pop(name)) is not None:
            connection, timer = found
            timer.cancel()
            if connection._core.is_alive:
                return connection
            _close(connection)
        return None

    def _pop(self, name: str) -> tuple[Connection, threading.Timer] | None:
        with self._lock:
            found = self._connections.get(name)
            return found.pop() if found else None

    def leave(self, name: str, connection: Connection, seconds: float) -> None:
        """Leave one for so many seconds."""
        timer = threading.Timer(seconds, self._end, (name, connection))
        timer.daemon = True
        with self._lock:
            self._connections.setdefault(name, []).append((connection, timer))
        timer.start()

    def _end(self, name: str, connection: Connection) -> None:
        with self._lock:
            left = [entry for entry in self._connections.get(name, []) if entry[0] is not connection]
            is_there = len(left) < len(self._connections.get(name, []))
            if left:
                self._connections[name] = left
            else:
                self._connections.pop(name, None)
        # Otherwise somebody has just taken it.
        if is_there:
            _close(connection)


def _close(connection: Connection) -> None:
    with suppress(errors.Error):
        connection.close()


_lingering = _Lingering()
