"""Connections of the dialect firebird+firearrow: isolation, transactions, and the loss of a connection."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from engines import create, url
from statements import ME

import firearrow
from firearrow.sqlalchemy import FirearrowDialect


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


def test_read_only_refuses_changes(engine: sa.Engine, people: sa.Table) -> None:
    with (
        engine.connect().execution_options(firebird_read_only=True) as used,
        pytest.raises(sa.exc.DBAPIError),
    ):
        used.execute(people.insert().values(name="x"))


def test_autocommit(engine: sa.Engine, people: sa.Table) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as used:
        used.execute(people.insert().values(name="kept"))
        with engine.connect() as other:
            assert other.scalars(sa.select(people.c.name)).all() == ["kept"]
    with engine.connect() as used:
        assert used.get_isolation_level() == "REPEATABLE READ"


def test_rollback_commit_and_savepoints(engine: sa.Engine, people: sa.Table) -> None:
    with engine.connect() as used:
        used.execute(people.insert().values(name="gone"))
        used.rollback()
        used.execute(people.insert().values(name="one"))
        with used.begin_nested() as inner:
            used.execute(people.insert().values(name="inner"))
            inner.rollback()
        with used.begin_nested():
            used.execute(people.insert().values(name="two"))
        used.commit()
    with engine.connect() as other:
        assert other.scalars(sa.select(people.c.name).order_by(people.c.id)).all() == ["one", "two"]


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
        lost = used.exec_driver_sql(ME).scalar()
    with firearrow.connect(database) as other:
        other.execute("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?", (lost,))
    with engine.connect() as used:
        assert used.exec_driver_sql(ME).scalar() != lost
    engine.dispose()


def test_a_lost_connection_is_recognised(database: str) -> None:
    engine = create(database, pool_size=1)
    with engine.connect() as used:
        lost = used.exec_driver_sql(ME).scalar()
        with firearrow.connect(database) as other:
            other.execute("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?", (lost,))
        with pytest.raises(sa.exc.DBAPIError) as caught:
            used.exec_driver_sql("SELECT COUNT(*) FROM RDB$RELATIONS").scalar()
        assert caught.value.connection_invalidated
    # The pool has thrown it away.
    with engine.connect() as used:
        assert used.exec_driver_sql(ME).scalar() != lost
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
