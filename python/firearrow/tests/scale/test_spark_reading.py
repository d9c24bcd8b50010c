"""Spark reads tables and queries."""

from __future__ import annotations

import datetime
import json
import threading
import time
from decimal import Decimal

import pytest
from conftest import ROWS, one
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sessions import load

import firearrow


# For each type: in SQL, Spark's type, two values in SQL, and as Spark returns them. TIME_ZONES come from
# Firebird 4.
TYPES = [
    ("SMALLINT", "smallint", ("-32768", -32768), ("32767", 32767)),
    ("INTEGER", "int", ("-2147483648", -(2**31)), ("0", 0)),
    ("BIGINT", "bigint", ("-9223372036854775808", -(2**63)), ("9223372036854775807", 2**63 - 1)),
    ("NUMERIC(4,2)", "decimal(4,2)", ("-99.99", Decimal("-99.99")), ("0.01", Decimal("0.01"))),
    (
        "DECIMAL(18,4)",
        "decimal(18,4)",
        ("12345678901234.5678", Decimal("12345678901234.5678")),
        ("0", Decimal(0)),
    ),
    ("FLOAT", "float", ("0.5", 0.5), ("-0.25", -0.25)),
    ("DOUBLE PRECISION", "double", ("1e300", 1e300), ("0.1", 0.1)),
    ("BOOLEAN", "boolean", ("TRUE", True), ("FALSE", False)),
    ("DATE", "date", ("'0001-01-01'", datetime.date(1, 1, 1)), ("'9999-12-31'", datetime.date(9999, 12, 31))),
    ("TIME", "string", ("'01:02:03.0045'", "01:02:03.004500"), ("'23:59:59.9999'", "23:59:59.999900")),
    (
        "TIMESTAMP",
        "timestamp_ntz",
        ("'1582-10-04 23:59:59.9999'", datetime.datetime(1582, 10, 4, 23, 59, 59, 999900)),
        ("'2026-03-29 02:30:00'", datetime.datetime(2026, 3, 29, 2, 30)),
    ),
    ("VARCHAR(30) CHARACTER SET UTF8", "string", ("'žluťoučký 𝄞'", "žluťoučký 𝄞"), ("''", "")),
    ("VARCHAR(30) CHARACTER SET WIN1252", "string", ("'naïve €'", "naïve €"), ("'x'", "x")),
    ("CHAR(3) CHARACTER SET UTF8", "string", ("'ab'", "ab "), ("'äöü'", "äöü")),
    ("CHAR(3) CHARACTER SET OCTETS", "binary", ("x'000102'", b"\0\1\2"), ("x'ffffff'", b"\xff\xff\xff")),
    ("BLOB SUB_TYPE TEXT CHARACTER SET UTF8", "string", ("'long ž'", "long ž"), ("''", "")),
    ("BLOB SUB_TYPE BINARY", "binary", ("x'00ff'", b"\0\xff"), ("x''", b"")),
]
TYPES4 = [
    ("NUMERIC(38,8)", "decimal(38,8)", ("-1.00000001", Decimal("-1.00000001")), ("0", Decimal(0))),
    (
        "INT128",
        "decimal(38,0)",
        ("12345678901234567890123456789012345678", Decimal("12345678901234567890123456789012345678")),
        ("0", Decimal(0)),
    ),
    ("DECFLOAT(34)", "string", ("1.10", "1.10"), ("-0", "-0")),
]


def test_types(
    spark: SparkSession, database: str, connection: firearrow.Connection, table: str, version: int
) -> None:
    """Each type with extreme values and NULL, as the engine has them."""
    kinds = TYPES + (TYPES4 if version >= 4 else [])
    columns = ", ".join(f"c{number} {kind[0]}" for number, kind in enumerate(kinds))
    connection.execute(f"CREATE TABLE {table} (id INTEGER, {columns})")
    connection.commit()
    for row in (0, 1):
        values = ", ".join(str(kind[2 + row][0]) for kind in kinds)
        connection.execute(f"INSERT INTO {table} VALUES ({row}, {values})")
    connection.execute(f"INSERT INTO {table} (id) VALUES (2)")
    connection.commit()
    frame = load(spark, database, dbtable=table)
    assert [field.dataType.simpleString() for field in frame.schema][1:] == [kind[1] for kind in kinds]
    rows = [tuple(row) for row in frame.orderBy("ID").collect()]
    for row in (0, 1):
        for kind, value in zip(kinds, rows[row][1:], strict=True):
            found = bytes(value) if isinstance(value, bytearray) else value
            assert found == kind[2 + row][1], kind[0]
    assert rows[2][1:] == (None,) * len(kinds)


