"""What people read in notebooks and in logs."""

from __future__ import annotations

import pytest

import firearrow
from firearrow._target import describe


def test_a_connection(connection: firearrow.Connection, is_wire: bool, database: str) -> None:
    text = repr(connection)
    assert text.startswith("<firearrow.Connection: ") and text.endswith(", open>")
    assert database.rpartition("/")[2] in text
    assert "masterkey" not in text
    if is_wire:
        assert "SYSDBA@127.0.0.1:" in text
    connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
    assert repr(connection).endswith(", open, in a transaction>")
    transaction = connection.begin()
    assert repr(transaction).endswith(": open>")
    transaction.rollback()
    assert repr(transaction).endswith(": ended>")
    connection.close()
    assert repr(connection).endswith(", closed>")


def test_a_cursor(connection: firearrow.Connection, table: str) -> None:
    cursor = connection.cursor()
    assert repr(cursor) == "<firearrow.Cursor: no rows>"
    cursor.execute(f'CREATE TABLE {table} (n NUMERIC(9, 2) NOT NULL, "<i>" VARCHAR(10))')
    connection.commit()
    cursor.execute(f"INSERT INTO {table} VALUES (1, 'a')")
    assert repr(cursor) == "<firearrow.Cursor: no rows, 1 affected>"
    cursor.execute(f"INSERT INTO {table} VALUES (2, 'b')")
    cursor.execute(f"SELECT * FROM {table} ORDER BY n")
    assert repr(cursor) == "<firearrow.Cursor: N, <i>; 0 rows fetched>"
    html = cursor._repr_html_()
    assert "<td>N</td><td>NUMERIC(9, 2)</td><td>no</td>" in html
    assert "<td>&lt;i&gt;</td><td>VARCHAR(10)</td><td>yes</td>" in html
    assert "<i>" not in html
    cursor.fetchone()
    assert repr(cursor) == "<firearrow.Cursor: N, <i>; 1 rows fetched so far>"
    # Showing it has consumed nothing.
    assert [n for n, _ in cursor.fetchall()] == [2]
    assert repr(cursor) == "<firearrow.Cursor: N, <i>; 2 rows fetched, all>"
    many = ", ".join(str(number) for number in range(20))
    cursor.execute(f"SELECT {many} FROM RDB$DATABASE")
    assert "… 20 columns;" in repr(cursor)
    kept = connection.execute("SELECT 1 AS one FROM RDB$DATABASE")
    cursor.close()
    assert repr(cursor) == "<firearrow.Cursor: closed>" and "closed" in cursor._repr_html_()
    connection.close()
    assert "ONE" in repr(kept)


@pytest.mark.parametrize(
    ("database", "user", "expected"),
    [
        ("firebird://ann:SECRET@host:3051/shop", None, "ann@host:3051/shop"),
        ("firebird://ann:SECRET@host/shop?wire_crypt=required", None, "ann@host/shop"),
        ("firebird://ann:SE/C@RE?T@host/shop", None, "ann@…"),
        ("firebird://ann:SE?CRET@host/shop", None, "…"),
        ("firebird://ann:SE@CRET@host/shop#SE", None, "ann@host/shop"),
        ("firebird://host/shop?user=ann&password=SECRET", None, "host/shop"),
        ("firebird://host/shop?password=SEC@RET", None, "host/shop"),
        (" \tfirebird://ann:SECRET@host/shop\n", None, "ann@host/shop"),
        ("jdbc:firebirdsql://ann:SECRET@host:3051//data/shop.fdb", None, "ann@host:3051//data/shop.fdb"),
        ("JDBC:firebirdsql://host/shop?user=ann&password=SECRET", None, "host/shop"),
        ("jdbc:firebird:ann:SECRET@host:3051//data/shop.fdb", None, "…"),
        ("host:shop?password=SECRET", None, "…"),
        ("/data/a@b?.fdb", None, "/data/a@b?.fdb"),
        ("firebird://ann@host/shop", "bob", "bob@host/shop"),
        ("firebird:///data/shop.fdb", None, "/data/shop.fdb"),
        ("host:/data/shop.fdb", "ann", "ann@host:/data/shop.fdb"),
        ("/data/shop.fdb", None, "/data/shop.fdb"),
        ("Database=host:shop;UID=ann;PWD=SECRET", None, "ann@host:shop"),
        (
            "database=shop;server=host;port=3051;user=ann;password={SE;Database=CRET}",
            None,
            "ann@host/3051:shop",
        ),
        ("PWD={SE}};CRET};DBNAME=shop", None, "shop"),
    ],
)
def test_no_password_is_shown(
    database: str, user: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FIREARROW_USER", raising=False)
    shown = describe(database, user)
    assert shown == expected
    for part in ("SE", "C@", "RE", "T@"):
        assert part not in shown
