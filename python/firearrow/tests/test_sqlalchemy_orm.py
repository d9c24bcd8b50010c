"""SQLAlchemy's ORM with the dialect firebird+firearrow."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
import sqlalchemy as sa
from sqlalchemy import orm

import firearrow


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
