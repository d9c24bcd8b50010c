"""Names: of classes as users know them, and misspelt ones of attributes and options."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Strict", "meant", "nearest", "of_class"]

# Other drivers' names, and ours.
_MEANT = {
    "db": "database",
    "dbname": "database",
    "filename": "database",
    "passwd": "password",
    "hostname": "host",
    "server": "host",
    "isolation_level": "isolation",
    "cursor_factory": "row_factory",
    "client_encoding": "charset",
    "minconn": "min_size",
    "maxconn": "max_size",
    "pool_size": "max_size",
}


def of_class(kind: type) -> str:
    """Return a class's name with its package: ``firearrow.aio.Pool``."""
    return f"{kind.__module__}.{kind.__name__}"


def meant(name: str) -> str | None:
    """Return our name of what other drivers call so."""
    return _MEANT.get(name)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant."""
    from difflib import get_close_matches

    known = list(known)
    if (ours := _MEANT.get(name)) in known:
        return ours
    plain = {other.replace("_", ""): other for other in known}
    found = get_close_matches(name.lower().replace("_", ""), plain, n=1, cutoff=0.75)
    return plain[found[0]] if found else None


class Strict:
    """Refuses attributes that it does not have.

    ``connection.auto_commit = True`` would otherwise be accepted, and change nothing. Subclasses that users
    write may have any.
    """

    def __setattr__(self, name: str, value: object) -> None:
        kind = type(self)
        if name[:1] != "_" and not hasattr(kind, name) and kind.__module__.split(".")[0] == "firearrow":
            found = nearest(name, (known for known in dir(kind) if known[:1] != "_"))
            told = f"; is {found!r} meant?" if found else ""
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}{told}", name=name, obj=self)
        object.__setattr__(self, name, value)
