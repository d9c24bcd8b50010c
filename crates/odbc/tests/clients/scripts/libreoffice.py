"""Reads and writes through LibreOffice's ODBC component."""

import os
import subprocess
import sys
import time
from pathlib import Path

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.sdbc import SQLException

MAJOR = int(os.environ["FIREBIRD_MAJOR"])
TABLE = 0
PIPE = f"firearrow-{os.getpid()}"

office = subprocess.Popen(
    [
        "soffice", "--headless", "--norestore", "--nologo", "--nolockcheck", "--nodefault",
        f"-env:UserInstallation={(Path.cwd() / 'profile').as_uri()}", f"--accept=pipe,name={PIPE};urp;",
    ],
    stdout=subprocess.DEVNULL,
)


def connect():
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    for _ in range(600):
        try:
            return resolver.resolve(f"uno:pipe,name={PIPE};urp;StarOffice.ComponentContext")
        except Exception:
            if office.poll() not in (None, 81):
                raise
            time.sleep(0.1)
    raise TimeoutError("LibreOffice does not start")


def rows(result, *kinds):
    found = []
    while result.next():
        row = []
        for at, kind in enumerate(kinds):
            value = getattr(result, f"get{kind}")(at + 1)
            row.append(None if result.wasNull() else value)
        found.append(tuple(row))
    return found


def check(context):
    manager = context.ServiceManager.createInstance("com.sun.star.sdbc.DriverManager")
    # It takes narrow text for that of the locale, if nothing else is set.
    settings = (PropertyValue("CharSet", 0, "UTF-8", uno.Enum("com.sun.star.beans.PropertyState", "DIRECT_VALUE")),)
    db = manager.getConnectionWithInfo("sdbc:odbc:fb", settings)
    facts = db.getMetaData()
    assert facts.getDatabaseProductName() == "Firebird", facts.getDatabaseProductName()
    statement = db.createStatement()

    result = statement.executeQuery("SELECT ID, I64, N18, F64, B, V, BT FROM KINDS ORDER BY ID")
    found = rows(result, "Int", "String", "String", "Double", "Boolean", "String", "String")
    assert found == [
        (1, "1234567890123", "-1234.5678", 3.141592653589793, True, "Zoë €😀", "long text é😀"),
        (2, "9223372036854775807", "922337203685477.5807", 1.7976931348623157e308, False, "ß" * 40, "b"),
        (3, "-9223372036854775808", "-922337203685477.5808", -1.7976931348623157e308, False, " z ", " "),
        (4,) + (None,) * 6,
        (5, "0", "0.0000", 0.0, False, "", ""),
    ], found
    result = statement.executeQuery("SELECT DT, TS FROM KINDS WHERE ID = 1")
    assert result.next()
    day, moment = result.getDate(1), result.getTimestamp(2)
    assert (day.Year, day.Month, day.Day) == (2024, 2, 29)
    assert (moment.Year, moment.Hours, moment.Seconds, moment.NanoSeconds) == (2024, 1, 3, 456700000), moment

    # What a table of Base does.
    source = context.ServiceManager.createInstance("com.sun.star.sdb.DatabaseContext").createInstance()
    source.URL, source.Info = "sdbc:odbc:fb", settings
    grid = context.ServiceManager.createInstance("com.sun.star.sdb.RowSet")
    grid.ActiveConnection = source.getConnection("", "")
    grid.CommandType, grid.Command = TABLE, "CHILD"
    grid.execute()
    for key in [10, 20, 30]:
        grid.moveToInsertRow()
        grid.updateInt(1, key)
        grid.insertRow()
    assert grid.last() and (grid.getInt(1), grid.getRow()) == (30, 3)
    assert grid.absolute(2) and grid.getInt(1) == 20
    grid.updateInt(1, 21)
    grid.updateRow()
    assert grid.previous() and grid.getInt(1) == 10
    grid.deleteRow()
    grid.ActiveConnection.close()
    assert rows(statement.executeQuery("SELECT ID FROM CHILD ORDER BY ID"), "Int") == [(21,), (30,)]

    insert = db.prepareStatement("INSERT INTO PARENT VALUES (?, ?)")
    for key, name in [(1, "Zoë €😀"), (2, "second")]:
        insert.setInt(1, key)
        insert.setString(2, name)
        assert insert.executeUpdate() == 1
    db.setAutoCommit(False)
    insert.setInt(1, 3)
    insert.setString(2, "lost")
    insert.executeUpdate()
    db.rollback()
    insert.setInt(1, 4)
    insert.setString(2, "kept")
    insert.executeUpdate()
    db.commit()
    db.setAutoCommit(True)

    tables = rows(facts.getTables(None, "%", "%", ("TABLE",)), "String", "String", "String", "String")
    assert {name for _, _, name, _ in tables} == {"KINDS", "PARENT", "CHILD"} | (
        {"NEW_KINDS"} if MAJOR >= 4 else set()
    ), tables
    columns = rows(facts.getColumns(None, "%", "PARENT", "%"), *["String"] * 4)
    assert [row[3] for row in columns] == ["ID", "NAME"], columns
    keys = rows(facts.getPrimaryKeys(None, "", "PARENT"), *["String"] * 6)
    assert [(row[3], row[5]) for row in keys] == [("ID", "PARENT_KEY")], keys
    types = rows(facts.getTypeInfo(), "String")
    assert ("VARCHAR",) in types and ("BLOB SUB_TYPE TEXT",) in types, types

    try:
        db.createStatement().executeQuery("SELECT * FROM NOWHERE")
    except SQLException as error:
        assert error.SQLState == "42S02" and "NOWHERE" in error.Message, error
    else:
        raise AssertionError("it did not fail")
    db.close()


try:
    context = connect()
    check(context)
    try:
        context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context).terminate()
    except Exception:
        pass  # It may be gone before it answers.
    office.wait(30)
finally:
    if office.poll() is None:
        # soffice is a script around the program, which ends with its pipe.
        subprocess.run(["pkill", "-P", str(office.pid)], check=False)
        office.kill()
print("ok")
sys.stdout.flush()
