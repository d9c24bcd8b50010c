"""Types: what sqlalchemy-firebird's do wrong, or for nothing."""
# pyright: basic
# sqlalchemy-firebird has no annotations.

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from typing import Any

from sqlalchemy import types as sa_types
from sqlalchemy.engine import processors
from sqlalchemy_firebird import types as fb_types
from sqlalchemy_firebird.base import FBDialect

__all__ = ["BINARY_UUID", "colspecs"]

_FLOATS = ("FLOAT", "DOUBLE PRECISION")
_MICROS = datetime.timedelta(microseconds=1)
_MICROS_OF_DAY = 86_400_000_000


def _number_processor(kind: Any, coltype: object) -> Any:
    """Return a converter of results, only where the driver's class is not the one that was asked for."""
    if kind.asdecimal:
        # sqlalchemy-firebird hands on floats, where Float(asdecimal=True) asks for Decimal.
        if coltype in _FLOATS:
            return processors.to_decimal_processor_factory(Decimal, kind._effective_decimal_return_scale)
        return None
    # SQLAlchemy would call float() for each value.
    return None if coltype in _FLOATS else processors.to_float


class _Float(fb_types.FBFLOAT):  # type: ignore[misc]
    # Not FLOAT: see visit_float.
    __visit_name__ = "float"

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        return _number_processor(self, coltype)


class _Double(fb_types.FBDOUBLE_PRECISION):  # type: ignore[misc]
    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        return _number_processor(self, coltype)


class _Numeric(fb_types.FBNUMERIC):  # type: ignore[misc]
    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        return _number_processor(self, coltype)


class _Date(fb_types.FBDATE):  # type: ignore[misc]
    def bind_processor(self, dialect: Any) -> Any:
        # SQLAlchemy's Date takes a datetime for its day; firearrow refuses to lose the time.
        def process(value: datetime.date | None) -> datetime.date | None:
            return value.date() if isinstance(value, datetime.datetime) else value

        return process


class _Blob(fb_types.FBBLOB):  # type: ignore[misc]
    def bind_processor(self, dialect: Any) -> Any:
        # sqlalchemy-firebird calls bytes(None) for NULL. The driver takes every kind of bytes itself.
        return None

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        return None


class _Days(fb_types.FBNUMERIC):  # type: ignore[misc]
    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "precision": 18, "scale": 12})


class _Interval(fb_types._FBInterval):  # type: ignore[misc]
    """Days in a NUMERIC(18, 12), which adds to dates as it is, and keeps microseconds of 25,000 years.

    sqlalchemy-firebird has nine digits, that is 86 µs, and divides floats: it makes 0.999994 s of one second.
    """

    impl = _Days
    cache_ok = True

    def bind_processor(self, dialect: Any) -> Any:
        def process(value: datetime.timedelta | None) -> Decimal | None:
            return None if value is None else _days(value)

        return process

    def literal_processor(self, dialect: Any) -> Any:
        return lambda value: f"CAST({_days(value)} AS NUMERIC(18, 12))"

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        def process(value: Any) -> datetime.timedelta | None:
            return None if value is None else round(Decimal(value) * _MICROS_OF_DAY) * _MICROS

        return process


def _days(value: datetime.timedelta) -> Decimal:
    return (Decimal(value // _MICROS) / _MICROS_OF_DAY).quantize(Decimal("1e-12"))


class BINARY_UUID(sa_types.TypeDecorator[uuid.UUID]):
    """UUIDs in 16 bytes, as ``GEN_UUID()`` makes them.

    SQLAlchemy's ``Uuid`` is CHAR(32), as on all databases without a type for it.

    >>> Column("id", BINARY_UUID, primary_key=True)
    """

    impl = sa_types.BINARY(16)
    cache_ok = True

    def process_bind_param(self, value: uuid.UUID | None, dialect: Any) -> bytes | None:
        return None if value is None else value.bytes

    def process_result_value(self, value: bytes | None, dialect: Any) -> uuid.UUID | None:
        return None if value is None else uuid.UUID(bytes=value)


colspecs: dict[Any, Any] = {
    **FBDialect.colspecs,
    sa_types.Float: _Float,
    sa_types.Double: _Double,
    sa_types.Numeric: _Numeric,
    sa_types.Date: _Date,
    sa_types.LargeBinary: _Blob,
    sa_types.Interval: _Interval,
}