def test_moments(spark: SparkSession, database: str, version: int) -> None:
    """A moment is the same, whatever the session's time zone."""
    if version < 4:
        pytest.skip("Firebird 3 has no time zones")
    sql = "SELECT TIMESTAMP '2026-07-01 12:00:00.1234 Europe/Paris' m FROM rdb$database"
    frame = load(spark, database, query=sql)
    assert frame.schema[0].dataType.simpleString() == "timestamp"
    for zone, hour in (("UTC", 10), ("America/New_York", 6)):
        spark.conf.set("spark.sql.session.timeZone", zone)
        try:
            assert frame.select(F.unix_micros("M"), F.hour("M")).first()[:] == (1782900000123400, hour)
        finally:
            spark.conf.unset("spark.sql.session.timeZone")


def test_one_snapshot(
    spark: SparkSession, database: str, connection: firearrow.Connection, large: str, version: int
) -> None:
    """Parts agree while others change the table, and later queries of the same frame see the same rows."""
    frame = load(spark, database, dbtable=large, numPartitions=4)
    done = threading.Event()

    def change() -> None:
        with firearrow.connect(database, autocommit=True) as other:
            while not done.is_set():
                # The sum over all rows stays the same.
                other.execute(
                    f"EXECUTE BLOCK AS BEGIN UPDATE {large} SET amount = amount + 1 WHERE id = 0; "
                    f"UPDATE {large} SET amount = amount - 1 WHERE id = {ROWS - 1}; END"
                )

    changing = threading.Thread(target=change)
    changing.start()
    try:
        sums = [frame.agg(F.sum("AMOUNT"), F.count("*"), F.sum("ID")).first() for _ in range(3)]
        ends = [
            frame.where(f"ID IN (0, {ROWS - 1})").orderBy("ID").select("AMOUNT").collect() for _ in range(2)
        ]
    finally:
        done.set()
        changing.join()
    assert [tuple(found) for found in sums] == [(Decimal(ROWS), ROWS, ROWS * (ROWS - 1) // 2)] * 3
    if version >= 4:
        assert frame.rdd.getNumPartitions() == 4
        assert ends[0] == ends[1]
    else:
        assert frame.rdd.getNumPartitions() == 1
    # A frame that is loaded now sees what has changed.
    assert load(spark, database, dbtable=large).where("ID = 0").first().AMOUNT > 1


def test_too_late(
    spark: SparkSession, database: str, connection: firearrow.Connection, large: str, version: int
) -> None:
    """A frame that nobody has read for a while cannot be read any more; it never reads something else."""
    if version < 4:
        pytest.skip("Firebird 3 has no snapshots to hold")
    frame = load(spark, database, dbtable=large, numPartitions=3, snapshotTimeout=1)
    assert frame.count() == ROWS
    connection.execute(f"DELETE FROM {large}")
    connection.commit()
    time.sleep(6)
    with pytest.raises(
        Exception, match=r"taken its snapshot \d+ along.*: load it again, cache it, or raise the option"
    ):
        frame.count()
    assert load(spark, database, dbtable=large).count() == 0


def test_conditions_do_not_mix(
    spark: SparkSession, database: str, connection: firearrow.Connection, large: str
) -> None:
    """Queries of one frame do not take rows from each other, whatever Spark pushes; see decision 52."""
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        frame = load(spark, database, dbtable=large)
        assert frame.where("ID < 10").count() == 10
        assert frame.count() == ROWS
        few = frame.where("ID < 10").select("ID")
        more = frame.where("ID BETWEEN 5 AND 24").select("ID")
        assert few.join(more, "ID").count() == 5
        assert few.union(more).count() == 30
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_columns_and_conditions(
    spark: SparkSession, database: str, connection: firearrow.Connection, large: str
) -> None:
    """What the options leave out is not sent."""
    frame = load(
        spark,
        database,
        dbtable=large,
        columns="name, Id",
        where="id >= ? AND name < ?",
        parameters=json.dumps([100, f"{200:090}"]),
    )
    assert frame.columns == ["NAME", "ID"]
    assert (frame.count(), frame.agg(F.sum("ID")).first()[0]) == (100, sum(range(100, 200)))
    with pytest.raises(Exception, match="has no column 'NAM'; it has \"ID\", \"NAME\""):
        load(spark, database, dbtable=large, columns="ID,NAM")
    with pytest.raises(Exception, match="names none: write firebird://host/path"):
        load(spark, "/data/shop.fdb", dbtable=large)
    frame = (
        spark.read.format("firebird").option("url", database).option("dbtable", large).schema("ID INT").load()
    )
    assert frame.columns == ["ID"]
    assert frame.agg(F.sum("ID")).first()[0] == ROWS * (ROWS - 1) // 2
    wide = (
        spark.read.format("firebird")
        .option("url", database)
        .option("dbtable", large)
        .schema("ID BIGINT, NAME STRING")
    )
    assert wide.load().where("ID = 7").first().asDict() == {"ID": 7, "NAME": f"{7:090}"}
    narrow = (
        spark.read.format("firebird")
        .option("url", database)
        .option("dbtable", large)
        .schema("ID SMALLINT")
        .load()
    )
    with pytest.raises(Exception, match="does not fit the column's type"):
        narrow.count()


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"query": "SELECT id, name FROM {} WHERE id < 30;"}, 30),
        ({"query": "SELECT MOD(id, 7) m, COUNT(*) c FROM {} GROUP BY 1"}, 7),
        ({"query": "SELECT id FROM {} WHERE id < ?", "parameters": "[12]"}, 12),
        ({"dbtable": "(SELECT id FROM {} WHERE (id < 5) OR name = ')') t"}, 5),
        ({"dbtable": "(SELECT id FROM {}) t", "columns": "ID", "numPartitions": 3}, ROWS),
        ({"query": "SELECT a.id FROM {} a JOIN {} b ON a.id = b.id + 1"}, ROWS - 1),
        (
            {
                "dbtable": '"{}"',
                "numPartitions": 1,
                "fetchsize": 10,
                "driver": "org.firebirdsql.jdbc.FBDriver",
            },
            ROWS,
        ),
        (
            {"dbtable": "{}", "partitionColumn": "ID", "lowerBound": 0, "upperBound": 9, "numPartitions": 2},
            ROWS,
        ),
    ],
)
def test_queries(
    spark: SparkSession, database: str, large: str, options: dict[str, object], count: int
) -> None:
    """Queries, JDBC's form of them, and JDBC's options."""
    given = {
        key: text.replace("{}", large) if isinstance(text, str) else text for key, text in options.items()
    }
    assert load(spark, database, **given).count() == count


