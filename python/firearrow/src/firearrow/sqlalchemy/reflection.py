"""Reflection: what sqlalchemy-firebird reads wrong."""
# pyright: basic
# sqlalchemy-firebird has no annotations.

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import exc
from sqlalchemy import types as sa_types
from sqlalchemy.engine import reflection
from sqlalchemy_firebird import types as fb_types

__all__ = ["Reflection"]

_CHECK = re.compile(r"\s*CHECK\s*\((?P<condition>.*)\)\s*", re.IGNORECASE | re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_WHERE = re.compile(r"\s*WHERE\s+(?P<condition>.*)", re.IGNORECASE | re.DOTALL)

_FIELDS = """
    SELECT TRIM(rf.rdb$field_name), TRIM(t.rdb$type_name), f.rdb$field_sub_type, f.rdb$field_scale,
           f.rdb$field_precision, f.rdb$dimensions, f.rdb$character_length, TRIM(cs.rdb$character_set_name),
           TRIM(cs.rdb$default_collate_name), TRIM(cl.rdb$collation_name), TRIM(df.rdb$character_set_name)
    FROM rdb$relation_fields rf
    JOIN rdb$fields f ON f.rdb$field_name = rf.rdb$field_source
    JOIN rdb$types t ON t.rdb$type = f.rdb$field_type AND t.rdb$field_name = 'RDB$FIELD_TYPE'
    CROSS JOIN rdb$database df
    LEFT JOIN rdb$character_sets cs ON cs.rdb$character_set_id = f.rdb$character_set_id
    LEFT JOIN rdb$collations cl ON cl.rdb$collation_id = COALESCE(rf.rdb$collation_id, f.rdb$collation_id)
         AND cl.rdb$character_set_id = cs.rdb$character_set_id
    WHERE rf.rdb$relation_name = ?
"""

_INDEXES = """
    SELECT TRIM(ix.rdb$index_name), ix.rdb$unique_flag, ix.rdb$index_type, TRIM(sg.rdb$field_name),
           ix.rdb$expression_source, {condition}, TRIM(rc.rdb$constraint_name)
    FROM rdb$indices ix
    LEFT JOIN rdb$index_segments sg ON sg.rdb$index_name = ix.rdb$index_name
    LEFT JOIN rdb$relation_constraints rc ON rc.rdb$index_name = ix.rdb$index_name
    WHERE ix.rdb$relation_name = ? AND COALESCE(ix.rdb$system_flag, 0) = 0
      AND (rc.rdb$constraint_type IS NULL OR rc.rdb$constraint_type = 'UNIQUE')
    ORDER BY ix.rdb$index_name, sg.rdb$field_position
"""

_CHECKS = """
    SELECT TRIM(rc.rdb$constraint_name), MIN(tr.rdb$trigger_name)
    FROM rdb$relation_constraints rc
    JOIN rdb$check_constraints ck ON ck.rdb$constraint_name = rc.rdb$constraint_name
    JOIN rdb$triggers tr ON tr.rdb$trigger_name = ck.rdb$trigger_name
    WHERE rc.rdb$constraint_type = 'CHECK' AND rc.rdb$relation_name = ?
    GROUP BY rc.rdb$constraint_name
    ORDER BY 1
"""


class Reflection:
    """Overrides of the reading of tables, views and what belongs to them."""

    @reflection.cache
    def get_columns(self: Any, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        columns = super().get_columns(connection, table_name, schema, **kw)  # type: ignore[misc]
        rows = connection.exec_driver_sql(_FIELDS, (self.denormalize_name(table_name),)).all()
        fields = {self.normalize_name(row[0]): row[1:] for row in rows}
        for column in columns:
            column["type"] = self._reflected_type(fields[column["name"]], column["type"])
            if "computed" in column:
                # sqlalchemy-firebird leaves the parentheses, which become two pairs when the table is created
                # again.
                column["computed"]["sqltext"] = _without_parentheses(column["computed"]["sqltext"])
        return columns

    def _reflected_type(self: Any, field: Any, found: Any) -> Any:
        name, sub_type, scale, precision, dimensions, *text = field
        length, charset, usual, collation, database_charset = text
        if dimensions:
            # sqlalchemy-firebird takes arrays for their elements.
            return sa_types.NullType()
        if name in ("SHORT", "LONG", "INT64", "INT128") and not sub_type and not scale:
            # Its sub type is NULL in computed columns, where sqlalchemy-firebird makes a DECIMAL of it.
            return self.ischema_names[name]()
        if name in ("SHORT", "LONG", "INT64", "INT128"):
            # With their digits, which the generic classes show in their repr.
            kind = sa_types.DECIMAL if sub_type == 2 else sa_types.NUMERIC
            return kind(precision or {"SHORT": 4, "LONG": 9, "INT64": 18}.get(name, 38), -scale)
        if name == "TIME WITH TIME ZONE":
            # sqlalchemy-firebird forgets its time zone.
            return fb_types.FBTIME(timezone=True)
        if isinstance(found, fb_types._FBString) and charset != fb_types.BINARY_CHARSET:
            # sqlalchemy-firebird counts bytes divided by those of a character; and names the character set
            # and the collation where they are those that the column has anyway.
            return type(found)(
                length=length,
                charset=None if charset == database_charset else charset,
                collation=None if collation in (None, usual) else collation,
            )
        if isinstance(found, fb_types.FBTEXT):
            return fb_types.FBTEXT(
                charset=None if charset == database_charset else charset,
                collation=None if collation in (None, usual) else collation,
            )
        if isinstance(found, fb_types.FBBLOB):
            # The size of segments has meant nothing for decades.
            return fb_types.FBBLOB()
        return found

    @reflection.cache
    def get_indexes(self: Any, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """Read indexes.

        sqlalchemy-firebird splits expressions at every ``||``, gives each index the options of descending and
        partial ones, and does not say which indexes belong to constraints.
        """
        condition = "NULL" if self.server_version_info < (5,) else "ix.rdb$condition_source"
        name = self.denormalize_name(table_name)
        rows = connection.exec_driver_sql(_INDEXES.format(condition=condition), (name,)).all()
        indexes: dict[str, dict[str, Any]] = {}
        for index, unique, descending, field, expression, where, constraint in rows:
            if index not in indexes:
                found = indexes[index] = {
                    "name": self.normalize_name(index),
                    "column_names": [],
                    "unique": bool(unique),
                    "dialect_options": {},
                }
                if expression is not None:
                    found["column_names"] = [None]
                    found["expressions"] = [_without_parentheses(expression)]
                if descending:
                    found["dialect_options"]["firebird_descending"] = True
                if where is not None:
                    match = _WHERE.fullmatch(where)
                    found["dialect_options"]["firebird_where"] = match["condition"] if match else where
                if constraint is not None:
                    found["duplicates_constraint"] = self.normalize_name(constraint)
            if field is not None:
                indexes[index]["column_names"].append(self.normalize_name(field))
        return list(indexes.values()) or self._nothing(connection, table_name, schema, "indexes")

    @reflection.cache
    def get_check_constraints(
        self: Any, connection: Any, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Read checks. sqlalchemy-firebird cuts off seven characters, whatever they are."""
        name = self.denormalize_name(table_name)
        checks = []
        for constraint, trigger in connection.exec_driver_sql(_CHECKS, (name,)).all():
            source = connection.exec_driver_sql(
                "SELECT rdb$trigger_source FROM rdb$triggers WHERE rdb$trigger_name = ?", (trigger,)
            ).scalar()
            match = _CHECK.fullmatch(source or "")
            checks.append(
                {
                    "name": self.normalize_name(constraint),
                    "sqltext": match["condition"].strip() if match else source,
                }
            )
        return checks or self._nothing(connection, table_name, schema, "check_constraints")

    def _nothing(self: Any, connection: Any, table_name: str, schema: str | None, what: str) -> Any:
        if not self.has_table(connection, table_name, schema):
            raise exc.NoSuchTableError(table_name)
        return getattr(reflection.ReflectionDefaults, what)()


def _without_parentheses(expression: str) -> str:
    """Return an expression without the parentheses that Firebird keeps around it."""
    expression = expression.strip()
    # Those of texts and quoted names do not count.
    plain = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), expression)
    if not plain.startswith("("):
        return expression
    depth = 0
    for place, letter in enumerate(plain):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return expression[1:-1].strip() if place == len(plain) - 1 else expression
    return expression
