"""The plugin for Alembic, which Alembic 1.18 and newer load by themselves.

With an older one: ``import firearrow.sqlalchemy.alembic`` in ``env.py``.
"""

from __future__ import annotations

from typing import Any

__all__ = ["setup"]


def setup(plugin: Any) -> None:
    """Do nothing: importing the module is what counts. Alembic calls it."""


# After the function, because importing Alembic calls it.
from . import migrations as migrations  # noqa: E402