def test_jdbc_url(spark: SparkSession, database: str, large: str) -> None:
    """Jaybird's URLs, and a login in options."""
    login, _, place = database.removeprefix("firebird://").rpartition("@")
    user, password = login.split(":")
    url = f"jdbc:firebird://{place}"
    assert load(spark, url, dbtable=large, user=user, password=password).count() == ROWS


def test_views(spark: SparkSession, database: str, connection: firearrow.Connection, large: str) -> None:
    """SQL's USING, and a view of the database."""
    connection.execute(f"CREATE VIEW v_{large} AS SELECT id, name FROM {large} WHERE id < 100")
    connection.commit()
    assert load(spark, database, dbtable=f"v_{large}").count() == 100
    spark.sql(
        f"CREATE TEMPORARY VIEW spark_view USING firebird OPTIONS (url '{database}', dbtable '{large}')"
    )
    assert spark.sql("SELECT COUNT(*), MAX(NAME) FROM spark_view").first()[:] == (ROWS, f"{ROWS - 1:090}")
    spark.catalog.dropTempView("spark_view")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "give either the option dbtable .* or query"),
        ({"dbtable": "T", "query": "SELECT 1"}, "give either the option"),
        ({"dbtable": "NO_SUCH_TABLE"}, "NO_SUCH_TABLE"),
        ({"dbtable": "a b c"}, "dbtable must be a table's name"),
        ({"dbtable": "(SELECT 1) a, (SELECT 2) b"}, "dbtable must be a table's name"),
        ({"dbtabel": "T"}, "no option 'dbtabel'; is 'dbtable' meant"),
        ({"dbtable": "T", "wire_crypto": "x"}, "no option 'wire_crypto'"),
        (
            {"dbtable": "T", "isolationLevel": "NONE"},
            "isolation[lL]evel of the JDBC source is not supported: a job reads one snapshot",
        ),
        (
            {"dbtable": "T", "numPartitions": "many"},
            "numPartitions must be a number of at least 0, not 'many'",
        ),
        ({"dbtable": "T", "numPartitions": -1}, "numPartitions must be a number"),
        ({"dbtable": "T", "snapshotTimeout": "nan"}, "snapshotTimeout must be a number"),
        ({"dbtable": "T", "withoutSnapshot": "yes"}, "withoutSnapshot must be true or false"),
        ({"dbtable": "T", "parameters": "{}"}, "parameters must be a list"),
        ({"query": "SELECT 1 a FROM rdb$database", "where": "1 = 1"}, "write the condition into the query"),
        ({"query": "DELETE FROM rdb$database"}, "only queries"),
        ({"query": "SELECT 1 a FROM rdb$database", "sessionInitStatement": "GARBAGE"}, "GARBAGE"),
    ],
)
def test_wrong_options(spark: SparkSession, database: str, options: dict[str, object], text: str) -> None:
    """Each error says what to do."""
    with pytest.raises(AnalysisException, match=text):
        load(spark, database, **options)


