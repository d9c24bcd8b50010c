"""The dialect: what SQLAlchemy's engines ask of a driver and its server."""
# pyright: basic
# sqlalchemy-firebird has no annotations.

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

from sqlalchemy import pool
from sqlalchemy.engine import URL, characteristics, default
from sqlalchemy_firebird.base import FBDialect, FBExecutionContext

from .compiler import FirearrowCompiler, FirearrowDDLCompiler, FirearrowTypeCompiler
from .reflection import Reflection
from .types import colspecs
from .url import arguments

__all__ = ["FirearrowDialect"]

_DDL = re.compile(r"\s*(ALTER|COMMENT|CREATE|DROP|RECREATE)\b", re.IGNORECASE)

# SQLAlchemy's names for the levels, and Firebird's.
_LEVELS = {
    "READ COMMITTED": "read_committed",
    "REPEATABLE READ": "snapshot",
    "SERIALIZABLE": "snapshot_table_stability",
    "SNAPSHOT": "snapshot",
    "SNAPSHOT TABLE STABILITY": "snapshot_table_stability",
}
_NAMES = {
    "snapshot": "REPEATABLE READ",
    "concurrency": "REPEATABLE READ",
    "repeatable_read": "REPEATABLE READ",
    "snapshot_table_stability": "SERIALIZABLE",
    "consistency": "SERIALIZABLE",
    "serializable": "SERIALIZABLE",
}


class Setting(characteristics.ConnectionCharacteristic):
    """An execution option that is a setting of the connection's transactions."""

    transactional = True

    def __init__(self, name: str, usual: object) -> None:
        self.name = name
        self.usual = usual

    def reset_characteristic(self, dialect: Any, dbapi_conn: Any) -> None:
        self.set_characteristic(dialect, dbapi_conn, dialect.usual_setting(self.name, self.usual))

    def set_characteristic(self, dialect: Any, dbapi_conn: Any, value: Any) -> None:
        setattr(dbapi_conn, self.name, value)

    def get_characteristic(self, dialect: Any, dbapi_conn: Any) -> Any:
        return getattr(dbapi_conn, self.name)


_SETTINGS: Any = {
    "firebird_read_only": Setting("read_only", False),
    "firebird_lock_timeout": Setting("lock_timeout", None),
}


class FirearrowExecutionContext(FBExecutionContext):  # type: ignore[misc]
    """One execution."""

    def post_exec(self) -> None:
        """Commit what changes the schema.

        sqlalchemy-firebird leaves it uncommitted, and Firebird does not know a table before its transaction
        has ended: ``metadata.create_all(connection)`` and an insert in one transaction failed, as did pandas'
        ``to_sql``. Other databases that cannot roll back DDL (MySQL, Oracle) commit it themselves.
        """
        super().post_exec()
        is_text = self.compiled is None or self.is_text
        if self.isddl or (is_text and _DDL.match(self.statement or "")):
            used: Any = self.root_connection.connection.dbapi_connection
            used.commit()


