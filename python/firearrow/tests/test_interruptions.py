"""Exceptions that signal handlers raise, warnings that are errors: no connection or data are lost by them."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import threading
import time
import types
import warnings
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from threads import until

from firearrow import Connection as FirearrowConnection
from firearrow import Error, InterfaceError, Pool, PoolTimeout, ProgrammingError, aio
from firearrow._pooling import Limits, Member, State, Waiter

SIZE = 4


class Interrupted(Exception):
    """What the handler raises."""


class Alarm:
    """A timer whose signal raises, once each time that it is set, and in the test only: never in pytest's own code."""

    def __init__(self) -> None:
        self.is_set = False
        self.spared: types.FrameType | None = None

    def set(self, seconds: float, spared: types.FrameType | None = None) -> None:
        """Let it go off after so many seconds, but not in the function ``spared`` itself, only in what that calls."""
        self.spared, self.is_set = spared, True
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def clear(self) -> None:
        self.is_set = False
        signal.setitimer(signal.ITIMER_REAL, 0)

    def handle(self, number: int, frame: types.FrameType | None) -> None:
        if not self.is_set or frame is None or frame is self.spared or frame.f_code is Alarm.clear.__code__:
            return
        outer: types.FrameType | None = frame
        while outer is not None and outer.f_code.co_filename != __file__:
            outer = outer.f_back
        if outer is not None:
            self.is_set = False
            raise Interrupted


@pytest.fixture
def alarm() -> Iterator[Alarm]:
    alarm = Alarm()
    before = signal.signal(signal.SIGALRM, alarm.handle)
    yield alarm
    alarm.clear()
    signal.signal(signal.SIGALRM, before)


def assert_whole(pool: Pool) -> None:
    """The pool lends as many as it may, and all of them work."""
    borrowed = [pool.acquire(20) for _ in range(SIZE)]
    for connection in borrowed:
        assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)
    with pytest.raises(PoolTimeout):
        pool.acquire(0.01)
    for connection in borrowed:
        connection.close()
    stats = pool.stats
    assert (stats.in_use, stats.waiting) == (0, 0) and stats.size <= SIZE


# What is raised in finalisers is only reported; lost connections are warned of.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_interruptions_at_any_moment_lose_no_connection(database: str, alarm: Alarm) -> None:
    hits = rounds = 0
    with Pool(database, max_size=SIZE, acquire_timeout=20) as pool:
        pool.acquire().close()
        end = time.monotonic() + 4
        while time.monotonic() < end:
            try:
                alarm.set(0.0001 + (hits % 97) * 0.00002)
                while alarm.is_set:
                    with pool.connection():
                        rounds += 1
            except Interrupted:
                hits += 1
            alarm.clear()
        gc.collect()
        assert hits > 100 and rounds > 100
        assert_whole(pool)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_interruptions_while_one_waits_lose_no_connection(database: str, alarm: Alarm) -> None:
    hits = 0
    with Pool(database, max_size=SIZE, acquire_timeout=20) as pool:
        held = [pool.acquire() for _ in range(SIZE)]
        for _ in range(50):
            try:
                alarm.set(0.002)
                pool.acquire(1)
            except Interrupted:
                hits += 1
            except PoolTimeout:
                # It went off in a finaliser.
                assert not alarm.is_set
            alarm.clear()
        assert hits > 40
        for connection in held:
            connection.close()
        assert_whole(pool)


def test_a_warning_that_is_an_error_loses_no_connection(database: str) -> None:
    raised: list[Any] = []
    with Pool(database, max_size=1, acquire_timeout=20) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.unraisablehook", lambda problem: raised.append(problem.exc_type))
        with warnings.catch_warnings():
            warnings.simplefilter("error", ResourceWarning)
            connection = pool.acquire()
            del connection
            gc.collect()
        assert raised == [ResourceWarning]
        with pool.connection() as other:
            assert other.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)


def test_a_warning_that_is_an_error_loses_no_connection_of_tasks(database: str) -> None:
    raised: list[Any] = []

    async def work() -> None:
        async with aio.Pool(database, max_size=1, acquire_timeout=20) as pool:
            with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
                patch.setattr("sys.unraisablehook", lambda problem: raised.append(problem.exc_type))
                warnings.simplefilter("error", ResourceWarning)
                connection = await pool.acquire()
                del connection
                gc.collect()
            async with pool.connection() as other:
                assert await (await other.execute("SELECT 1 FROM RDB$DATABASE")).fetchone() == (1,)

    asyncio.run(asyncio.wait_for(work(), 60))
    assert raised == [ResourceWarning]


class Connection:
    """Something that can be forgotten."""


