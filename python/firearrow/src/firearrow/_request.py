"""What ``connect`` is asked for, in both packages and their pools."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core, errors
from ._engine import engine
from ._names import meant, nearest
from ._target import describe
from .rows import RowFactory, check_factory, tuple_row

__all__ = ["Request", "bound", "check_isolation", "check_lock_timeout", "check_switch"]

# Characters of a wrong value in a message.
_SHOWN = 40

# What `connect` takes that is no option of a URL.
_ARGUMENTS = (
    "database",
    "user",
    "password",
    "host",
    "port",
    "role",
    "autocommit",
    "isolation",
    "read_only",
    "lock_timeout",
    "row_factory",
    "max_result_rows",
    "max_result_bytes",
)
_UNKNOWN = re.compile(r"there is no option '([^']*)'; remove it$")
_ELSEWHERE = re.compile(r"'(\w+)' is an option of .* and has no effect here;")


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
        row_factory: RowFactory | None = None,
        max_result_rows: int | None = None,
        max_result_bytes: int | None = None,
        further: Sequence[str] = (),
        **options: Any,
    ) -> None:
        # `further`: what the caller takes beside these.
        known = (*_ARGUMENTS, *further)
        for name in options:
            if (ours := meant(name)) in known:
                raise errors.InterfaceError(f"there is no option {name!r}; is {ours!r} meant?")
        if "dsn" in options:
            raise errors.InterfaceError("pass the DSN as the first argument: connect('host:path')")
        for name, given in {"user": user, "password": password, "role": role}.items():
            if given is not None and not _is(given, str):
                raise errors.InterfaceError(f"{name} must be a str, not {type(given).__name__}")
        texts = {"database": database, "host": host, "user": user, "password": password, "role": role}
        for name, text in {**texts, "isolation": isolation, **options}.items():
            _check_text(name, name)
            _check_text(name, text)
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
        check_isolation(isolation)
        self._transactions = {"isolation": isolation, "read_only": read_only, "lock_timeout": lock_timeout}
        self.row_factory = tuple_row if row_factory is None else row_factory
        check_factory(self.row_factory)
        rows, size = bound("max_result_rows", max_result_rows), bound("max_result_bytes", max_result_bytes)
        # What the database's text says, unless an argument says otherwise.
        try:
            most_rows, most_bytes = _core.check_options(self.database, self.options, isolation)
        except errors.InterfaceError as error:
            if (told := _better(str(error), options, known)) is None:
                raise
            raise errors.InterfaceError(told) from None
        self._max_rows = most_rows if rows is None else rows
        self._max_bytes = most_bytes if size is None else size

    def prepare(self, connection: Any) -> None:
        """Apply the options that live in Python to a new connection."""
        connection._target = self.target
        connection.max_result_rows, connection.max_result_bytes = self._max_rows, self._max_bytes
        connection._options = dict(self._transactions)
        connection._tell_options()


def _better(message: str, options: Mapping[str, object], known: Sequence[str]) -> str | None:
    """What to say of an option that the core does not know, since it does not know those of this package."""
    if found := _UNKNOWN.match(message):
        ours = nearest(found[1], known)
        if ours is None:
            return None
        if found[1] in options:
            return f"there is no option {found[1]!r}; is {ours!r} meant?"
        return f"there is no option {found[1]!r} in URLs; pass {ours} as an argument: connect(…, {ours}=…)"
    if (found := _ELSEWHERE.match(message)) and found[1] in known:
        return f"{found[1]!r} is no option of URLs here; pass it as an argument: connect(…, {found[1]}=…)"
    return None


def _place(database: str | os.PathLike[str] | None, host: str | None, port: int | None) -> str:
    """Return the database with its server."""
    if database is None:
        if host is not None:
            raise errors.InterfaceError(
                "a host alone names no database: connect('/path/or/alias', host='name')"
            )
        raise errors.InterfaceError(
            "name a database: connect('host:path'), or a URL such as firebird://host/path"
        )
    if not _is(database, (str, os.PathLike)):
        # Its type only: the value may have a password.
        raise errors.InterfaceError(f"database must be a str or a path, not {type(database).__name__}")
    place = os.fspath(database)
    if not _is(place, str):
        raise errors.InterfaceError(f"database must be a str or a path of str, not of {type(place).__name__}")
    if place == ":memory:":
        raise errors.InterfaceError(
            "Firebird has no databases in memory: name a file, and pass create_if_missing=True"
        )
    if host is not None:
        if not _is(host, str):
            raise errors.InterfaceError(f"host must be a str, not {type(host).__name__}")
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
    if not isinstance(value, bool) and not (isinstance(value, int) and value in (0, 1)):
        raise errors.InterfaceError(f"{name} must be True or False, not {shown(value)}")


def check_isolation(value: object) -> None:
    """Refuse what is no name."""
    if value is not None and not isinstance(value, str):
        raise errors.InterfaceError(f"isolation must be a str such as 'read_committed', not {shown(value)}")


def check_lock_timeout(value: object) -> None:
    """Refuse what is no number of seconds."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    # The engine's own limit. NaN is in no range.
    if value is not None and not (isinstance(value, (int, float)) and is_number and 0 <= value <= 32767):
        raise errors.InterfaceError(
            f"lock_timeout must be a number of seconds from 0 to 32767, or None, not {shown(value)}"
        )


def bound(name: str, value: int | None, error: type[errors.Error] = errors.InterfaceError) -> int | None:
    """Return a bound for what is kept of a result; ``None`` = none."""
    given: Any = value
    is_number = isinstance(given, int) and not isinstance(given, bool)
    if given is not None and not (is_number and 0 <= given < 2**64):
        raise error(f"{name} must be a number of {name.rpartition('_')[2]} or None, not {shown(value)}")
    return value


def shown(value: object) -> str:
    """A value for a message, cut off if it is long."""
    try:
        text = repr(value)
    except Exception:
        # An int of thousands of digits, or a class without a working repr.
        text = f"this {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _check_text(name: str, text: object) -> None:
    """Refuse what no text for the engine can have; without the text, which may be a password."""
    if isinstance(text, str):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            given = name.encode(errors="replace").decode()
            raise errors.InterfaceError(
                f"{given} contains a lone surrogate (not valid Unicode) at position {error.start}"
            ) from None