class FirearrowDialect(Reflection, FBDialect):  # type: ignore[misc]
    """``firebird+firearrow``: sqlalchemy-firebird's dialect on connections of firearrow."""

    # sqlalchemy-firebird's class has "firebird.firebird" here, so that with_variant(…, "firebird"), ddl_if
    # and @compiles(…, "firebird") passed it by, and so did Alembic.
    name = "firebird"
    driver = "firearrow"
    default_paramstyle = "qmark"
    supports_statement_cache = True

    statement_compiler = FirearrowCompiler
    ddl_compiler = FirearrowDDLCompiler
    type_compiler_cls = FirearrowTypeCompiler
    type_compiler = FirearrowTypeCompiler
    execution_ctx_cls = FirearrowExecutionContext
    colspecs = colspecs

    # executemany of firearrow returns the rows of RETURNING in the parameters' order. Firebird has no INSERT
    # with several VALUES, which is what SQLAlchemy's own insertmanyvalues needs.
    use_insertmanyvalues = False
    insert_executemany_returning: Any = True
    insert_executemany_returning_sort_by_parameter_order: Any = True
    # It counts the rows of all parameters together.
    supports_sane_multi_rowcount = True
    supports_sane_rowcount_returning: Any = True

    connection_characteristics = default.DefaultDialect.connection_characteristics.union(_SETTINGS)

    _usual: dict[str, Any]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._usual = {}

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        import firearrow

        return firearrow

    @classmethod
    def get_pool_class(cls, url: URL) -> type[pool.Pool]:
        return pool.QueuePool

    @classmethod
    def get_async_dialect_cls(cls, url: URL) -> type[Any]:
        from .asynchronous import FirearrowAsyncDialect

        return FirearrowAsyncDialect

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        args, options = arguments(url)
        self._usual = {name: options[name] for name in ("read_only", "lock_timeout") if name in options}
        return args, options

    def usual_setting(self, name: str, otherwise: object) -> object:
        """Return a setting's value as the URL has it."""
        return self._usual.get(name, otherwise)

    def initialize(self, connection: Any) -> None:
        super().initialize(connection)
        version = self.server_version_info or ()
        if version < (5,):
            # sqlalchemy-firebird says that every version has these. Before Firebird 5, RETURNING of UPDATE
            # and DELETE fails for more than one row, and gives NULLs for none: the ORM must not choose it by
            # itself. returning() still works.
            self.update_returning = False
            self.delete_returning = False
            self.supports_sane_rowcount_returning = False
        if version < (4,):
            # VALUES (DEFAULT) came with Firebird 4; sqlalchemy-firebird writes it for all.
            self.supports_default_metavalue = False
        self.update_executemany_returning = self.update_returning
        self.delete_executemany_returning = self.delete_returning

    def _get_server_version_info(self, connection: Any) -> tuple[int, ...]:
        version = connection.connection.dbapi_connection.info["engine_version"]
        return tuple(int(number) for number in re.findall(r"\d+", str(version))[:3])

    def get_isolation_level_values(self, dbapi_connection: Any) -> list[str]:
        return ["AUTOCOMMIT", *_LEVELS]

    def get_isolation_level(self, dbapi_connection: Any) -> str:
        if dbapi_connection.autocommit:
            return "AUTOCOMMIT"
        level = (dbapi_connection.isolation or "snapshot").lower().replace("-", "_").replace(" ", "_")
        return _NAMES.get(level, "READ COMMITTED")

    def set_isolation_level(self, dbapi_connection: Any, level: str) -> None:
        dbapi_connection.autocommit = level == "AUTOCOMMIT"
        if level != "AUTOCOMMIT":
            dbapi_connection.isolation = _LEVELS[level]

    def detect_autocommit_setting(self, dbapi_conn: Any) -> bool:
        return bool(dbapi_conn.autocommit)

    def set_readonly(self, connection: Any, value: bool) -> None:
        connection.read_only = value

    def get_readonly(self, connection: Any) -> bool:
        return bool(connection.read_only)

    def do_executemany(self, cursor: Any, statement: str, parameters: Any, context: Any = None) -> None:
        if parameters and not parameters[0]:
            # Such as INSERT … DEFAULT VALUES: rows without values are no batch.
            for row in parameters:
                cursor.execute(statement, row)
            return
        cursor.executemany(statement, parameters)

    def do_ping(self, dbapi_connection: Any) -> bool:
        dbapi_connection.ping()
        return True

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        """Tell whether the connection is of no use any more.

        sqlalchemy-firebird compares four codes of Firebird's, and fails itself if an error has none, such as
        a lost socket.
        """
        firearrow = self.loaded_dbapi
        if not isinstance(e, firearrow.Error):
            return False
        if e.kind in ("Closed", "CommitUnknown", "Protocol") or (e.sqlstate or "").startswith("08"):
            return True
        used = getattr(connection, "dbapi_connection", connection)
        return used is not None and (used.closed or not used.is_alive)
