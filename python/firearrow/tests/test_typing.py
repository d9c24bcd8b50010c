"""The types of the package, as programs that use them see them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "command",
    [
        ["-m", "mypy", "--cache-dir=/dev/null", "src"],
        ["-m", "pyright", "--pythonpath", sys.executable, "src"],
    ],
    ids=["mypy", "pyright"],
)
def test_the_package_is_clean(command: list[str]) -> None:
    """mypy and pyright have nothing to say about the sources, both strict (see pyproject.toml)."""
    done = subprocess.run(
        [sys.executable, *command], cwd=PACKAGE, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no issues found" in done.stdout or "0 errors" in done.stdout


PROGRAM = """
import firearrow
from firearrow import aio

with firearrow.connect("x.fdb") as connection:
    cursor: firearrow.Cursor = connection.execute("SELECT 1 FROM RDB$DATABASE", timeout=1.5)
    count: int = cursor.rowcount
    names: list[str] = [column.name for column in cursor.description or ()]
    with connection.begin(isolation="snapshot") as transaction, transaction.savepoint() as name:
        transaction.executemany("", [(1,)])
        text: str = name
    connection.row_factory = firearrow.dict_row


async def work(data: object) -> list[str]:
    async with aio.connect("x.fdb") as connection, connection.begin() as transaction:
        async with transaction.create_blob() as writer:
            size: int = await writer.write(b"a")
        reader = await connection.open_blob(writer.id)
        piece: bytes = await reader.read(size)
        count: int = await connection.cursor().ingest(data, "T", mode="create")
        found: bytes = await (await connection.execute("SELECT 1 FROM RDB$DATABASE")).fetch_json()
        async for lines in connection.cursor().stream_json():
            found += lines + piece * count
        async for counts in connection.events("a", "b"):
            posted: int = counts["a"]
            print(posted)
        async with connection.events("a") as events:
            await events.wait(timeout=1.5)
        return [table.name for table in await connection.catalog.tables()]
"""
WRONG = """
import firearrow

connection = firearrow.connect(5)
connection.execute()
connection.begin(isolation=1)
connection.nothing()
"""


def test_programs(tmp_path: Path) -> None:
    """A program that uses it well is clean under --strict, and mistakes are found."""
    (tmp_path / "good.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null"]
    good, wrong = (
        subprocess.run(
            [*command, str(tmp_path / name)],
            env={"MYPYPATH": str(PACKAGE / "src"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        for name in ("good.py", "wrong.py")
    )
    assert good.returncode == 0, good.stdout
    assert wrong.stdout.count("error:") == 4, wrong.stdout
