"""Errors, time limits and cancellation with pyodbc."""

import os
import threading
import time

import pyodbc

SLOW = """SELECT COUNT(*) FROM RDB$FIELDS A, RDB$FIELDS B, RDB$FIELDS C, RDB$FIELDS D, RDB$FIELDS E"""

connection = pyodbc.connect("DSN=fb", autocommit=True)
cursor = connection.cursor()


def fails(kind, state, text, sql, *values):
    try:
        # Some come with the rows.
        rows = cursor.execute(sql, *values)
        if rows.description:
            rows.fetchall()
    except kind as error:
        assert error.args[0] == state, error.args
        assert text in error.args[1] and "[firearrow][Firebird ODBC Driver]" in error.args[1], error.args
    else:
        raise AssertionError(f"{sql} did not fail")


fails(pyodbc.ProgrammingError, "42000", "Token unknown", "SELEC 1")
fails(pyodbc.ProgrammingError, "42S02", "NÖWHERE", 'SELECT * FROM "NÖWHERE"')
fails(pyodbc.ProgrammingError, "42S22", "NOTHING", "SELECT NOTHING FROM KINDS")
fails(pyodbc.ProgrammingError, "42S01", "PARENT", "CREATE TABLE PARENT (ID INTEGER)")
fails(pyodbc.DataError, "22012", "zero", "SELECT 1 / (ID - ID) FROM KINDS")
fails(pyodbc.DataError, "22018", "abc", "SELECT CAST('abc' AS INTEGER) FROM RDB$DATABASE")
fails(pyodbc.DataError, "22001", "", "INSERT INTO PARENT VALUES (1, ?)", "x" * 31)
fails(pyodbc.DataError, "22003", "", "INSERT INTO KINDS (ID, I16) VALUES (100, ?)", 40000)
fails(pyodbc.IntegrityError, "23000", "NAME", "INSERT INTO PARENT VALUES (1, NULL)")
fails(pyodbc.IntegrityError, "23000", "CHILD_PARENT", "INSERT INTO CHILD VALUES (1, 1)")
# And the connection is as good as before.
assert cursor.execute("SELECT COUNT(*) FROM KINDS").fetchval() == 5

# What is wrong with the login is said, too.
with open(os.environ["ODBCINI"]) as sources:
    EMBEDDED = "Client=" in sources.read()
for string, states in [
    ("DSN=fb;UID=nobody;PWD=wrong", {"28000"}),
    ("DSN=nothing like this", {"IM002"}),
    ("DSN=fb;Dbname=/no/such/folder/x.fdb", {"08001"}),
]:
    try:
        pyodbc.connect(string).close()
        # The embedded engine asks for no password.
        assert "UID" in string and EMBEDDED, string
    except pyodbc.Error as error:
        assert error.args[0] in states, error.args

# A time limit ends a statement.
connection.timeout = 1
begin = time.monotonic()
try:
    connection.execute(SLOW).fetchall()
except pyodbc.OperationalError as error:
    assert error.args[0] == "HYT00", error.args
else:
    raise AssertionError("the time limit was ignored")
assert time.monotonic() - begin < 5
connection.timeout = 0

# So does another thread.
cursor = connection.cursor()
timer = threading.Timer(0.5, cursor.cancel)
timer.start()
begin = time.monotonic()
try:
    cursor.execute(SLOW).fetchall()
except pyodbc.Error as error:
    assert error.args[0] == "HY008", error.args
else:
    raise AssertionError("it was not cancelled")
assert time.monotonic() - begin < 5
timer.join()
# A cancellation that comes late does not hit what comes next.
cursor.cancel()
assert cursor.execute("SELECT COUNT(*) FROM KINDS").fetchval() == 5
print("ok")
