"""Objects of other classes as parameters.

>>> firearrow.register_adapter(Point, lambda point: f"{point.x};{point.y}")
>>> connection.execute("INSERT INTO place VALUES (?)", (Point(1, 2),))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["register_adapter"]

T = TypeVar("T")

_adapters: dict[type, Callable[[Any], object]] = {}


def register_adapter(cls: type[T], adapter: Callable[[T], object]) -> None:
    """Make parameters of a class's objects.

    Parameters
    ----------
    cls
        The class; its subclasses follow, unless they have adapters of their own.
    adapter
        Returns what is sent in an object's place: a value that firearrow knows.
    """
    _adapters[cls] = adapter


def adapt(value: object) -> object:
    """Return what is sent for an object of a class that the extension module does not know."""
    for cls in type(value).__mro__:
        if cls in _adapters:
            return _adapters[cls](value)
    # Scalars of NumPy and the like.
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        plain: object = item()
        return NotImplemented if type(plain) is type(value) else plain
    # Such as pandas.NA and NaT, which stand for no value.
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return NotImplemented
