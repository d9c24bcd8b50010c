"""What rows become: tuples, or what one of these makes of them.

>>> connection.row_factory = firearrow.dict_row
>>> connection.execute("SELECT country, currency FROM country").fetchone()
{'COUNTRY': 'USA', 'CURRENCY': 'Dollar'}

A row factory is called with the columns of a result, and returns a function that is called with each row.
"""

from __future__ import annotations

import re
import sys
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from .errors import InterfaceError, ProgrammingError
from .types import Column

__all__ = ["RowFactory", "class_row", "dict_row", "model_row", "namedtuple_row", "tuple_row"]

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]
RowFactory: TypeAlias = Callable[[Sequence[Column]], Callable[[Row], Any]]


def tuple_row(columns: Sequence[Column]) -> Callable[[Row], Row]:
    """Rows as tuples."""
    return lambda row: row


def dict_row(columns: Sequence[Column]) -> Callable[[Row], dict[str, Any]]:
    """Rows as dicts. Columns that share a name are a ProgrammingError, since a value would be lost."""
    names = [column.name for column in columns]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ProgrammingError(f"two columns are called {name}: give them aliases (AS), or use tuple_row")
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

    :func:`model_row` does more for classes that name their fields.
    """

    def factory(columns: Sequence[Column]) -> Callable[[Row], T]:
        names = [column.name.lower() for column in columns]
        return lambda row: cls(**dict(zip(names, row, strict=True)))

    return factory


def model_row(cls: type[T]) -> Callable[[Sequence[Column]], Callable[[Row], T]]:
    """Rows as objects of a dataclass, an attrs class, a pydantic model (2.x) or a ``NamedTuple``.

    Columns become the fields of their names, whatever the case. Fields with defaults may lack a column.
    ``execute(…, model=cls)`` does the same.

    Raises
    ------
    ProgrammingError
        The class is none of these. When a result comes: a field has no column, or a column no field.
    """
    model = _model(cls)

    def factory(columns: Sequence[Column]) -> Callable[[Row], T]:
        fields = {name.casefold(): name for name in model.fields}
        names = [column.name.casefold() for column in columns]
        problems = [
            f"field {name} has no column"
            for name, is_required in model.fields.items()
            if is_required and name.casefold() not in names
        ]
        problems += [
            f"column {column.name} has no field" for column in columns if column.name.casefold() not in fields
        ]
        problems += [
            f"column {columns[at].name} comes twice" for at, name in enumerate(names) if name in names[:at]
        ]
        if problems:
            raise ProgrammingError(f"rows cannot become {cls.__qualname__}: {', '.join(problems)}")
        keys = [model.keys.get(fields[name], fields[name]) for name in names]
        make = model.make
        return lambda row: make(dict(zip(keys, row, strict=True)))

    return factory


class _Model(NamedTuple):
    """How objects of a class are made."""

    fields: dict[str, bool]
    """Names, and whether a value is required."""
    make: Callable[[dict[str, Any]], Any]
    """Makes an object of values by name."""
    keys: Mapping[str, str] = {}
    """The names of values that differ from those of their fields."""


def _model(of: object) -> _Model:
    """Look into a class, without importing what may not be installed."""

    cls: Any = of

    def of_keywords(values: dict[str, Any]) -> Any:
        return cls(**values)

    if isinstance(of, type):
        attributes: Any = getattr(cls, "__attrs_attrs__", None)
        if attributes is not None:
            nothing = sys.modules["attr"].NOTHING
            inits = [attribute for attribute in attributes if attribute.init]
            return _Model(
                {attribute.name: attribute.default is nothing for attribute in inits},
                of_keywords,
                {attribute.name: attribute.alias for attribute in inits},
            )
        # Before dataclasses: pydantic has such, too, which take keywords as others do.
        if callable(validate := getattr(cls, "model_validate", None)):
            fields: Any = getattr(cls, "model_fields", {})
            by_name = getattr(cls, "model_config", {}).get("populate_by_name", False)
            keys = {name: _alias(name, field, by_name) for name, field in fields.items()}
            return _Model({name: field.is_required() for name, field in fields.items()}, validate, keys)
        import dataclasses

        if dataclasses.is_dataclass(of):
            missing = dataclasses.MISSING
            return _Model(
                {
                    field.name: field.default is missing and field.default_factory is missing
                    for field in dataclasses.fields(cls)
                    if field.init
                },
                of_keywords,
            )
        names: Any = getattr(cls, "_fields", None)
        if issubclass(of, tuple) and names is not None:
            defaults: Any = getattr(cls, "_field_defaults", {})
            return _Model({name: name not in defaults for name in names}, of_keywords)
    raise ProgrammingError(
        f"a model must be a dataclass, an attrs class, a pydantic model or a NamedTuple, not {of!r}; "
        "for other classes see row_factory=class_row(…)"
    )


def _alias(name: str, field: Any, by_name: bool) -> str:
    """Return the name under which a pydantic model takes a field's value."""
    alias = field.validation_alias
    return alias if isinstance(alias, str) and not by_name else name


def check_factory(factory: object) -> None:
    """Refuse what cannot be a row factory."""
    if not callable(factory):
        raise InterfaceError(f"row_factory must be a function such as firearrow.dict_row, not {factory!r}")


def made_by(factory: RowFactory, columns: Sequence[Column]) -> Callable[[Row], Any]:
    """Return what makes the rows of a result."""
    make: Any = factory(columns)
    if not callable(make):
        raise ProgrammingError(
            f"the row factory {factory!r} returned {make!r} for the columns, not a function of a row; "
            "firearrow.dict_row and its like are passed without being called"
        )
    return cast("Callable[[Row], Any]", make)


def chosen(row_factory: RowFactory | None, model: type | None) -> RowFactory | None:
    """Return the one of both that is given."""
    if model is None:
        return row_factory
    if row_factory is not None:
        raise ProgrammingError("give a model or a row_factory, not both")
    return model_row(model)
