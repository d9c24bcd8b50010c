"""Catalog functions with pyodbc."""

import os

import pyodbc

MAJOR = int(os.environ["FIREBIRD_MAJOR"])

connection = pyodbc.connect("DSN=fb", autocommit=True)
cursor = connection.cursor()

tables = {(row.table_name, row.table_type) for row in cursor.tables()}
assert {("KINDS", "TABLE"), ("PARENT", "TABLE"), ("RDB$RELATIONS", "SYSTEM TABLE")} <= tables
assert [row.table_name for row in cursor.tables(tableType="TABLE", table="%A%")] == ["PARENT"]
assert [row.table_name for row in cursor.tables(tableType="VIEW")] == []
assert {row.table_type for row in cursor.tables(catalog="", schema="", table="", tableType="%")} >= {"TABLE", "VIEW", "SYSTEM TABLE"}

columns = cursor.columns(table="KINDS").fetchall()
assert [row.column_name for row in columns][:6] == ["ID", "I16", "I32", "I64", "N9", "N18"]
assert [row.ordinal_position for row in columns] == list(range(1, 18))
facts = {row.column_name: (row.data_type, row.type_name, row.column_size, row.decimal_digits) for row in columns}
assert facts["ID"] == (pyodbc.SQL_INTEGER, "INTEGER", 10, 0), facts
assert facts["N9"] == (pyodbc.SQL_NUMERIC, "NUMERIC", 9, 2), facts
assert facts["V"] == (pyodbc.SQL_WVARCHAR, "VARCHAR", 40, None), facts
assert facts["BT"][:2] == (pyodbc.SQL_WLONGVARCHAR, "BLOB SUB_TYPE TEXT"), facts
assert facts["BB"][:2] == (pyodbc.SQL_LONGVARBINARY, "BLOB SUB_TYPE BINARY"), facts
assert facts["TS"] == (pyodbc.SQL_TYPE_TIMESTAMP, "TIMESTAMP", 24, 4), facts
# Results are described as the catalog describes their columns.
described = {row[0]: row[1:4] for row in cursor.execute("SELECT * FROM KINDS").description}
assert described["V"][2] == facts["V"][2]

(name,) = [row for row in cursor.columns(table="PARENT", column="NAME")]
assert (name.column_def, name.is_nullable, name.nullable) == ("'none'", "NO", 0)
(identifier,) = [row for row in cursor.columns(table="PARENT", column="ID")]
assert identifier.column_def is None

assert [(row.column_name, row.key_seq, row.pk_name) for row in cursor.primaryKeys("PARENT")] == [("ID", 1, "PARENT_KEY")]
(key,) = cursor.foreignKeys(foreignTable="CHILD").fetchall()
assert (key.pktable_name, key.pkcolumn_name, key.fktable_name, key.fkcolumn_name) == ("PARENT", "ID", "CHILD", "PARENT")
assert (key.delete_rule, key.fk_name, key.pk_name) == (0, "CHILD_PARENT", "PARENT_KEY")
assert len(cursor.foreignKeys(table="PARENT").fetchall()) == 1

indexes = {(row.index_name, row.column_name, row.non_unique) for row in cursor.statistics("PARENT") if row.index_name}
assert {("PARENT_KEY", "ID", 0), ("PARENT_NAME", "NAME", 0)} <= indexes, indexes
assert [row.column_name for row in cursor.rowIdColumns("PARENT")] == ["ID"]
assert cursor.rowVerColumns("PARENT").fetchall() == []

(procedure,) = [row for row in cursor.procedures(procedure="DIVIDE")]
assert (procedure.num_input_params, procedure.num_output_params) == (2, 2)
parameters = [(row.column_name, row.column_type, row.ordinal_position) for row in cursor.procedureColumns("DIVIDE")]
assert parameters == [("A", 1, 1), ("B", 1, 2), ("QUOTIENT", 4, 3), ("REMAINDER", 4, 4)], parameters

types = {row.type_name for row in cursor.getTypeInfo()}
assert {"INTEGER", "VARCHAR", "BOOLEAN", "TIMESTAMP", "BLOB SUB_TYPE TEXT"} <= types
assert ("INT128" in types) == (MAJOR >= 4)
assert cursor.getTypeInfo(pyodbc.SQL_VARCHAR).fetchone().type_name == "VARCHAR"
print("ok")
