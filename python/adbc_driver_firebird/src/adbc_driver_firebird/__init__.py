"""Firebird by ADBC: the low-level interface.

:mod:`adbc_driver_firebird.dbapi` is the one that most programs want.
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
    """Describe a database; connections to it attach.

    Parameters
    ----------
    uri
        Where it is: ``firebird://user@host:port/database?option=value``, or any other connection string of
        firearrow; ``wire_crypt=required`` is recommended beyond this machine. The password comes from the
        environment (``FIREARROW_PASSWORD``, ``FIREARROW_PASSWORD_FILE``) or from ``db_kwargs``. A file is opened
        with the embedded engine: ``firebird:///data/shop.fdb``.
    db_kwargs
        Options by their names, see :class:`DatabaseOptions`.
    """
    options = dict(db_kwargs or {})
    options.setdefault("entrypoint", "AdbcDriverFirebirdInit")
    engine = _engine()
    if engine:
        options.setdefault(DatabaseOptions.CLIENT_LIBRARY.value, engine)
    return adbc_driver_manager.AdbcDatabase(driver=_driver_path(), uri=uri, **options)


def _engine() -> str | None:
    """The embedded engine of this interpreter's environment, unless a variable names another one."""
    if os.environ.get("FIREARROW_ENGINE"):
        return None
    folder = Path(sysconfig.get_path("platlib")) / "firebird" / "embedded" / "runtime"
    return str(folder) if folder.is_dir() else None


def _driver_path() -> str:
    """The library: of this package, of the environment, or a name for the driver manager to look for."""
    name = "libadbc_driver_firebird.so"
    for folder in (Path(__file__).parent, Path(sys.prefix) / "lib"):
        if (folder / name).is_file():
            return str(folder / name)
    return "adbc_driver_firebird"
