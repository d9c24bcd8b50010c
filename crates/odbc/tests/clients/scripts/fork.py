"""A process that forks while it has a connection: the child cannot use it, and the parent goes on with it."""

import os

import pyodbc

connection = pyodbc.connect("DSN=fb", autocommit=False)
cursor = connection.cursor()
cursor.execute("INSERT INTO PARENT VALUES (100, 'before')")
rows = connection.cursor()
rows.execute("SELECT RDB$RELATION_ID FROM RDB$RELATIONS")
first = rows.fetchone()

child = os.fork()
if child == 0:
    status = 1
    try:
        try:
            cursor.execute("INSERT INTO PARENT VALUES (101, 'child')")
        except pyodbc.Error:
            status = 0
        # Neither do destructors harm the parent.
        del rows, cursor, connection
    finally:
        os._exit(status)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

assert first is not None and len(rows.fetchall()) > 10
cursor.execute("INSERT INTO PARENT VALUES (102, 'after')")
connection.commit()
cursor.execute("SELECT ID FROM PARENT WHERE ID >= 100 ORDER BY ID")
assert [row[0] for row in cursor.fetchall()] == [100, 102]
connection.close()
print("ok")
