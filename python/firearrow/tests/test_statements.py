"""Statements of scripts: literals, routines with declarations, and long ones."""

from __future__ import annotations

import time

import pytest

from firearrow._script import statements

LOCAL = "DECLARE FUNCTION f RETURNS INT AS BEGIN RETURN 1; END"


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t VALUES (q'{it's; x}')",
        "INSERT INTO t VALUES (Q'[a;'b]', q'<c;'d>', q'!e;'f!', q'(g;'h)')",
        "SELECT seq'a', 'it''s; b' FROM t",
        'SELECT "a;""b;" FROM t',
        f"CREATE PROCEDURE p AS {LOCAL} DECLARE x INT; BEGIN x = f(); END",
        f"CREATE PROCEDURE p AS DECLARE x INT; {LOCAL} {LOCAL.replace('f', 'g')} BEGIN x = f(); END",
        f"CREATE PROCEDURE p AS DECLARE FUNCTION f RETURNS INT; DECLARE y INT; {LOCAL} BEGIN y = f(); END",
        "EXECUTE BLOCK AS DECLARE PROCEDURE q AS DECLARE z INT; BEGIN z = 1; END BEGIN z = 2; END",
        "CREATE PROCEDURE p AS DECLARE c CURSOR FOR (SELECT CASE WHEN 1=1 THEN 1 END n FROM t); BEGIN x; END",
        "CREATE PROCEDURE p (n INT = CASE WHEN 1=1 THEN 1 END) AS DECLARE m INT; BEGIN m = n; END",
        "CREATE PROCEDURE p AS BEGIN EXECUTE STATEMENT 'x' ON EXTERNAL 'y'; n = 1; END",
        "CREATE FUNCTION f RETURNS INT EXTERNAL NAME 'a!b' ENGINE udr AS 'x;y'",
        "ALTER TRIGGER t INACTIVE",
        "CREATE TRIGGER t FOR x ACTIVE BEFORE INSERT AS BEGIN new.n = 1; new.m = 2; END",
        "RECREATE PACKAGE p AS BEGIN PROCEDURE a; FUNCTION b RETURNS INT; END",
        f"CREATE PACKAGE BODY p AS BEGIN PROCEDURE a AS {LOCAL} DECLARE n INT; BEGIN n = 1; END "
        "FUNCTION b RETURNS INT AS BEGIN RETURN CASE 1 WHEN 1 THEN 2 END; END END",
    ],
)
def test_a_statement_is_whole(statement: str) -> None:
    script = f"X; {statement}; -- a comment; of no one's\n{statement} ; Y"
    assert list(statements(script)) == [
        "X",
        statement,
        f"-- a comment; of no one's\n{statement}",
        "Y",
    ]
    # The same with a terminator of its own.
    assert list(statements(f"SET TERM !! ; {statement}!!SET TERM ; !!Y;")) == [statement, "Y"]
    assert list(statements(f"SET TERM go ; {statement} go SET TERM ; go Y;")) == [statement, "Y"]


@pytest.mark.parametrize("rest", ["SELECT 1 /* ; x", "SELECT 'it; x", 'SELECT "it; x', "SELECT q'{a;'b"])
def test_what_is_not_closed_goes_to_the_end(rest: str) -> None:
    assert list(statements(f"A; {rest}")) == ["A", rest]


@pytest.mark.parametrize(
    "piece",
    [
        "/*",
        "'",
        '"',
        "q'(",
        "q'{ ",
        "SET TERM ;",
        "x;",
        "-- y;\n",
        "DECLARE FUNCTION f;",
        "( ",
        "CASE ",
        "BEGIN x; ",
    ],
)
def test_long_scripts_take_time_in_proportion(piece: str) -> None:
    for start in ("", "CREATE PROCEDURE p AS ", "EXECUTE BLOCK AS BEGIN "):
        begun = time.process_time()
        for statement in statements(start + piece * 40_000):
            assert statement
        # Quadratic would be minutes.
        assert time.process_time() - begun < 5
