"""The SQLAlchemy 2 dialects ``firebird+firearrow`` and ``firebird+firearrow_async``.

>>> from sqlalchemy import create_engine
>>> engine = create_engine("firebird+firearrow://SYSDBA:masterkey@localhost//data/shop.fdb")

It stands on ``sqlalchemy-firebird``, which has compiler, types and reflection:
``pip install "firearrow[sqlalchemy]"``.
"""

from __future__ import annotations

from .asynchronous import FirearrowAsyncDialect
from .dialect import FirearrowDialect
from .types import BINARY_UUID

__all__ = ["BINARY_UUID", "FirearrowAsyncDialect", "FirearrowDialect", "dialect"]

dialect = FirearrowDialect
"""The name under which SQLAlchemy looks for a dialect in a module."""
