"""Counters that another thread reads while a statement executes."""

import threading

import pyarrow as pa
from adbc_driver_firebird import StatementOptions


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
