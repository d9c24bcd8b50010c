"""Reading new rows as they arrive, each exactly once.

Rows are found by a column that grows, usually filled by a generator. A transaction that has taken its number
early may commit late, when higher numbers have been read already. So a number counts as reached only when
every transaction has ended that was active when it was first seen: whatever is below it and will ever be
visible, is visible then. Rows between two such numbers are the same whenever they are read, which makes
repeated batches identical.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from .. import errors
from .._jobs import reading
from .._base import engine_release
from .._jobs.place import looking, quoted
from .._jobs.stage import similar_name
from ..connection import Connection
from .options import Options
from .reader import Source, TaskPart
from .types import Layout, check_wanted

__all__ = ["StreamReader"]

# Below every number.
_START = -(2**63)
_OFFSET = "after"
_NAME = "firearrow: a stream for Spark"

# Seconds to wait for a prepared transaction; the next look comes soon.
_LOCKS = 10
_LIMBO = "SELECT MIN(RDB$TRANSACTION_ID) FROM RDB$TRANSACTIONS WHERE RDB$TRANSACTION_STATE = 1"
_ACTIVE3 = "SELECT MON$OLDEST_ACTIVE FROM MON$DATABASE"
# The first transaction below a number that is active or in limbo, and not known to be a reader: everybody sees their own
# user's transactions. Commit numbers are 0 of active transactions, and -1 of those in limbo.
_ACTIVE4 = """EXECUTE BLOCK (BELOW BIGINT = ?) RETURNS (FOUND BIGINT) AS
DECLARE STATE BIGINT; DECLARE LAST_ONE BIGINT;
BEGIN
  SELECT MON$OLDEST_ACTIVE FROM MON$DATABASE INTO FOUND;
  LAST_ONE = FOUND + 100000;
  WHILE (FOUND < BELOW AND FOUND < LAST_ONE) DO
  BEGIN
    STATE = RDB$GET_TRANSACTION_CN(FOUND);
    IF (STATE = -1 OR STATE = 0 AND NOT EXISTS(
      SELECT 1 FROM MON$TRANSACTIONS WHERE MON$TRANSACTION_ID = :FOUND AND MON$READ_ONLY = 1)) THEN LEAVE;
    FOUND = FOUND + 1;
  END
  SUSPEND;
END"""


class Seen(NamedTuple):
    """The highest number at some moment."""

    number: int
    transaction: int
    """Transactions that were active then have lower numbers than this."""


class StreamReader(DataSourceStreamReader):
    """A table whose new rows are read in batches."""

    def __init__(self, options: Options, wanted: spark.StructType) -> None:
        if options.table is None or options.offset_column is None:
            raise errors.InterfaceError(
                "a stream needs the options dbtable and offsetColumn: a column that grows with every new row"
            )
        if options.where or options.parameters:
            raise errors.InterfaceError(
                "a stream takes no where and no parameters: make a view, or filter the stream"
            )
        self._options = options
        self._wanted = wanted
        there = Source(options).schema()
        check_wanted(wanted, there)
        column = similar_name(options.offset_column, there.fieldNames(), "column")
        kind = there[column].dataType if column else None
        is_decimal = isinstance(kind, spark.DecimalType) and kind.scale == 0
        if not is_decimal and not isinstance(kind, spark.ShortType | spark.IntegerType | spark.LongType):
            what = "of integers" if column else f"of the table, which has {', '.join(there.fieldNames())}"
            raise errors.ProgrammingError(
                f"offsetColumn must be a column {what}, not {options.offset_column!r}"
            )
        self._column = quoted(str(column))
        self._connection: Connection | None = None
        self._seen: list[Seen] = []
        self._settled = _START

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_connection": None, "_seen": []}

    def initialOffset(self) -> dict[str, int]:
        """Where a new stream begins."""
        start = self._options.starting_offset
        return {_OFFSET: _START if start is None else start}

    def latestOffset(self, start: dict[str, int] | None = None, limit: object = None) -> dict[str, int]:
        """How far rows can be read now: never before ``start``."""
        if start is None:
            # It could not tell a number that is not settled yet from one that the stream has passed.
            raise errors.NotSupportedError("streams need Spark 4.2, which says where they are")
        try:
            connection = self._connection = self._connection or self._options.place.connect(_NAME)
            self._look(connection)
            self._settle(connection)
        except errors.OperationalError:
            if self._connection is None:
                raise
            # Lost: the next look connects again.
            self.stop()
        return {_OFFSET: max(start[_OFFSET], self._settled)}

    def _look(self, connection: Connection) -> None:
        with connection.begin(isolation="snapshot", read_only=True, lock_timeout=_LOCKS) as transaction:
            number = transaction.number
            row = transaction.execute(f"SELECT MAX({self._column}) FROM {self._options.table}").fetchone()
        if self._seen and number < self._seen[-1].transaction:
            # The database was made anew, and counts from the beginning.
            self._seen.clear()
        if row[0] is not None and (not self._seen or self._seen[-1].number != int(row[0])):
            self._seen.append(Seen(int(row[0]), number))

    def _settle(self, connection: Connection) -> None:
        if not self._seen:
            return
        is_modern = engine_release(connection.info) >= 4
        # Starting a transaction refreshes MON$OLDEST_ACTIVE.
        with looking(connection, _LOCKS) as transaction:
            if is_modern:
                (oldest,) = transaction.execute(_ACTIVE4, (self._seen[-1].transaction,)).fetchone()
            else:
                (oldest,) = transaction.execute(_ACTIVE3).fetchone()
            (limbo,) = transaction.execute(_LIMBO).fetchone()
        undecided = [oldest] if limbo is None else [oldest, limbo]
        # Those without a description. Firebird 3 would wait for transactions that are about to end.
        if is_modern:
            undecided += [found.number for found in connection.limbo_transactions()]
        while self._seen and self._seen[0].transaction <= min(undecided):
            self._settled = max(self._seen.pop(0).number, self._settled)

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """The rows between two numbers, by ranges of them."""
        first, last = int(start[_OFFSET]), int(end[_OFFSET])
        if last <= first:
            return []
        count = max(self._options.parts, 1)
        # Below every number there is, so that the parts are of a size.
        lowest = self._lowest(last) if first == _START and count > 1 else first
        if lowest >= last:
            return []
        borders = sorted({lowest + (last - lowest) * part // count for part in range(count + 1)})
        pairs = zip([first, *borders[1:-1]], borders[1:], strict=True)
        return [TaskPart(reading.Part(self._between(*pair)), _NAME) for pair in pairs]

    def _between(self, after: int, last: int) -> reading.Query:
        names = ", ".join(map(quoted, self._wanted.fieldNames()))
        sql = f"SELECT {names} FROM {self._options.table} WHERE {self._column} <= {last}"
        # As literals: a parameter would have the column's type, which not every border fits.
        return reading.Query(sql if after == _START else f"{sql} AND {self._column} > {after}")

    def _lowest(self, last: int) -> int:
        """A number below all rows."""
        with self._options.place.connect(_NAME, read_only=True) as connection:
            row = connection.execute(f"SELECT MIN({self._column}) FROM {self._options.table}").fetchone()
        return min(int(row[0]), last) - 1 if row[0] is not None else last

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read a part of a batch."""
        assert isinstance(partition, TaskPart)
        layout = Layout(self._wanted)
        for batch in reading.read(self._options.place, partition.part, partition.name):
            yield layout.of(batch)

    def commit(self, end: dict[str, int]) -> None:
        """Nothing to release."""

    def stop(self) -> None:
        """Disconnect."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(errors.Error):
                connection.close()
