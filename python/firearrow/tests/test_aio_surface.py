"""The surface of ``firearrow.aio`` is that of the blocking package, and so are its errors."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable
from typing import Any

import pytest
from loops import run

import firearrow
from firearrow import aio


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ((), firearrow.ProgrammingError),
        ((1, 2), firearrow.ProgrammingError),
        ("1", firearrow.ProgrammingError),
        ({"a": 1}, firearrow.ProgrammingError),
        ((object(),), firearrow.DataError),
        (("\ud800",), firearrow.DataError),
        ((2**200,), firearrow.DataError),
        (("x",), firearrow.DataError),
    ],
)
def test_wrong_parameters_are_the_same_errors(
    database: str, connection: firearrow.Connection, parameters: Any, error: type[Exception]
) -> None:
    sql = "SELECT 1 FROM rdb$database WHERE 1 = CAST(? AS INTEGER)"

    async def work() -> None:
        async with aio.connect(database) as other:
            with pytest.raises(error) as raised:
                await (await other.execute(sql, parameters)).fetchall()
            with pytest.raises(error) as expected:
                connection.execute(sql, parameters).fetchall()
            assert str(raised.value) == str(expected.value)
            # The connection goes on.
            assert await (await other.execute(sql, (1,))).fetchall() == [(1,)]

    run(work())


# What differs, and why.
ONLY_ASYNCHRONOUS = {"set_autocommit"}  # A property cannot be awaited when it is set.

# What belongs to files of the standard library: lines, and the file descriptor, which BLOBs do not have.
ONLY_OF_FILES = {"fileno", "flush", "isatty", "readline", "readlines", "truncate", "writelines"}

ONLY_OF_READERS = {"read", "readall", "readinto", "seek", "tell"}


@pytest.mark.parametrize(
    ("blocking", "asynchronous"),
    [
        (firearrow.Connection, aio.Connection),
        (firearrow.Transaction, aio.Transaction),
        (firearrow.Cursor, aio.Cursor),
        (firearrow.partitions.Partitions, aio.partitions.Partitions),
        (firearrow.partitions.Part, aio.partitions.Part),
        (firearrow.catalog.Catalog, aio.catalog.Catalog),
        (firearrow.events.Events, aio.events.Events),
        (firearrow.blob.BlobReader, aio.blob.BlobReader),
        (firearrow.blob.BlobWriter, aio.blob.BlobWriter),
    ],
)
def test_the_surfaces_are_the_same(blocking: type, asynchronous: type) -> None:
    def public(cls: type) -> set[str]:
        return {name for name in dir(cls) if not name.startswith("_")}

    both = public(blocking)
    if issubclass(blocking, io.RawIOBase):
        # Attributes of the instances.
        both -= ONLY_OF_FILES | {"closed", "write" if "Reader" in blocking.__name__ else ""}
        both -= set() if "Reader" in blocking.__name__ else ONLY_OF_READERS
    assert public(asynchronous) - ONLY_ASYNCHRONOUS == both
    for member in both:
        ours, theirs = (inspect.getattr_static(cls, member) for cls in (asynchronous, blocking))
        # What a file inherits is written in C.
        assert type(ours) is type(theirs) or inspect.ismethoddescriptor(theirs), member
        if inspect.isfunction(theirs):
            assert parameters(ours) == parameters(theirs), member
            assert ours.__doc__, member


@pytest.mark.parametrize("name", ["connect", "create_database", "read_partition"])
def test_the_functions_are_the_same(name: str) -> None:
    assert parameters(getattr(aio, name)) == parameters(getattr(firearrow, name))


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    return [
        (parameter.name, parameter.kind, parameter.default)
        for parameter in inspect.signature(function).parameters.values()
    ]


# Calls that fail, on a cursor `c` of a connection `x`.
BAD_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "events as a list": lambda x, c: x.events(["a", "b"]),
    "no events": lambda x, c: x.events(),
    "ingest: mode": lambda x, c: c.ingest([], "T", mode="no_such_mode"),
    "ingest: text": lambda x, c: c.ingest({"a": [1]}, "T", text=-1),
    "SQL": lambda x, c: c.execute("SELECT"),
    "SQL of another class": lambda x, c: c.execute(7),
    "parameters": lambda x, c: c.execute("SELECT 1 FROM rdb$database WHERE 1 = ?", ()),
    "rows": lambda x, c: c.fetchall(),
    "size": lambda x, c: c.fetchmany(-1),
    "time limit": lambda x, c: c.execute("SELECT 1 FROM rdb$database", timeout=-1),
    "limit of rows": lambda x, c: c.execute("SELECT 1 FROM rdb$database", max_result_rows=-1),
    "model": lambda x, c: c.execute("SELECT 1 FROM rdb$database", model=int),
    "BLOB": lambda x, c: x.open_blob(99),
    "parts": lambda x, c: x.read_partitions("SELECT 1 FROM rdb$database", -1),
    "a part": lambda x, c: x.read_partition(b"nonsense"),
    "JSON": lambda x, c: c.fetch_json(orient="columns"),
    "lines of JSON": lambda x, c: c.stream_json(orient="split"),
    "scroll": lambda x, c: c.scroll(1),
    "scroll: mode": lambda x, c: c.scroll(1, "first"),
    "isolation": lambda x, c: x.begin(isolation="nonsense"),
}


@pytest.mark.parametrize("call", BAD_CALLS.values(), ids=BAD_CALLS)
def test_bad_calls_fail_alike(
    database: str, connection: firearrow.Connection, call: Callable[[Any, Any], Any]
) -> None:
    def blocking() -> str:
        with pytest.raises(firearrow.Error) as caught, connection.cursor() as cursor:
            call(connection, cursor)
        return f"{type(caught.value).__name__}: {caught.value}"

    async def asynchronous() -> str:
        async with aio.connect(database) as other, other.cursor() as cursor:
            with pytest.raises(firearrow.Error) as caught:
                answer = call(other, cursor)
                if inspect.isawaitable(answer):
                    await answer
        return f"{type(caught.value).__name__}: {caught.value}"

    assert run(asynchronous()) == blocking()
