"""Runs the recipes of docs/adbc.md unchanged, except for the database's address."""

import re
from pathlib import Path

import pyarrow.parquet
import pytest

TEXT = (Path(__file__).resolve().parents[2] / "docs/adbc.md").read_text("utf-8")
URI = "firebird://db.example/shop?wire_crypt=required"
RECIPES = dict(re.findall(r"^### (\w+)\n(?:(?!#).*\n)*?```python\n((?:(?!```).*\n)*)```", TEXT, re.MULTILINE))


def cook(name: str, uri: str, folder: Path, monkeypatch) -> dict:
    monkeypatch.chdir(folder)
    code = RECIPES[name]
    assert URI in code
    names: dict = {}
    exec(compile(code.replace(URI, uri), f"docs/adbc.md: {name}", "exec"), names)
    return names


def test_each_recipe_is_tested():
    assert set(RECIPES) == {"dbapi", "polars", "pandas", "duckdb", "pyarrow"}


@pytest.fixture
def made(request, uri, tmp_path, monkeypatch):
    """The names that the recipe defines."""
    return cook(request.param, uri, tmp_path, monkeypatch)


@pytest.mark.parametrize("made", ["dbapi"], indirect=True)
def test_dbapi(made):
    assert made["rows"] == [(2, "Müller"), (3, None)]


@pytest.mark.parametrize("made", ["polars"], indirect=True)
def test_polars(made):
    assert made["back"].equals(made["frame"])


@pytest.mark.parametrize("made", ["pandas"], indirect=True)
def test_pandas(made):
    assert made["back"]["name"].tolist()[:2] == made["frame"]["name"].tolist()[:2]
    assert made["back"]["id"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("made", ["duckdb"], indirect=True)
def test_duckdb(made):
    assert made["result"] == [("a", 30), ("b", 30)]


@pytest.mark.parametrize("made", ["pyarrow"], indirect=True)
def test_pyarrow(made):
    assert made["count"] == 100_000
    read = pyarrow.parquet.read_table(made["path"])
    assert read.num_rows == 100_000
    assert read.column("id").to_pylist() == list(range(100_000))
