"""Tables and what belongs to them.

>>> for table in connection.catalog.tables():
...     print(table.name, [column.name for column in connection.catalog.columns(table.name)])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .connection import Connection

T = TypeVar("T")

__all__ = ["Catalog", "Constraint", "Generator", "Index", "Reference", "Table", "TableColumn"]


@dataclass(frozen=True)
class Table:
    """A table or view."""

    name: str
    kind: str
    """``table``, ``view``, ``system table``, ``global temporary table`` or ``external table``."""
    remarks: str | None


@dataclass(frozen=True)
class TableColumn:
    """A column of a table or view."""

    table: str
    name: str
    position: int
    """From 1."""
    type_name: str
    """The type in SQL, without its length."""
    length: int
    """Bytes."""
    characters: int | None
    precision: int | None
    scale: int
    """Digits after the decimal point."""
    sub_type: int | None
    charset: str | None
    collation: str | None
    dimensions: list[tuple[int, int]]
    """Bounds of an array; empty for other columns."""
    nullable: bool
    default: str | None
    """In SQL."""
    identity: str | None
    """``always`` or ``by default``."""
    computed: str | None
    """The expression of a computed column, in SQL."""
    domain: str | None
    remarks: str | None


@dataclass(frozen=True)
class Reference:
    """What a foreign key refers to."""

    constraint: str
    table: str
    columns: list[str]
    on_update: str
    on_delete: str


@dataclass(frozen=True)
class Constraint:
    """A constraint of a table."""

    table: str
    name: str
    kind: str
    """``primary key``, ``unique``, ``foreign key`` or ``check``."""
    columns: list[str]
    index: str | None
    references: Reference | None
    check: str | None
    """The condition, in SQL."""


@dataclass(frozen=True)
class Index:
    """An index."""

    table: str
    name: str
    unique: bool
    descending: bool
    active: bool
    constraint: str | None
    """The constraint that it belongs to."""
    columns: list[str]
    expression: str | None
    condition: str | None
    """Of a partial index (Firebird 5)."""
    selectivity: float | None


@dataclass(frozen=True)
class Generator:
    """A generator, in SQL's words a sequence."""

    name: str
    initial_value: int
    increment: int
    remarks: str | None


class Catalog:
    """The committed objects of the database. Names are as stored: usually in capitals."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __repr__(self) -> str:
        return "<firearrow.Catalog: tables(), columns(), constraints(), indexes(), generators()>"

    def tables(self, name: str | None = None, *, system: bool = False) -> list[Table]:
        """Return tables and views, by name; ``system`` includes those of the engine."""
        return objects(Table, self._connection._core.catalog("tables", name, system))

    def columns(self, table: str | None = None, *, system: bool = False) -> list[TableColumn]:
        """Return the columns of a table or of all, in their order."""
        return objects(TableColumn, self._connection._core.catalog("columns", table, system))

    def constraints(self, table: str | None = None) -> list[Constraint]:
        """Return the constraints of a table or of all."""
        return objects(Constraint, self._connection._core.catalog("constraints", table))

    def indexes(self, table: str | None = None) -> list[Index]:
        """Return the indexes of a table or of all."""
        return objects(Index, self._connection._core.catalog("indexes", table))

    def generators(self, name: str | None = None) -> list[Generator]:
        """Return the generators."""
        return objects(Generator, self._connection._core.catalog("generators", name))

    def generator_value(self, name: str) -> int:
        """Return the current value of a generator."""
        return self._connection._core.catalog("generator_value", name)


def objects(kind: type[T], found: list[dict[str, Any]]) -> list[T]:
    """Make objects of what the extension module has found."""
    for item in found:
        if references := item.get("references"):
            item["references"] = Reference(**references)
    return [kind(**item) for item in found]
