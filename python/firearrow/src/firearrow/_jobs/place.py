"""Where a job reads or writes: a database, and how to connect to it from any process."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .. import errors
from .._target import describe
from ..connection import Connection, connect

__all__ = ["Place", "engine_release", "quoted"]

# The engine stores at most this many bytes of a process's name.
_NAME = 255


@dataclass(frozen=True, repr=False)
class Place:
    """A database, as :func:`firearrow.connect` takes it. It is sent to other processes, password included."""

    database: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Options of :func:`firearrow.connect`."""
    session: str | None = None
    """SQL that is run at the start of each session."""
    query_timeout: float | None = None
    """Seconds that a statement may take (Firebird 4 and newer)."""

    def __repr__(self) -> str:
        return f"<firearrow: {describe(self.database)}>"

    def connect(self, name: str, **more: Any) -> Connection:
        """Connect; the monitoring tables show ``name`` as the process."""
        options: dict[str, Any] = {**self.options, **more, "process_name": name[:_NAME]}
        connection = connect(self.database, **options)
        try:
            if self.query_timeout:
                connection.set_timeouts(statement=self.query_timeout)
            if self.session:
                connection.execute(self.session)
                connection.commit()
        except BaseException:
            with suppress(errors.Error):
                connection.close()
            raise
        return connection


def engine_release(connection: Connection) -> int:
    """Return the engine's major release."""
    return int(str(connection.info["engine_version"]).split(".")[0])


def quoted(name: str) -> str:
    """Quote a stored name for SQL."""
    return '"' + name.replace('"', '""') + '"'