def test_no_server(spark: SparkSession, database: str) -> None:
    """A wrong address, and a wrong password, which the error does not repeat."""
    with pytest.raises(AnalysisException, match="OperationalError"):
        load(spark, "firebird://127.0.0.1:1/nowhere", dbtable="T", connect_timeout=5)
    with pytest.raises(AnalysisException) as caught:
        load(spark, database.replace("masterkey", "secret"), dbtable="T", wire_crypt="required")
    assert "secret" not in str(caught.value)


def test_no_right(spark: SparkSession, database: str, connection: firearrow.Connection, large: str) -> None:
    """A user who may not read the table is told so."""
    connection.execute("CREATE OR ALTER USER spark_reader PASSWORD 'pw' USING PLUGIN Srp")
    connection.commit()
    place = database.rpartition("@")[2]
    with pytest.raises(AnalysisException, match="no permission for SELECT"):
        load(spark, f"firebird://spark_reader:pw@{place}", dbtable=large)
    connection.execute(f"GRANT SELECT ON {large} TO spark_reader")
    connection.commit()
    assert load(spark, f"firebird://spark_reader:pw@{place}", dbtable=large, numPartitions=2).count() == ROWS


def test_altered_tables(
    spark: SparkSession, database: str, connection: firearrow.Connection, large: str
) -> None:
    """New columns are not read; those that are gone after loading are an error, and never other values."""
    frame = load(spark, database, dbtable=large, numPartitions=2)
    connection.execute(f"ALTER TABLE {large} ADD late INTEGER")
    connection.commit()
    assert frame.columns == ["ID", "NAME", "AMOUNT"]
    assert frame.where("ID = 3").first()[:2] == (3, f"{3:090}")
    frame = load(spark, database, dbtable=large, columns="ID,NAME", numPartitions=2)
    connection.execute(f"ALTER TABLE {large} DROP name")
    connection.commit()
    with pytest.raises(Exception, match="NAME"):
        frame.count()
    assert one(connection, f"SELECT COUNT(*) FROM {large}") == ROWS


def test_without_snapshot(spark: SparkSession, database: str, large: str, version: int) -> None:
    """Firebird 3 divides when it is asked to."""
    frame = load(spark, database, dbtable=large, numPartitions=3, withoutSnapshot="true")
    assert frame.rdd.getNumPartitions() == 3
    assert frame.agg(F.count("*"), F.sum("ID")).first()[:] == (ROWS, ROWS * (ROWS - 1) // 2)
