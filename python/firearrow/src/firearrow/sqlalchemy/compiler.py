"""SQL text: what sqlalchemy-firebird writes wrong."""
# pyright: basic
# sqlalchemy-firebird has no annotations.

from __future__ import annotations

from typing import Any

from sqlalchemy import exc
from sqlalchemy import types as sa_types
from sqlalchemy_firebird.base import FBCompiler, FBDDLCompiler, FBTypeCompiler

__all__ = ["FirearrowCompiler", "FirearrowDDLCompiler", "FirearrowTypeCompiler"]

# The most characters of a VARCHAR in UTF-8.
_LONGEST = 8191


class FirearrowCompiler(FBCompiler):  # type: ignore[misc]
    """Statements."""

    def render_bind_cast(self, type_: Any, dbapi_type: Any, sqltext: str) -> str:
        # sqlalchemy-firebird casts text to the column's VARCHAR(n), so that comparing with a longer text is an error; and text
        # of no length to a BLOB, which makes no use of indexes, and of which DISTINCT and GROUP BY compare the addresses.
        if isinstance(dbapi_type, sa_types.String) and not isinstance(
            dbapi_type, (sa_types.Text, sa_types.CHAR, sa_types.BINARY, sa_types.VARBINARY)
        ):
            return f"CAST({sqltext} AS VARCHAR({_LONGEST}))"
        return str(super().render_bind_cast(type_, dbapi_type, sqltext))

    def visit_bindparam(self, bindparam: Any, **kw: Any) -> str:
        if bindparam._is_crud:
            # A value for a column, which has its type: a cast would only cut it. sqlalchemy-firebird casts it.
            kw["_of_column"] = True
        return str(super().visit_bindparam(bindparam, **kw))

    def bindparam_string(self, name: str, *, _of_column: bool = False, **kw: Any) -> str:
        if _of_column and not kw.get("post_compile"):
            kw["bindparam_type"] = None
        return str(super().bindparam_string(name, **kw))

    def for_update_clause(self, select: Any, **kw: Any) -> str:
        # sqlalchemy-firebird writes FOR UPDATE alone, which locks nothing in Firebird.
        wanted = select._for_update_arg
        if wanted.read:
            raise exc.CompileError("Firebird has no FOR SHARE: leave out read=True")
        if wanted.nowait:
            raise exc.CompileError(
                "in Firebird the transaction says how long to wait, not the statement: use "
                "execution_options(firebird_lock_timeout=0) instead of nowait=True"
            )
        return " FOR UPDATE WITH LOCK" + (" SKIP LOCKED" if wanted.skip_locked else "")


class FirearrowDDLCompiler(FBDDLCompiler):  # type: ignore[misc]
    """Definitions."""


class FirearrowTypeCompiler(FBTypeCompiler):  # type: ignore[misc]
    """Names of types."""

    def visit_type_decorator(self, type_: Any, **kw: Any) -> str:
        # sqlalchemy-firebird makes a TIMESTAMP column of Interval, and sends it numbers.
        if isinstance(type_, sa_types.Interval):
            return "NUMERIC(18, 9)"
        return str(super().visit_type_decorator(type_, **kw))
