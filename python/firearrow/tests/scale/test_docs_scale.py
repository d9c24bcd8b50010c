"""The examples of docs/spark.md, ray-and-dask.md and neighbours.md, and the options that they list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import one
from documents import BLOCK, ROOT

import firearrow
from firearrow.spark import options as of_spark

DOCS = ROOT / "docs"
PLACE = "firebird://localhost/shop"


@pytest.fixture(autouse=True)
def shop(connection: firearrow.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The table that examples read, in a folder where they can write."""
    monkeypatch.chdir(tmp_path)
    connection.execute(
        "RECREATE TABLE sales (id BIGINT NOT NULL PRIMARY KEY, country VARCHAR(2), amount NUMERIC(9,2))"
    )
    connection.commit()
    rows = pa.table(
        {
            "ID": pa.array(range(1, 1001)),
            "COUNTRY": ["FR" if n % 4 == 0 else "DE" for n in range(1000)],
            "AMOUNT": pa.array([Decimal(n % 20) for n in range(1000)], pa.decimal128(9, 2)),
        }
    )
    connection.executemany("INSERT INTO sales VALUES (?, ?, ?)", rows)
    connection.commit()
    yield


def run(page: str, database: str, first: int = 0, last: int | None = None) -> dict[str, Any]:
    """Run the page's examples with the test's database."""
    text = (DOCS / page).read_text("utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```python")
    names: dict[str, Any] = {}
    for block in blocks[first:last]:
        assert PLACE in block
        exec(compile(block.replace(PLACE, database), page, "exec"), names)
    return names


def test_spark(database: str, connection: firearrow.Connection, capfd: pytest.CaptureFixture[str]) -> None:
    names = run("spark.md", database)
    assert names["france"].count() == one(
        connection, "SELECT COUNT(*) FROM sales WHERE country = 'FR' AND amount > 10.50"
    )
    assert names["france"].columns == ["ID", "AMOUNT"]
    assert one(connection, "SELECT COUNT(*) FROM sales_of_france") == names["france"].count()
    assert names["spark"].read.parquet("sales/rows").count() == 1000
    printed = capfd.readouterr().out
    names["spark"].stop()
    assert re.search(r"\|\s+FR\|\s+2000.00\|", printed), printed


def test_ray(database: str, connection: firearrow.Connection, capsys: pytest.CaptureFixture[str]) -> None:
    ray = pytest.importorskip("ray")
    names = run("ray-and-dask.md", database, 0, 1)
    assert one(connection, "SELECT COUNT(*), SUM(amount) FROM large_sales") == (
        450,
        Decimal(50 * sum(range(11, 20))),
    )
    assert names["sales"].count() == 450
    ray.shutdown()


def test_dask(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("ray-and-dask.md", database, 1)
    assert re.search(r"FR\s+2000.00", capsys.readouterr().out)


def test_neighbours(
    database: str, connection: firearrow.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    run("neighbours.md", database)
    printed = capsys.readouterr().out
    assert "[('DE', Decimal('7500.00')), ('FR', Decimal('2000.00'))]" in printed
    assert "{'COUNTRY': 'FR', 'total': Decimal('2000.00')}" in printed
    assert one(connection, 'SELECT SUM("amount") FROM totals') == 999_000


def test_each_option_is_listed() -> None:
    page = (DOCS / "spark.md").read_text("utf-8")
    for option in of_spark._OURS:
        assert re.search(rf"^\|.*`{option}`.*\|", page, re.MULTILINE), option
