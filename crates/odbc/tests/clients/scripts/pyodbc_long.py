"""Long text and binary data with pyodbc, which reads them in pieces."""

import pyodbc

connection = pyodbc.connect("DSN=fb", autocommit=True)
cursor = connection.cursor()
cursor.execute("CREATE TABLE LONG_VALUES (T BLOB SUB_TYPE TEXT CHARACTER SET UTF8, D BLOB SUB_TYPE BINARY)")
# Pieces end within characters of two and of four bytes.
text = "aé" * 500_000 + "😀é" + "b"
data = bytes(i * i % 251 for i in range(3_000_000))
cursor.execute("INSERT INTO LONG_VALUES VALUES (?, ?)", text, data)
row = cursor.execute("SELECT T, D, CHAR_LENGTH(T), T FROM LONG_VALUES").fetchone()
assert row[0] == text and row[3] == text
assert row[1] == data
assert row[2] == len(text)

# Many of them, of lengths around those of buffers.
cursor.execute("CREATE TABLE PIECES (ID INTEGER, T BLOB SUB_TYPE TEXT CHARACTER SET UTF8)")
lengths = [0, 1, 2, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 4094, 4095, 4096, 4097, 32767, 32768, 65535, 65536]
for length in lengths:
    cursor.execute("INSERT INTO PIECES VALUES (?, ?)", length, ("xé€😀" * (length // 4 + 1))[:length])
for length, text in cursor.execute("SELECT ID, T FROM PIECES ORDER BY ID"):
    assert text == ("xé€😀" * (length // 4 + 1))[:length], length

# The longest VARCHAR.
cursor.execute("CREATE TABLE WIDE (V VARCHAR(8191) CHARACTER SET UTF8)")
for value in ["😀" * 8191, "x" * 8191]:
    cursor.execute("DELETE FROM WIDE")
    cursor.execute("INSERT INTO WIDE VALUES (?)", value)
    assert cursor.execute("SELECT V FROM WIDE").fetchval() == value
print("ok")
