"""What may help with errors that newcomers meet.

What is not about this package, SQL that only other databases understand, comes from the driver.
"""

from __future__ import annotations

import re

from ._core import advice_for_sql

__all__ = ["explain_names", "hint"]

_PARAMETERS = "write parameters as ? or :name"
_EMPTY = "there is no statement in the SQL"
_END = "a SELECT without a table needs FROM RDB$DATABASE"
# By the token that the engine does not know, where the answer is this package's.
_TOKENS = {
    "%": f"{_PARAMETERS}; the remainder of a division is MOD(a, b)",
    "$": _PARAMETERS,
    "@": _PARAMETERS,
    "begin": "a transaction begins with its first statement, or with begin()",
}
_TOKEN = re.compile(r"Token unknown - line \d+, column \d+\n-(\S+)$")
_TABLE = re.compile(r"Table unknown\n-\"?(?:\w+\"?\.\"?)?(\w*[a-z]\w*)\"?\n")


_UNKNOWN = re.compile(r"Table unknown\n-\"?(?:\w+\"?\.\"?)?(\w+)")
_MISSING = re.compile(r"Error while trying to open file\n-(?:unix error 2: )?No such file or directory$")
_HOME = re.compile(r'for file "(~[^"]*)"')
_ENDED = re.compile(r"^(?:Invalid resultset interface|Cursor is not open|.*\n-Cursor is not open)$")
# An ISO 8601 text, which the engine reads only with a space.
_ISO = re.compile(r"Invalid time zone region: T\d|conversion error from string \"\d{4}-\d\d-\d\dT\d")


def hint(kind: str | None, message: str) -> str | None:
    """Return what may help with an error, by firearrow's name for it and its message."""
    if kind == "Syntax":
        return _of_sql(message)
    if kind == "Database" and _MISSING.search(message):
        if home := _HOME.search(message):
            return f"~ is not expanded: pass os.path.expanduser({home[1]!r})"
        return "there is no such file; to create the database, pass create_if_missing=True"
    if _ENDED.search(message):
        return (
            "the transaction of this result has ended; fetch all of its rows before commit() or rollback(), "
            "or read them in a transaction of their own: connection.begin()"
        )
    if _ISO.search(message):
        return "pass a datetime (datetime.fromisoformat(…)), or a text with a space instead of the T"
    if message.startswith("there is no table "):
        return 'mode="create" or mode="create_append" makes it'
    if kind is None and message.endswith("a list can only be the value of an array column"):
        return "for IN, write one ? for each value"
    return None


def explain_names(error: Exception, sql: str, parameters: object) -> None:
    """Add a hint to the error of a statement with ``:name`` that got a sequence."""
    text = str(error)
    if (
        isinstance(parameters, (tuple, list))
        and "Column unknown" in text
        and (found := re.search(r"(?<![\w:]):([A-Za-z]\w*)", sql))
    ):
        error.args = (f"{text}\nHint: {found[0]} takes a mapping: {{{found[1]!r}: …}}; for a sequence write ?",)


def _of_sql(message: str) -> str | None:
    if "Unexpected end of command" in message:
        return _EMPTY if message.endswith("line 1, column 1") else _END
    if (found := _TOKEN.search(message)) and (own := _TOKENS.get(found[1].lower())):
        return own
    if "Table unknown\n-SQLITE_MASTER\n" in message:
        return "pandas needs an engine of SQLAlchemy: create_engine('firebird+firearrow://…')"
    if advice := advice_for_sql(message):
        return advice
    if found := _TABLE.search(message):
        return "names in quotes keep their case; names without quotes are stored in capitals"
    if found := _UNKNOWN.search(message):
        return (
            "if it was just created: a table can be used after commit(); "
            f'if the name of a table has lower-case letters, it needs quotes: "{found[1].lower()}"'
        )
    return None
