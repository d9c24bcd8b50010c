"""The table that a job writes: the one that is meant, or one beside it whose rows are moved in one
transaction.

Rows of an ``append`` go directly into the target. Those of ``overwrite`` and ``upsert`` would meet rows that another
transaction of the same job has just deleted or changed, so they are collected in a table of their own first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .. import errors
from .place import quoted
from .state import is_active
from .writing import message

if TYPE_CHECKING:
    from ..connection import Connection
    from ..transaction import Transaction
    from .writing import Target

__all__ = ["Stage", "similar_column", "similar_name"]


class Stage:
    """A job's target and staging tables.

    Attributes
    ----------
    table : str
        The target, as its name is stored.
    written : str
        The table that attempts write.
    """

    def __init__(self, connection: Connection, target: Target, schema: Any, owner: str, release: int) -> None:
        self._connection = connection
        self._target = target
        self._owner = owner
        self._release = release
        self._is_new = False
        # As long as it is active, other jobs leave the staging table alone.
        self._guard: Transaction | None = None
        if re.fullmatch(r'(\w+|"[^"]+")\s*\.\s*(\w+|"[^"]+")', target.table):
            raise errors.NotSupportedError(f"name the table to write without a schema, not {target.table!r}")
        kinds = {table.name: table.kind for table in connection.catalog.tables()}
        found = similar_name(target.table, list(kinds), "table")
        if found is None:
            if target.mode == "upsert":
                raise errors.ProgrammingError(f"there is no table {target.table!r} to upsert into")
            found = _name(target.table)
            connection.cursor().ingest(schema.empty_table(), found, mode="create", text=target.text)
            connection.commit()
            self._is_new = True
        elif kinds[found] not in ("table", "view"):
            raise errors.NotSupportedError(
                f"{quoted(found)} is a {kinds[found]}, whose rows no job can write"
            )
        self.table = self.written = found
        try:
            columns = {column.name: column for column in connection.catalog.columns(found)}
            self._columns = [similar_column(name, list(columns), f"table {quoted(found)}") for name in schema.names]
            for column in (columns[name] for name in self._columns):
                if column.computed is not None or column.identity == "always":
                    what = "is computed" if column.computed is not None else "is generated always as identity"
                    raise errors.ProgrammingError(
                        f"column {quoted(column.name)} {what}: leave it out of the rows"
                    )
            self._key = self._key_columns(list(columns))
            if target.mode != "append":
                self._make()
        except BaseException:
            self.remove(failed=True)
            raise

    def _key_columns(self, stored: list[str]) -> list[str]:
        if self._target.mode != "upsert":
            return []
        key = [similar_column(name, stored, f"table {quoted(self.table)}") for name in self._target.key]
        if not key:
            constraints = self._connection.catalog.constraints(self.table)
            key = next((found.columns for found in constraints if found.kind == "primary key"), key)
        if not key:
            raise errors.ProgrammingError(
                f"table {quoted(self.table)} has no primary key: name the key columns (option key)"
            )
        if missing := [name for name in key if name not in self._columns]:
            raise errors.ProgrammingError(f"the rows have no column {missing[0]!r}, which is part of the key")
        return key

    def _make(self) -> None:
        """Make a table with the same columns. Only one job can have it, since its name comes from the target."""
        connection = self._connection
        number, fields = self._facts()
        name = f"FIREARROW_STAGE_{number}"
        columns = ", ".join(f"{quoted(column)} {quoted(fields[column])}" for column in self._columns)
        remarks = self._remarks(name)
        if remarks is not None:
            owner = re.fullmatch(rf"{message('[0-9a-f]+')}, transaction (\d+)", remarks)
            if owner is None or is_active(connection, int(owner[1]), self._release):
                raise errors.OperationalError(
                    f"another job is replacing or upserting {quoted(self.table)} (table {quoted(name)}: {remarks}): "
                    "wait for it to end"
                )
            # Its job ended without dropping it.
            connection.execute(f"DROP TABLE {quoted(name)}")
            connection.commit()
        try:
            connection.execute(f"CREATE TABLE {quoted(name)} ({columns})")
            self._claim(name)
        except errors.Error as error:
            with suppress(errors.Error):
                connection.rollback()
            raise type(error)(
                f"could not create the staging table for {self._target.mode!r}; it needs the right to create tables, and "
                f"one such job per table can run: {error}"
            ) from error
        self.written = name

    def _claim(self, name: str) -> None:
        """Say in the staging table's comment whose it is, and commit."""
        self._guard = self._connection.begin(isolation="read_committed")
        claim = f"{self._owner}, transaction {self._guard.number}"
        self._connection.execute(f"COMMENT ON TABLE {quoted(name)} IS '{claim}'")
        self._connection.commit()

    def _remarks(self, name: str) -> str | None:
        """The comment of a table; empty without one, ``None`` without the table."""
        return next((table.remarks or "" for table in self._connection.catalog.tables(name)), None)

    @property
    def _is_own(self) -> bool:
        return (self._remarks(self.written) or "").startswith(f"{self._owner}, ")

    def _facts(self) -> tuple[int, dict[str, str]]:
        """Return the relation id, and each column's domain."""
        rows = self._connection.execute(
            "SELECT r.RDB$RELATION_ID, TRIM(TRAILING FROM f.RDB$FIELD_NAME), TRIM(TRAILING FROM f.RDB$FIELD_SOURCE) "
            "FROM RDB$RELATIONS r JOIN RDB$RELATION_FIELDS f ON f.RDB$RELATION_NAME = r.RDB$RELATION_NAME "
            "WHERE r.RDB$RELATION_NAME = ?",
            (self.table,),
        ).fetchall()
        return rows[0][0], {column: domain for _, column, domain in rows}

    def use(self, connection: Connection) -> None:
        """Go on with another connection."""
        self._connection = connection
        if self.written != self.table and self._is_own:
            self._claim(self.written)

    def finish(self) -> None:
        """Move the staged rows in one transaction."""
        if self.written == self.table:
            return
        if not self._is_own:
            raise errors.OperationalError(
                f"the staging table {quoted(self.written)} was removed while the connection was lost; nothing was changed"
            )
        connection, columns = self._connection, ", ".join(map(quoted, self._columns))
        table, stage = quoted(self.table), quoted(self.written)
        if self._target.mode == "upsert":
            self._check_key(stage)
            sql = [self._merge()]
        else:
            sql = [f"DELETE FROM {table}", f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {stage}"]
        with connection.begin(isolation="snapshot", lock_timeout=self._target.lock_timeout) as transaction:
            for statement in sql:
                transaction.execute(statement)

    def _merge(self) -> str:
        def both(column: str) -> str:
            return f"t.{quoted(column)} = s.{quoted(column)}"

        plain = ", ".join(map(quoted, self._columns))
        values = ", ".join(f"s.{quoted(column)}" for column in self._columns)
        changes = ", ".join(
            f"{quoted(column)} = s.{quoted(column)}" for column in self._columns if column not in self._key
        )
        return (
            f"MERGE INTO {quoted(self.table)} t USING {quoted(self.written)} s ON {' AND '.join(map(both, self._key))} "
            + (f"WHEN MATCHED THEN UPDATE SET {changes} " if changes else "")
            + f"WHEN NOT MATCHED THEN INSERT ({plain}) VALUES ({values})"
        )

    def _check_key(self, stage: str) -> None:
        key = ", ".join(map(quoted, self._key))
        # Rows with NULL in their key are equal to none.
        there = " AND ".join(f"{quoted(column)} IS NOT NULL" for column in self._key)
        row = self._connection.execute(
            f"SELECT FIRST 1 {key} FROM {stage} WHERE {there} GROUP BY {key} HAVING COUNT(*) > 1"
        ).fetchone()
        self._connection.commit()
        if row is not None:
            raise errors.IntegrityError(f"two rows have the key {row}: an upsert needs unique keys")

    def remove(self, *, failed: bool) -> None:
        """Remove what the job has created; the table itself only if the job has failed and nobody has written rows."""
        connection = self._connection
        with suppress(errors.Error):
            connection.rollback()
        if self.written != self.table and self._is_own:
            connection.execute(f"DROP TABLE {quoted(self.written)}")
            connection.commit()
        if self._guard is not None and self._guard.is_open:
            with suppress(errors.Error):
                self._guard.rollback()
        if failed and self._is_new:
            is_empty = connection.execute(f"SELECT FIRST 1 1 FROM {quoted(self.table)}").fetchone() is None
            connection.commit()
            if is_empty:
                connection.execute(f"DROP TABLE {quoted(self.table)}")
                connection.commit()


def _name(given: str) -> str:
    """The name that SQL would store."""
    if given.startswith('"') and given.endswith('"') and len(given) > 1:
        return given[1:-1].replace('""', '"')
    return given.upper() if given.isascii() and given.isidentifier() else given


def similar_name(given: str, names: Sequence[str], what: str) -> str | None:
    """The stored name that is meant: in quotes exactly it, otherwise in any letter case."""
    exact = _name(given)
    if exact in names:
        return exact
    if given in names:
        return given
    if given.startswith('"'):
        return None
    similar = [name for name in names if name.upper() == given.upper()]
    if len(similar) > 1:
        raise errors.ProgrammingError(
            f"{what} {given!r} may be any of {', '.join(map(quoted, similar))}: put it in quotes"
        )
    return similar[0] if similar else None


def similar_column(given: str, stored: Sequence[str], owner: str) -> str:
    """The stored name of a column: one that is there as it is comes first.

    Raises
    ------
    ProgrammingError
        There is none, or several may be meant.
    """
    found = given if given in stored else similar_name(given, stored, "column")
    if found is None:
        raise errors.ProgrammingError(
            f"{owner} has no column {given!r}; it has {', '.join(map(quoted, stored))}"
        )
    return found
