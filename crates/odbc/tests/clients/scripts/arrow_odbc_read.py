"""Reads with arrow-odbc, and compares with values that were written as literals."""

import datetime
from decimal import Decimal

import arrow_odbc


def read(query, **options):
    reader = arrow_odbc.read_arrow_batches_from_odbc(query=query, connection_string="DSN=fb", **options)
    return [row for batch in reader for row in batch.to_pylist()], reader.schema


moment = datetime.datetime
# The client has room for the declared digits of a NUMERIC, of which Firebird keeps more.
rows, schema = read(
    """SELECT ID, I16, I32, I64, IIF(ID IN (2, 3), NULL, N9) AS N9, IIF(ID IN (2, 3), NULL, N18) AS N18, F32, F64, B, DT,
        TM, TS, C, V, O FROM KINDS ORDER BY ID""",
    batch_size=2,
)
types = {field.name: str(field.type) for field in schema}
assert types["I16"] == "int16" and types["I64"] == "int64" and types["N18"] == "decimal128(18, 4)", types
assert types["F32"] == "float" and types["F64"] == "double" and types["B"] == "bool" and types["DT"] == "date32[day]", types
assert types["V"] == "string" and types["O"] == "binary", types
assert not schema.field("ID").nullable and schema.field("V").nullable
first = {name: value for name, value in rows[0].items() if name not in ("TM", "TS")}
assert first == {
    "ID": 1, "I16": 7, "I32": -70000, "I64": 1234567890123, "N9": Decimal("12.34"), "N18": Decimal("-1234.5678"),
    "F32": 0.5, "F64": 3.141592653589793, "B": True, "DT": datetime.date(2024, 2, 29), "C": "ab   ", "V": "Zoë €😀",
    "O": b"\x00\xff\x10\x80",
}, first
assert rows[0]["TM"] == datetime.time(23, 59, 58, 123400), rows[0]
assert rows[0]["TS"] == moment(2024, 2, 29, 1, 2, 3, 456700), rows[0]
assert [row["I64"] for row in rows] == [1234567890123, 2**63 - 1, -(2**63), None, 0]
assert [row["N18"] for row in rows] == [Decimal("-1234.5678"), None, None, None, Decimal(0)]
assert [row["V"] for row in rows] == ["Zoë €😀", "ß" * 40, " z ", None, ""]
assert rows[1]["DT"] == datetime.date(9999, 12, 31) and rows[2]["DT"] == datetime.date(1, 1, 1)
assert all(value is None for name, value in rows[3].items() if name != "ID")

# Long columns, within a limit of the client's.
rows, _ = read("SELECT BT, BB FROM KINDS ORDER BY ID", batch_size=10, max_text_size=1000, max_binary_size=1000)
assert [row["BT"] for row in rows] == ["long text é😀", "b", " ", None, ""]
assert [row["BB"] for row in rows] == [b"\x00\x01\xff", b"\xff", b"\x00", None, b""]

# Many rows, in batches that do not divide them.
query = """WITH RECURSIVE N AS (SELECT 0 I FROM RDB$DATABASE UNION ALL SELECT I + 1 FROM N WHERE I < 99)
    SELECT A.I * 100 + B.I AS V, CAST(A.I * 100 + B.I AS VARCHAR(10)) AS T FROM N A, N B ORDER BY 1"""
rows, _ = read(query, batch_size=777)
assert [(row["V"], row["T"]) for row in rows] == [(i, str(i)) for i in range(10_000)]

# Parameters.
rows, _ = read("SELECT V FROM KINDS WHERE ID = ? AND V = ?", batch_size=1, parameters=["1", "Zoë €😀"])
assert rows == [{"V": "Zoë €😀"}], rows
print("ok")
