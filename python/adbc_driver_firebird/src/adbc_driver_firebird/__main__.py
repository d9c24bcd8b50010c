"""``python -m adbc_driver_firebird``: lets driver managers find the driver by the name ``firebird``."""

import argparse
import sys
from pathlib import Path

from . import __version__, _manifest


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m adbc_driver_firebird", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in [
        ("install-manifest", "write firebird.toml, which names this package's library"),
        ("uninstall-manifest", "remove firebird.toml"),
    ]:
        command = commands.add_parser(name, help=text, description=text)
        place = command.add_mutually_exclusive_group()
        place.add_argument("--user", action="store_true", help="for all programs of this user [default]")
        place.add_argument("--venv", action="store_true", help="for this Python environment alone")
    commands.add_parser("path", help="print the library's path")
    commands.add_parser("version", help="print the package's version")
    arguments = parser.parse_args()
    if arguments.command == "path":
        print(_manifest.library())
    elif arguments.command == "version":
        print(__version__)
    else:
        folder = _manifest.prefix_folder() if arguments.venv else _manifest.user_folder()
        return change(arguments.command, folder)
    return 0


def change(command: str, folder: Path) -> int:
    """Install or uninstall. Return 1 if there is nothing to remove, or it is for another driver."""
    try:
        if command == "install-manifest":
            print(f"written: {_manifest.install(folder)}")
        else:
            print(f"removed: {_manifest.uninstall(folder)}")
    except (FileNotFoundError, _manifest.ForeignManifestError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
