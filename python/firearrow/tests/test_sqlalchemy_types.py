"""Types of SQLAlchemy with the dialect firebird+firearrow."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from firearrow.sqlalchemy import BINARY_UUID


def test_values_come_back_in_their_classes(engine: sa.Engine, table: str) -> None:
    values: dict[str, tuple[Any, Any]] = {
        "a_integer": (sa.Integer, -(2**31)),
        "a_big": (sa.BigInteger, 2**63 - 1),
        "a_small": (sa.SmallInteger, 7),
        "a_bool": (sa.Boolean, True),
        "a_numeric": (sa.Numeric(10, 2), Decimal("12345.67")),
        "a_rough": (sa.Numeric(10, 2, asdecimal=False), 1.25),
        "a_float": (sa.Float, 0.1),
        "a_precise": (sa.Double, 1e300),
        "a_decimal": (sa.Float(asdecimal=True, decimal_return_scale=3), Decimal("0.125")),
        "a_string": (sa.String(20), "Grüße 🎩"),
        "a_text": (sa.Text, "long " * 10_000),
        "a_char": (sa.CHAR(5), "abcde"),
        "a_binary": (sa.LargeBinary, b"\x00\xff" * 40_000),
        "a_fixed": (sa.BINARY(4), b"\x00\x01\xfe\xff"),
        "a_date": (sa.Date, datetime.date(2024, 2, 29)),
        "a_time": (sa.Time, datetime.time(12, 34, 56, 789_100)),
        "a_moment": (sa.DateTime, datetime.datetime(2024, 2, 29, 12, 34, 56, 789_100)),
        "a_span": (sa.Interval, datetime.timedelta(days=3, seconds=1, microseconds=1)),
        "a_uuid": (sa.Uuid, uuid.uuid4()),
        "a_short_uuid": (BINARY_UUID, uuid.uuid4()),
        "a_choice": (sa.Enum("yes", "no", name=f"choice_{table}"), "yes"),
    }
    metadata = sa.MetaData()
    made = sa.Table(
        f"types_{table.lower()}", metadata, *(sa.Column(name, kind) for name, (kind, _) in values.items())
    )
    metadata.create_all(engine)
    row = {name: value for name, (_, value) in values.items()}
    with engine.begin() as used:
        used.execute(made.insert(), row)
        used.execute(made.insert(), dict.fromkeys(row))
        used.execute(made.insert(), [row, row])
    with engine.connect() as used:
        rows = used.execute(sa.select(made)).mappings().all()
        assert len(rows) == 4
        for found in (rows[0], rows[2], rows[3]):
            assert dict(found) == row
            assert {name: type(value) for name, value in found.items()} == {
                name: type(value) for name, value in row.items()
            }
        assert set(rows[1].values()) == {None}
        comparable = [name for name in row if name not in ("a_text", "a_binary")]
        wanted = [made.c[name] == row[name] for name in comparable]
        assert used.scalar(sa.select(sa.func.count()).select_from(made).where(*wanted)) == 3
    metadata.drop_all(engine)


def test_time_zones(engine: sa.Engine, table: str, version: int) -> None:
    if version < 4:
        pytest.skip("types with time zones came with Firebird 4")
    metadata = sa.MetaData()
    made = sa.Table(f"zones_{table.lower()}", metadata, sa.Column("at", sa.DateTime(timezone=True)))
    metadata.create_all(engine)
    moment = datetime.datetime(2024, 7, 1, 12, 0, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    with engine.begin() as used:
        used.execute(made.insert().values(at=moment))
        found = used.scalar(sa.select(made.c.at))
    assert found == moment
    assert found is not None
    assert found.utcoffset() == datetime.timedelta(hours=2)
    metadata.drop_all(engine)


def test_native_values_have_no_converter(engine: sa.Engine) -> None:
    kinds: dict[sa.types.TypeEngine[Any], str] = {
        sa.Integer(): "INTEGER",
        sa.Numeric(10, 2): "NUMERIC",
        sa.Float(): "DOUBLE PRECISION",
        sa.Double(): "DOUBLE PRECISION",
        sa.DateTime(): "TIMESTAMP",
        sa.Date(): "DATE",
        sa.Time(): "TIME",
        sa.Boolean(): "BOOLEAN",
        sa.String(5): "VARCHAR",
        sa.Text(): "BLOB SUB_TYPE TEXT",
        sa.LargeBinary(): "BLOB",
    }
    for kind, code in kinds.items():
        assert kind.dialect_impl(engine.dialect).result_processor(engine.dialect, code) is None, kind
