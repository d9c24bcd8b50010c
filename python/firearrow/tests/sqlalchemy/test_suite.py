"""SQLAlchemy's own suite for dialects, with what Firebird cannot do in tests that no requirement guards."""

from typing import Any

from sqlalchemy import Column, Integer, String, Table, UniqueConstraint, inspect
from sqlalchemy.testing import eq_
from sqlalchemy.testing.suite import *  # noqa: F403
from sqlalchemy.testing.suite import ComponentReflectionTest as _ComponentReflectionTest


class ComponentReflectionTest(_ComponentReflectionTest):
    def test_get_unique_constraints(self, metadata: Any, connection: Any) -> None:  # type: ignore[override]
        """As the suite's, without two constraints of the same columns, which Firebird refuses."""
        uniques = [
            {"name": "i have spaces", "column_names": ["c"]},
            {"name": "i.have.dots", "column_names": ["b"]},
            {"name": "unique_a", "column_names": ["a"]},
            {"name": "unique_asc_key", "column_names": ["asc", "key"]},
            {"name": "unique_c_a_b", "column_names": ["c", "a", "b"]},
        ]
        table = Table(
            "testtbl",
            metadata,
            Column("a", String(20)),
            Column("b", String(30)),
            Column("c", Integer),
            Column("asc", String(30)),
            Column("key", String(30)),
        )
        for unique in uniques:
            table.append_constraint(UniqueConstraint(*unique["column_names"], name=unique["name"]))
        table.create(connection)
        found = inspect(connection).get_unique_constraints("testtbl")
        eq_(sorted(found, key=lambda one: str(one["name"])), uniques)
