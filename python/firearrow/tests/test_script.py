"""Scripts as statements."""

from __future__ import annotations

import pytest

from firearrow._script import statements


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        (" ; ;\n-- nothing;\n", []),
        ("SELECT 1", ["SELECT 1"]),
        ("A b; C d;", ["A b", "C d"]),
        ("INSERT INTO t VALUES ('a;b''c;'); X", ["INSERT INTO t VALUES ('a;b''c;')", "X"]),
        ('CREATE TABLE "a;b" (n INT); X', ['CREATE TABLE "a;b" (n INT)', "X"]),
        ("A -- b; c\n; D /* e; f */ g", ["A -- b; c", "D /* e; f */ g"]),
        ("X q'(a;'b)'; Y", ["X q'(a;'b)'", "Y"]),
        (
            "SET TERM ^ ; A; b ^ C ^ SET TERM ; ^ D; E",
            ["A; b", "C", "D", "E"],
        ),
        ("set term !!;A;b!!\nset term ;!!\nC;", ["A;b", "C"]),
        (
            "CREATE OR ALTER PROCEDURE p AS DECLARE n INT; BEGIN IF (1=1) THEN "
            "BEGIN n = CASE WHEN 1=1 THEN 2 END; END END; X;",
            [
                "CREATE OR ALTER PROCEDURE p AS DECLARE n INT; BEGIN IF (1=1) THEN "
                "BEGIN n = CASE WHEN 1=1 THEN 2 END; END END",
                "X",
            ],
        ),
        ("EXECUTE BLOCK AS BEGIN x = 'END;'; END; Y", ["EXECUTE BLOCK AS BEGIN x = 'END;'; END", "Y"]),
        ("CREATE FUNCTION f RETURNS INT EXTERNAL NAME 'a!b' ENGINE udr; X", None),
        ("CREATE TABLE begin_of (n INT); X", ["CREATE TABLE begin_of (n INT)", "X"]),
        ("ALTER TABLE t ADD case_number INT; X", ["ALTER TABLE t ADD case_number INT", "X"]),
    ],
)
def test_statements(script: str, expected: list[str] | None) -> None:
    found = list(statements(script))
    if expected is None:
        assert len(found) == 2 and found[1] == "X"
    else:
        assert found == expected
