"""Types of columns, and constructors of parameters, as :pep:`249` names them."""

from __future__ import annotations

import datetime
import time
from typing import Any, NamedTuple

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Column",
    "Date",
    "DateFromTicks",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
]


class Column(NamedTuple):
    """A column of a result: the seven items of PEP 249."""

    name: str
    """The label."""
    type_code: str
    """The type's name in SQL, without its length; equal to one of STRING, BINARY, NUMBER and DATETIME."""
    display_size: int | None
    """Characters of text."""
    internal_size: int | None
    """Bytes; ``None`` for NUMERIC and DECIMAL, which have a precision."""
    precision: int | None
    """Digits of a number."""
    scale: int | None
    """Digits after the decimal point."""
    null_ok: bool
    """Whether it may be NULL."""


class TypeObject:
    """A group of types, equal to each of their names."""

    def __init__(self, name: str, *types: str) -> None:
        self.name = name
        self.types = frozenset(types)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TypeObject):
            return self.types == other.types
        return other in self.types

    def __hash__(self) -> int:
        return hash(self.types)

    def __repr__(self) -> str:
        return f"firearrow.{self.name}"


STRING = TypeObject("STRING", "CHAR", "VARCHAR", "BLOB SUB_TYPE TEXT")
BINARY = TypeObject("BINARY", "BINARY", "VARBINARY", "BLOB")
NUMBER = TypeObject(
    "NUMBER",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "INT128",
    "NUMERIC",
    "DECIMAL",
    "DECFLOAT",
    "FLOAT",
    "DOUBLE PRECISION",
    "BOOLEAN",
)
DATETIME = TypeObject(
    "DATETIME", "DATE", "TIME", "TIMESTAMP", "TIME WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE"
)
ROWID = TypeObject("ROWID")
"""Firebird's row ids (``RDB$DB_KEY``) are BINARY."""

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:
    """Return the local date of a number of seconds since 1970."""
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> datetime.time:
    """Return the local time of day of a number of seconds since 1970."""
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    """Return the local date and time of a number of seconds since 1970."""
    return Timestamp(*time.localtime(ticks)[:6])


def column(described: tuple[Any, ...]) -> Column:
    """Return the column that the extension module describes."""
    made = Column(*described[:7])
    if made.type_code in ("NUMERIC", "DECIMAL"):
        # polars takes a number of 4 bytes for a float of single precision, which has 7 digits.
        return made._replace(internal_size=None)
    return made
