"""The dialect firebird+firearrow_async."""

from __future__ import annotations

import asyncio
import gc
import re
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from engines import url
from loops import run, until
from sqlalchemy import orm
from sqlalchemy.dialects import registry
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from statements import LONG

import firearrow
from firearrow import aio
from firearrow.sqlalchemy import FirearrowAsyncDialect

ME = sa.text("SELECT CURRENT_CONNECTION FROM RDB$DATABASE")


@asynccontextmanager
async def engine_of(database: str, **options: Any) -> AsyncGenerator[AsyncEngine]:
    engine = create_async_engine(url(database, driver="firearrow_async"), **options)
    try:
        yield engine
    finally:
        await engine.dispose()


@pytest.fixture
def numbers(connection: firearrow.Connection, table: str) -> sa.Table:
    """A table with a column ID."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY)")
    connection.commit()
    return sa.Table(table.lower(), sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True))


def stored(connection: firearrow.Connection, numbers: sa.Table) -> list[int]:
    rows = connection.execute(f"SELECT id FROM {numbers.name} ORDER BY id").fetchall()
    connection.commit()
    return [value for (value,) in rows]


def test_names() -> None:
    for driver in ("firearrow", "firearrow_async"):
        engine = create_async_engine(f"firebird+{driver}://localhost/shop")
        assert isinstance(engine.dialect, FirearrowAsyncDialect)
        assert engine.dialect.is_async and engine.dialect.name == "firebird"
    assert registry.load("firebird.firearrow_async") is FirearrowAsyncDialect


def test_connections(database: str, connection: firearrow.Connection) -> None:
    async def work() -> None:
        async with engine_of(database) as engine, engine.connect() as used:
            version = ".".join(str(number) for number in used.dialect.server_version_info or ())
            assert version == connection.info["engine_version"]
            raw = await used.get_raw_connection()
            assert isinstance(raw.driver_connection, aio.Connection)
            # What the dialect has no face for.
            info = await raw.driver_connection.info
            assert info["engine_version"] == version
            assert await used.scalar(sa.text("SELECT 1 FROM RDB$DATABASE")) == 1

    run(work())


def test_transactions_and_savepoints(database: str, numbers: sa.Table, other: firearrow.Connection) -> None:
    async def work() -> None:
        async with engine_of(database) as engine:
            async with engine.begin() as used:
                await used.execute(numbers.insert(), [{"id": 1}, {"id": 2}])
            with pytest.raises(ZeroDivisionError):
                async with engine.begin() as used:
                    await used.execute(numbers.insert(), {"id": 3})
                    raise ZeroDivisionError
            async with engine.connect() as used:
                await used.execute(numbers.insert(), {"id": 4})
                nested = await used.begin_nested()
                await used.execute(numbers.insert(), {"id": 5})
                await nested.rollback()
                async with used.begin_nested():
                    await used.execute(numbers.insert(), {"id": 6})
                assert stored(other, numbers) == [1, 2]
                await used.commit()
                await used.execute(numbers.insert(), {"id": 7})

    run(work())
    assert stored(other, numbers) == [1, 2, 4, 6]


def test_isolation_levels(database: str, numbers: sa.Table, other: firearrow.Connection) -> None:
    async def work() -> None:
        async with engine_of(database, pool_size=1, max_overflow=0) as engine:
            async with engine.connect() as used:
                assert await used.get_isolation_level() == "REPEATABLE READ"
                count = sa.select(sa.func.count()).select_from(numbers)
                assert await used.scalar(count) == 0
                other.execute(f"INSERT INTO {numbers.name} VALUES (1)")
                other.commit()
                assert await used.scalar(count) == 0
            async with engine.connect() as used:
                await used.execution_options(isolation_level="READ COMMITTED")
                assert await used.scalar(count) == 1
                other.execute(f"INSERT INTO {numbers.name} VALUES (2)")
                other.commit()
                assert await used.scalar(count) == 2
            async with engine.connect() as used:
                await used.execution_options(isolation_level="AUTOCOMMIT")
                await used.execute(numbers.insert(), {"id": 3})
                assert stored(other, numbers) == [1, 2, 3]
            async with engine.connect() as used:
                assert await used.get_isolation_level() == "REPEATABLE READ"
                await used.execution_options(firebird_read_only=True)
                with pytest.raises(sa.exc.DBAPIError, match="read-only"):
                    await used.execute(numbers.insert(), {"id": 4})
            async with engine.begin() as used:
                await used.execute(numbers.insert(), {"id": 5})

    run(work())
    assert stored(other, numbers) == [1, 2, 3, 5]


def test_results(database: str) -> None:
    types = sa.table("rdb$types", sa.column("rdb$type_name"))

    async def work() -> None:
        async with engine_of(database) as engine, engine.connect() as used:
            query = sa.select(types).order_by(types.c[0]).limit(50)
            everything = (await used.execute(query)).all()
            assert len(everything) == 50
            # Results of execute can be read without awaiting.
            result = await used.execute(query)
            assert result.fetchone() == everything[0]
            assert result.fetchmany(3) == everything[1:4]
            assert [row for _, row in zip(range(2), result, strict=False)] == everything[4:6]
            assert result.fetchall() == everything[6:]
            # Closed in the middle.
            result = await used.execute(query)
            result.fetchone()
            result.close()
            assert (await used.execute(query)).first() == everything[0]

    run(work())


def test_streams_read_as_they_are_fetched(database: str, is_wire: bool) -> None:
    sql = sa.text("SELECT a.RDB$TYPE_NAME, b.RDB$FIELD_ID FROM RDB$TYPES a, RDB$RELATION_FIELDS b ROWS 60000")

    async def work() -> None:
        async with engine_of(database) as engine, engine.connect() as used:
            driver = (await used.get_raw_connection()).driver_connection
            assert driver is not None
            before = driver.wire_stats["bytes_received"]
            result = await used.stream(sql)
            first = [await result.fetchone() for _ in range(3)]
            part = driver.wire_stats["bytes_received"] - before
            rest = 0
            async for row in result:
                assert len(row) == 2
                rest += 1
            assert len(first) + rest == 60_000
            whole = driver.wire_stats["bytes_received"] - before
            assert (part < whole / 3) if is_wire else (whole == 0)
            # Left in the middle.
            async with used.stream(sql) as result:
                async for partition in result.yield_per(10).partitions():
                    assert len(partition) == 10
                    break
            assert await used.scalar(sa.text("SELECT 1 FROM RDB$DATABASE")) == 1
            with pytest.raises(sa.exc.InvalidRequestError, match="stream"):
                await used.execute(sql, execution_options={"stream_results": True})

    run(work())


def test_errors_are_sqlalchemys(database: str, numbers: sa.Table, table: str) -> None:
    async def work() -> None:
        async with engine_of(database) as engine:
            async with engine.begin() as used:
                await used.execute(numbers.insert(), {"id": 1})
            async with engine.connect() as used:
                with pytest.raises(sa.exc.IntegrityError) as caught:
                    await used.execute(numbers.insert(), {"id": 1})
                assert isinstance(caught.value.orig, firearrow.IntegrityError)
                assert caught.value.orig.table == table and not caught.value.connection_invalidated
                with pytest.raises(sa.exc.ProgrammingError, match="line 1"):
                    await used.execute(sa.text("SELECT FROM"))
                with pytest.raises(sa.exc.DBAPIError):
                    result = await used.stream(sa.text("SELECT 1 / (RDB$RELATION_ID - 3) FROM RDB$RELATIONS"))
                    await result.fetchall()
                assert await used.scalar(sa.select(numbers)) == 1
        async with engine_of("/nowhere/at/all.fdb") as engine:
            with pytest.raises(sa.exc.OperationalError):
                await engine.connect()

    run(work())


def test_a_cancelled_query(database: str, numbers: sa.Table, other: firearrow.Connection) -> None:
    async def work() -> None:
        async with engine_of(database, pool_size=1, max_overflow=0, pool_timeout=20) as engine:

            async def query() -> None:
                async with engine.begin() as used:
                    await used.execute(numbers.insert(), {"id": 1})
                    await used.execute(sa.text(LONG))

            for _ in range(3):
                task = asyncio.create_task(query())
                await asyncio.sleep(0.3)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                start = time.monotonic()
                async with engine.connect() as used:
                    assert await used.scalar(sa.text("SELECT 1 FROM RDB$DATABASE")) == 1
                assert time.monotonic() - start < 10
            with pytest.raises(TimeoutError):
                async with engine.connect() as used:
                    await asyncio.wait_for(used.execute(sa.text(LONG)), 0.3)
            assert engine.sync_engine.pool.checkedout() == 0  # type: ignore[attr-defined]

    run(work())
    assert stored(other, numbers) == []


def test_a_cancelled_session_gives_its_connection_back(database: str) -> None:
    async def work() -> None:
        async with engine_of(database, pool_size=2, max_overflow=0, pool_timeout=20) as engine:
            make = async_sessionmaker(engine)

            async def use() -> None:
                while True:
                    async with make() as session, session.begin():
                        await session.execute(sa.text("SELECT COUNT(*) FROM RDB$FIELDS"))

            for turn in range(20):
                tasks = [asyncio.create_task(use()) for _ in range(4)]
                await asyncio.sleep(0.005 * turn)
                for task in tasks:
                    task.cancel()
                for error in await asyncio.gather(*tasks, return_exceptions=True):
                    assert isinstance(error, asyncio.CancelledError)
            await until(lambda: engine.sync_engine.pool.checkedout() == 0)  # type: ignore[attr-defined]
            async with make() as one, make() as two:
                assert await one.scalar(ME) != await two.scalar(ME)

    run(work())


def test_a_lost_connection_is_replaced(database: str, other: firearrow.Connection) -> None:
    async def work() -> None:
        async with engine_of(database, pool_size=1, max_overflow=0, pool_pre_ping=True) as engine:
            async with engine.connect() as used:
                first = await used.scalar(ME)
            other.execute("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?", (first,))
            other.commit()
            async with engine.connect() as used:
                second = await used.scalar(ME)
                assert second != first
                other.execute("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?", (second,))
                other.commit()
                with pytest.raises(sa.exc.DBAPIError) as caught:
                    await used.scalar(ME)
                assert caught.value.connection_invalidated

    run(work())


def test_a_connection_that_was_forgotten_is_closed(database: str, other: firearrow.Connection) -> None:
    def is_there(attachment: int) -> bool:
        query = "SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?"
        (number,) = other.execute(query, (attachment,)).fetchone()
        other.commit()
        return number == 1

    async def work() -> None:
        async with engine_of(database) as engine:
            used: Any = await engine.connect()
            attachment = await used.scalar(ME)
            assert is_there(attachment)
            with pytest.warns(sa.exc.SAWarning, match="garbage collector"):
                del used
                gc.collect()
            await until(lambda: not is_there(attachment))

    run(work())


def test_the_pool_is_bounded(database: str) -> None:
    async def work() -> None:
        async with engine_of(database, pool_size=2, max_overflow=1, pool_timeout=2) as engine:
            held = [await engine.connect() for _ in range(3)]
            assert len({await used.scalar(ME) for used in held}) == 3
            with pytest.raises(sa.exc.TimeoutError):
                await engine.connect()
            for used in held:
                await used.close()
            answers = await asyncio.gather(*(scalar(engine, number) for number in range(50)))
            assert answers == list(range(50))

    async def scalar(engine: AsyncEngine, number: int) -> Any:
        async with engine.connect() as used:
            return await used.scalar(sa.text("SELECT CAST(:n AS INTEGER) FROM RDB$DATABASE"), {"n": number})

    run(work())


def test_creator_and_pool_of_firearrow(database: str) -> None:
    """SQLAlchemy's pool can be left out: NullPool borrows from a pool of firearrow."""

    async def work() -> None:
        async with aio.Pool(database, max_size=2) as pool:
            address = url(database, driver="firearrow_async")
            engine = create_async_engine(address, async_creator=pool.acquire, poolclass=sa.pool.NullPool)
            for _ in range(3):
                async with engine.connect() as used:
                    assert await used.scalar(sa.text("SELECT 1 FROM RDB$DATABASE")) == 1
                    assert pool.stats.in_use == 1
                assert pool.stats.in_use == 0
            assert pool.stats.opened == 1
            await engine.dispose()

    run(work())


