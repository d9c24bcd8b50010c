"""The dialect firebird+firearrow: URLs, engines, transactions, types, and the ORM."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import tomllib
from engines import create, url
from sqlalchemy import orm
from sqlalchemy.dialects import registry

import firearrow
from firearrow.sqlalchemy import BINARY_UUID, FirearrowAsyncDialect, FirearrowDialect
from firearrow.sqlalchemy.url import arguments


@pytest.fixture
def engine(database: str) -> Iterator[sa.Engine]:
    """An engine of the database."""
    engine = create(database)
    yield engine
    engine.dispose()


@pytest.fixture
def numbers(engine: sa.Engine, table: str) -> Iterator[sa.Table]:
    """A table with an identity column and a text."""
    metadata = sa.MetaData()
    made = sa.Table(
        f"numbers_{table.lower()}",
        metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(10)),
    )
    metadata.create_all(engine)
    yield made
    engine.dispose()
    metadata.drop_all(engine)


# --- URLs


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("firebird+firearrow://host/alias", "firebird://host/alias"),
        ("firebird+firearrow://host//data/x.fdb", "firebird://host//data/x.fdb"),
        ("firebird+firearrow://host///data/x.fdb", "firebird://host//data/x.fdb"),
        ("firebird+firearrow://host:3051//data/x.fdb", "firebird://host:3051//data/x.fdb"),
        ("firebird+firearrow://[::1]:3051//data/x.fdb", "firebird://[::1]:3051//data/x.fdb"),
        ("firebird+firearrow:////data/x.fdb", "firebird:////data/x.fdb"),
        ("firebird+firearrow://///data/x.fdb", "firebird:////data/x.fdb"),
        ("firebird+firearrow:///shop.fdb", "firebird:///./shop.fdb"),
        ("firebird+firearrow:///C:/data/x.fdb", "firebird:///C:/data/x.fdb"),
        ("firebird+firearrow://host//data/100% x.fdb", "firebird://host//data/100%25%20x.fdb"),
        (
            "firebird+firearrow://host/alias?wire_crypt=required&session_time_zone=%2B02:00",
            "firebird://host/alias?wire_crypt=required&session_time_zone=%2B02%3A00",
        ),
    ],
)
def test_url_becomes_an_address(text: str, address: str) -> None:
    assert arguments(sa.make_url(text)) == ([address], {})


def test_url_has_login_and_typed_options() -> None:
    given = (
        "firebird+firearrow://me:se%40cret@h/a?"
        "autocommit=true&read_only=false&lock_timeout=1.5&isolation=read_committed&role=R"
    )
    address, options = arguments(sa.make_url(given))
    assert address == ["firebird://h/a?role=R"]
    assert options == {
        "user": "me",
        "password": "se@cret",
        "autocommit": True,
        "read_only": False,
        "lock_timeout": 1.5,
        "isolation": "read_committed",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("firebird+firearrow://host", "no database"),
        ("firebird+firearrow://host/a?role=x&role=y", "more than once"),
        ("firebird+firearrow://host/a?autocommit=perhaps", "true or false"),
        ("firebird+firearrow://host/a?lock_timeout=soon", "number of seconds"),
    ],
)
def test_impossible_urls_are_refused(text: str, message: str) -> None:
    with pytest.raises(sa.exc.ArgumentError, match=message):
        arguments(sa.make_url(text))


def test_url_may_not_name_code_to_run(database: str) -> None:
    engine = sa.create_engine(url(database, client_library="/tmp/library"))
    with pytest.raises(sa.exc.InterfaceError, match="client_library"):
        engine.connect()


def test_entry_points_name_what_there_is() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    points = project["entry-points"]
    for driver, dialect in (("firearrow", FirearrowDialect), ("firearrow_async", FirearrowAsyncDialect)):
        module, name = points["sqlalchemy.dialects"][f"firebird.{driver}"].split(":")
        assert getattr(import_module(module), name) is dialect
    assert callable(import_module(points["alembic.plugins"]["firearrow"]).setup)
    assert registry.load("firebird.firearrow") is FirearrowDialect


# --- Connections


def test_version_and_name(engine: sa.Engine, connection: firearrow.Connection) -> None:
    with engine.connect() as used:
        assert used.dialect.name == "firebird"
        assert used.dialect.driver == "firearrow"
        version = ".".join(str(number) for number in used.dialect.server_version_info or ())
        assert version == connection.info["engine_version"]


def test_isolation_levels_are_the_servers(engine: sa.Engine) -> None:
    isolation = sa.text(
        "SELECT RDB$GET_CONTEXT('SYSTEM', 'ISOLATION_LEVEL'), MON$LOCK_TIMEOUT, MON$READ_ONLY "
        "FROM MON$TRANSACTIONS WHERE MON$TRANSACTION_ID = CURRENT_TRANSACTION"
    )
    seen = {}
    for level in (
        "READ COMMITTED",
        "REPEATABLE READ",
        "SNAPSHOT",
        "SERIALIZABLE",
        "SNAPSHOT TABLE STABILITY",
    ):
        with engine.connect().execution_options(isolation_level=level) as used:
            seen[level] = used.execute(isolation).one()[0]
    assert seen == {
        "READ COMMITTED": "READ COMMITTED",
        "REPEATABLE READ": "SNAPSHOT",
        "SNAPSHOT": "SNAPSHOT",
        "SERIALIZABLE": "CONSISTENCY",
        "SNAPSHOT TABLE STABILITY": "CONSISTENCY",
    }
    with engine.connect() as used:
        assert used.get_isolation_level() == "REPEATABLE READ"
        assert used.execute(isolation).one() == ("SNAPSHOT", -1, 0)
    with engine.connect().execution_options(firebird_lock_timeout=3, firebird_read_only=True) as used:
        assert used.execute(isolation).one() == ("SNAPSHOT", 3, 1)
    # They are those of the URL again when the pool gets the connection back.
    with engine.connect() as used:
        assert used.execute(isolation).one() == ("SNAPSHOT", -1, 0)


def test_settings_of_the_url_come_back(database: str) -> None:
    engine = sa.create_engine(url(database, lock_timeout="5", isolation="read_committed"), pool_size=1)
    question = "SELECT MON$LOCK_TIMEOUT FROM MON$TRANSACTIONS WHERE MON$TRANSACTION_ID = CURRENT_TRANSACTION"
    with engine.connect().execution_options(firebird_lock_timeout=2) as used:
        assert used.exec_driver_sql(question).scalar() == 2
        assert used.get_isolation_level() == "READ COMMITTED"
    with engine.connect() as used:
        assert used.exec_driver_sql(question).scalar() == 5
    engine.dispose()


def test_read_only_refuses_changes(engine: sa.Engine, numbers: sa.Table) -> None:
    with (
        engine.connect().execution_options(firebird_read_only=True) as used,
        pytest.raises(sa.exc.DBAPIError),
    ):
        used.execute(numbers.insert().values(name="x"))


def test_autocommit(engine: sa.Engine, numbers: sa.Table) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as used:
        used.execute(numbers.insert().values(name="kept"))
        with engine.connect() as other:
            assert other.scalars(sa.select(numbers.c.name)).all() == ["kept"]
    with engine.connect() as used:
        assert used.get_isolation_level() == "REPEATABLE READ"


def test_rollback_commit_and_savepoints(engine: sa.Engine, numbers: sa.Table) -> None:
    with engine.connect() as used:
        used.execute(numbers.insert().values(name="gone"))
        used.rollback()
        used.execute(numbers.insert().values(name="one"))
        with used.begin_nested() as inner:
            used.execute(numbers.insert().values(name="inner"))
            inner.rollback()
        with used.begin_nested():
            used.execute(numbers.insert().values(name="two"))
        used.commit()
    with engine.connect() as other:
        assert other.scalars(sa.select(numbers.c.name).order_by(numbers.c.id)).all() == ["one", "two"]


def test_definitions_and_rows_in_one_transaction(engine: sa.Engine, table: str) -> None:
    metadata = sa.MetaData()
    made = sa.Table(f"both_{table.lower()}", metadata, sa.Column("n", sa.Integer))
    with engine.begin() as used:
        metadata.create_all(used)
        used.execute(made.insert(), [{"n": 1}, {"n": 2}])
        assert used.scalar(sa.select(sa.func.sum(made.c.n))) == 3
    with engine.begin() as used:
        used.exec_driver_sql(f"ALTER TABLE {made.name} ADD m INTEGER")
        used.execute(sa.text(f"UPDATE {made.name} SET m = n"))
        assert used.execute(sa.text(f"SELECT SUM(m) FROM {made.name}")).scalar() == 3
    metadata.drop_all(engine)


def test_pre_ping_replaces_a_lost_connection(database: str) -> None:
    engine = create(database, pool_pre_ping=True, pool_size=1)
    with engine.connect() as used:
        lost = used.exec_driver_sql("SELECT CURRENT_CONNECTION FROM RDB$DATABASE").scalar()
    with firearrow.connect(database) as other:
        other.execute("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?", (lost,))
    with engine.connect() as used:
        assert used.exec_driver_sql("SELECT CURRENT_CONNECTION FROM RDB$DATABASE").scalar() != lost
    engine.dispose()


def test_a_lost_connection_is_recognised(database: str) -> None:
    engine = create(database, pool_size=1)
    with engine.connect() as used:
        lost = used.exec_driver_sql("SELECT CURRENT_CONNECTION FROM RDB$DATABASE").scalar()
        with firearrow.connect(database) as other:
            other.execute("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?", (lost,))
        with pytest.raises(sa.exc.DBAPIError) as caught:
            used.exec_driver_sql("SELECT COUNT(*) FROM RDB$RELATIONS").scalar()
        assert caught.value.connection_invalidated
    # The pool has thrown it away.
    with engine.connect() as used:
        assert used.exec_driver_sql("SELECT CURRENT_CONNECTION FROM RDB$DATABASE").scalar() != lost
    engine.dispose()


def test_other_errors_leave_the_connection(engine: sa.Engine) -> None:
    with engine.connect() as used:
        for statement, error in (
            ("SELECT * FROM nowhere", sa.exc.ProgrammingError),
            ("SELECT 1 / 0 FROM RDB$DATABASE", sa.exc.DBAPIError),
        ):
            with pytest.raises(error) as caught:
                used.exec_driver_sql(statement).all()
            assert not caught.value.connection_invalidated
        assert used.exec_driver_sql("SELECT 1 FROM RDB$DATABASE").scalar() == 1


def test_dialect_looks_at_kind_state_and_connection() -> None:
    dialect = FirearrowDialect()
    dialect.dbapi = dialect.import_dbapi()
    lost = firearrow.OperationalError("lost")
    lost.kind = "Closed"
    unreachable = firearrow.OperationalError("unreachable")
    unreachable.sqlstate = "08001"
    wrong = firearrow.ProgrammingError("wrong")
    wrong.kind = "Syntax"
    assert dialect.is_disconnect(lost, None, None)
    assert dialect.is_disconnect(unreachable, None, None)
    assert not dialect.is_disconnect(wrong, None, None)
    assert not dialect.is_disconnect(ValueError("other"), None, None)


# --- Statements


def test_executemany_returns_keys_in_order(engine: sa.Engine, numbers: sa.Table) -> None:
    names = [f"n{number % 7}" for number in range(1000)]
    statement = numbers.insert().returning(numbers.c.id, numbers.c.name, sort_by_parameter_order=True)
    with engine.begin() as used:
        rows = used.execute(statement, [{"name": name} for name in names]).all()
    assert [row.name for row in rows] == names
    assert [row.id for row in rows] == list(range(rows[0].id, rows[0].id + 1000))
    with engine.connect() as other:
        assert other.execute(sa.select(numbers).order_by(numbers.c.id)).all() == rows


def test_rowcounts(engine: sa.Engine, numbers: sa.Table) -> None:
    with engine.begin() as used:
        assert used.execute(numbers.insert(), [{"name": "a"}, {"name": "a"}, {"name": "b"}]).rowcount == 3
        assert used.execute(numbers.update().where(numbers.c.name == "a").values(name="c")).rowcount == 2
        by_name = numbers.delete().where(numbers.c.name == sa.bindparam("which"))
        assert used.execute(by_name, [{"which": "b"}, {"which": "none"}, {"which": "c"}]).rowcount == 3


def test_rows_without_values(engine: sa.Engine, numbers: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(numbers.insert(), [{}, {}, {}])
        assert used.scalar(sa.select(sa.func.count()).select_from(numbers)) == 3


def test_returning_of_update_and_delete(engine: sa.Engine, numbers: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(numbers.insert(), [{"name": "a"}, {"name": "b"}])
        changed = used.execute(
            numbers.update().where(numbers.c.name == "a").values(name="z").returning(numbers.c.name)
        )
        assert [tuple(row) for row in changed] == [("z",)]
        gone = used.execute(numbers.delete().where(numbers.c.name == "b").returning(numbers.c.name))
        assert [tuple(row) for row in gone] == [("b",)]


def test_text_longer_than_the_column_is_not_found(engine: sa.Engine, numbers: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(numbers.insert().values(name="short"))
        assert used.scalar(sa.select(numbers.c.id).where(numbers.c.name == "x" * 500)) is None
        assert used.scalar(sa.select(numbers.c.name).where(numbers.c.name.like("s%" + "%" * 50))) == "short"


def test_comparison_uses_the_index(engine: sa.Engine, numbers: sa.Table) -> None:
    sa.Index(f"by_name_{numbers.name}", numbers.c.name).create(engine)
    statement = sa.select(numbers.c.id).where(numbers.c.name == "x")
    text = str(statement.compile(engine))
    with engine.connect() as used:
        cursor = used.connection.cursor()
        cursor.execute(text, ("x",))
        assert "BY_NAME" in str(getattr(cursor, "plan", None))
        cursor.close()


def test_distinct_compares_texts_not_blobs(engine: sa.Engine) -> None:
    relations = sa.table("rdb$relations")
    with engine.connect() as used:
        rows = used.execute(sa.select(sa.literal("same")).select_from(relations).distinct()).all()
    assert [tuple(row) for row in rows] == [("same",)]


def test_limit_and_offset(engine: sa.Engine, numbers: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(numbers.insert(), [{"name": str(number)} for number in range(10)])
        ordered = sa.select(numbers.c.name).order_by(numbers.c.id)
        assert used.scalars(ordered.limit(2)).all() == ["0", "1"]
        assert used.scalars(ordered.offset(8)).all() == ["8", "9"]
        assert used.scalars(ordered.limit(2).offset(3)).all() == ["3", "4"]
        assert used.scalars(ordered.fetch(1).offset(sa.literal(2) + 1)).all() == ["3"]


def test_union_is_sorted_by_name(engine: sa.Engine, numbers: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(numbers.insert(), [{"name": "b"}, {"name": "a"}, {"name": "c"}])
        both = sa.union(
            sa.select(numbers.c.name).where(numbers.c.name != "b"),
            sa.select(numbers.c.name).where(numbers.c.name == "b"),
        )
        assert used.scalars(both.order_by(both.selected_columns.name)).all() == ["a", "b", "c"]
        assert used.scalars(both.order_by(both.selected_columns.name.desc())).all() == ["c", "b", "a"]


def test_division_keeps_the_fraction(engine: sa.Engine) -> None:
    with engine.connect() as used:
        third = used.scalar(sa.select(sa.literal(10) / sa.literal(3)))
        assert float(third or 0) == pytest.approx(10 / 3, rel=1e-9)
        assert used.scalar(sa.select(sa.literal(10) // sa.literal(3))) == 3
        assert used.scalar(sa.select(sa.literal(1.5) / 2)) == 0.75


def test_for_update_locks(engine: sa.Engine, numbers: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(numbers.insert().values(name="a"))
    locking = sa.select(numbers).where(numbers.c.name == "a").with_for_update()
    with engine.connect() as first, engine.connect().execution_options(firebird_lock_timeout=0) as second:
        assert len(first.execute(locking).all()) == 1
        with pytest.raises(sa.exc.OperationalError, match="conflict"):
            second.execute(locking).all()
        first.rollback()
    with pytest.raises(sa.exc.CompileError, match="firebird_lock_timeout"):
        sa.select(numbers).with_for_update(nowait=True).compile(engine)


# --- Types


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


# --- The ORM


class Base(orm.DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "orm_author"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(40), unique=True)
    books: orm.Mapped[list[Book]] = orm.relationship(back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "orm_book"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    title: orm.Mapped[str] = orm.mapped_column(sa.String(80))
    price: orm.Mapped[Decimal | None] = orm.mapped_column(sa.Numeric(9, 2))
    author_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("orm_author.id"))
    author: orm.Mapped[Author] = orm.relationship(back_populates="books")
    version: orm.Mapped[int] = orm.mapped_column()
    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 # SQLAlchemy's way


@pytest.fixture
def library(engine: sa.Engine) -> Iterator[sa.Engine]:
    """An engine with the tables of the classes."""
    Base.metadata.drop_all(engine)
    Base.metadata.create_all(engine)
    yield engine
    engine.dispose()
    Base.metadata.drop_all(engine)


def test_orm_unit_of_work(library: sa.Engine) -> None:
    with orm.Session(library) as session:
        session.add(Author(name="A", books=[Book(title="One", price=Decimal("1.50")), Book(title="Two")]))
        session.commit()
    with orm.Session(library) as session:
        author = session.scalars(
            sa.select(Author).options(orm.selectinload(Author.books)).where(Author.name == "A")
        ).one()
        assert [(book.title, book.price, book.version) for book in author.books] == [
            ("One", Decimal("1.50"), 1),
            ("Two", None, 1),
        ]
        author.books[0].title = "Uno"
        del author.books[1]
        session.commit()
        assert session.scalars(sa.select(Book.title)).all() == ["Uno"]
        assert session.scalars(sa.select(Book.version)).all() == [2]
        session.delete(author)
        session.commit()
        assert session.scalar(sa.select(sa.func.count()).select_from(Book)) == 0


def test_orm_bulk_insert_with_keys(library: sa.Engine) -> None:
    with orm.Session(library) as session:
        authors = [Author(name=f"author {number}") for number in range(500)]
        session.add_all(authors)
        session.flush()
        ids = [author.id for author in authors]
        assert len(set(ids)) == 500
        session.commit()
        found = {row.id: row.name for row in session.execute(sa.select(Author.id, Author.name))}
        assert found == {author_id: f"author {number}" for number, author_id in enumerate(ids)}
        rows = session.scalars(
            sa.insert(Author).returning(Author, sort_by_parameter_order=True),
            [{"name": f"more {number}"} for number in range(100)],
        ).all()
        assert [author.name for author in rows] == [f"more {number}" for number in range(100)]
        session.commit()


def test_orm_bulk_update_synchronises(library: sa.Engine) -> None:
    with orm.Session(library) as session:
        authors = [Author(name=name) for name in ("a", "b", "c")]
        session.add_all(authors)
        session.flush()
        session.execute(
            sa.update(Author).where(Author.name.in_(["a", "b"])).values(name=Author.name + "!"),
            execution_options={"synchronize_session": "fetch"},
        )
        assert [author.name for author in authors] == ["a!", "b!", "c"]
        session.execute(
            sa.delete(Author).where(Author.name.like("%!")),
            execution_options={"synchronize_session": "fetch"},
        )
        assert session.scalars(sa.select(Author.name)).all() == ["c"]
        session.rollback()


def test_orm_notices_a_stale_row(library: sa.Engine) -> None:
    with orm.Session(library) as session:
        session.add(Author(name="A", books=[Book(title="One")]))
        session.commit()
        book = session.scalars(sa.select(Book)).one()
        session.execute(sa.update(Book).values(version=9), execution_options={"synchronize_session": False})
        book.title = "Two"
        with pytest.raises(orm.exc.StaleDataError):
            session.flush()
        session.rollback()


def test_constraints_become_integrity_errors(library: sa.Engine) -> None:
    with orm.Session(library) as session:
        session.add_all([Author(name="twice"), Author(name="twice")])
        with pytest.raises(sa.exc.IntegrityError) as caught:
            session.flush()
        assert caught.value.orig is not None
        assert isinstance(caught.value.orig, firearrow.IntegrityError)
        session.rollback()