def test_a_forgotten_connection_makes_room() -> None:
    state: State[Connection] = State(Limits(max_size=1))
    assert state.reserve(0.0) == 0
    first = Waiter[Connection](lambda: None, 0.0)
    state.wait(first)
    assert state.reserve(0.0) == 1
    assert state.note_opened(Connection(), 0.0) is not None
    second = Waiter[Connection](lambda: None, 0.0)
    state.wait(second)
    assert (state.size, state.lent, state.reserve(0.0)) == (1, 1, 0)
    assert first.member is not None
    core = weakref.ref(first.member.connection)
    first.member = None
    gc.collect()
    assert core() is None
    assert (state.size, state.lent, state.closed, state.reserve(0.0)) == (0, 0, 1, 1)


def test_who_was_not_woken_is_woken_with_the_next_connection() -> None:
    woken: list[str] = []

    def interrupted() -> None:
        woken.append("first")
        if woken == ["first"]:
            raise Interrupted

    state: State[Connection] = State(Limits(max_size=2))
    first = Waiter[Connection](interrupted, 0.0)
    second = Waiter[Connection](lambda: woken.append("second"), 0.0)
    state.wait(first)
    state.wait(second)
    members: list[Member[Connection]] = []
    for _ in range(2):
        state.opening += 1
        try:
            if (member := state.note_opened(Connection(), 0.0)) is not None:
                members.append(member)
        except Interrupted:
            pass
    assert woken == ["first", "first", "second"]
    assert first.member is not None and second.member is not None
    assert (state.lent, len(state.waiters)) == (2, 0)


def test_those_that_wait_to_be_closed_are_not_counted_twice() -> None:
    state: State[Connection] = State(Limits(max_size=3))
    waiters = [Waiter[Connection](lambda: None, 0.0) for _ in range(3)]
    for waiter in waiters:
        state.wait(waiter)
        assert state.reserve(0.0) == 1
        assert state.note_opened(Connection(), 0.0) is not None
    state.limits = Limits(max_size=1)
    members = [waiter.member for waiter in waiters if waiter.member is not None]
    assert [state.keep(member, 0.0) for member in members] == [False, False, True]
    assert (state.size, state.lent, len(state.idle)) == (3, 0, 1)
    for member in members[:2]:
        assert not state.give_back(member, False, 0.0)
        assert (state.expired(0.0), state.closing) == ([], 1)
        state.gone()
    assert (state.size, state.lent, len(state.idle), state.closed) == (1, 0, 1, 2)


def test_a_finaliser_within_the_pool_gives_its_connection_back(database: str) -> None:
    """The collector may run while its own thread has the lock of the pool."""
    with Pool(database, max_size=3, acquire_timeout=10) as pool:
        held = [pool.acquire(), pool.acquire()]
        with pool._lock:
            held.pop().close()
            assert pool.stats.max_size == 3
            with pytest.raises(ProgrammingError, match="interrupted the pool"):
                pool.acquire()
            with pytest.raises(ProgrammingError, match="interrupted the pool"):
                pool.close()
        held.pop().close()
        again = [pool.acquire() for _ in range(3)]
        assert [connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() for connection in again] == [
            (1,)
        ] * 3
        for connection in again:
            connection.close()


def test_objects_in_circles_give_their_connections_back(database: str) -> None:
    """As an application has them: the collector decides when they go."""

    class Repository:
        def __init__(self, pool: Pool) -> None:
            self.connection = pool.acquire()
            self.itself = self

        def __del__(self) -> None:
            self.connection.close()

    with Pool(database, max_size=200, acquire_timeout=20) as pool:
        for number in range(500):
            Repository(pool)
            held = [[] for _ in range(number % 41)]  # type: ignore[var-annotated]
            del held
            with pool.connection():
                pass
        gc.collect()


# Long enough for a few interruptions.
ROWS = 60_000
QUERY = f"SELECT FIRST {ROWS} a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c"


def test_interrupted_fetches_miss_no_rows_without_a_word(
    connection: FirearrowConnection, alarm: Alarm
) -> None:
    refused = 0
    for number in range(20):
        cursor = connection.execute(QUERY)
        try:
            alarm.set(0.002 + 0.003 * number, spared=sys._getframe())
            assert len(cursor.fetchall()) == ROWS
        except Interrupted:
            with pytest.raises(ProgrammingError, match="execute the query again"):
                cursor.fetchall()
            assert cursor.rowcount == -1
            refused += 1
        alarm.clear()
        cursor.close()
    assert refused


def test_a_row_factory_that_fails_takes_no_rows_away(connection: FirearrowConnection) -> None:
    def factory(columns: object) -> Any:
        return lambda row: 1 // 0

    cursor = connection.cursor(row_factory=factory)
    cursor.execute(QUERY)
    with pytest.raises(ZeroDivisionError):
        cursor.fetchmany(10)
    with pytest.raises(ProgrammingError, match="execute the query again"):
        cursor.fetchall()
    # The cursor can be used again.
    cursor.row_factory = None
    assert cursor.execute("SELECT 1 FROM RDB$DATABASE").fetchall() == [(1,)]


