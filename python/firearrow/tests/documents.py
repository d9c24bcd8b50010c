"""The examples of the documents, as programs that check what they say."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOLD = re.compile(r"^(\s*)(\S.*?)  # -> (.+)$", re.MULTILINE)


def check(found: object, wanted: str, expression: str) -> None:
    """Compare what an expression returns with what the document says."""
    assert repr(found) == wanted, expression


def prepared(block: str, database: str) -> str:
    """Return a block with the database of the test, which checks what it says that expressions return."""
    block = block.replace('"shop.fdb"', repr(database))
    return TOLD.sub(lambda line: f"{line[1]}check({line[2]}, {line[3]!r}, {line[2]!r})", block)
