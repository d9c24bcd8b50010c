"""Firebird for Dask.

>>> frame = read_firebird("firebird://host/data/shop.fdb", "SELECT * FROM sales WHERE country = ?", ("FR",))
>>> frame.groupby("CURRENCY").AMOUNT.sum().compute()
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa

from ._jobs import reading
from ._jobs.local import Plan
from ._jobs.place import Place

__all__ = ["read_firebird"]

_NAME = "firearrow: a part for Dask"


class _Reader:
    """Reads parts. The original holds the snapshot; copies on workers do not."""

    def __init__(self, place: Place, schema: pa.Schema, plan: Plan) -> None:
        self._place = place
        self._schema = schema
        self._parts = plan.parts
        self._plan: Plan | None = plan
        # Dask treats equal names as equal data, so each read needs its own name.
        self._token = secrets.token_hex(16)

    def __dask_tokenize__(self) -> str:
        return self._token

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_plan": None}

    def __call__(self, number: int) -> pd.DataFrame:
        part = self._parts[number]
        remedy = "keep the frame that was read first, or read again"
        batches = list(reading.read(self._place, part, _NAME, remedy=remedy))
        return _frame(pa.Table.from_batches(batches, schema=self._schema))


def _frame(table: pa.Table) -> pd.DataFrame:
    # Arrow's types in all parts: pandas' own depend on the values (integers with NULL become floats).
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def read_firebird(
    database: str,
    sql: str,
    parameters: Sequence[Any] = (),
    *,
    parts: int = 0,
    without_snapshot: bool = False,
    **options: Any,
) -> dd.DataFrame:
    """Read a query as a frame: all parts of a large table read one snapshot, which the frame holds.

    Parameters
    ----------
    database, **options
        As for :func:`firearrow.connect`; workers must be able to reach it.
    sql, parameters
        A query. One of a single large table is divided; others are one partition.
    parts
        The maximum number of partitions: 0 = as many as this machine has processors.
    without_snapshot
        Divide before Firebird 4, too, although parts see changes that others make meanwhile.

    Returns
    -------
    dask.dataframe.DataFrame
        With columns of Arrow's types (``pandas.ArrowDtype``), and without known divisions.
    """
    place = Place(database, options)
    query = reading.Query(sql, tuple(parameters))
    schema = reading.schema_of(place, query, _NAME)
    plan = Plan(place, query, parts, _NAME, without_snapshot)
    reader = _Reader(place, schema, plan)
    return dd.from_map(
        reader,
        range(len(plan.parts)),
        meta=_frame(schema.empty_table()),
        enforce_metadata=False,
        label="read-firebird",
    )
