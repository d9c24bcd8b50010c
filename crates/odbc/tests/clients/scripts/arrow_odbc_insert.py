"""Inserts record batches with arrow-odbc."""

import datetime
from decimal import Decimal

import arrow_odbc
import pyarrow

ROWS = 2_500


def execute(sql):
    assert arrow_odbc.read_arrow_batches_from_odbc(query=sql, batch_size=1, connection_string="DSN=fb") is not None


execute("""CREATE TABLE ARROW (ID INTEGER, N NUMERIC(18, 2), V VARCHAR(30) CHARACTER SET UTF8, F DOUBLE PRECISION, D DATE,
    TS TIMESTAMP, B BOOLEAN, O VARCHAR(8) CHARACTER SET OCTETS)""")

schema = pyarrow.schema([
    ("ID", pyarrow.int32()), ("N", pyarrow.decimal128(18, 2)), ("V", pyarrow.string()), ("F", pyarrow.float64()),
    ("D", pyarrow.date32()), ("TS", pyarrow.timestamp("ms")), ("B", pyarrow.bool_()), ("O", pyarrow.binary()),
])


def row(i):
    return {
        "ID": i,
        "N": Decimal(i) / 100 if i % 5 else None,
        "V": f"é{i}😀"[: 3 + i % 7] if i % 5 else None,
        "F": i / 7 if i % 5 else None,
        "D": datetime.date(1900, 1, 1) + datetime.timedelta(i) if i % 5 else None,
        "TS": datetime.datetime(2000, 1, 1) + datetime.timedelta(milliseconds=i * 86400001) if i % 5 else None,
        "B": i % 2 == 0 if i % 5 else None,
        "O": bytes([i % 256]) * (i % 8) if i % 5 else None,
    }


rows = [row(i) for i in range(ROWS)]
batches = [pyarrow.RecordBatch.from_pylist(rows[at : at + 900], schema) for at in range(0, ROWS, 900)]
reader = pyarrow.RecordBatchReader.from_batches(schema, batches)
arrow_odbc.insert_into_table(reader=reader, chunk_size=1000, table="ARROW", connection_string="DSN=fb")

reader = arrow_odbc.read_arrow_batches_from_odbc(
    query="SELECT * FROM ARROW ORDER BY ID", batch_size=1000, connection_string="DSN=fb"
)
found = [row for batch in reader for row in batch.to_pylist()]
assert len(found) == ROWS
for expected, got in zip(rows, found):
    assert expected == got, (expected, got)
print("ok")
