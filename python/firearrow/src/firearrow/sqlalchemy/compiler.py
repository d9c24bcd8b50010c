"""SQL text: what sqlalchemy-firebird writes wrong."""
# pyright: basic
# sqlalchemy-firebird has no annotations.

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import exc
from sqlalchemy import types as sa_types
from sqlalchemy.sql import elements, selectable
from sqlalchemy_firebird.base import FBCompiler, FBDDLCompiler, FBTypeCompiler

__all__ = ["FirearrowCompiler", "FirearrowDDLCompiler", "FirearrowTypeCompiler"]

# The most characters of a VARCHAR in UTF-8.
_LONGEST = 8191
# Digits of the binary mantissa that FLOAT has.
_SINGLE = 24
_ORDER = re.compile(r"(?P<name>.+?)(?P<rest>( ASC| DESC)?( NULLS (FIRST|LAST))?)", re.DOTALL)


class FirearrowCompiler(FBCompiler):  # type: ignore[misc]
    """Statements."""

    def render_bind_cast(self, type_: Any, dbapi_type: Any, sqltext: str) -> str:
        # sqlalchemy-firebird casts text to the column's VARCHAR(n), so that comparing with a longer text is
        # an error; and text of no length to a BLOB, which makes no use of indexes, and of which DISTINCT and
        # GROUP BY compare the addresses.
        if isinstance(dbapi_type, sa_types.String) and not isinstance(
            dbapi_type, (sa_types.Text, sa_types.CHAR)
        ):
            return f"CAST({sqltext} AS VARCHAR({_LONGEST}))"
        return str(super().render_bind_cast(type_, dbapi_type, sqltext))

    def visit_bindparam(self, bindparam: Any, **kw: Any) -> str:
        if bindparam._is_crud and not kw.get("within_columns_clause"):
            # A value for a column, which has its type: a cast would only cut it. sqlalchemy-firebird casts
            # it.
            kw["_without_cast"] = True
        return str(super().visit_bindparam(bindparam, **kw))

    def bindparam_string(self, name: str, *, _without_cast: bool = False, **kw: Any) -> str:
        if _without_cast and not kw.get("post_compile"):
            kw["bindparam_type"] = None
        return str(super().bindparam_string(name, **kw))

    def for_update_clause(self, select: Any, **kw: Any) -> str:
        # sqlalchemy-firebird writes FOR UPDATE alone, which locks nothing in Firebird.
        wanted = select._for_update_arg
        if wanted.nowait:
            raise exc.CompileError(
                "in Firebird the transaction says how long to wait, not the statement: use "
                "execution_options(firebird_lock_timeout=0) instead of nowait=True"
            )
        return " FOR UPDATE WITH LOCK" + (" SKIP LOCKED" if wanted.skip_locked else "")

    def _handle_limit_fetch_clause(
        self, fetch_clause: Any, offset_clause: Any, limit_clause: Any, **kw: Any
    ) -> str:
        # sqlalchemy-firebird writes ROWS, which is no part of a query in parentheses, as unions have them;
        # and sends the offset twice. OFFSET and FETCH take no expressions, so those still become ROWS.
        most = limit_clause if fetch_clause is None else fetch_clause
        given = [clause for clause in (offset_clause, most) if clause is not None]
        if not all(isinstance(clause, elements.BindParameter) for clause in given):
            return str(super()._handle_limit_fetch_clause(fetch_clause, offset_clause, limit_clause, **kw))
        text = ""
        if offset_clause is not None:
            text += f"\n OFFSET {self.process(offset_clause, _without_cast=True, **kw)} ROWS"
        if most is not None:
            text += f"\n FETCH NEXT {self.process(most, _without_cast=True, **kw)} ROWS ONLY"
        return text

    def order_by_clause(self, select: Any, **kw: Any) -> str:
        # Firebird sorts a union by the numbers of columns only; sqlalchemy-firebird writes names.
        if not isinstance(select, selectable.CompoundSelect):
            return str(super().order_by_clause(select, **kw))
        numbers: dict[str, int] = {}
        for number, column in enumerate(select.selected_columns, 1):
            name = getattr(column, "name", None)
            if name is not None:
                numbers.setdefault(self.preparer.quote(name), number)
        terms = []
        for clause in select._order_by_clauses:
            term = self.process(clause, **kw)
            match = _ORDER.fullmatch(term)
            if match and match["name"] in numbers:
                term = f"{numbers[match['name']]}{match['rest']}"
            terms.append(term)
        return f" ORDER BY {', '.join(terms)}" if terms else ""

    def visit_truediv_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        # sqlalchemy-firebird adds 0.0 to the divisor, which makes 3.3 of 10 / 3.
        left, right = (self.process(side, **kw) for side in (binary.left, binary.right))
        if any(isinstance(side.type, sa_types.Float) for side in (binary.left, binary.right)):
            return f"{left} / {right}"
        exact = "DECFLOAT(34)" if self._has_decfloat else "DOUBLE PRECISION"
        return f"CAST({left} AS {exact}) / {right}"

    @property
    def _has_decfloat(self) -> bool:
        version = getattr(self.dialect, "server_version_info", None)
        return version is None or version >= (4,)

    # Firebird has functions for what sqlalchemy-firebird, but for the third, writes as operators.

    def visit_bitwise_and_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._function("BIN_AND", binary.left, binary.right, **kw)

    def visit_bitwise_or_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._function("BIN_OR", binary.left, binary.right, **kw)

    def visit_bitwise_xor_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._function("BIN_XOR", binary.left, binary.right, **kw)

    def visit_bitwise_lshift_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._function("BIN_SHL", binary.left, binary.right, **kw)

    def visit_bitwise_rshift_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._function("BIN_SHR", binary.left, binary.right, **kw)

    def visit_bitwise_not_op_unary_operator(self, element: Any, operator: Any, **kw: Any) -> str:
        return self._function("BIN_NOT", element.element, **kw)

    def _function(self, name: str, *operands: Any, **kw: Any) -> str:
        return f"{name}({', '.join(self.process(operand, **kw) for operand in operands)})"


class FirearrowDDLCompiler(FBDDLCompiler):  # type: ignore[misc]
    """Definitions."""

    def visit_create_index(self, create: Any, *args: Any, **kw: Any) -> str:
        expressions = create.element.expressions
        if len(expressions) > 1 and not all(isinstance(one, elements.ColumnClause) for one in expressions):
            # sqlalchemy-firebird joins them with ||: the index of another expression, which no query uses.
            raise exc.CompileError(
                f"index {create.element.name}: in Firebird an index is of columns, or of one expression"
            )
        return str(super().visit_create_index(create, *args, **kw))


class FirearrowTypeCompiler(FBTypeCompiler):  # type: ignore[misc]
    """Names of types."""

    def visit_type_decorator(self, type_: Any, **kw: Any) -> str:
        # sqlalchemy-firebird makes a TIMESTAMP column of Interval, and sends it numbers.
        if isinstance(type_, sa_types.Interval):
            return "NUMERIC(18, 12)"
        return str(super().visit_type_decorator(type_, **kw))

    def visit_float(self, type_: Any, **kw: Any) -> str:
        # sqlalchemy-firebird makes a FLOAT of it, which keeps seven digits of Python's seventeen.
        if type_.precision is not None and type_.precision <= _SINGLE:
            return "FLOAT"
        return "DOUBLE PRECISION"

    def visit_DOUBLE(self, type_: Any, **kw: Any) -> str:
        # sqlalchemy-firebird writes DOUBLE, which Firebird does not know.
        return "DOUBLE PRECISION"
