"""The low-level ADBC interface to Firebird.

Most programs want :mod:`adbc_driver_firebird.dbapi` instead.
"""

import os
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

import adbc_driver_manager

from ._options import ConnectionOptions, DatabaseOptions, StatementOptions

__all__ = ["ConnectionOptions", "DatabaseOptions", "StatementOptions", "connect"]

__version__ = version("adbc-driver-firebird")


def connect(uri: str, db_kwargs: dict[str, str] | None = None) -> adbc_driver_manager.AdbcDatabase:
    """Describe a database. Nothing is attached until a connection opens.

    Parameters
    ----------
    uri
        Where the database is: ``firebird://user@host:port/database?option=value``, or any other connection
        string of firearrow. Use ``wire_crypt=required`` for servers on other machines. The password comes from
        the environment (``FIREARROW_PASSWORD``, ``FIREARROW_PASSWORD_FILE``) or from ``db_kwargs``. The
        embedded engine opens database files: ``firebird:///data/shop.fdb``.
    db_kwargs
        Options by name, see :class:`DatabaseOptions`.
    """
    options = dict(db_kwargs or {})
    options.setdefault("entrypoint", "AdbcDriverFirebirdInit")
    engine = _engine()
    if engine:
        options.setdefault(DatabaseOptions.CLIENT_LIBRARY.value, engine)
    return adbc_driver_manager.AdbcDatabase(driver=_driver_path(), uri=uri, **options)


def _engine() -> str | None:
    """Return the embedded engine of this interpreter's environment, unless a variable names another one."""
    if os.environ.get("FIREARROW_ENGINE"):
        return None
    folder = Path(sysconfig.get_path("platlib")) / "firebird" / "embedded" / "runtime"
    return str(folder) if folder.is_dir() else None


def _driver_path() -> str:
    """Return the library of this package or environment, or else a name for the driver manager to look up."""
    name = "libadbc_driver_firebird.so"
    for folder in (Path(__file__).parent, Path(sys.prefix) / "lib"):
        if (folder / name).is_file():
            return str(folder / name)
    return "adbc_driver_firebird"
