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
    """Teach firearrow to use objects of a class as parameters.

    Parameters
    ----------
    cls
        The class; its subclasses follow, unless they have adapters of their own.
    adapter
        Returns the value to send instead of the object: one of a type that firearrow knows.
    """
    _adapters[cls] = adapter


def adapt(value: object) -> object:
    """Return what is sent for an object of a class that the extension module does not know."""
    for cls in type(value).__mro__:
        if cls in _adapters:
            return _adapters[cls](value)
    if isinstance(value, memoryview):
        return value.tobytes()
    # NumPy's scalars and arrays, and those of libraries that follow it.
    shape = getattr(value, "shape", None)
    if shape == ():
        return _plain(value)
    to_list = getattr(value, "tolist", None)
    if isinstance(shape, tuple) and callable(to_list):
        elements: object = to_list()
        return elements
    # pyarrow's scalars.
    as_py = getattr(value, "as_py", None)
    if callable(as_py):
        converted: object = as_py()
        return NotImplemented if type(converted) is type(value) else converted
    # Open files: their contents.
    read = getattr(value, "read", None)
    if callable(read):
        contents: object = read()
        return contents
    # Such as pandas.NA and NaT, which stand for no value.
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return NotImplemented


def _plain(value: Any) -> object:
    """Return the Python object for a scalar of NumPy."""
    if not callable(getattr(value, "item", None)):
        return NotImplemented
    # Moments in nanoseconds would become plain integers.
    if getattr(getattr(value, "dtype", None), "kind", None) == "M":
        value = value.astype("datetime64[us]")
    plain: object = value.item()
    return NotImplemented if type(plain) is type(value) else plain
