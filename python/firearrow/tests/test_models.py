"""Rows as objects of classes that name their fields."""

from __future__ import annotations

import asyncio
import dataclasses
from decimal import Decimal
from typing import Any, NamedTuple

import attrs
import pydantic
import pytest

import firearrow
from firearrow import aio

PRICE = "CAST(1.50 AS NUMERIC(9,2))"
QUERY = f"SELECT 7 AS id, CAST('Tea' AS VARCHAR(9)) AS \"Name\", {PRICE} AS price FROM RDB$DATABASE"


@dataclasses.dataclass
class Plain:
    id: int
    name: str
    price: Decimal
    note: str = "none"
    seen: int = dataclasses.field(default=3, init=False)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    price: Decimal
    id: int
    name: str
    notes: list[str] = dataclasses.field(default_factory=list)


@attrs.define
class Attrs:
    id: int
    name: str
    price: Decimal
    note: str = "none"


@attrs.frozen
class Private:
    _id: int = attrs.field(alias="ID_GIVEN")
    name: str
    price: Decimal


class Model(pydantic.BaseModel):
    id: int
    name: str
    price: float
    note: str | None = None


class Aliased(pydantic.BaseModel):
    id: int = pydantic.Field(alias="the id")
    name: str = pydantic.Field(validation_alias="the name")
    price: Decimal


class Named(NamedTuple):
    name: str
    price: Decimal
    id: int
    note: str = "none"


@pydantic.dataclasses.dataclass
class Checked:
    id: int
    name: str
    price: float


MODELS = [Plain, Frozen, Attrs, Model, Aliased, Named, Checked]


@pytest.mark.parametrize("cls", MODELS)
def test_models(connection: firearrow.Connection, cls: Any) -> None:
    """Columns become fields by name, whatever the case and the order."""
    for row in (
        connection.execute(QUERY, model=cls).fetchone(),
        connection.execute(QUERY, model=cls).fetchall()[0],
        next(connection.execute(QUERY, model=cls)),
        connection.cursor(model=cls).execute(QUERY).fetchone(),
        connection.cursor(row_factory=firearrow.model_row(cls)).execute(QUERY).fetchmany(5)[0],
        connection.begin().execute(QUERY, model=cls).fetchone(),
        connection.begin().cursor(model=cls).execute(QUERY).fetchone(),
    ):
        assert type(row) is cls
        assert (row.id, row.name, row.price) == (7, "Tea", Decimal("1.5"))
        assert getattr(row, "note", None) in ("none", None)


def test_private_attributes(connection: firearrow.Connection) -> None:
    row = connection.execute(QUERY.replace("AS id", 'AS "_id"'), model=Private).fetchone()
    assert row == Private(7, "Tea", Decimal("1.5"))


@pytest.mark.parametrize("cls", MODELS)
def test_columns_that_do_not_fit(connection: firearrow.Connection, cls: Any) -> None:
    """All that is missing or too much is named."""
    with pytest.raises(firearrow.ProgrammingError) as caught:
        connection.execute('SELECT 7 AS id, 1 AS weight, 2 AS "Size" FROM RDB$DATABASE', model=cls)
    for words in (
        "field name has no column",
        "field price has no column",
        "column WEIGHT has no field",
        "column Size has",
    ):
        assert words in str(caught.value)
    assert "note" not in str(caught.value)
    with pytest.raises(firearrow.ProgrammingError, match="column ID comes twice"):
        connection.execute(QUERY.replace("SELECT", "SELECT 1 AS id,"), model=cls)
    assert connection.execute(QUERY).fetchone() == (7, "Tea", Decimal("1.50"))


def test_the_model_counts_for_one_execution(connection: firearrow.Connection) -> None:
    cursor = connection.cursor(row_factory=firearrow.dict_row)
    assert cursor.execute(QUERY, model=Named).fetchone() == Named("Tea", Decimal("1.50"), 7)
    assert cursor.execute(QUERY).fetchone() == {"ID": 7, "Name": "Tea", "PRICE": Decimal("1.50")}


@pytest.mark.parametrize("cls", [int, dict, object, "Order", 5, Named("x", Decimal(1), 2)], ids=repr)
def test_what_is_no_model(connection: firearrow.Connection, table: str, cls: Any) -> None:
    """It is told before anything is executed."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    connection.commit()
    with pytest.raises(firearrow.ProgrammingError, match="a model must be a dataclass"):
        connection.execute(f"INSERT INTO {table} VALUES (1) RETURNING id", model=cls)
    with pytest.raises(firearrow.ProgrammingError, match="a model must be a dataclass"):
        connection.cursor(model=cls)
    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)


def test_a_model_or_a_row_factory(connection: firearrow.Connection) -> None:
    with pytest.raises(firearrow.ProgrammingError, match="not both"):
        connection.cursor(model=Plain, row_factory=firearrow.dict_row)


def test_values_that_a_model_refuses(connection: firearrow.Connection) -> None:
    """pydantic says so itself."""
    with pytest.raises(pydantic.ValidationError, match="price"):
        connection.execute(QUERY.replace(PRICE, "NULL"), model=Model).fetchone()


def test_executemany(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (id INTEGER, name VARCHAR(9), price NUMERIC(9,2))")
    connection.commit()
    insert = f"INSERT INTO {table} VALUES (?, ?, ?) RETURNING id, name, price"
    rows = connection.executemany(insert, [(1, "a", 2), (2, "b", 3)], model=Plain).fetchall()
    assert rows == [Plain(1, "a", Decimal(2)), Plain(2, "b", Decimal(3))]


def test_aio_models(database: str) -> None:
    async def run() -> None:
        async with aio.connect(database) as connection:
            for cls in (Plain, Attrs, Model, Named):
                row = await (await connection.execute(QUERY, model=cls)).fetchone()
                assert type(row) is cls
                cursor = connection.cursor(model=cls)
                assert await (await cursor.execute(QUERY)).fetchall() == [row]
                async with connection.begin() as transaction:
                    cursor = await transaction.cursor(model=cls).execute(QUERY)
                    assert [row async for row in cursor] == [row]

    asyncio.run(run())
