"""Python programs in processes of their own."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap


def script(database: str, code: str, *options: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Run Python code with the checks of development mode; what was left open is an error."""
    # An embedded engine keeps other processes out of what this one has open, if only as garbage.
    gc.collect()
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", *options]
    return subprocess.run(
        [*command, "-c", textwrap.dedent(code), database],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