def test_the_example_of_the_page(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[3] / "docs/sqlalchemy.md").read_text("utf-8")
    (example,) = re.findall(r"^```python\n(import asyncio\n.*?)^```", page, re.MULTILINE | re.DOTALL)
    address = "firebird+firearrow_async://SYSDBA:masterkey@localhost//data/shop.fdb"
    assert example.count(address) == 1
    exec(example.replace(address, url(database, driver="firearrow_async")), {})
    user, *names = capsys.readouterr().out.splitlines()
    assert user == "SYSDBA" and len(names) > 100


# --- ORM


class Base(orm.DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "async_authors"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    name: orm.Mapped[str] = orm.mapped_column(sa.String(50))
    books: orm.Mapped[list[Book]] = orm.relationship(back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "async_books"
    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    title: orm.Mapped[str] = orm.mapped_column(sa.String(100))
    author_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey(Author.id))
    author: orm.Mapped[Author] = orm.relationship(back_populates="books")


def test_orm(database: str, connection: firearrow.Connection) -> None:
    async def work() -> None:
        async with engine_of(database) as engine:
            async with engine.begin() as used:
                await used.run_sync(Base.metadata.drop_all)
                await used.run_sync(Base.metadata.create_all)
            try:
                await sessions(engine)
                async with engine.connect() as used:
                    names = await used.run_sync(lambda sync: sa.inspect(sync).get_table_names())
                    assert {"async_authors", "async_books"} <= set(names)
            finally:
                await engine.dispose()
                async with engine.begin() as used:
                    await used.run_sync(Base.metadata.drop_all)

    async def sessions(engine: AsyncEngine) -> None:
        make = async_sessionmaker(engine, expire_on_commit=False)
        async with make.begin() as session:
            session.add_all(
                Author(name=f"author {number}", books=[Book(title=f"book {number}.{n}") for n in range(3)])
                for number in range(20)
            )
        counts = connection.execute("SELECT COUNT(*), COUNT(DISTINCT author_id) FROM async_books")
        assert counts.fetchone() == (60, 20)
        connection.commit()
        async with make() as session:
            query = sa.select(Author).where(Author.name == "author 7").options(orm.selectinload(Author.books))
            author = (await session.scalars(query)).one()
            assert [book.title for book in author.books] == ["book 7.0", "book 7.1", "book 7.2"]
            author.books.pop()
            author.name = "somebody"
            await session.commit()
            await session.refresh(author, ["books"])
            assert len(author.books) == 2
            number = author.id
            titles = [
                title async for title in await session.stream_scalars(sa.select(Book.title).order_by(Book.id))
            ]
            assert len(titles) == 59 and titles[0] == "book 0.0"
            await refuse(session)
        async with make.begin() as session:
            await session.execute(sa.update(Book).values(title=Book.title + "!"))
            await session.execute(sa.delete(Book).where(Book.author_id != number))
            assert await session.scalar(sa.select(sa.func.count()).select_from(Book)) == 2
            assert (await session.get_one(Author, number)).name == "somebody"

    async def refuse(session: AsyncSession) -> None:
        session.add(Book(title="nobody's", author_id=-1))
        with pytest.raises(sa.exc.IntegrityError):
            await session.flush()
        await session.rollback()

    run(work())
