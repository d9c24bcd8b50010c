"""SQLAlchemy's URLs as arguments of :func:`firearrow.connect`."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

__all__ = ["arguments"]

_FLAGS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


def arguments(url: URL) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of ``connect`` for a URL.

    Options of ``connect`` that are no strings are converted. All others stay in a URL, because that may not
    name code to run (``client_library``, ``config``): ``connect_args`` of ``create_engine`` may.

    Raises
    ------
    ArgumentError
        The URL has no database, names an option twice, or has an impossible value for one.
    """
    if not url.database:
        raise ArgumentError(
            "the URL has no database: write firebird+firearrow://host//path/shop.fdb, "
            "or an alias after one slash"
        )
    options: dict[str, str] = {}
    for name, value in url.query.items():
        if not isinstance(value, str):
            raise ArgumentError(f"the URL has option {name} more than once")
        options[name] = value
    own = {
        name: convert(name, options.pop(name))
        for name, convert in (
            ("autocommit", _flag),
            ("isolation", _text),
            ("read_only", _flag),
            ("lock_timeout", _seconds),
        )
        if name in options
    }
    for name, given in (("user", url.username), ("password", url.password)):
        if given is not None:
            # Apart from the text, which may end up in messages.
            own[name] = str(given)
    return [_address(url, url.database, options)], own


def _address(url: URL, database: str, options: dict[str, str]) -> str:
    # What SQLAlchemy's other dialects and firearrow's own URLs write with one, two or three slashes is the
    # same path.
    path = "/" + database.lstrip("/") if database.startswith("/") else database
    host = ""
    if url.host:
        host = f"[{url.host}]" if ":" in url.host else url.host
        if url.port:
            host += f":{url.port}"
    elif not path.startswith("/"):
        # As SQLite's: three slashes and a path relative to the working directory.
        path = path if path[1:2] == ":" or path.startswith("./") else f"./{path}"
    query = f"?{urlencode(options, quote_via=quote)}" if options else ""
    return f"firebird://{host}/{quote(path, safe='/:')}{query}"


def _flag(name: str, value: str) -> bool:
    if value.lower() not in _FLAGS:
        raise ArgumentError(f"option {name} of the URL must be true or false, not {value!r}")
    return _FLAGS[value.lower()]


def _text(name: str, value: str) -> str:
    return value


def _seconds(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ArgumentError(f"option {name} of the URL must be a number of seconds, not {value!r}") from None
