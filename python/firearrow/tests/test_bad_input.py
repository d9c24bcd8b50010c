"""SQL texts and options that make no sense: each is an error, and the connection goes on."""

from __future__ import annotations

from typing import Any

import pytest
from statements import works

import firearrow


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT '\ud800' FROM RDB$DATABASE", "lone surrogate"),
        ("SELECT 1 FROM RDB$DATABASE\0", "NUL"),
        ("\0", "NUL"),
        ("SELECT " + "(" * 200 + "1" + ")" * 199 + " FROM RDB$DATABASE", ""),
        ("SELECT '" + "x" * 100_000 + "' FROM RDB$DATABASE", ""),
        ("SELECT 'open FROM RDB$DATABASE", ""),
        ("/* open", ""),
        ("?", ""),
        (":", ""),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_sql_that_is_none(connection: firearrow.Connection, sql: str, words: str) -> None:
    with pytest.raises(firearrow.Error) as caught:
        connection.execute(sql)
    assert words in str(caught.value)
    with pytest.raises(firearrow.Error):
        connection.executemany(sql, [(1,)])
    with pytest.raises(firearrow.Error):
        connection.execute(sql, {"name": 1})
    assert works(connection)


@pytest.mark.parametrize("sql", [None, 5, b"SELECT 1 FROM RDB$DATABASE", ["SELECT 1"]], ids=repr)
def test_sql_of_the_wrong_class(connection: firearrow.Connection, sql: Any) -> None:
    with pytest.raises(firearrow.ProgrammingError, match=f"SQL must be a str, not {type(sql).__name__}"):
        connection.execute(sql)
    with pytest.raises(firearrow.ProgrammingError, match=f"SQL must be a str, not {type(sql).__name__}"):
        connection.executemany(sql, [])
    assert works(connection)


@pytest.mark.parametrize(
    "options",
    [
        {"parallel": -1},
        {"parallel": 2**100},
        {"read": {"blobs": "sometimes"}},
        {"read": {"max_blob": -1}},
        {"read": {"nothing": 1}},
    ],
    ids=repr,
)
def test_options_of_executions(connection: firearrow.Connection, options: Any) -> None:
    with pytest.raises(firearrow.ProgrammingError):
        connection.execute("SELECT 1 FROM RDB$DATABASE", **options)
    assert works(connection)


def test_numbers_out_of_range(connection: firearrow.Connection, table: str) -> None:
    for number in (-1, 2**64, 10**5000):
        with pytest.raises(firearrow.ProgrammingError, match="out of range"):
            connection.begin(snapshot=number)
        with pytest.raises(firearrow.ProgrammingError, match="out of range"):
            connection.open_blob(number)
    with pytest.raises(firearrow.ProgrammingError, match="out of range"):
        connection.cursor().ingest(object(), table, text=-1)
    with pytest.raises(firearrow.ProgrammingError):
        connection.begin(isolation="nothing")
    assert works(connection)


@pytest.mark.parametrize("option", ["timeout", "parallel", "read"])
def test_options_of_the_wrong_class(connection: firearrow.Connection, option: str) -> None:
    with pytest.raises(TypeError):
        connection.execute("SELECT 1 FROM RDB$DATABASE", **{option: "soon"})
    assert works(connection)
