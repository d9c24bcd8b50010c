"""Firebird for Spark 4: ``spark.read.format("firebird")``.

>>> df = (
...     spark.read.format("firebird")
...     .option("url", "firebird://host/data/shop.fdb").option("user", "ALICE").option("password", "…")
...     .option("dbtable", "SALES").option("numPartitions", 8)
...     .load()
... )
>>> df.write.format("firebird").option("url", …).option("dbtable", "SALES_2026").mode("append").save()

Spark finds the format by itself, since this package brings the module ``pyspark_firearrow``. docs/spark.md
has the options.
"""

from __future__ import annotations

from .source import FirebirdDataSource

__all__ = ["FirebirdDataSource"]
