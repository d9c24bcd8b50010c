"""Reflection of a sample schema, and Alembic and pandas on it."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata, produce_migrations, render_python_code
from alembic.migration import MigrationContext
from alembic.operations import Operations
from engines import create
from sqlalchemy.schema import CreateTable

import firearrow
from firearrow.sqlalchemy import BINARY_UUID


def sample(version: int) -> sa.MetaData:
    """Return a schema with one of everything."""
    metadata = sa.MetaData()
    sa.Table(
        "customer",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(60), nullable=False, comment="as on the invoice"),
        sa.Column("country", sa.CHAR(2), server_default="DE"),
        sa.Column("rating", sa.SmallInteger, server_default=sa.text("5")),
        sa.Column("since", sa.DateTime, server_default=sa.text("CURRENT_TIMESTAMP")),
        sa.Column("active", sa.Boolean, server_default=sa.true()),
        sa.Column("Mixed Case", sa.String(10, collation="UNICODE_CI")),
        sa.Column("notes", sa.Text),
        sa.Column("picture", sa.LargeBinary),
        sa.Column("hash", sa.BINARY(16)),
        sa.Column("reference", BINARY_UUID),
        sa.Column("general", sa.Uuid),
        sa.UniqueConstraint("name", "country", name="uq_customer"),
        sa.CheckConstraint("rating BETWEEN 0 AND 10", name="ck_rating"),
        comment="who buys",
    )
    sa.Table(
        "invoice",
        metadata,
        sa.Column("number", sa.BigInteger, sa.Identity(start=1000), primary_key=True),
        sa.Column(
            "customer_id", sa.Integer, sa.ForeignKey("customer.id", name="fk_customer", ondelete="CASCADE")
        ),
        sa.Column("net", sa.Numeric(12, 2), nullable=False),
        sa.Column("tax", sa.DECIMAL(9, 4), nullable=False),
        sa.Column("gross", sa.Numeric(18, 6), sa.Computed("net + net * tax")),
        sa.Column("twice", sa.Integer, sa.Computed("2 * 21")),
        sa.Column("rate", sa.Float),
        sa.Column("exact", sa.Double),
        sa.Column("due", sa.Date),
        sa.Column("at_time", sa.Time),
        sa.Column("span", sa.Interval),
        sa.Column("kind", sa.Enum("cash", "card", name="kind_of_payment")),
        sa.Index("ix_due", "due", "customer_id"),
        sa.Index("ix_net", "net", firebird_descending=True),
    )
    invoice = metadata.tables["invoice"]
    sa.Index("ix_upper", sa.func.upper(metadata.tables["customer"].c.name))
    if version >= 5:
        sa.Index("ix_large", invoice.c.tax, firebird_where=invoice.c.net > 1000)
    if version >= 4:
        sa.Table(
            "modern",
            metadata,
            sa.Column("id", sa.Integer, sa.Identity(always=True, start=5, increment=3), primary_key=True),
            sa.Column("at", sa.DateTime(timezone=True)),
            sa.Column("daily", sa.Time(timezone=True)),
            sa.Column("huge", sa.Numeric(38, 4)),
        )
    sa.Sequence("ticket", metadata=metadata)
    return metadata


def clear(engine: sa.Engine) -> None:
    """Drop everything."""
    with engine.begin() as used:
        for view in sa.inspect(used).get_view_names():
            used.exec_driver_sql(f"DROP VIEW {view}")
        metadata = sa.MetaData()
        metadata.reflect(used)
        metadata.drop_all(used)
        for name in sa.inspect(used).get_sequence_names():
            used.execute(sa.schema.DropSequence(sa.Sequence(name)))


@pytest.fixture(scope="module")
def database(database: str) -> str:
    """A database of its own: that of the other tests has hundreds of tables, which would all be dropped."""
    name = database.replace(".fdb", "-reflection.fdb")
    firearrow.connect(name, create_if_missing=True).close()
    return name


@pytest.fixture
def fresh(database: str) -> Iterator[sa.Engine]:
    """An engine of the database, with nothing in it."""
    engine = create(database)
    clear(engine)
    yield engine
    engine.dispose()
    clear(engine)
    engine.dispose()


@pytest.fixture
def engine(fresh: sa.Engine, version: int) -> sa.Engine:
    """An engine of the database with the sample schema."""
    sample(version).create_all(fresh)
    with fresh.begin() as used:
        used.exec_driver_sql(
            "CREATE VIEW rich AS SELECT customer_id, SUM(net) AS total FROM invoice GROUP BY 1"
        )
    return fresh


def test_tables_views_and_sequences(engine: sa.Engine, version: int) -> None:
    inspector = sa.inspect(engine)
    tables = {"customer", "invoice", "modern"} if version >= 4 else {"customer", "invoice"}
    assert set(inspector.get_table_names()) == tables
    assert inspector.get_view_names() == ["rich"]
    assert (
        inspector.get_view_definition("rich")
        == "SELECT customer_id, SUM(net) AS total FROM invoice GROUP BY 1"
    )
    assert [column["name"] for column in inspector.get_columns("rich")] == ["customer_id", "total"]
    assert inspector.get_sequence_names() == ["ticket"]
    assert inspector.has_table("customer")
    assert inspector.has_table("rich")
    assert not inspector.has_table("nothing")


def test_columns(engine: sa.Engine, version: int) -> None:
    inspector = sa.inspect(engine)
    columns: dict[str, Any] = {column["name"]: column for column in inspector.get_columns("customer")}
    assert list(columns) == [column.name for column in sample(version).tables["customer"].columns]
    compiled = {name: str(column["type"].compile(engine.dialect)) for name, column in columns.items()}
    is_old = version < 4
    octets = "CHAR(16) CHARACTER SET OCTETS" if is_old else "BINARY(16)"
    moment = "TIMESTAMP" if is_old else "TIMESTAMP WITHOUT TIME ZONE"
    assert compiled == {
        "id": "INTEGER",
        "name": "VARCHAR(60)",
        "country": "CHAR(2)",
        "rating": "SMALLINT",
        "since": moment,
        "active": "BOOLEAN",
        "Mixed Case": "VARCHAR(10) COLLATE UNICODE_CI",
        "notes": "BLOB SUB_TYPE TEXT",
        "picture": "BLOB SUB_TYPE BINARY",
        "hash": octets,
        "reference": octets,
        "general": "CHAR(32)",
    }
    assert [name for name, column in columns.items() if not column["nullable"]] == ["id", "name"]
    defaults = {name: column["default"] for name, column in columns.items() if column["default"] is not None}
    assert defaults == {"country": "'DE'", "rating": "5", "since": "CURRENT_TIMESTAMP", "active": "true"}
    assert columns["name"]["comment"] == "as on the invoice"
    assert inspector.get_table_comment("customer") == {"text": "who buys"}
    assert "identity" in columns["id"]

    columns = {column["name"]: column for column in inspector.get_columns("invoice")}
    assert columns["gross"]["computed"]["sqltext"] == "net + net * tax"
    assert columns["number"]["identity"]["start"] == 1000
    assert columns["number"]["identity"]["always"] is False
    assert repr(columns["net"]["type"]) == "NUMERIC(precision=12, scale=2)"
    assert repr(columns["tax"]["type"]) == "DECIMAL(precision=9, scale=4)"
    assert isinstance(columns["twice"]["type"], sa.Integer)
    assert isinstance(columns["rate"]["type"], sa.Double)
    if version >= 4:
        columns = {column["name"]: column for column in inspector.get_columns("modern")}
        assert columns["id"]["identity"] == {"always": True, "start": 5, "increment": 3}
        assert columns["at"]["type"].timezone
        assert columns["daily"]["type"].timezone
        assert repr(columns["huge"]["type"]) == "NUMERIC(precision=38, scale=4)"


def test_keys_indexes_and_checks(engine: sa.Engine, version: int) -> None:
    inspector = sa.inspect(engine)
    assert inspector.get_pk_constraint("invoice")["constrained_columns"] == ["number"]
    (foreign,) = inspector.get_foreign_keys("invoice")
    assert foreign["name"] == "fk_customer"
    assert (foreign["constrained_columns"], foreign["referred_table"], foreign["referred_columns"]) == (
        ["customer_id"],
        "customer",
        ["id"],
    )
    assert foreign.get("options") == {"ondelete": "CASCADE"}
    unique = inspector.get_unique_constraints("customer")
    assert unique == [{"name": "uq_customer", "column_names": ["name", "country"]}]
    (check,) = inspector.get_check_constraints("customer")
    assert (check["name"], check["sqltext"]) == ("ck_rating", "rating BETWEEN 0 AND 10")
    indexes: dict[Any, Any] = {index["name"]: index for index in inspector.get_indexes("invoice")}
    assert indexes["ix_due"]["column_names"] == ["due", "customer_id"]
    assert indexes["ix_due"]["dialect_options"] == {}
    assert indexes["ix_net"]["dialect_options"] == {"firebird_descending": True}
    if version >= 5:
        assert indexes["ix_large"]["dialect_options"] == {"firebird_where": "net > 1000"}
    indexes = {index["name"]: index for index in inspector.get_indexes("customer")}
    assert indexes["uq_customer"]["duplicates_constraint"] == "uq_customer"
    assert indexes["ix_upper"]["expressions"] == ["upper(name)"]
    assert indexes["ix_upper"]["column_names"] == [None]


def test_definitions_of_others(fresh: sa.Engine) -> None:
    with fresh.begin() as used:
        used.exec_driver_sql(
            "CREATE TABLE other (a VARCHAR(10), b VARCHAR(10), list INTEGER[1:3], "
            "CONSTRAINT tight check(a>'b'), CONSTRAINT loose CHECK  (  b <> ')' ))"
        )
        used.exec_driver_sql("CREATE INDEX joined ON other COMPUTED BY (a || b)")
    inspector = sa.inspect(fresh)
    checks = {check["name"]: check["sqltext"] for check in inspector.get_check_constraints("other")}
    assert checks == {"tight": "a>'b'", "loose": "b <> ')'"}
    (index,) = inspector.get_indexes("other")
    assert index.get("expressions") == ["a || b"]
    kinds = {column["name"]: column["type"] for column in inspector.get_columns("other")}
    assert isinstance(kinds["list"], sa.types.NullType)


def test_index_of_several_expressions_is_refused(fresh: sa.Engine) -> None:
    table = sa.Table("t", sa.MetaData(), sa.Column("a", sa.String(5)), sa.Column("b", sa.String(5)))
    index = sa.Index("both", sa.func.upper(table.c.a), table.c.b)
    with pytest.raises(sa.exc.CompileError, match="one expression"):
        sa.schema.CreateIndex(index).compile(fresh)


def test_reflected_schema_can_be_created_again(engine: sa.Engine) -> None:
    first = sa.MetaData()
    first.reflect(engine)
    written = {name: str(CreateTable(table).compile(engine)) for name, table in first.tables.items()}
    clear(engine)
    first.create_all(engine)
    second = sa.MetaData()
    second.reflect(engine)
    assert {name: str(CreateTable(table).compile(engine)) for name, table in second.tables.items()} == written
    assert {index.name for table in second.tables.values() for index in table.indexes} == {
        index.name for table in first.tables.values() for index in table.indexes
    }


def test_sample_takes_rows(engine: sa.Engine) -> None:
    metadata = sa.MetaData()
    metadata.reflect(engine)
    customer, invoice = metadata.tables["customer"], metadata.tables["invoice"]
    with engine.begin() as used:
        key = used.execute(customer.insert().values(name="A", hash=b"x" * 16)).inserted_primary_key
        assert key is not None
        values = {
            "customer_id": key[0],
            "net": Decimal("100.00"),
            "tax": Decimal("0.1900"),
            "due": datetime.date(2024, 1, 1),
        }
        row = used.execute(invoice.insert().values(values).returning(invoice.c.gross, invoice.c.number)).one()
        assert row.gross == Decimal("119.000000")
        assert row.number in (1000, 1001)
        found = used.execute(sa.select(customer.c.country, customer.c.rating, customer.c.active))
        assert [tuple(row) for row in found] == [("DE", 5, True)]
        assert used.scalar(sa.Sequence("ticket").next_value()) is not None


# --- Alembic


def changes(engine: sa.Engine, metadata: sa.MetaData, **options: Any) -> list[Any]:
    """Return what autogenerate finds."""
    with engine.connect() as used:
        context = MigrationContext.configure(
            used, opts={"compare_type": True, "compare_server_default": True, **options}
        )
        return list(compare_metadata(context, metadata))


def test_autogenerate_finds_no_difference(engine: sa.Engine, version: int) -> None:
    assert changes(engine, sample(version)) == []


def test_autogenerate_finds_real_differences(engine: sa.Engine, version: int) -> None:
    metadata = sample(version)
    customer = metadata.tables["customer"]
    customer.c.name.type = sa.String(80)
    customer.c.rating.server_default = sa.DefaultClause("6")
    customer.c.country.nullable = False
    customer.append_column(sa.Column("extra", sa.Integer))
    customer.indexes.remove(next(index for index in customer.indexes if index.name == "ix_upper"))
    found = changes(engine, metadata)
    names = sorted(one[0][0] if isinstance(one, list) else one[0] for one in found)
    assert names == ["add_column", "modify_default", "modify_nullable", "modify_type", "remove_index"]


def test_migration_makes_the_schema(fresh: sa.Engine, version: int) -> None:
    """Upgrade an empty database by the generated operations, and find no difference; and the way back."""
    metadata = sample(version)
    with fresh.connect() as used:
        context = MigrationContext.configure(used)
        script = produce_migrations(context, metadata)
        assert script.upgrade_ops is not None
        code = render_python_code(script.upgrade_ops, migration_context=context)
        assert "sqlalchemy_firebird" not in code
        operations = Operations(context)
        for operation in script.upgrade_ops.ops:
            for one in getattr(operation, "ops", [operation]):
                operations.invoke(one)
        used.commit()
    assert changes(fresh, metadata) == []
    with fresh.connect() as used:
        context = MigrationContext.configure(used)
        # What is found when the models are gone names the types as SQLAlchemy does, in the way back.
        gone = produce_migrations(context, sa.MetaData())
        assert gone.downgrade_ops is not None
        code = render_python_code(gone.downgrade_ops, migration_context=context)
        assert "sqlalchemy_firebird" not in code
        assert "sa.String(length=60)" in code
        assert script.downgrade_ops is not None
        operations = Operations(context)
        for operation in script.downgrade_ops.ops:
            for one in getattr(operation, "ops", [operation]):
                operations.invoke(one)
        used.commit()
    assert sa.inspect(fresh).get_table_names() == []


def test_operations(fresh: sa.Engine) -> None:
    with fresh.connect() as used:
        operations = Operations(MigrationContext.configure(used))
        operations.create_table(
            "t", sa.Column("id", sa.Integer, primary_key=True), sa.Column("a", sa.String(5))
        )
        operations.add_column("t", sa.Column("b", sa.Integer, server_default="1"))
        operations.alter_column("t", "a", new_column_name="c")
        operations.alter_column("t", "c", type_=sa.String(50))
        operations.alter_column("t", "b", server_default=sa.text("2"))
        operations.alter_column("t", "b", nullable=False)
        operations.create_index("by_c", "t", ["c"])
        operations.create_unique_constraint("uq", "t", ["b"])
        operations.create_table_comment("t", "a table")
        operations.bulk_insert(sa.table("t", sa.column("c", sa.String)), [{"c": "x" * 40}])
        used.commit()
    inspector = sa.inspect(fresh)
    columns = {column["name"]: column for column in inspector.get_columns("t")}
    assert list(columns) == ["id", "c", "b"]
    assert str(columns["c"]["type"]) == "VARCHAR(50)"
    assert (columns["b"]["default"], columns["b"]["nullable"]) == ("2", False)
    assert {index["name"] for index in inspector.get_indexes("t")} == {"by_c", "uq"}
    assert inspector.get_table_comment("t") == {"text": "a table"}
    with fresh.connect() as used:
        assert [tuple(row) for row in used.exec_driver_sql("SELECT c, b FROM t")] == [("x" * 40, 2)]
        operations = Operations(MigrationContext.configure(used))
        operations.drop_constraint("uq", "t")
        operations.drop_index("by_c", "t")
        operations.alter_column("t", "b", nullable=True, server_default=None)
        operations.drop_column("t", "c")
        with pytest.raises(sa.exc.CompileError, match="cannot rename"):
            operations.rename_table("t", "u")
        used.commit()
    inspector = sa.inspect(fresh)
    assert [column["name"] for column in inspector.get_columns("t")] == ["id", "b"]
    assert inspector.get_indexes("t") == []


# --- pandas


def test_pandas_writes_and_reads(fresh: sa.Engine, database: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "number": [1, 2, 2**40],
            "rate": [0.1, None, 1e300],
            "name": ["a", None, "Grüße 🎩"],
            "at": pandas.to_datetime(["2024-01-01 12:34:56.789", None, "1999-12-31"], format="ISO8601"),
            "flag": [True, False, True],
            "day": [datetime.date(2024, 1, 1), None, datetime.date(1, 1, 1)],
        }
    )
    assert frame.to_sql("frame", fresh, index=False) == 3
    found = pandas.read_sql("SELECT * FROM frame ORDER BY number", fresh)
    pandas.testing.assert_frame_equal(found, frame, check_dtype=False)
    assert found["at"].dtype.kind == "M"
    # As another connection sees it.
    with firearrow.connect(database) as other:
        rows = other.execute('SELECT number, rate, name, "at", flag FROM frame ORDER BY number').fetchall()
    assert rows[0] == (1, 0.1, "a", datetime.datetime(2024, 1, 1, 12, 34, 56, 789_000), True)
    assert rows[1][1:4] == (None, None, None)
    assert rows[2] == (2**40, 1e300, "Grüße 🎩", datetime.datetime(1999, 12, 31), True)

    frame.to_sql("frame", fresh, index=False, if_exists="append", method=None)
    assert pandas.read_sql_query("SELECT COUNT(*) AS many FROM frame", fresh)["many"].tolist() == [6]
    frame.to_sql("frame", fresh, index=True, if_exists="replace")
    whole = pandas.read_sql_table("frame", fresh)
    assert whole.columns.tolist() == ["index", *frame.columns]
    assert whole["number"].tolist() == [1, 2, 2**40]
    parts = list(pandas.read_sql_query("SELECT * FROM frame ORDER BY number", fresh, chunksize=2))
    assert [len(part) for part in parts] == [2, 1]


def test_pandas_many_rows(fresh: sa.Engine) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": range(20_000), "half": [number / 2 for number in range(20_000)]})
    assert frame.to_sql("many", fresh, index=False) == 20_000
    found = pandas.read_sql("SELECT n, half FROM many ORDER BY n", fresh)
    pandas.testing.assert_frame_equal(found, frame)


def test_binary_uuid_holds_what_the_engine_makes(engine: sa.Engine) -> None:
    customer = sa.table("customer", sa.column("name", sa.String), sa.column("reference", BINARY_UUID))
    with engine.begin() as used:
        used.exec_driver_sql("INSERT INTO customer (name, reference) VALUES ('engine', GEN_UUID())")
        made = used.scalars(sa.select(customer.c.reference)).one()
        assert isinstance(made, uuid.UUID)
        text = used.exec_driver_sql("SELECT UUID_TO_CHAR(reference) FROM customer").scalar()
        assert str(made) == str(text).lower()
        assert used.scalar(sa.select(customer.c.name).where(customer.c.reference == made)) == "engine"
