"""Writing a table, all or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.pandas.types import to_arrow_schema

from .._jobs import anchor, writing
from ..errors import OperationalError
from .options import Options

__all__ = ["Prepared", "Writer"]


@dataclass
class Prepared(WriterCommitMessage):
    """What a task has done."""

    number: int | None
    """Of its transaction; ``None`` if it had no rows."""


class Writer(DataSourceArrowWriter):
    """A job. Its tasks prepare their commits, and the driver decides about all of them at once."""

    def __init__(self, options: Options, schema: spark.StructType, overwrite: bool) -> None:
        columns = to_arrow_schema(schema, timezone="UTC")
        self._job = writing.begin(options.target(overwrite), columns, anchor.driver())

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Prepared:
        """Write a task's rows."""
        context = TaskContext.get()
        assert context is not None
        number = writing.write(self._job, context.partitionId(), context.attemptNumber(), iterator)
        return Prepared(number)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Commit what these tasks have prepared."""
        numbers = []
        for message in messages:
            if not isinstance(message, Prepared):
                writing.abort(self._job)
                raise OperationalError("a task reported no result; nothing was committed")
            if message.number is not None:
                numbers.append(message.number)
        writing.commit(self._job, numbers)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Undo everything."""
        writing.abort(self._job)
