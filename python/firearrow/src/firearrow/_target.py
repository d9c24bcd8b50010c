"""Where a connection goes, for people to read: never with a password."""

from __future__ import annotations

import os
import re

__all__ = ["describe"]

# KEY=value;KEY={value}
_PAIR = re.compile(r"\s*([^=;{}]+?)\s*=\s*(\{(?:[^}]|\}\})*\}|[^;]*)\s*(?:;|$)")
_NAMES = {
    "database": ("database", "dbname", "db"),
    "user": ("uid", "user", "username", "user name"),
    "host": ("server", "host", "hostname"),
    "port": ("port", "portnumber"),
}


def describe(database: str, user: str | None = None) -> str:
    """Return ``user@host:port/path`` of what ``connect`` takes.

    Only parts that are known to be no secrets are taken over; what is not understood is left out.
    """
    if re.match(r"[A-Za-z][\w+.-]*://", database):
        rest = database.split("://", 1)[1]
        # A password may contain anything: all before the last @ of the address is dropped, up to the name.
        rest = re.split(r"[?#]", rest, maxsplit=1)[0] if "@" not in database else _after_at(database)
        if user is None and "@" in database:
            user = database.split("://", 1)[1].split("@", 1)[0].split(":", 1)[0]
        place = rest
    elif re.match(r"\s*[A-Za-z][\w ]*=", database):
        pairs = {key.lower(): value for key, value in _PAIR.findall(database)}

        def value(name: str) -> str:
            return next((pairs[key].strip("{}") for key in _NAMES[name] if key in pairs), "")

        host, port = value("host"), value("port")
        place = f"{host}{f'/{port}' if port else ''}:{value('database')}" if host else value("database")
        user = user or value("user") or None
    else:
        place = database
    user = user or os.environ.get("FIREARROW_USER")
    return f"{user}@{place}" if user else place


def _after_at(url: str) -> str:
    """Return the address of a URL without its login and its options."""
    head, _, tail = url.split("://", 1)[1].rpartition("@")
    if "?" in head:
        # The @ belongs to an option.
        head = head.split("?", 1)[0]
        return head.rpartition("@")[2]
    return re.split(r"[?#]", tail, maxsplit=1)[0]
