"""What rows become: tuples, or what one of these makes of them.

>>> connection.row_factory = firearrow.dict_row
>>> connection.execute("SELECT country, currency FROM country").fetchone()
{'COUNTRY': 'USA', 'CURRENCY': 'Dollar'}

A row factory is called with the columns of a result, and returns a function that is called with each row.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Callable, Sequence
from keyword import iskeyword
from typing import Any, TypeAlias, TypeVar

from .types import Column

__all__ = ["RowFactory", "class_row", "dict_row", "namedtuple_row", "tuple_row"]

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]
RowFactory: TypeAlias = Callable[[Sequence[Column]], Callable[[Row], Any]]


def tuple_row(columns: Sequence[Column]) -> Callable[[Row], Row]:
    """Rows as tuples."""
    return lambda row: row


def dict_row(columns: Sequence[Column]) -> Callable[[Row], dict[str, Any]]:
    """Rows as dicts; if several columns share a name, the last one wins."""
    names = [column.name for column in columns]
    return lambda row: dict(zip(names, row, strict=True))


def namedtuple_row(columns: Sequence[Column]) -> Callable[[Row], Any]:
    """Rows as named tuples. Names are in lower case; invalid and repeated ones are changed."""
    names: list[str] = []
    for number, column in enumerate(columns, 1):
        name = re.sub(r"\W", "_", column.name.lower()).lstrip("_0123456789") or f"column_{number}"
        if iskeyword(name):
            name += "_"
        names.append(f"{name}_{number}" if name in names else name)
    # Type checkers know named tuples whose names are written down, which these are not.
    make_class: Any = namedtuple
    make: Callable[[Row], Any] = make_class("Row", names)._make
    return make


def class_row(cls: Callable[..., T]) -> Callable[[Sequence[Column]], Callable[[Row], T]]:
    """Rows as objects of a class that takes the columns as keyword arguments, in lower case.

    Dataclasses, attrs and pydantic models are such classes.
    """

    def factory(columns: Sequence[Column]) -> Callable[[Row], T]:
        names = [column.name.lower() for column in columns]
        return lambda row: cls(**dict(zip(names, row, strict=True)))

    return factory
