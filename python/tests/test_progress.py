"""Counters that another thread reads while a statement executes, and databases of dialect 1."""

import threading

import pyarrow as pa
from adbc_driver_firebird import DatabaseOptions, StatementOptions, dbapi


def test_progress_of_an_ingestion(connection):
    batch = pa.record_batch({"n": pa.array(range(1000))})
    arrived, opened = threading.Event(), threading.Event()

    def batches():
        yield from [batch] * 3
        arrived.set()
        assert opened.wait(60)
        yield batch

    reader = pa.RecordBatchReader.from_batches(batch.schema, batches())
    with connection.cursor() as cursor:
        counts = []

        def ingest():
            counts.append(cursor.adbc_ingest("progress", reader, mode="replace"))

        work = threading.Thread(target=ingest)
        work.start()
        try:
            assert arrived.wait(60)
            assert cursor.adbc_statement.get_option_float("adbc.statement.exec.progress") == 3000.0
            assert cursor.adbc_statement.get_option_int(StatementOptions.STATS_ROWS.value) == 3000
        finally:
            opened.set()
            work.join(60)
        assert counts == [4000]


def test_dialect_1(uri):
    # A database of its own next to the shared one: the file name is the last part before the options.
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
