"""Alembic on Firebird: what it writes, and what it compares."""
# pyright: basic
# Alembic's interfaces for dialects have few annotations.

from __future__ import annotations

import re
from typing import Any, Literal

from alembic.ddl import base
from alembic.ddl._autogen import ComparisonResult
from alembic.ddl.impl import DefaultImpl
from alembic.util.sqla_compat import compiles
from sqlalchemy import exc
from sqlalchemy import schema as sa_schema
from sqlalchemy import types as sa_types
from sqlalchemy_firebird import types as fb_types

__all__ = ["FirebirdImpl"]

_DIALECT = "firebird"
_CHARSET = re.compile(r" CHARACTER SET (?!OCTETS)\S+")
_COLLATION = re.compile(r" COLLATE \S+")


class FirebirdImpl(DefaultImpl):
    """How Alembic deals with Firebird."""

    __dialect__ = _DIALECT
    # The dialect commits each definition, since Firebird needs that before the next statement can use it.
    transactional_ddl = False

    def compare_type(self, inspector_column: Any, metadata_column: Any) -> bool:
        """Tell whether types differ, as their SQL, without what Firebird adds to one that does not say it."""
        found, wanted = (
            self.dialect.type_compiler_instance.process(column.type).upper()
            for column in (inspector_column, metadata_column)
        )
        for part in (_CHARSET, _COLLATION):
            if not part.search(wanted):
                found = part.sub("", found)
        return _plain(found) != _plain(wanted)

    def compare_server_default(
        self,
        inspector_column: Any,
        metadata_column: Any,
        rendered_metadata_default: str | None,
        rendered_inspector_default: str | None,
    ) -> bool:
        """Tell whether defaults differ; upper and lower case count in literals only."""
        given = getattr(metadata_column.server_default, "arg", None)
        if isinstance(given, str):
            # Alembic hands it on without the quotes that it has in the database.
            rendered_metadata_default = "'{}'".format(given.replace("'", "''"))
        return _normal(rendered_metadata_default) != _normal(rendered_inspector_default)

    def compare_indexes(self, metadata_index: Any, reflected_index: Any) -> ComparisonResult:
        """Compare indexes by their definitions, since the database has expressions as text."""
        wanted, found = (self._definition(index) for index in (metadata_index, reflected_index))
        return (
            ComparisonResult.Equal()
            if wanted == found
            else ComparisonResult.Different(f"{found} to {wanted}")
        )

    def correct_for_autogen_constraints(
        self, conn_uniques: Any, conn_indexes: Any, metadata_unique_constraints: Any, metadata_indexes: Any
    ) -> None:
        """Leave out the indexes of unique constraints, which come and go with them."""
        for index in list(conn_indexes):
            if index.info.get("duplicates_constraint"):
                conn_indexes.discard(index)

    def _definition(self, index: Any) -> str:
        text = str(sa_schema.CreateIndex(index).compile(dialect=self.dialect))
        return self._normalize_computed_default(text)

    def _compare_identity_default(self, metadata_identity: Any, inspector_identity: Any) -> Any:
        if metadata_identity is None:
            # An integer primary key becomes an identity column without saying so.
            return set(), set(), False
        return super()._compare_identity_default(metadata_identity, inspector_identity)  # type: ignore[no-untyped-call]

    def render_type(self, type_obj: Any, autogen_context: Any) -> str | Literal[False]:
        """Write the types of reflection as SQLAlchemy's own, which need no import in a migration."""
        if type(type_obj).__module__ != fb_types.__name__:
            return False
        return f"sa.{_generic(type_obj)!r}"

    def rename_table(self, old_table_name: str, new_table_name: Any, schema: Any = None) -> None:
        """Refuse: Firebird cannot rename tables."""
        raise exc.CompileError(
            f"Firebird cannot rename table {old_table_name}: "
            f"create {new_table_name}, copy the rows and drop the old one"
        )


