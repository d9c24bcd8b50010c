"""Engines of SQLAlchemy for the tests' databases."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine
from sqlalchemy.dialects import registry

# As the entry points of the installed package do.
registry.register("firebird.firearrow", "firearrow.sqlalchemy", "FirearrowDialect")
registry.register("firebird.firearrow_async", "firearrow.sqlalchemy", "FirearrowAsyncDialect")


def url(database: str, driver: str = "firearrow", **query: str) -> str:
    """Return SQLAlchemy's URL for an argument of ``firearrow.connect``."""
    if database.startswith("firebird://"):
        address = f"firebird+{driver}://{database.removeprefix('firebird://')}"
    else:
        address = f"firebird+{driver}:///{database}"
    options = "&".join(f"{name}={value}" for name, value in query.items())
    if not options:
        return address
    return f"{address}{'&' if '?' in address else '?'}{options}"


def create(database: str, **options: Any) -> Engine:
    """Return an engine, which the caller disposes of."""
    return create_engine(url(database), **options)
