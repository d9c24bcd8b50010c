"""Tables and what belongs to them.

>>> for table in await connection.catalog.tables():
...     print(table.name)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalog import Constraint, Generator, Index, Table, TableColumn, objects

if TYPE_CHECKING:
    from .connection import Connection

__all__ = ["Catalog"]


class Catalog:
    """The committed objects of the database; see :class:`firearrow.catalog.Catalog`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __repr__(self) -> str:
        return "<firearrow.aio.Catalog: tables(), columns(), constraints(), indexes(), generators()>"

    async def tables(self, name: str | None = None, *, system: bool = False) -> list[Table]:
        """Return tables and views, by name; ``system`` includes those of the engine."""
        return objects(Table, await self._connection._core.catalog("tables", name, system))

    async def columns(self, table: str | None = None, *, system: bool = False) -> list[TableColumn]:
        """Return the columns of a table or of all, in their order."""
        return objects(TableColumn, await self._connection._core.catalog("columns", table, system))

    async def constraints(self, table: str | None = None) -> list[Constraint]:
        """Return the constraints of a table or of all."""
        return objects(Constraint, await self._connection._core.catalog("constraints", table))

    async def indexes(self, table: str | None = None) -> list[Index]:
        """Return the indexes of a table or of all."""
        return objects(Index, await self._connection._core.catalog("indexes", table))

    async def generators(self, name: str | None = None) -> list[Generator]:
        """Return the generators."""
        return objects(Generator, await self._connection._core.catalog("generators", name))

    async def generator_value(self, name: str) -> int:
        """Return the current value of a generator."""
        return await self._connection._core.catalog("generator_value", name)
