"""The examples of the documents, which run in their order on each database."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TOLD = re.compile(r"^(\s*)(\S.*?)  # -> (.+)$", re.MULTILINE)


def check(found: object, wanted: str, expression: str) -> None:
    assert repr(found) == wanted, expression


def prepared(block: str, database: str) -> str:
    """Return a block with the database of the test, which checks what it says that expressions return."""
    block = block.replace('"shop.fdb"', repr(database))
    return _TOLD.sub(lambda line: f"{line[1]}check({line[2]}, {line[3]!r}, {line[2]!r})", block)


@pytest.mark.parametrize(("path", "least"), [("docs/python.md", 20), ("python/firearrow/README.md", 0)])
def test_examples(database: str, capsys: pytest.CaptureFixture[str], path: str, least: int) -> None:
    """Each example runs, and expressions return what the document says."""
    text = (ROOT / path).read_text()
    blocks = [(match.start(), match[1]) for match in _BLOCK.finditer(text)]
    assert blocks
    assert text.count("```python") == len(blocks)
    assert sum(len(_TOLD.findall(block)) for _, block in blocks) >= least
    names: dict[str, Any] = {"check": check, "__name__": "__main__"}
    try:
        for start, block in blocks:
            # Line numbers of errors are those of the document.
            lines = "\n" * (text.count("\n", 0, start) + 1)
            exec(compile(lines + prepared(block, database), path, "exec", dont_inherit=True), names)
    finally:
        if "connection" in names:
            names["connection"].close()
    printed = capsys.readouterr().out
    assert "2 Coffee" in printed


def test_examples_can_fail(database: str) -> None:
    """What an expression returns is compared."""
    exec(prepared("1 + 1  # -> 2", database), {"check": check})
    with pytest.raises(AssertionError, match="1 \\+ 1"):
        exec(prepared("1 + 1  # -> 3", database), {"check": check})
