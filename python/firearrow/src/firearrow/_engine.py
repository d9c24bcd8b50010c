"""The embedded engine of this environment."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path


def engine() -> str | None:
    """Return the folder of the engine of ``firearrow[embedded]``, unless a variable names another one."""
    if os.environ.get("FIREARROW_ENGINE"):
        return None
    folder = Path(sysconfig.get_path("platlib")) / "firebird" / "embedded" / "runtime"
    return str(folder) if folder.is_dir() else None
