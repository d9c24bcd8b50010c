"""Databases of SQL dialect 1."""

import pyarrow as pa
from adbc_driver_firebird import DatabaseOptions, dbapi


def test_dialect_1(uri):
    # Use a separate database next to the shared one: the file name is the last part before the options.
    address, options = uri.split("?", 1)
    old = f"{address}.dialect1?{options}"
    with dbapi.connect(old, {DatabaseOptions.DIALECT.value: "1"}, autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute('SELECT 7 / 2, "text" FROM RDB$DATABASE')
            assert [(half, text.rstrip()) for half, text in cursor.fetchall()] == [(3.5, "text")]
            frame = pa.table({"ID": pa.array([1, None], pa.int32()), "NAME": ["a", "ä"]})
            assert cursor.adbc_ingest("PEOPLE", frame, mode="replace") == 2
            cursor.execute('SELECT ID, NAME FROM PEOPLE WHERE NAME = "ä"')
            assert cursor.fetchall() == [(None, "ä")]
