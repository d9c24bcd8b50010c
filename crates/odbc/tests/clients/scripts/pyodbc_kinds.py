"""Reads values of every type with pyodbc."""

import datetime
import os
from decimal import Decimal

import pyodbc

MAJOR = int(os.environ["FIREBIRD_MAJOR"])

connection = pyodbc.connect("DSN=fb")
assert connection.getinfo(pyodbc.SQL_DBMS_NAME) == "Firebird"
assert connection.getinfo(pyodbc.SQL_DBMS_VER).startswith(f"{MAJOR:02}.")
cursor = connection.cursor()
rows = [tuple(row) for row in cursor.execute("SELECT * FROM KINDS ORDER BY ID")]
date, time, moment = datetime.date, datetime.time, datetime.datetime
assert rows[0] == (
    1, 7, -70000, 1234567890123, Decimal("12.34"), Decimal("-1234.5678"), 0.5, 3.141592653589793, True,
    date(2024, 2, 29), time(23, 59, 58, 123400), moment(2024, 2, 29, 1, 2, 3, 456700), "ab   ", "Zoë €😀",
    b"\x00\xff\x10\x80", "long text é😀", b"\x00\x01\xff",
), rows[0]
assert rows[1] == (
    2, 32767, 2147483647, 9223372036854775807, Decimal("21474836.47"), Decimal("922337203685477.5807"),
    3.4028234663852886e38, 1.7976931348623157e308, False, date(9999, 12, 31), time(23, 59, 59, 999900),
    moment(9999, 12, 31, 23, 59, 59, 999900), "äääää", "ß" * 40, b"\xff" * 4, "b", b"\xff",
), rows[1]
assert rows[2] == (
    3, -32768, -2147483648, -9223372036854775808, Decimal("-21474836.48"), Decimal("-922337203685477.5808"),
    -3.4028234663852886e38, -1.7976931348623157e308, False, date(1, 1, 1), time(0, 0), moment(1, 1, 1), "z    ",
    " z ", b"\0", " ", b"\0",
), rows[2]
assert rows[3] == (4,) + (None,) * 16, rows[3]
assert rows[4] == (
    5, 0, 0, 0, Decimal(0), Decimal(0), 0.0, 0.0, False, date(2000, 1, 1), time(12), moment(2000, 1, 1, 12), "     ",
    "", b"", "", b"",
), rows[4]
assert [str(value) for value in rows[4][4:6]] == ["0.00", "0.0000"]

described = {name: (kind, size, digits, nullable) for name, kind, _, size, _, digits, nullable in cursor.description}
assert described["ID"][0] is int and described["ID"][3] is False, described
assert described["N18"] == (Decimal, 18, 4, True), described
assert described["V"][:2] == (str, 40), described
assert described["O"][:2] == (bytearray, 4), described
assert described["TS"][0] is moment and described["TM"][0] is time and described["DT"][0] is date, described
assert described["B"][0] is bool and described["F32"][0] is float, described

if MAJOR >= 4:
    rows = [tuple(row) for row in cursor.execute("SELECT * FROM NEW_KINDS ORDER BY ID")]
    assert rows[0] == (
        1, Decimal(2**127 - 1), Decimal("1234567890123456789012345678.0123456789"), "1.5", "1.234567890123456789E-20",
        moment(2024, 2, 29, 12, 0, 0, 500000), time(12), bytes.fromhex("0123456789abcdef0123456789abcdef"),
    ), rows[0]
    assert rows[1] == (
        2, Decimal(-(2**127)), Decimal("-0.0000000001"), "-9.999999999999999E+384", "-1E-6143", None, None, None,
    ), rows[1]
    assert rows[2] == (3,) + (None,) * 7
print("ok")
