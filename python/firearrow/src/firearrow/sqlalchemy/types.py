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

__all__ = ["BINARY_UUID", "colspecs", "ischema_names"]

_FLOATS = ("FLOAT", "DOUBLE PRECISION")
_DECIMALS = ("NUMERIC", "DECIMAL", "DECFLOAT", "INT128")


def _number_processor(kind: Any, coltype: object) -> Any:
    """A converter of results, only where the driver's class is not the one that was asked for."""
    if kind.asdecimal:
        # sqlalchemy-firebird hands on floats, where Float(asdecimal=True) asks for Decimal.
        if coltype in _FLOATS:
            return processors.to_decimal_processor_factory(Decimal, kind._effective_decimal_return_scale)
        return None
    # SQLAlchemy would call float() for each value.
    return None if coltype in _FLOATS else processors.to_float


class _Float(fb_types.FBFLOAT):  # type: ignore[misc]
    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        return _number_processor(self, coltype)


class _Double(fb_types.FBDOUBLE_PRECISION):  # type: ignore[misc]
    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        return _number_processor(self, coltype)


class _Numeric(fb_types.FBNUMERIC):  # type: ignore[misc]
    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        return _number_processor(self, coltype)


class _Blob(fb_types.FBBLOB):  # type: ignore[misc]
    def bind_processor(self, dialect: Any) -> Any:
        # sqlalchemy-firebird calls bytes(None) for NULL. The driver takes every kind of bytes itself.
        return None

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        return None


class _Interval(fb_types._FBInterval):  # type: ignore[misc]
    """Days in a NUMERIC(18, 9), which adds to dates as it is."""

    cache_ok = True

    def bind_processor(self, dialect: Any) -> Any:
        def process(value: datetime.timedelta | None) -> Decimal | None:
            # Exact; sqlalchemy-firebird divides floats.
            if value is None:
                return None
            micros = value // datetime.timedelta(microseconds=1)
            return (Decimal(micros) / 86_400_000_000).quantize(Decimal("1e-9"))

        return process

    def result_processor(self, dialect: Any, coltype: Any) -> Any:
        def process(value: Any) -> datetime.timedelta | None:
            # Nine digits are 86 µs: sqlalchemy-firebird makes 0.999994 s of one second. Firebird's own times have 100 µs.
            if value is None:
                return None
            return datetime.timedelta(microseconds=100 * round(Decimal(value) * 864_000_000))

        return process


class BINARY_UUID(sa_types.TypeDecorator[uuid.UUID]):  # noqa: N801 # as SQLAlchemy names SQL's types
    """UUIDs in 16 bytes, as ``GEN_UUID()`` makes them. ``Uuid`` is CHAR(32), as on all databases without a type for it.

    >>> Column("id", BINARY_UUID, primary_key=True, server_default=text("GEN_UUID()"))
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
    sa_types.LargeBinary: _Blob,
    sa_types.Interval: _Interval,
}

ischema_names: dict[str, Any] = dict(FBDialect.ischema_names)
