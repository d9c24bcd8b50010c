"""What ``connect`` is asked for, in both packages and their pools."""

from __future__ import annotations

import os
from typing import Any

from . import _core, errors
from ._engine import engine
from ._target import describe
from .rows import RowFactory, check_factory, tuple_row

__all__ = ["Request", "bound", "check_lock_timeout", "check_switch"]

# Other drivers' names of options, and ours.
_MEANT = {
    "db": "database",
    "dbname": "database",
    "filename": "database",
    "passwd": "password",
    "hostname": "host",
    "server": "host",
    "isolation_level": "isolation",
    "cursor_factory": "row_factory",
    "client_encoding": "charset",
}


class Request:
    """The options of a connection, checked as far as that goes without one."""

    def __init__(
        self,
        create: bool,
        database: str | os.PathLike[str] | None,
        /,
        *,
        user: str | None = None,
        password: str | None = None,
        host: str | None = None,
        port: int | None = None,
        role: str | None = None,
        autocommit: bool = False,
        isolation: str | None = None,
        read_only: bool = False,
        lock_timeout: float | None = None,
        row_factory: RowFactory = tuple_row,
        max_result_rows: int | None = None,
        max_result_bytes: int | None = None,
        **options: Any,
    ) -> None:
        if "dsn" in options:
            raise errors.InterfaceError("pass the DSN as the first argument: connect('host:path')")
        for name in options:
            if name in _MEANT:
                raise errors.InterfaceError(f"there is no option {name!r}; is {_MEANT[name]!r} meant?")
        self.create = create
        self.database = _place(database, host, port)
        self.target = describe(self.database, user)
        self.options: dict[str, Any] = {"user": user, "password": password, "role": role, **options}
        if "client_library" not in options and (found := engine()):
            self.options["client_library"] = found
        check_switch("autocommit", autocommit)
        self.autocommit = autocommit
        check_switch("read_only", read_only)
        check_lock_timeout(lock_timeout)
        if isolation is not None and not _is(isolation, str):
            raise errors.InterfaceError(f"isolation is a str such as 'read_committed', not {isolation!r}")
        self._transactions = {"isolation": isolation, "read_only": read_only, "lock_timeout": lock_timeout}
        check_factory(row_factory)
        self.row_factory = row_factory
        rows, size = bound("max_result_rows", max_result_rows), bound("max_result_bytes", max_result_bytes)
        # What the database's text says, unless an argument says otherwise.
        most_rows, most_bytes = _core.check_options(self.database, self.options, isolation)
        self._max_rows = most_rows if rows is None else rows
        self._max_bytes = most_bytes if size is None else size

    def prepare(self, connection: Any) -> None:
        """Apply the options that live in Python to a new connection."""
        connection._target = self.target
        connection.max_result_rows, connection.max_result_bytes = self._max_rows, self._max_bytes
        connection._options = dict(self._transactions)
        connection._tell_options()


def _place(database: str | os.PathLike[str] | None, host: str | None, port: int | None) -> str:
    """Return the database with its server."""
    if database is None:
        if host is not None:
            raise errors.InterfaceError(
                f"host={host!r} alone names no database: connect('/path/or/alias', host={host!r})"
            )
        raise errors.InterfaceError(
            "name a database: connect('host:path'), or a URL such as firebird://host/path"
        )
    if not _is(database, (str, os.PathLike)):
        raise errors.InterfaceError(f"database is a str or a path, not {database!r}")
    place = os.fspath(database)
    if place == ":memory:":
        raise errors.InterfaceError(
            "Firebird has no databases in memory: name a file, and pass create_if_missing=True"
        )
    if host is not None:
        bracketed = f"[{host}]" if ":" in host else host
        return f"{bracketed}{f'/{port}' if port else ''}:{place}"
    if port is not None:
        raise errors.InterfaceError("a port needs a host")
    return place


# Programs without type checkers may give anything.
def _is(value: Any, kind: Any) -> bool:
    return isinstance(value, kind)


def check_switch(name: str, value: object) -> None:
    """Refuse what is neither true nor false, above all words such as ``"no"``."""
    if not isinstance(value, bool) and value not in (0, 1):
        raise errors.InterfaceError(f"{name} is True or False, not {value!r}")


def check_lock_timeout(value: object) -> None:
    """Refuse what is no number of seconds."""
    if value is not None and (not isinstance(value, (int, float)) or isinstance(value, bool)):
        raise errors.InterfaceError(f"lock_timeout is a number of seconds or None, not {value!r}")


def bound(name: str, value: int | None, error: type[errors.Error] = errors.InterfaceError) -> int | None:
    """Return a bound for what is kept of a result; ``None`` = none."""
    given: Any = value
    if given is not None and (not isinstance(given, int) or isinstance(given, bool) or given < 0):
        raise error(f"{name} is a number of {name.rpartition('_')[2]} or None, not {value!r}")
    return value
