"""Reading a table or a query once, from one snapshot."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable, Iterator
from functools import cached_property

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSourceReader, InputPartition

from .._jobs import anchor, reading
from .._jobs.place import quoted
from .._jobs.snapshot import Holding, hold, lingering
from .._jobs.stage import similar_column
from .options import Options
from .types import Layout, check_wanted, schema

__all__ = ["Reader", "Source", "TaskPart"]

_log = logging.getLogger("firearrow.spark")

_LATE = (
    "the snapshot of this DataFrame was released, usually because nobody has read it for snapshotTimeout seconds: load it "
    "again, cache it, or raise the option"
)


class Source:
    """What is read: all columns of a table, or a query."""

    def __init__(self, options: Options) -> None:
        self._options = options

    @property
    def query(self) -> reading.Query:
        """The query for everything that the options select."""
        # Without names it stays as it is: a simple query can be divided.
        return self._selecting(self._columns.names if self._options.columns else ())

    @cached_property
    def _columns(self) -> pa.Schema:
        """The columns that the options select; their names may be given in any letter case."""
        there = reading.schema_of(self._options.place, self._selecting(()), "firearrow: columns for Spark")
        if not self._options.columns:
            return there
        owner = self._options.table or "the query"
        names = [similar_column(name, there.names, owner) for name in self._options.columns]
        return pa.schema([there.field(name) for name in names])

    def _selecting(self, columns: Iterable[str]) -> reading.Query:
        options, names = self._options, ", ".join(map(quoted, columns))
        if options.query is not None and not names:
            return reading.Query(options.query, options.parameters)
        table = options.table or f"({options.query})"
        where = f" WHERE {options.where}" if options.where else ""
        return reading.Query(f"SELECT {names or '*'} FROM {table}{where}", options.parameters)

    def schema(self) -> spark.StructType:
        """Spark's schema of the whole."""
        return schema(self._columns)

    def query_of(self, wanted: spark.StructType) -> reading.Query:
        """The query for the columns that the user has asked for."""
        there = self.schema()
        check_wanted(wanted, there)
        names = wanted.fieldNames()
        return self.query if names == there.fieldNames() else self._selecting(names)


class TaskPart(InputPartition):
    """What one task reads."""

    def __init__(self, part: reading.Part, name: str, lingers: float = 0) -> None:
        super().__init__(part)
        self.part = part
        self.name = name
        self.lingers = lingers


class Reader(DataSourceReader):
    """A query, in parts.

    It takes no conditions from Spark (``pushFilters``). Up to Spark 4.3 a DataFrame that is loaded once has
    one reader for all queries that use it, so that one with a condition would take rows away from the others;
    docs/decisions/0052.
    """

    def __init__(self, options: Options, wanted: spark.StructType) -> None:
        self._options = options
        self._wanted = wanted

    def partitions(self) -> list[InputPartition]:  # type: ignore[override]
        """Divide the query, and have its snapshot held. Spark asks once for each DataFrame that is loaded."""
        options = self._options
        query = Source(options).query_of(self._wanted)
        job = secrets.token_hex(8)
        readers = f"firearrow: a part for Spark, job {job}"
        division = hold(
            Holding(
                place=options.place,
                query=query,
                parts=options.parts,
                without_snapshot=options.without_snapshot,
                name=f"firearrow: the snapshot of job {job}",
                readers=readers,
                idle=options.idle,
                anchor=anchor.driver(),
            )
        )
        if division.why_plain and options.parts != 1:
            _log.info("one part only: %s", division.why_plain)
        lingers = lingering(options.idle) if division.has_snapshot else 0
        return [TaskPart(part, readers, lingers) for part in division.parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read a part."""
        assert isinstance(partition, TaskPart)
        layout = Layout(self._wanted)
        name, lingers = partition.name, partition.lingers
        for batch in reading.read(self._options.place, partition.part, name, remedy=_LATE, lingers=lingers):
            yield layout.of(batch)
