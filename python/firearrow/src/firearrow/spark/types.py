"""Maps Arrow types to Spark's, and rows to Spark's layout."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as of
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import to_arrow_schema

from ..errors import DataError, NotSupportedError, ProgrammingError

__all__ = ["Layout", "schema"]

_SIMPLE = (
    (of.is_int16, spark.ShortType),
    (of.is_int32, spark.IntegerType),
    (of.is_int64, spark.LongType),
    (of.is_float32, spark.FloatType),
    (of.is_float64, spark.DoubleType),
    (of.is_boolean, spark.BooleanType),
    (of.is_date32, spark.DateType),
    # Not all releases of Spark have a type for times of day; a text keeps all digits.
    (of.is_time, spark.StringType),
    (of.is_string, spark.StringType),
    (of.is_large_string, spark.StringType),
    (of.is_binary, spark.BinaryType),
    (of.is_large_binary, spark.BinaryType),
    (of.is_fixed_size_binary, spark.BinaryType),
)


def schema(columns: pa.Schema) -> spark.StructType:
    """Spark's schema of columns. All may be NULL: views and columns that have become NOT NULL are not always true to it."""
    return spark.StructType([spark.StructField(column.name, _type(column), True) for column in columns])


def _type(column: pa.Field) -> spark.DataType:
    kind = column.type
    for is_such, made in _SIMPLE:
        if is_such(kind):
            return made()
    if of.is_decimal(kind) and kind.precision <= 38:
        return spark.DecimalType(kind.precision, kind.scale)
    if of.is_timestamp(kind):
        return spark.TimestampNTZType() if kind.tz is None else spark.TimestampType()
    if of.is_list(kind):
        return spark.ArrayType(_type(kind.value_field.with_name(column.name)), True)
    raise NotSupportedError(
        f"Spark has no type for column {column.name!r}, which is {kind}: convert it in the query, or leave it out with the option columns"
    )


class Layout:
    """The columns that Spark expects, in its order and types."""

    def __init__(self, wanted: spark.StructType) -> None:
        self._schema = to_arrow_schema(wanted, timezone="UTC")

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows in this layout.

        Raises
        ------
        DataError
            A value does not fit.
        """
        if batch.schema.names != self._schema.names:
            there, expected = ", ".join(batch.schema.names), ", ".join(self._schema.names)
            raise DataError(
                f"the table or query changed its columns since it was loaded ({there}, not {expected}): load it again"
            )
        try:
            columns = [
                column if column.type == field.type else column.cast(field.type)
                for column, field in zip(batch.columns, self._schema, strict=True)
            ]
            return pa.RecordBatch.from_arrays(columns, schema=self._schema)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise DataError(f"a value does not fit the column's type in Spark: {error}") from error


def check_wanted(wanted: spark.StructType, there: spark.StructType) -> None:
    """Check a schema that the user has given: its columns have to exist.

    Raises
    ------
    ProgrammingError
        One does not.
    """
    names = there.fieldNames()
    for name in wanted.fieldNames():
        if name not in names:
            raise ProgrammingError(f"there is no column {name!r}; there are {', '.join(names)}")
