"""Where a job reads or writes: a database, and how to connect to it from any process."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from .. import _core, errors
from .._request import Request
from .._target import describe
from ..connection import Connection, connect
from ..transaction import Transaction

__all__ = ["Place", "looking", "quoted"]

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

    def __post_init__(self) -> None:
        request = Request(False, self.database, **self.options)
        if not _core.is_on_server(request.database, request.options):
            raise errors.InterfaceError(
                f"workers reach a database through a server, and {describe(self.database)} names none: "
                "write firebird://host/path"
            )

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


def looking(connection: Connection, lock_timeout: float | None = None) -> Transaction:
    """A transaction that sees what is committed now; the monitoring tables as they are when it first looks."""
    return connection.begin(isolation="read_committed", read_only=True, lock_timeout=lock_timeout)


def quoted(name: str) -> str:
    """Quote a stored name for SQL."""
    return '"' + name.replace('"', '""') + '"'
