"""The examples of the documents, which run in their order on each database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from documents import BLOCK, ROOT, TOLD, check, prepared


@pytest.mark.parametrize(("path", "least"), [("docs/python.md", 20), ("python/firearrow/README.md", 0)])
def test_examples(
    database: str,
    capsys: pytest.CaptureFixture[str],
    path: str,
    least: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each example runs, and expressions return what the document says."""
    text = (ROOT / path).read_text()
    blocks = [(match.start(), match[1]) for match in BLOCK.finditer(text)]
    assert blocks
    assert text.count("```python") == len(blocks)
    assert sum(len(TOLD.findall(block)) for _, block in blocks) >= least
    names: dict[str, Any] = {"check": check, "__name__": "__main__"}
    # Examples write files.
    monkeypatch.chdir(tmp_path)
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


def test_the_readmes_have_the_same_example() -> None:
    ours, package = (
        BLOCK.findall((ROOT / path).read_text()) for path in ("README.md", "python/firearrow/README.md")
    )
    assert ours[0] == package[0]


def test_examples_can_fail(database: str) -> None:
    """What an expression returns is compared."""
    exec(prepared("1 + 1  # -> 2", database), {"check": check})
    with pytest.raises(AssertionError, match="1 \\+ 1"):
        exec(prepared("1 + 1  # -> 3", database), {"check": check})
