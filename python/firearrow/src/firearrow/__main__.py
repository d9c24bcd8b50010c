"""``python -m firearrow``: what is installed, and what a database is."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from importlib import metadata

from . import __version__, connect
from ._engine import engine
from .errors import Error

# Libraries that are not required, in the order of what they are for.
_LIBRARIES = ("pyarrow", "pandas", "polars", "numpy", "duckdb", "sqlalchemy", "sqlalchemy-firebird")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m firearrow",
        description="Show this installation of firearrow, or connect to a database and describe it.",
        epilog="User and password come from the URL, or from FIREARROW_USER and FIREARROW_PASSWORD. "
        "With a password in a URL, others on this machine can read it.",
    )
    parser.add_argument(
        "database",
        nargs="?",
        help="a URL such as firebird://user@host/path, a name such as host:path, or a file",
    )
    parser.add_argument("--version", action="version", version=f"firearrow {__version__}")
    database = parser.parse_args(arguments).database
    if database is None:
        _print(installation())
        return 0
    try:
        with connect(database, connect_timeout=10) as connection:
            _print({name: str(value) for name, value in connection.info.items() if value is not None})
            warnings = connection.warnings
    except Error as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    return 0


def installation() -> dict[str, str]:
    """Return what there is, by name."""
    found = {
        "firearrow": __version__,
        "Python": f"{platform.python_version()}, {platform.system()} {platform.machine()}",
    }
    if named := os.environ.get("FIREARROW_ENGINE"):
        found["engine"] = f"{named} (FIREARROW_ENGINE)"
    else:
        missing = (
            "not in this environment; one that is installed elsewhere is used for database files, "
            'otherwise: pip install "firearrow[embedded]"'
        )
        found["engine"] = engine() or missing
    for library in _LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            found[library] = "not installed"
    return found


def _print(values: dict[str, str]) -> None:
    width = max(map(len, values))
    for name, value in values.items():
        print(f"{name:{width}}  {value}")


if __name__ == "__main__":
    sys.exit(main())
