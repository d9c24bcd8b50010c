"""Other drivers, behind the few calls that the benchmarks need."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit


class Place(NamedTuple):
    """Where the database is."""

    url: str
    host: str
    port: int
    path: str
    user: str
    password: str
    client: str
    """The client library, for drivers that need it."""

    @classmethod
    def of(cls, url: str, client: str) -> Place:
        parts = urlsplit(url)
        path, user, password = (
            unquote(parts.path)[1:],
            unquote(parts.username or ""),
            unquote(parts.password or ""),
        )
        plain = f"{url}{'&' if parts.query else '?'}wire_crypt=disabled"
        return cls(plain, str(parts.hostname), parts.port or 3050, path, user, password, client)


class FbFast:
    """fbfast: reads only, Firebird 5."""

    def __init__(self, place: Place) -> None:
        import fbfast

        self.pool = fbfast.Pool(
            fbfast.FirebirdConfig(
                host=place.host, port=place.port, database=place.path, user=place.user, password=place.password,
                wire_crypt="disabled", env_file=False, max_result_bytes=None,
            )
        )  # fmt: skip
        self.pool.warmup_sync()

    def __call__(self, sql: str, parameters: tuple[Any, ...] = ()) -> Any:
        return self.pool.fetch_all(sql, list(parameters))

    def arrow(self, sql: str) -> Any:
        return self.pool.fetch_arrow(sql)

    def json(self, sql: str) -> Any:
        return self.pool.fetch_json(sql)

    def close(self) -> None:
        self.pool.close_sync()


class DbApi:
    """Any driver of PEP 249."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def __call__(self, sql: str, parameters: tuple[Any, ...] = ()) -> Any:
        cursor = self.connection.cursor()
        cursor.execute(sql, parameters)
        rows = cursor.fetchall()
        cursor.close()
        return rows

    def insert(self, sql: str, rows: Any) -> None:
        cursor = self.connection.cursor()
        cursor.executemany(sql, rows)
        cursor.close()
        self.connection.commit()

    def refresh(self) -> None:
        """Ends the transaction, which sees what was committed when it began."""
        self.connection.commit()

    def close(self) -> None:
        self.connection.close()


class FirebirdDriver(DbApi):
    """firebird-driver, by the client library."""

    def __init__(self, place: Place) -> None:
        import firebird.driver

        firebird.driver.driver_config.fb_client_library.value = place.client
        # As the others: its default encrypts if the server agrees.
        firebird.driver.driver_config.db_defaults.config.value = "WireCrypt=Disabled"
        super().__init__(self.open(place))
        self.prepared: dict[str, Any] = {}

    @staticmethod
    def open(place: Place) -> Any:
        import firebird.driver

        dsn = f"{place.host}/{place.port}:{place.path}"
        return firebird.driver.connect(dsn, user=place.user, password=place.password, charset="UTF8")

    def refresh(self) -> None:
        if self.connection.main_transaction.is_active():
            super().refresh()

    def close(self) -> None:
        for cursor, statement in self.prepared.values():
            cursor.close()
            statement.free()
        super().close()

    def again(self, sql: str) -> Any:
        """Executes a statement that stays prepared."""
        if sql not in self.prepared:
            cursor = self.connection.cursor()
            self.prepared[sql] = cursor, cursor.prepare(sql)
        cursor, statement = self.prepared[sql]
        cursor.execute(statement)
        return cursor.fetchall()


class FirebirdSql(DbApi):
    """firebirdsql, in Python alone."""

    def __init__(self, place: Place) -> None:
        super().__init__(self.open(place))

    @staticmethod
    def open(place: Place) -> Any:
        import firebirdsql

        return firebirdsql.connect(
            host=place.host, port=place.port, database=place.path, user=place.user, password=place.password,
            charset="UTF8", wire_crypt=False,
        )  # fmt: skip


def rivals(place: Place, version: str, notes: list[str]) -> dict[str, Any]:
    """Connects all that can."""
    from measure import first_line

    kinds: dict[str, Any] = {"firebird-driver": FirebirdDriver, "firebirdsql": FirebirdSql}
    if version.startswith("5"):
        # The last one: if its client library is loaded before the other's, the process crashes at its end.
        kinds["fbfast"] = FbFast
    found = {}
    for name, kind in kinds.items():
        try:
            found[name] = kind(place)
        except Exception as failed:
            notes.append(f"{name}: {first_line(failed)}")
    return found
