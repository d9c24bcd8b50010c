"""Commits and rolls back with pyodbc."""

import pyodbc

one = pyodbc.connect("DSN=fb")
two = pyodbc.connect("DSN=fb", readonly=True)


def names(connection):
    names = [row.NAME for row in connection.execute("SELECT NAME FROM PARENT ORDER BY ID")]
    connection.commit()
    return names


one.execute("INSERT INTO PARENT VALUES (1, 'kept')")
assert names(two) == []
one.commit()
assert names(two) == ["kept"]

one.execute("INSERT INTO PARENT VALUES (2, 'lost')")
one.rollback()
assert names(one) == ["kept"]

# A statement that fails takes nothing else with it.
one.execute("UPDATE PARENT SET NAME = 'changed' WHERE ID = 1")
try:
    one.execute("INSERT INTO PARENT VALUES (1, 'again')")
except pyodbc.IntegrityError as error:
    assert error.args[0] == "23000", error.args
else:
    raise AssertionError("the key is there already")
one.execute("UPDATE PARENT SET NAME = 'kept' WHERE ID = 1")
one.commit()

one.autocommit = True
one.execute("INSERT INTO PARENT VALUES (3, 'auto')")
assert names(two) == ["kept", "auto"]
one.autocommit = False

# Prepared statements outlive a commit; several cursors are open at once.
first, second = one.cursor(), one.cursor()
first.execute("SELECT ID FROM KINDS ORDER BY ID")
second.execute("SELECT ID FROM PARENT ORDER BY ID")
assert [first.fetchval(), second.fetchval(), first.fetchval(), second.fetchval()] == [1, 1, 2, 3]
one.commit()
for i in range(3):
    assert first.execute("SELECT ID FROM KINDS WHERE ID = ?", i + 1).fetchval() == i + 1
    one.commit()

with pyodbc.connect("DSN=fb") as third:
    third.execute("INSERT INTO PARENT VALUES (4, 'gone')")
    third.rollback()

for level in [pyodbc.SQL_TXN_READ_COMMITTED, pyodbc.SQL_TXN_REPEATABLE_READ]:
    two.set_attr(pyodbc.SQL_ATTR_TXN_ISOLATION, level)
    assert names(two) == ["kept", "auto"]
try:
    two.execute("INSERT INTO PARENT VALUES (5, 'read only')")
except pyodbc.Error as error:
    assert error.args[0] == "25000", error.args
else:
    raise AssertionError("a read-only connection has written")
print("ok")
