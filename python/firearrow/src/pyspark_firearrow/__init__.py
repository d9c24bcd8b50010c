"""By this module's name Spark finds the format ``firebird``; see :mod:`firearrow.spark`."""

from firearrow.spark.source import FirebirdDataSource as DefaultSource

__all__ = ["DefaultSource"]
