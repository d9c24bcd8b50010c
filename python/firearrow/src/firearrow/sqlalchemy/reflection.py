"""Reflection: what sqlalchemy-firebird reads wrong."""
# pyright: basic
# sqlalchemy-firebird has no annotations.

from __future__ import annotations

__all__ = ["Reflection"]


class Reflection:
    """Overrides of the reading of tables, views and what belongs to them."""
