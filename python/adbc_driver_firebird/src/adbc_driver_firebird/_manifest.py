"""The manifest by which driver managers find the driver."""

import json
import os
import sys
from importlib import resources
from pathlib import Path

from . import __version__, _driver_path

ENTRYPOINT = "AdbcDriverFirebirdInit"
NAME = "firebird.toml"


class ForeignManifestError(Exception):
    """A manifest of this name exists, but it is for another driver."""


def user_folder() -> Path:
    """Return the folder where managers look for this user's drivers."""
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/ADBC/Drivers"
    if sys.platform == "win32":
        return Path(os.environ["LOCALAPPDATA"]) / "ADBC/Drivers"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "adbc/drivers"


def prefix_folder() -> Path:
    """Return the folder where Python's manager looks for this environment's drivers."""
    return Path(sys.prefix) / "etc/adbc/drivers"


def library() -> str:
    """Return the library's absolute path: managers do not resolve relative ones."""
    path = _driver_path()
    if not os.path.isabs(path):
        raise FileNotFoundError(f"{path} has no library: it was installed without one")
    return path


def install(folder: Path) -> Path:
    """Write the manifest into this folder. Do not touch one for another driver."""
    path = folder / NAME
    if path.exists():
        check(path)
    template = resources.files(__package__).joinpath(NAME).read_text("utf-8")
    # A string quoted as JSON means the same in TOML.
    values = {"{version}": __version__, "{library}": library()}
    for mark, value in values.items():
        template = template.replace(mark, json.dumps(value, ensure_ascii=False))
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(template, "utf-8")
    part.replace(path)
    return path


def uninstall(folder: Path) -> Path:
    """Remove the manifest from this folder."""
    path = folder / NAME
    check(path)
    path.unlink()
    return path


def check(path: Path) -> None:
    """Raise an error unless the manifest is for this driver."""
    if ENTRYPOINT not in path.read_text("utf-8"):
        raise ForeignManifestError(f"{path} is for another driver")