@pytest.mark.parametrize("kind", ["fetchall", "fetch_arrow_table", "fetch_json"])
def test_cancelled_fetches_miss_no_rows_without_a_word(database: str, kind: str) -> None:
    if kind == "fetch_arrow_table":
        pytest.importorskip("pyarrow")

    def count(result: Any) -> int:
        return len(json.loads(result) if isinstance(result, bytes) else result)

    async def work() -> int:
        refused = 0
        async with aio.connect(database) as connection:
            for number in range(12):
                cursor = await connection.execute(QUERY)
                try:
                    await asyncio.wait_for(getattr(cursor, kind)(), 0.002 + 0.004 * number)
                except asyncio.TimeoutError:
                    try:
                        # It may have been cancelled before it had taken any.
                        assert count(await getattr(cursor, kind)()) == ROWS
                    except Error as error:
                        assert "the query again" in str(error)
                        refused += 1
                await cursor.close()
        return refused

    assert asyncio.run(asyncio.wait_for(work(), 60))


def test_interrupted_reads_lose_no_bytes_of_a_blob(connection: FirearrowConnection, alarm: Alarm) -> None:
    data = os.urandom(1 << 16) * 48
    with connection.create_blob() as writer:
        writer.write(data)
    hits = 0
    for number in range(20):
        with connection.open_blob(writer.id) as blob:
            read = bytearray()
            # Nothing can be done about one that comes when a read has just returned.
            alarm.set(0.0005 + 0.0005 * number, spared=sys._getframe())
            while len(read) < len(data):
                try:
                    while piece := blob.read(1 << 20):
                        read += piece
                    break
                except Interrupted:
                    hits += 1
                    assert blob.tell() == len(read)
            alarm.clear()
            assert bytes(read) == data
    assert hits


def test_interrupted_waits_lose_no_events(
    connection: FirearrowConnection, other: FirearrowConnection, alarm: Alarm
) -> None:
    other.autocommit = True
    posted, received, hits, turns = 60, 0, 0, 0

    def post() -> None:
        for _ in range(posted):
            other.execute("EXECUTE BLOCK AS BEGIN POST_EVENT 'counted'; END")

    with connection.events("counted") as events:
        thread = threading.Thread(target=post)
        thread.start()
        end = time.monotonic() + 20
        while received < posted and time.monotonic() < end:
            try:
                turns += 1
                alarm.set(0.0003 * (1 + turns % 29), spared=sys._getframe())
                counts = events.wait(0.3)
                received += counts["counted"] if counts else 0
            except Interrupted:
                hits += 1
        alarm.clear()
        thread.join()
    assert (received, hits > 0) == (posted, True)


def test_a_handler_that_borrows_while_the_pool_starts_its_thread(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []

    def handler(number: int, frame: types.FrameType | None) -> None:
        with suppress(PoolTimeout), pool.connection(0.2) as connection:
            told.append(connection)
        told.append("handled")

    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        if thread.name == "firearrow pool" and threading.current_thread() is threading.main_thread():
            monkeypatch.setattr(threading.Thread, "start", start)
            signal.raise_signal(signal.SIGUSR1)
        start(thread)

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        monkeypatch.setattr(threading.Thread, "start", interrupted)
        with Pool(database, max_size=2, acquire_timeout=20) as pool, pool.connection() as connection:
            assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert told[-1] == "handled"


def test_an_interrupted_wait_leaves_the_queue(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the exception comes after the wait itself."""
    with Pool(database, max_size=1, acquire_timeout=20) as pool:
        held = pool.acquire()
        leave = State.leave
        interruptions = [Interrupted()]

        def interrupted(state: State[Any], waiter: Waiter[Any], now: float) -> None:
            if interruptions:
                raise interruptions.pop()
            leave(state, waiter, now)

        monkeypatch.setattr(State, "leave", interrupted)
        with pytest.raises(Interrupted):
            pool.acquire(0.05)
        assert pool.stats.waiting == 0
        held.close()
        pool.acquire().close()


def test_a_connection_that_is_closed_within_executemany_says_so(database: str, table: str) -> None:
    """The work of a block that its connection does not survive is not done."""
    from firearrow import connect

    pyarrow = pytest.importorskip("pyarrow")
    with connect(database) as connection:
        connection.execute(f"CREATE TABLE {table} (n INTEGER)")
    schema = pyarrow.schema([("N", pyarrow.int32())])

    def batches() -> Iterator[Any]:
        for number in range(3):
            yield pyarrow.record_batch([pyarrow.array([number], pyarrow.int32())], schema)
            if number == 0:
                connection.close()

    uses: list[Any] = [
        lambda rows: connection.executemany(f"INSERT INTO {table} VALUES (?)", rows),
        lambda rows: connection.cursor().ingest(rows, table),
    ]
    for use in uses:
        with pytest.raises(InterfaceError, match="closed"), connect(database) as connection:
            use(pyarrow.RecordBatchReader.from_batches(schema, batches()))
    with connect(database) as other:
        until(lambda: other.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,))
