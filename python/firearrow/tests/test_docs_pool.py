"""The examples of docs/python-pool.md and docs/python-testing.md."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from documents import BLOCK, ROOT

import firearrow
from firearrow._pooling import Limits

pytest_plugins = ["pytester"]

DOCS = ROOT / "docs"


def examples(page: str) -> list[str]:
    return BLOCK.findall((DOCS / page).read_text("utf-8"))


def test_the_examples_of_the_pool(
    database: str, connection: firearrow.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    for sql in (
        "RECREATE TABLE item (id INTEGER, name VARCHAR(20))",
        "RECREATE TABLE article (id INTEGER, stock INTEGER)",
        "INSERT INTO article VALUES (1, 10)",
    ):
        connection.execute(sql)
        connection.commit()
    code = "\n\n".join(examples("python-pool.md"))
    address = '"firebird://localhost/shop", user="SYSDBA", password="masterkey"'
    assert code.count(address) == 2
    names: dict[str, Any] = {}
    try:
        exec(compile(code.replace(address, repr(database)), "python-pool.md", "exec"), names)
        assert names["left"] == 9
        assert connection.execute("SELECT stock FROM article").fetchall() == [(9,)]
        assert connection.execute("SELECT id, name FROM item").fetchall() == [(2, "lamp")]
        assert names["total"] == 10
        printed = capsys.readouterr().out.splitlines()
        assert printed[0] == "(1,)"
        assert re.fullmatch(r"0 of 20 in use, [12] idle, 0 callers wait", printed[1])
        assert re.fullmatch(r"2 loans, [012] of them waited, [\d.]+ s altogether", printed[2])
    finally:
        names["pool"].close()


def test_each_option_is_described() -> None:
    page = (DOCS / "python-pool.md").read_text("utf-8")
    for option in Limits.__dataclass_fields__:
        assert f"| `{option}` |" in page, option
    for counter in firearrow.PoolStats.__dataclass_fields__:
        assert re.search(rf"`(stats\.)?{counter}`", page), counter


def test_the_examples_of_the_fixtures(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = os.environ.get("FIREARROW_TEST_ENGINE")
    if not engine:
        pytest.skip("the fixtures need an embedded engine: set FIREARROW_TEST_ENGINE")
    monkeypatch.setenv("FIREARROW_ENGINE", engine)
    monkeypatch.setenv("PYTHONPATH", str(Path(firearrow.__file__).parents[1]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    first, schema, tests, tasks = examples("python-testing.md")
    pytester.makepyfile(test_first=first)
    folder = pytester.mkdir("customers")
    (folder / "conftest.py").write_text(schema, "utf-8")
    (folder / "test_customers.py").write_text(tests, "utf-8")
    (folder / "test_tasks.py").write_text(tasks, "utf-8")
    plugins = ("-p", "firearrow.testing", "-p", "anyio.pytest_plugin", "-p", "no:cacheprovider")
    result = pytester.runpytest_subprocess(*plugins, "-W", "error", timeout=120)
    result.assert_outcomes(passed=5)
