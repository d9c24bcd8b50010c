"""The embedded engine of this environment."""

from __future__ import annotations

import os


def engine() -> str | None:
    """Return the folder of the engine of ``firearrow[embedded]``, unless a variable names another one."""
    if os.environ.get("FIREARROW_ENGINE"):
        return None
    import sysconfig

    folder = os.path.join(sysconfig.get_path("platlib"), "firebird", "embedded", "runtime")
    return folder if os.path.isdir(folder) else None