def _plain(name: str) -> str:
    name = name.replace(" WITHOUT TIME ZONE", "")
    return "BLOB SUB_TYPE BINARY" if name == "BLOB" else name


def _normal(default: str | None) -> str | None:
    if default is None:
        return None
    parts = re.split(r"('(?:[^']|'')*')", default.strip())
    return "".join(part if part.startswith("'") else part.upper() for part in parts)


def _generic(kind: Any) -> Any:
    text = {"length": getattr(kind, "length", None), "collation": getattr(kind, "collation", None)}
    if isinstance(kind, (fb_types.FBBINARY, fb_types.FBVARBINARY)):
        return (sa_types.BINARY if isinstance(kind, fb_types.FBBINARY) else sa_types.VARBINARY)(kind.length)
    if isinstance(kind, fb_types.FBCHAR):
        return sa_types.CHAR(**text)
    if isinstance(kind, fb_types.FBVARCHAR):
        return sa_types.String(**text)
    if isinstance(kind, fb_types.FBTEXT):
        return sa_types.Text(collation=kind.collation)
    if isinstance(kind, fb_types.FBBLOB):
        return sa_types.LargeBinary()
    if isinstance(kind, fb_types.FBTIMESTAMP):
        return sa_types.DateTime(timezone=kind.timezone)
    if isinstance(kind, fb_types.FBTIME):
        return sa_types.Time(timezone=kind.timezone)
    for found, generic in (
        (fb_types.FBSMALLINT, sa_types.SmallInteger),
        (fb_types.FBBIGINT, sa_types.BigInteger),
        (fb_types.FBINTEGER, sa_types.Integer),
        (fb_types.FBBOOLEAN, sa_types.Boolean),
        (fb_types.FBDATE, sa_types.Date),
        (fb_types.FBDOUBLE_PRECISION, sa_types.Double),
        (fb_types.FBFLOAT, sa_types.REAL),
    ):
        if isinstance(kind, found):
            return generic()
    return sa_types.Numeric(getattr(kind, "precision", None), getattr(kind, "scale", None))


def _table(element: Any, compiler: Any) -> str:
    return base.alter_table(compiler, element.table_name, element.schema)


@compiles(base.AddColumn, _DIALECT)
def add_column(element: base.AddColumn, compiler: Any, **kw: Any) -> str:
    """Write ADD: Firebird has no word COLUMN there."""
    return f"{_table(element, compiler)} ADD {compiler.get_column_specification(element.column)}"


@compiles(base.DropColumn, _DIALECT)
def drop_column(element: base.DropColumn, compiler: Any, **kw: Any) -> str:
    """Write DROP: Firebird has no word COLUMN there."""
    return f"{_table(element, compiler)} DROP {base.format_column_name(compiler, element.column.name)}"


@compiles(base.ColumnName, _DIALECT)
def rename_column(element: base.ColumnName, compiler: Any, **kw: Any) -> str:
    """Write ALTER COLUMN … TO."""
    old, new = (base.format_column_name(compiler, name) for name in (element.column_name, element.newname))
    return f"{_table(element, compiler)} ALTER COLUMN {old} TO {new}"


@compiles(base.IdentityColumnDefault, _DIALECT)
def change_identity(element: Any, compiler: Any, **kw: Any) -> str:
    """Write DROP IDENTITY, or SET GENERATED with the new start and increment (Firebird 4 and newer)."""
    alter = f"{_table(element, compiler)} {base.alter_column(compiler, element.column_name)}"
    identity = element.default
    if identity is None:
        return f"{alter} DROP IDENTITY"
    if element.existing_server_default is None:
        raise exc.CompileError(
            f"Firebird cannot make an identity column of {element.column_name}: add a new column instead"
        )
    changes = [f"SET GENERATED {'ALWAYS' if identity.always else 'BY DEFAULT'}"]
    if identity.start is not None:
        changes.append(f"RESTART WITH {identity.start}")
    if identity.increment is not None:
        changes.append(f"SET INCREMENT BY {identity.increment}")
    return f"{alter} {' '.join(changes)}"
