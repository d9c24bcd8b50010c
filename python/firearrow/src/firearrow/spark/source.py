"""The data source that Spark knows as ``firebird``."""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import cached_property

from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, DataSourceWriter

from .options import Options
from .reader import Reader, Source

__all__ = ["FirebirdDataSource"]


class FirebirdDataSource(DataSource):
    """Tables and queries of a Firebird database; docs/spark.md has its options."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)

    @cached_property
    def _known(self) -> Options:
        return Options.of(dict(self.options))

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return "firebird"

    def schema(self) -> spark.StructType:
        """Columns of what is read, with their declared precisions."""
        return Source(self._known).schema()

    def reader(self, schema: spark.StructType) -> DataSourceReader:
        """Return the batch reader."""
        return Reader(self._known, schema)

    def writer(self, schema: spark.StructType, overwrite: bool) -> DataSourceWriter:
        """Return the writer."""
        from .writer import Writer

        return Writer(self._known, schema, overwrite)

    def streamReader(self, schema: spark.StructType) -> DataSourceStreamReader:
        """Return the stream reader."""
        from .stream import StreamReader

        return StreamReader(self._known, schema)
