"""The example of docs/odbc.md, with the name of the test's data source."""

import re
import sys
import warnings

import pyodbc

with open(sys.argv[1], encoding="utf-8") as document:
    example = re.search(r"```python\n(.*?)```", document.read(), re.DOTALL)[1]
example = example.replace("DSN=Shop;UID=alice;PWD=…", "DSN=fb")

prepared = pyodbc.connect("DSN=fb", autocommit=True)
prepared.execute("CREATE TABLE CUSTOMERS (ID INTEGER, NAME VARCHAR(20), CITY VARCHAR(20))")
prepared.execute("INSERT INTO CUSTOMERS VALUES (1001, 'Bianchi', 'Rome')")
prepared.execute("CREATE TABLE VISITS (CUSTOMER INTEGER, SECONDS INTEGER)")

# pandas warns that the connection is not SQLAlchemy's.
warnings.simplefilter("ignore")
names = {}
exec(example, names)
frame = names["frame"]
assert list(frame.columns) == ["CUSTOMER", "SECONDS"], frame
assert frame.values.tolist() == [[2, 35]], frame
assert names["row"].NAME == "Bianchi"
assert names["cursor"].messages == [], names["cursor"].messages
print("ok")
