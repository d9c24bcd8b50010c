"""The exceptions of :pep:`249`, with what Firebird says about each.

>>> try:
...     connection.execute("INSERT INTO country VALUES ('Japan', 'Yen')")
... except firearrow.IntegrityError as error:
...     print(error.sqlstate, error.constraint, error.gds_codes)
"""

from __future__ import annotations

import re
from typing import Any

from ._hints import hint

__all__ = [
    "DataError",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Warning",
]


class Warning(Exception):
    """A warning. firearrow raises none: it collects warnings in ``Connection.warnings``."""


class Error(Exception):
    """The base of all errors of firearrow.

    Attributes
    ----------
    sqlstate : str or None
        Five characters, as the SQL standard has them.
    gds_codes : tuple of int
        Firebird's codes, the most important first.
    gds_names : tuple of str
        Their symbolic names as PSQL's ``WHEN GDSCODE`` takes them, such as ``arith_except``; empty where there is none.
    sqlcode : int or None
        The code of Firebird's older interface.
    kind : str or None
        What went wrong, in one word: ``Constraint``, ``Conflict``, ``Syntax``, ``Timeout`` …
    line, column : int or None
        The place in the SQL text, from 1.
    table, constraint, key : str or None
        The constraint that is violated, its table, and the key.
    row : int or None
        The row of parameters, from 0.
    failures : list of (int, Error)
        All rows of ``executemany`` that failed.
    retryable : bool
        Whether the same work may succeed in a new transaction; see :func:`firearrow.retry`.
    commit : str or None
        After a connection was lost during a commit: ``committed``, ``rolled_back`` or ``unknown``.
    details : dict of str to str
        All of these, as text.
    """

    sqlstate: str | None = None
    gds_codes: tuple[int, ...] = ()
    gds_names: tuple[str, ...] = ()
    sqlcode: int | None = None
    kind: str | None = None
    line: int | None = None
    column: int | None = None
    table: str | None = None
    constraint: str | None = None
    key: str | None = None
    row: int | None = None
    retryable: bool = False
    commit: str | None = None

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.failures: list[tuple[int, Error]] = []
        self.details: dict[str, str] = {}

    def __str__(self) -> str:
        text = super().__str__()
        return text if self.row is None else f"rows[{self.row}]: {text}"


class InterfaceError(Error):
    """A mistake on the client's side: a wrong option, or an object that is closed."""


class DatabaseError(Error):
    """An error of the database that fits none of the classes below."""


class DataError(DatabaseError):
    """A value cannot be converted, or does not fit."""


class OperationalError(DatabaseError):
    """Not the program's fault: the server, the network, a login, a time limit, or another transaction."""


class IntegrityError(DatabaseError):
    """A constraint is violated."""


class InternalError(DatabaseError):
    """A bug, here or in the server."""


class ProgrammingError(DatabaseError):
    """The SQL is wrong, or its parameters, or the call came at the wrong time."""


class NotSupportedError(DatabaseError):
    """Firebird, this version of it, or firearrow does not support it."""


_CLASSES: dict[str, type[Error]] = {
    cls.__name__: cls
    for cls in (
        InterfaceError,
        DatabaseError,
        DataError,
        OperationalError,
        IntegrityError,
        InternalError,
        ProgrammingError,
        NotSupportedError,
    )
}


# By the class of the SQLSTATE, for engine errors that firearrow knows no more about.
_BY_STATE: dict[str, type[Error]] = {
    "07": ProgrammingError,
    "08": OperationalError,
    "0A": NotSupportedError,
    "21": ProgrammingError,
    "22": DataError,
    "23": IntegrityError,
    "24": ProgrammingError,
    "25": ProgrammingError,
    "28": OperationalError,
    "39": ProgrammingError,
    "40": OperationalError,
    "42": ProgrammingError,
    "HY004": ProgrammingError,
    "HY015": ProgrammingError,
}

_SENT = re.compile(r"(?<=parameter )(\d+(?: \(\"[^\"]*\"\))?), row \d+ \(counted from 0\)")

# The place of a token, which the engine tells in the text alone.
_PLACE = re.compile(r"line (\d+), column (\d+)")


def make(name: str, message: str, sqlstate: str | None, kind: str | None, details: dict[str, str]) -> Error:
    """Return the exception for a failure; the extension module calls it."""
    cls = _CLASSES.get(name, DatabaseError)
    if cls is DatabaseError and sqlstate is not None:
        cls = _BY_STATE.get(sqlstate) or _BY_STATE.get(sqlstate[:2], cls)
    told = hint(kind, message)
    error = cls(f"{message}\nHint: {told}" if told else message)
    error.sqlstate = sqlstate
    error.kind = kind
    error.details = details
    error.gds_codes = tuple(int(code) for code in details.get("gds_codes", "").split(",") if code)
    if "gds_names" in details:
        error.gds_names = tuple(details["gds_names"].split(","))
    for attribute in ("sqlcode", "line", "column", "row"):
        if attribute in details:
            setattr(error, attribute, int(details[attribute]))
    for attribute in ("table", "constraint", "key", "commit"):
        if attribute in details:
            setattr(error, attribute, details[attribute])
    if error.line is None and kind == "Syntax" and (place := _PLACE.search(message)):
        error.line, error.column = int(place[1]), int(place[2])
    error.retryable = details.get("retryable") == "true"
    return error


def failed(failures: list[tuple[int, Any]]) -> Error:
    """Return the error of the first row that failed, which has the others in ``failures``."""
    row, error = failures[0]
    assert isinstance(error, Error)
    error.row = row
    # The number within the rows that were sent together.
    error.args = tuple(_SENT.sub(r"\1", part) if isinstance(part, str) else part for part in error.args)
    error.failures = failures
    return error
