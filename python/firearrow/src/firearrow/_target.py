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
    database = re.sub(r"(?i)^jdbc:", "", database.strip())
    if re.match(r"[A-Za-z][\w+.-]*://", database):
        found, place = _of_url(database.split("://", 1)[1])
        user = user or found
    elif re.match(r"\s*[A-Za-z][\w ]*=", database):
        pairs = {key.lower(): value for key, value in _PAIR.findall(database)}

        def value(name: str) -> str:
            return next((pairs[key].strip("{}") for key in _NAMES[name] if key in pairs), "")

        host, port = value("host"), value("port")
        place = f"{host}{f'/{port}' if port else ''}:{value('database')}" if host else value("database")
        user = user or value("user") or None
    elif re.search(r"[@?]", database) and not database.startswith(("/", ".")):
        # Some form that is not understood here, perhaps with a password.
        place = "…"
    elif re.search(r"[?;]\s*\w[\w ]*=", database):
        # A path with options, which no path takes.
        place = "…"
    else:
        place = database
    user = user or os.environ.get("FIREARROW_USER")
    return f"{user}@{place}" if user else place


def _of_url(address: str) -> tuple[str | None, str]:
    """Return the user and the place of a URL without its scheme."""
    address, _, options = re.sub("#.*", "", address, flags=re.DOTALL).partition("?")
    login, at, place = address.rpartition("@")
    user = login.split(":", 1)[0] if at else None
    if "@" in options and (at or not re.fullmatch(r"[\w.-]*(:\d+)?(/.*)?", address)):
        # Perhaps the question mark belongs to a password.
        return user, "…"
    return user, place
