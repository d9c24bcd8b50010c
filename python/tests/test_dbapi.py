"""PEP 249, through Python's driver manager."""

import datetime
import threading
import time
from decimal import Decimal

import pytest
from adbc_driver_firebird import StatementOptions, dbapi

# SQL type, literal, value in Python.
VALUES = [
    ("SMALLINT", "-32768", -32768),
    ("INTEGER", "2147483647", 2147483647),
    ("BIGINT", "-9223372036854775808", -9223372036854775808),
    ("NUMERIC(4,2)", "-12.34", Decimal("-12.34")),
    ("DECIMAL(18,6)", "123456789012.345678", Decimal("123456789012.345678")),
    ("FLOAT", "0.5", 0.5),
    ("DOUBLE PRECISION", "1e300", 1e300),
    ("BOOLEAN", "TRUE", True),
    ("DATE", "'0001-01-01'", datetime.date(1, 1, 1)),
    ("TIME", "'23:59:59.9999'", datetime.time(23, 59, 59, 999900)),
    ("TIMESTAMP", "'9999-12-31 00:00:00.0001'", datetime.datetime(9999, 12, 31, 0, 0, 0, 100)),
    ("VARCHAR(10) CHARACTER SET WIN1252", "'Grüße €'", "Grüße €"),
    ("VARCHAR(10) CHARACTER SET UTF8", "'😀'", "😀"),
    ("CHAR(5) CHARACTER SET UTF8", "'ä'", "ä    "),
    ("VARCHAR(4) CHARACTER SET OCTETS", "x'00ff'", b"\x00\xff"),
    ("BLOB SUB_TYPE TEXT CHARACTER SET UTF8", "'lang'", "lang"),
    ("BLOB", "x'0001'", b"\x00\x01"),
]
NEW_VALUES = [
    ("INT128", "99999999999999999999999999999999999999", Decimal("9" * 38)),
    ("NUMERIC(38,4)", "-0.0001", Decimal("-0.0001")),
    ("DECFLOAT", "1.5E+400", "1.5E+400"),
    (
        "TIMESTAMP WITH TIME ZONE",
        "'2026-07-01 12:00:00 Europe/Berlin'",
        datetime.datetime(2026, 7, 1, 10, tzinfo=datetime.timezone.utc),
    ),
]


def details(error: dbapi.Error) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in error.details}


def test_values_arrive_as_they_are(cursor, connection, table, version):
    cases = VALUES + (NEW_VALUES if version >= 4 else [])
    columns = ", ".join(f"c{index} {case[0]}" for index, case in enumerate(cases))
    cursor.execute(f"CREATE TABLE {table} (id INTEGER, {columns})")
    cursor.execute(f"INSERT INTO {table} VALUES (1, {', '.join(case[1] for case in cases)})")
    cursor.execute(f"INSERT INTO {table} (id) VALUES (2)")
    connection.commit()
    cursor.execute(f"SELECT * FROM {table} ORDER BY id")
    assert [column[0] for column in cursor.description] == ["ID", *(f"C{n}" for n in range(len(cases)))]
    first, second = cursor.fetchall()
    for case, value in zip(cases, first[1:], strict=True):
        assert value == case[2], case
        assert type(value) is type(case[2]), case
    assert second == (2, *([None] * len(cases)))


def test_parameters_arrive_as_they_are(cursor, connection, table):
    columns = ", ".join(f"c{index} {case[0]}" for index, case in enumerate(VALUES))
    cursor.execute(f"CREATE TABLE {table} ({columns})")
    marks = ", ".join("?" * len(VALUES))
    cursor.execute(f"INSERT INTO {table} VALUES ({marks})", [case[2] for case in VALUES])
    cursor.execute(f"INSERT INTO {table} VALUES ({marks})", [None] * len(VALUES))
    connection.commit()
    cursor.execute(f"SELECT * FROM {table} WHERE c1 = ?", (2147483647,))
    assert cursor.fetchall() == [tuple(case[2] for case in VALUES)]
    cursor.execute(f"SELECT COUNT(*) FROM {table} WHERE c0 IS NULL AND c16 IS NULL")
    assert cursor.fetchone() == (1,)


def test_parameters_by_name(cursor, connection, table):
    cursor.execute(f"CREATE TABLE {table} (a INTEGER, b VARCHAR(5))")
    cursor.execute(f"INSERT INTO {table} VALUES (:number, :text)", {"text": "x", "number": 7})
    connection.commit()
    cursor.execute(f"SELECT b, a FROM {table} WHERE a = :n OR a = :n + 1", {"n": 7})
    assert cursor.fetchall() == [("x", 7)]


def test_changed_rows_are_counted(cursor, connection, table):
    cursor.execute(f"CREATE TABLE {table} (a INTEGER)")
    cursor.executemany(f"INSERT INTO {table} VALUES (?)", [(n,) for n in range(100)])
    assert cursor.rowcount == 100
    connection.commit()
    cursor.execute(f"UPDATE {table} SET a = a + 1000 WHERE a < 30")
    assert cursor.rowcount == 30
    connection.rollback()
    cursor.execute(f"SELECT MAX(a), COUNT(*) FROM {table}")
    assert cursor.fetchone() == (99, 100)


