"""Firebird for Ray Data.

>>> dataset = read_firebird("firebird://host/data/shop.fdb", "SELECT * FROM sales WHERE country = ?", ("FR",))
>>> write_firebird(dataset, "firebird://host/data/shop.fdb", "SALES_2026")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import ray
import ray.data
from ray.data.block import BlockAccessor, BlockMetadata
from ray.data.datasource import Datasink, Datasource, ReadTask

from ._jobs import anchor, reading, writing
from ._jobs.local import Plan
from ._jobs.place import Place
from .errors import OperationalError

__all__ = ["FirebirdDatasink", "FirebirdDatasource", "read_firebird", "write_firebird"]

_NAME = "firearrow: a part for Ray"
# Tasks at least: a cluster may begin small and grow.
_LEAST = 8


class FirebirdDatasource(Datasource):
    """A query, in parts of one snapshot, which this object holds until it is collected."""

    def __init__(
        self, place: Place, query: reading.Query, parts: int | None, *, without_snapshot: bool = False
    ) -> None:
        super().__init__()
        self._place = place
        self._query = query
        self._parts = parts
        self._without_snapshot = without_snapshot
        self._schema = reading.schema_of(place, query, _NAME)
        self._plan: Plan | None = None

    def get_name(self) -> str:
        """The name that Ray shows."""
        return "Firebird"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_plan": None}

    def estimate_inmemory_data_size(self) -> int | None:
        """Not known before it is read."""
        return None

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[ReadTask]:
        """A task for each part."""
        if self._plan is None:
            # Ray makes hundreds of tasks for data of unknown size.
            processors = int(ray.cluster_resources().get("CPU", 0))
            parts = self._parts or min(parallelism, max(2 * processors, _LEAST))
            self._plan = Plan(self._place, self._query, parts, _NAME, self._without_snapshot)
        metadata = BlockMetadata(num_rows=None, size_bytes=None, exec_stats=None)
        return [
            ReadTask(
                _reader(self._place, part),
                metadata,
                schema=self._schema,
                per_task_row_limit=per_task_row_limit,
            )
            for part in self._plan.parts
        ]


def _reader(place: Place, part: reading.Part) -> Callable[[], Iterator[pa.Table]]:
    def read() -> Iterator[pa.Table]:
        for batch in reading.read(
            place, part, _NAME, remedy="keep the dataset that was read first, or read again"
        ):
            yield pa.Table.from_batches([batch])

    return read


class FirebirdDatasink(Datasink[int | None]):
    """A table that all tasks write, all or nothing."""

    def __init__(self, target: writing.Target, schema: pa.Schema | None = None) -> None:
        self._target = target
        # For datasets of which Ray does not know the columns when it begins to write.
        self._schema = schema
        self._job: writing.Job | None = None

    def get_name(self) -> str:
        """The name that Ray shows."""
        return "Firebird"

    def on_write_start(self, schema: pa.Schema | None = None) -> None:
        """Begin the job."""
        schema = self._schema or schema
        if schema is None:
            raise OperationalError(
                "the columns of the dataset are not known: give FirebirdDatasink its schema"
            )
        self._job = writing.begin(self._target, schema, anchor.this_process())

    def write(self, blocks: Iterable[Any], ctx: Any) -> int | None:
        """Write blocks, and prepare their commit."""
        assert self._job is not None
        tables = (BlockAccessor.for_block(block).to_arrow() for block in blocks)
        batches = (batch for table in tables for batch in table.to_batches())
        return writing.write(self._job, ctx.task_idx, 0, batches)

    def on_write_complete(self, write_result: Any) -> None:
        """Commit what all tasks have prepared."""
        assert self._job is not None
        writing.commit(self._job, [number for number in write_result.write_returns if number is not None])

    def on_write_failed(self, error: Exception) -> None:
        """Undo everything."""
        if self._job is not None:
            writing.abort(self._job)


def read_firebird(
    database: str,
    sql: str,
    parameters: Sequence[Any] = (),
    *,
    parts: int | None = None,
    without_snapshot: bool = False,
    **options: Any,
) -> ray.data.Dataset:
    """Read a query as a dataset: all parts of a large table read one snapshot, which the dataset holds.

    Parameters
    ----------
    database, **options
        As for :func:`firearrow.connect`; workers must be able to reach it.
    sql, parameters
        A query. One of a single large table is divided; others are one task.
    parts
        The maximum number of tasks; by default two for each processor of the cluster, and at least 8.
    without_snapshot
        Divide before Firebird 4, too, although parts see changes that others make meanwhile.
    """
    place = Place(database, options)
    source = FirebirdDatasource(
        place, reading.Query(sql, tuple(parameters)), parts, without_snapshot=without_snapshot
    )
    return ray.data.read_datasource(source)


def write_firebird(
    dataset: ray.data.Dataset,
    database: str,
    table: str,
    *,
    mode: str = "append",
    key: Sequence[str] = (),
    text: int | None = None,
    lock_timeout: float = 300.0,
    **options: Any,
) -> None:
    """Write a dataset into a table, all or nothing.

    Parameters
    ----------
    database, **options
        As for :func:`firearrow.connect`; workers must be able to reach it.
    table
        The table, which is made if it does not exist.
    mode
        ``append``, ``overwrite`` (all rows are replaced), or ``upsert`` (rows with the same key are replaced).
    key
        The columns by which ``upsert`` finds rows; by default the primary key.
    text
        The length of VARCHAR columns in a new table; by default texts become BLOBs.
    lock_timeout
        Seconds to wait for other transactions.
    """
    target = writing.Target(Place(database, options), table, mode, tuple(key), text, lock_timeout)
    dataset.write_datasink(FirebirdDatasink(target, _schema(dataset)))


def _schema(dataset: ray.data.Dataset) -> pa.Schema | None:
    """The columns, for which Ray may have to compute the first rows."""
    found = dataset.schema()
    if found is None:
        return None
    try:
        types = [kind if isinstance(kind, pa.DataType) else pa.from_numpy_dtype(kind) for kind in found.types]
    except pa.ArrowException:
        # Objects of Python: Ray knows their types when it has rows.
        return None
    return pa.schema(list(zip(found.names, types, strict=True)))
