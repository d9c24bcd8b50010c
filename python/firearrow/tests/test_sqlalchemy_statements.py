"""Statements that the dialect firebird+firearrow compiles and executes."""

from __future__ import annotations

import pytest
import sqlalchemy as sa


def test_executemany_returns_keys_in_order(engine: sa.Engine, people: sa.Table) -> None:
    names = [f"n{number % 7}" for number in range(1000)]
    statement = people.insert().returning(people.c.id, people.c.name, sort_by_parameter_order=True)
    with engine.begin() as used:
        rows = used.execute(statement, [{"name": name} for name in names]).all()
    assert [row.name for row in rows] == names
    assert [row.id for row in rows] == list(range(rows[0].id, rows[0].id + 1000))
    with engine.connect() as other:
        assert other.execute(sa.select(people).order_by(people.c.id)).all() == rows


def test_rowcounts(engine: sa.Engine, people: sa.Table) -> None:
    with engine.begin() as used:
        assert used.execute(people.insert(), [{"name": "a"}, {"name": "a"}, {"name": "b"}]).rowcount == 3
        assert used.execute(people.update().where(people.c.name == "a").values(name="c")).rowcount == 2
        by_name = people.delete().where(people.c.name == sa.bindparam("which"))
        assert used.execute(by_name, [{"which": "b"}, {"which": "none"}, {"which": "c"}]).rowcount == 3


def test_rows_without_values(engine: sa.Engine, people: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(people.insert(), [{}, {}, {}])
        assert used.scalar(sa.select(sa.func.count()).select_from(people)) == 3


def test_returning_of_update_and_delete(engine: sa.Engine, people: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(people.insert(), [{"name": "a"}, {"name": "b"}])
        changed = used.execute(
            people.update().where(people.c.name == "a").values(name="z").returning(people.c.name)
        )
        assert [tuple(row) for row in changed] == [("z",)]
        gone = used.execute(people.delete().where(people.c.name == "b").returning(people.c.name))
        assert [tuple(row) for row in gone] == [("b",)]


def test_text_longer_than_the_column_is_not_found(engine: sa.Engine, people: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(people.insert().values(name="short"))
        assert used.scalar(sa.select(people.c.id).where(people.c.name == "x" * 500)) is None
        assert used.scalar(sa.select(people.c.name).where(people.c.name.like("s%" + "%" * 50))) == "short"


def test_comparison_uses_the_index(engine: sa.Engine, people: sa.Table) -> None:
    sa.Index(f"by_name_{people.name}", people.c.name).create(engine)
    statement = sa.select(people.c.id).where(people.c.name == "x")
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


def test_limit_and_offset(engine: sa.Engine, people: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(people.insert(), [{"name": str(number)} for number in range(10)])
        ordered = sa.select(people.c.name).order_by(people.c.id)
        assert used.scalars(ordered.limit(2)).all() == ["0", "1"]
        assert used.scalars(ordered.offset(8)).all() == ["8", "9"]
        assert used.scalars(ordered.limit(2).offset(3)).all() == ["3", "4"]
        assert used.scalars(ordered.fetch(1).offset(sa.literal(2) + 1)).all() == ["3"]


def test_union_is_sorted_by_name(engine: sa.Engine, people: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(people.insert(), [{"name": "b"}, {"name": "a"}, {"name": "c"}])
        both = sa.union(
            sa.select(people.c.name).where(people.c.name != "b"),
            sa.select(people.c.name).where(people.c.name == "b"),
        )
        assert used.scalars(both.order_by(both.selected_columns.name)).all() == ["a", "b", "c"]
        assert used.scalars(both.order_by(both.selected_columns.name.desc())).all() == ["c", "b", "a"]


def test_division_keeps_the_fraction(engine: sa.Engine) -> None:
    with engine.connect() as used:
        third = used.scalar(sa.select(sa.literal(10) / sa.literal(3)))
        assert float(third or 0) == pytest.approx(10 / 3, rel=1e-9)
        assert used.scalar(sa.select(sa.literal(10) // sa.literal(3))) == 3
        assert used.scalar(sa.select(sa.literal(1.5) / 2)) == 0.75


def test_for_update_locks(engine: sa.Engine, people: sa.Table) -> None:
    with engine.begin() as used:
        used.execute(people.insert().values(name="a"))
    locking = sa.select(people).where(people.c.name == "a").with_for_update()
    with engine.connect() as first, engine.connect().execution_options(firebird_lock_timeout=0) as second:
        assert len(first.execute(locking).all()) == 1
        with pytest.raises(sa.exc.OperationalError, match="conflict"):
            second.execute(locking).all()
        first.rollback()
    with pytest.raises(sa.exc.CompileError, match="firebird_lock_timeout"):
        sa.select(people).with_for_update(nowait=True).compile(engine)
