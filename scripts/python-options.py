#!/usr/bin/env python3
"""Writes the option names of the Python package from the table of the driver. --check: are they fresh?"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "crates/adbc/src/option/table.rs"
OUTPUT = ROOT / "python/adbc_driver_firebird/src/adbc_driver_firebird/_options.py"

HEAD = '''"""Names of options.

Written by scripts/python-options.py from the driver's own table; docs/adbc-options.md says what they do.
"""

import enum
'''

CLASSES = [
    ("DatabaseOptions", "DATABASE", "Options of databases, from which connections and statements inherit."),
    ("ConnectionOptions", "CONNECTION", "Options of connections, from which statements inherit."),
    ("StatementOptions", "STATEMENT", "Options of statements."),
]
# The scopes of the table that are more than one.
SCOPES = {"SESSION": ["DATABASE", "CONNECTION"], "ALL": ["DATABASE", "CONNECTION", "STATEMENT"]}


def options() -> list[tuple[str, list[str]]]:
    """Each option's key and scopes."""
    text = TABLE.read_text("utf-8")
    found = re.findall(r'^ {4}spec\("([^"]+)", (\w+), \w+, \w+, "', text, re.MULTILINE)
    if len(found) != len(re.findall(r"^ +spec\(", text, re.MULTILINE)):
        sys.exit(f"{TABLE}: an option is written in an unknown way")
    return [(key, SCOPES.get(scope, [scope])) for key, scope in found]


def name(key: str) -> str:
    """`adbc.firebird.query.batch_rows` is QUERY_BATCH_ROWS."""
    return re.sub(r"^adbc\.(firebird\.|connection\.|statement\.)?", "", key).replace(".", "_").upper()


def module() -> str:
    """The whole file."""
    parts = [HEAD]
    for class_name, scope, text in CLASSES:
        parts.append(f'\n\nclass {class_name}(enum.Enum):\n    """{text}"""\n\n')
        keys = [key for key, scopes in options() if scope in scopes]
        parts.extend(f'    {name(key)} = "{key}"\n' for key in keys)
        if len({name(key) for key in keys}) != len(keys):
            sys.exit(f"{class_name}: two options have one name")
    return "".join(parts)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if OUTPUT.read_text("utf-8") == module() else f"{OUTPUT}: run {sys.argv[0]}")
    OUTPUT.write_text(module(), "utf-8")
