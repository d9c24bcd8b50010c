"""What ``import firearrow`` brings along, and what comes only when it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

import firearrow

# Each takes a few milliseconds of every program's start.
LATER = {"asyncio", "dataclasses", "inspect", "pyarrow", "random", "urllib.parse"}
LATER |= {"firearrow.catalog", "firearrow.pool"}


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_brings_along_only_what_all_programs_need() -> None:
    program = f"import sys; before = set(sys.modules); import firearrow; print({LATER!r} & set(sys.modules) - before)"
    assert run(program) == "set()"


@pytest.mark.parametrize("name", ["Pool", "PoolClosed", "PoolStats", "PoolTimeout", "PooledConnection", "retry"])
def test_what_comes_later_has_the_name_that_users_import(name: str) -> None:
    module = f"firearrow.{name}.__module__"
    assert run(f"import firearrow; print({name!r} in dir(firearrow), {module})") == "True firearrow"
    assert run(f"from firearrow import *; print({name}.__module__)") == "firearrow"


def test_modules_are_found_without_importing_them() -> None:
    program = "import firearrow; print(firearrow.catalog.Table.__name__, firearrow.pool.Pool is firearrow.Pool)"
    assert run(program) == "Table True"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="module 'firearrow' has no attribute 'pol'"):
        firearrow.pol  # type: ignore[attr-defined] # noqa: B018