def test_autocommit(uri, cursor, table):
    cursor.execute(f"CREATE TABLE {table} (a INTEGER)")
    with dbapi.connect(uri, autocommit=True) as other, other.cursor() as writer:
        writer.execute(f"INSERT INTO {table} VALUES (1)")
        cursor.execute(f"SELECT a FROM {table}")
        assert cursor.fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("sql", "error", "sqlstate"),
    [
        ("SELECT * FROM NO_SUCH_TABLE", dbapi.ProgrammingError, "42S02"),
        ("SELEKT 1", dbapi.ProgrammingError, "42000"),
        ("SELECT 1 / 0 FROM RDB$DATABASE", dbapi.DataError, "22012"),
        ("SELECT CAST('x' AS INTEGER) FROM RDB$DATABASE", dbapi.DataError, "22018"),
    ],
)
def test_errors_have_their_class_and_state(cursor, sql, error, sqlstate):
    with pytest.raises(error) as found:
        cursor.execute(sql)
        cursor.fetchall()
    assert found.value.sqlstate == sqlstate
    assert int(details(found.value)["firebird.gds"]) >= 335544320


def test_constraints_are_integrity_errors(cursor, connection, table):
    cursor.execute(f"CREATE TABLE {table} (a INTEGER NOT NULL CONSTRAINT PK_{table} PRIMARY KEY)")
    cursor.execute(f"INSERT INTO {table} VALUES (1)")
    with pytest.raises(dbapi.IntegrityError) as found:
        cursor.execute(f"INSERT INTO {table} VALUES (1)")
    assert details(found.value)["firebird.constraint"] == f"PK_{table}"
    connection.rollback()


def test_login_errors_show_no_password(uri):
    if "@" not in uri:
        pytest.skip("there is no login to an embedded engine")
    head, tail = uri.split("@", 1)
    wrong = head.rsplit(":", 1)[0] + ":s3cr3t@" + tail
    with pytest.raises(dbapi.ProgrammingError) as found:
        dbapi.connect(wrong)
    assert "s3cr3t" not in str(found.value)


def test_clear_text_is_a_warning(uri):
    if uri.startswith("firebird:///"):
        pytest.skip("there is no wire to an embedded engine")
    dbapi.connect(f"{uri}&wire_crypt=disabled").close()
    with pytest.warns(RuntimeWarning, match="not encrypted"):
        dbapi.connect(f"{uri}&wire_crypt=disabled&clear_text_warning=always").close()


def test_cancel_ends_a_long_query(cursor):
    stop = threading.Timer(0.5, cursor.adbc_cancel)
    begin = time.monotonic()
    stop.start()
    with pytest.raises(dbapi.OperationalError) as found:
        cursor.execute(
            "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e"
        )
        cursor.fetchall()
    stop.join()
    assert time.monotonic() - begin < 20
    assert "ancel" in str(found.value)
    cursor.execute("SELECT 1 FROM RDB$DATABASE")
    assert cursor.fetchone() == (1,)


def test_metadata(connection, cursor, table):
    cursor.execute(f'CREATE TABLE {table} (a INTEGER NOT NULL PRIMARY KEY, "b c" NUMERIC(10,2))')
    schema = connection.adbc_get_table_schema(table)
    assert [(field.name, str(field.type)) for field in schema] == [
        ("A", "int32"),
        ("b c", "decimal128(10, 2)"),
    ]
    with pytest.raises(dbapi.ProgrammingError) as found:
        connection.adbc_get_table_schema(table.lower())
    assert found.value.sqlstate == "42S02"
    objects = connection.adbc_get_objects(table_name_filter=table).read_all().to_pylist()
    assert len(objects) == 1
    [found] = objects[0]["catalog_db_schemas"][0]["db_schema_tables"]
    assert (found["table_name"], found["table_type"]) == (table, "TABLE")
    assert [column["column_name"] for column in found["table_columns"]] == ["A", "b c"]
    assert [
        (each["constraint_type"], each["constraint_column_names"]) for each in found["table_constraints"]
    ] == [("PRIMARY KEY", ["A"])]
    info = connection.adbc_get_info()
    assert (info["vendor_name"], info["driver_name"]) == ("Firebird", "ADBC Firebird Driver")
    assert "VIEW" in connection.adbc_get_table_types()
    statistics = connection.adbc_get_statistics(table_name_filter=table, approximate=False)
    [entry] = statistics.read_all().to_pylist()
    counts = entry["catalog_db_schemas"][0]["db_schema_statistics"]
    assert {"A", "b c", None} == {each["column_name"] for each in counts}


def test_statement_options(cursor):
    cursor.adbc_statement.set_options(**{StatementOptions.QUERY_BATCH_ROWS.value: "7"})
    assert cursor.adbc_statement.get_option(StatementOptions.QUERY_BATCH_ROWS.value) == "7"
    cursor.execute("SELECT RDB$FIELD_NAME FROM RDB$FIELDS")
    assert {batch.num_rows for batch in cursor.fetch_record_batch()} <= set(range(1, 8))
