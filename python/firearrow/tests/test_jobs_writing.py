"""Tables written by several processes, all or nothing, whatever happens to these."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from processes import children, go_on, kill, pause, until
from proxy import Proxy

import firearrow
from firearrow._jobs import anchor, writing
from firearrow._jobs.coordinator import Coordinator
from firearrow._jobs.place import Place
from firearrow._jobs.state import decision_text

KEEPER, COORDINATOR = "firearrow._jobs.keeper", "firearrow._jobs.coordinator"


@pytest.fixture(autouse=True)
def processes(connection: firearrow.Connection, is_wire: bool) -> Iterator[None]:
    """Other processes reach a server only; none is left behind, and no transaction."""
    if not is_wire:
        pytest.skip("the embedded engine keeps its database open in one process")
    yield
    writing._leave_all()
    kill(KEEPER)
    kill(COORDINATOR)
    for left in connection.limbo_transactions():
        connection.recover(left.number).rollback()


@pytest.fixture
def keyed(connection: firearrow.Connection, table: str) -> str:
    """A table with a key and two rows."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20))")
    connection.commit()
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", [(1, "old one"), (2, "old two")])
    connection.commit()
    return table


def rows(first: int, last: int) -> pa.Table:
    """Rows with these keys."""
    numbers = range(first, last)
    names = pa.array([f"new {n}" for n in numbers], pa.string())
    return pa.table({"id": pa.array(numbers, pa.int32()), "name": names})


def begin(database: str, table: str, mode: str = "append", **more: Any) -> writing.Job:
    """A job of this process."""
    target = writing.Target(Place(database), table, mode, **more)
    return writing.begin(target, rows(0, 0).schema, anchor.this_process())


def write(job: writing.Job, part: int, found: pa.Table) -> int:
    """One attempt, in several batches."""
    number = writing.write(job, part, 0, found.to_batches(max_chunksize=7))
    assert number is not None
    return number


def told(connection: firearrow.Connection, table: str) -> dict[int, str]:
    """The rows that others see."""
    with connection.begin(isolation="read_committed", read_only=True, lock_timeout=30) as transaction:
        return dict(transaction.execute(f'SELECT id, name FROM "{table.upper()}" ORDER BY id').fetchall())


def expected(*ranges: tuple[int, int]) -> dict[int, str]:
    return {n: f"new {n}" for first, last in ranges for n in range(first, last)}


OLD = {1: "old one", 2: "old two"}


def test_append(database: str, connection: firearrow.Connection, keyed: str, version: int) -> None:
    """Rows of all attempts appear at once, and those of attempts that do not count never do."""
    job = begin(database, keyed)
    numbers = [write(job, 0, rows(10, 30)), write(job, 1, rows(30, 40))]
    write(job, 1, rows(50, 60))
    assert writing.write(job, 2, 0, []) is None
    if version >= 4:
        # Firebird 3 lets readers wait.
        assert told(connection, keyed) == OLD
    writing.commit(job, numbers)
    assert told(connection, keyed) == OLD | expected((10, 40))
    assert connection.limbo_transactions() == []
    until(lambda: not children(KEEPER) and not children(COORDINATOR))


def test_overwrite(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """The table's rows are replaced in one transaction, even those whose keys come again."""
    job = begin(database, keyed, "overwrite")
    numbers = [write(job, 0, rows(1, 5)), write(job, 1, rows(5, 9))]
    assert told(connection, keyed) == OLD
    writing.commit(job, numbers)
    assert told(connection, keyed) == expected((1, 9))
    assert [found.name for found in connection.catalog.tables() if "STAGE" in found.name] == []


def test_upsert(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """Rows with the same key are replaced, the others stay."""
    job = begin(database, keyed, "upsert")
    writing.commit(job, [write(job, 0, rows(2, 4)), write(job, 1, rows(4, 5))])
    assert told(connection, keyed) == {1: "old one"} | expected((2, 5))
    job = begin(database, keyed, "upsert", key=("NAME",))
    writing.commit(job, [write(job, 0, rows(2, 3))])
    assert told(connection, keyed) == {1: "old one"} | expected((2, 5))


def test_upsert_of_equal_keys(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """Nobody could tell which row is meant."""
    job = begin(database, keyed, "upsert")
    numbers = [write(job, 0, rows(2, 4)), write(job, 1, rows(3, 5))]
    with pytest.raises(firearrow.IntegrityError, match=r"two rows have the key \(3,\)"):
        writing.commit(job, numbers)
    assert told(connection, keyed) == OLD
    assert [found.name for found in connection.catalog.tables() if "STAGE" in found.name] == []


def test_upsert_needs_a_key(database: str, connection: firearrow.Connection, numbers: str) -> None:
    """The error says what to do."""
    schema = pa.schema([("N", pa.int32())])
    for key, text in (((), "has no primary key: name"), (("M",), "has no column 'M'")):
        target = writing.Target(Place(database), numbers, "upsert", key)
        with pytest.raises(firearrow.ProgrammingError, match=text):
            writing.begin(target, schema, anchor.this_process())
    with pytest.raises(firearrow.ProgrammingError, match="there is no table 'nowhere' to upsert"):
        begin(database, "nowhere", "upsert")
    until(lambda: not children(COORDINATOR))


def test_new_table(database: str, connection: firearrow.Connection, table: str) -> None:
    """A table that is missing is made, and removed if the job fails."""
    job = begin(database, table, text=20)
    write(job, 0, rows(0, 5))
    writing.abort(job)
    assert connection.catalog.columns(table.upper()) == []
    job = begin(database, table, text=20)
    writing.commit(job, [write(job, 0, rows(0, 5))])
    columns = connection.catalog.columns(table.upper())
    assert [(found.name, found.type_name, found.characters) for found in columns] == [
        ("id", "INTEGER", None),
        ("name", "VARCHAR", 20),
    ]
    with connection.begin() as transaction:
        found = transaction.execute(f'SELECT "id", "name" FROM {table}').fetchall()
    assert dict(found) == expected((0, 5))


def test_abort(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """Nothing remains, and asking again does no harm."""
    for mode in writing.MODES:
        job = begin(database, keyed, mode)
        write(job, 0, rows(10, 30))
        writing.abort(job)
        writing.abort(job)
        assert told(connection, keyed) == OLD
        assert connection.limbo_transactions() == []
        assert [found.name for found in connection.catalog.tables() if "STAGE" in found.name] == []
        until(lambda: not children(KEEPER) and not children(COORDINATOR))


def test_rows_that_the_table_refuses(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """The attempt fails; the same process can write the next one."""
    job = begin(database, keyed, lock_timeout=5)
    with pytest.raises(firearrow.IntegrityError):
        write(job, 0, rows(0, 20))
    number = write(job, 0, rows(10, 20))
    writing.commit(job, [number])
    assert told(connection, keyed) == OLD | expected((10, 20))


def test_other_columns(database: str, keyed: str) -> None:
    """They are refused before anything is written."""
    target = writing.Target(Place(database), keyed)
    with pytest.raises(firearrow.ProgrammingError, match=r'has no column \'price\'; it has "ID", "NAME"'):
        writing.begin(target, pa.schema([("price", pa.int32())]), anchor.this_process())


def test_a_worker_gives_up(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """The rows that it has sent are undone, although their stream ends between two batches."""
    job = begin(database, keyed)

    def endless() -> Iterator[pa.RecordBatch]:
        yield from rows(10, 500).to_batches(max_chunksize=50)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        writing.write(job, 0, 0, endless())
    until(lambda: not children(KEEPER))
    writing.commit(job, [write(job, 0, rows(10, 20))])
    assert told(connection, keyed) == OLD | expected((10, 20))


def test_keepers_are_killed(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """What they have prepared is committed all the same, or undone all the same."""
    job = begin(database, keyed)
    numbers = [write(job, 0, rows(10, 20))]
    kill(KEEPER)
    numbers.append(write(job, 1, rows(20, 30)))
    kill(KEEPER)
    writing.commit(job, numbers)
    assert told(connection, keyed) == OLD | expected((10, 30))
    job = begin(database, keyed)
    write(job, 0, rows(40, 50))
    kill(KEEPER)
    writing.abort(job)
    assert told(connection, keyed) == OLD | expected((10, 30))
    assert connection.limbo_transactions() == []


def test_the_coordinator_is_killed_before_it_decides(
    database: str, connection: firearrow.Connection, keyed: str
) -> None:
    """Keepers see that nothing was decided."""
    job = begin(database, keyed)
    number = write(job, 0, rows(10, 20))
    kill(COORDINATOR)
    until(lambda: not children(KEEPER))
    assert told(connection, keyed) == OLD
    with pytest.raises(firearrow.OperationalError, match="its coordinator has ended"):
        writing.commit(job, [number])
    writing.abort(job)
    assert connection.limbo_transactions() == []


def decided(database: str, table: str, then: Callable[[], None]) -> writing.Job:
    """Let the coordinator decide for ten rows and against ten others, and do something before any keeper knows."""
    job = begin(database, table)
    number = write(job, 0, rows(10, 20))
    write(job, 0, rows(20, 30))
    pause(KEEPER)
    failed: list[firearrow.Error] = []

    def ask() -> None:
        try:
            writing.commit(job, [number])
        except firearrow.Error as error:
            failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    with firearrow.connect(job.place.database) as connection:

        def is_decided() -> bool:
            with connection.begin(isolation="read_committed", read_only=True) as transaction:
                sql = "SELECT COUNT(*) FROM rdb$transactions WHERE rdb$transaction_id = ?"
                return bool(transaction.execute(sql, (job.leader,)).fetchone()[0])

        until(is_decided)
    then()
    asking.join()
    assert bool(failed) == (then is kill_coordinator)
    return job


def kill_coordinator() -> None:
    kill(COORDINATOR)


def test_the_coordinator_is_killed_after_it_has_decided(
    database: str, connection: firearrow.Connection, keyed: str
) -> None:
    """Keepers do what was decided; what says so is left for an administrator."""
    decided(database, keyed, kill_coordinator)
    go_on(KEEPER)
    until(lambda: not children(KEEPER))
    (left,) = connection.limbo_transactions()
    assert b" commit " in left.message
    assert told(connection, keyed) == OLD | expected((10, 20))
    connection.recover(left.number).commit()
    assert connection.limbo_transactions() == []


def test_everybody_is_killed_after_the_decision(
    database: str, connection: firearrow.Connection, keyed: str
) -> None:
    """What is left in limbo says which transactions to commit; the others are rolled back."""
    job = decided(database, keyed, kill_coordinator)
    kill(KEEPER)
    # The server notices in a moment.
    until(lambda: len(connection.limbo_transactions()) == 3)
    left = {found.number: found.message.decode() for found in connection.limbo_transactions()}
    assert all(text.startswith(job.message) for text in left.values())
    (wanted,) = (text.partition(" commit ")[2].split() for text in left.values() if " commit " in text)
    assert left.keys() > set(map(int, wanted))
    for number in left:
        taken = connection.recover(number)
        taken.commit() if str(number) in wanted or number == job.leader else taken.rollback()
    assert told(connection, keyed) == OLD | expected((10, 20))


def test_connections_are_lost_after_the_decision(
    database: str, connection: firearrow.Connection, keyed: str, proxy: Proxy
) -> None:
    """The coordinator connects again, and does what was decided for keepers that are gone."""

    def lose() -> None:
        proxy.drop()
        go_on(KEEPER)

    decided(proxy.url, keyed, lose)
    assert told(connection, keyed) == OLD | expected((10, 20))
    assert connection.limbo_transactions() == []


def test_the_program_is_killed(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """Its job is undone."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as program:
        who = anchor.of(program.pid)
        # Two jobs at a time; a third one would not get the table that the second collects its rows in.
        for mode in ("append", "upsert"):
            target = writing.Target(Place(database), keyed, mode)
            job = writing.begin(target, rows(0, 0).schema, who)
            write(job, 0, rows(10, 20))
        program.kill()
    until(lambda: not children(KEEPER) and not children(COORDINATOR))
    assert told(connection, keyed) == OLD
    assert connection.limbo_transactions() == []
    assert [found.name for found in connection.catalog.tables() if "STAGE" in found.name] == []


def test_the_server_loses_everybody(
    database: str, connection: firearrow.Connection, keyed: str, proxy: Proxy
) -> None:
    """As after a restart: nothing of the job remains, and it says that it has failed."""
    job = begin(proxy.url, keyed)
    number = write(job, 0, rows(10, 20))
    proxy.drop()
    until(lambda: not children(KEEPER))
    with pytest.raises(firearrow.Error):
        writing.commit(job, [number])
    assert told(connection, keyed) == OLD
    assert connection.limbo_transactions() == []


def test_the_answer_to_the_decision_is_lost(
    database: str, connection: firearrow.Connection, keyed: str
) -> None:
    """What the database says counts: the job is committed, although its coordinator was about to undo it."""
    target = writing.Target(Place(database), keyed)
    schema = rows(0, 0).schema.serialize().to_pybytes()
    coordinator = Coordinator(writing.Beginning(target, "00112233aabbccdd", schema, anchor.this_process()))
    number = write(coordinator.job, 0, rows(10, 20))
    coordinator.leader.prepare_commit(decision_text(coordinator.job, (number,)))
    coordinator.connection.close()
    coordinator.abort()
    assert coordinator.has_ended
    assert told(connection, keyed) == OLD | expected((10, 20))
    with pytest.raises(firearrow.OperationalError, match="was decided"):
        coordinator.abort()
    coordinator.close()
    assert connection.limbo_transactions() == []


def test_a_transaction_that_is_lost(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """If somebody has decided about one, nothing else is committed."""
    job = begin(database, keyed)
    numbers = [write(job, 0, rows(10, 20)), write(job, 1, rows(20, 30))]
    kill(KEEPER)
    until(lambda: len(connection.limbo_transactions()) == 2)
    connection.recover(numbers[0]).rollback()
    with pytest.raises(firearrow.OperationalError, match="is no longer prepared; nothing was committed"):
        writing.commit(job, numbers)
    assert told(connection, keyed) == OLD
    assert connection.limbo_transactions() == []


def test_two_jobs(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """Both may append; replacing and upserting is for one at a time."""
    first, second = begin(database, keyed), begin(database, keyed)
    one, two = write(first, 0, rows(10, 20)), write(second, 0, rows(20, 30))
    writing.commit(second, [two])
    writing.commit(first, [one])
    assert told(connection, keyed) == OLD | expected((10, 30))
    first = begin(database, keyed, "overwrite")
    for mode in ("overwrite", "upsert"):
        with pytest.raises(firearrow.OperationalError, match="another job is replacing or upserting"):
            begin(database, keyed, mode)
    writing.abort(first)


def test_a_job_that_moves_its_rows_is_left_alone(
    database: str, connection: firearrow.Connection, other: firearrow.Connection, keyed: str
) -> None:
    """Another one does not take its staging table, however long this takes."""
    job = begin(database, keyed, "overwrite")
    number = write(job, 0, rows(10, 20))
    connection.execute(f"UPDATE {keyed} SET name = 'locked'")
    moving = threading.Thread(target=writing.commit, args=(job, [number]))
    moving.start()
    until(lambda: not children(KEEPER))
    time.sleep(1)
    with pytest.raises(firearrow.OperationalError, match="another job is replacing"):
        begin(database, keyed, "upsert")
    connection.rollback()
    moving.join()
    assert told(other, keyed) == expected((10, 20))
    assert [found.name for found in other.catalog.tables() if "STAGE" in found.name] == []


def test_a_new_table_that_others_have_written(
    database: str, connection: firearrow.Connection, table: str
) -> None:
    """It stays, although the job that made it fails."""
    first = begin(database, table, text=20)
    second = begin(database, table, text=20)
    writing.commit(second, [write(second, 0, rows(0, 5))])
    write(first, 0, rows(5, 9))
    writing.abort(first)
    with connection.begin() as transaction:
        assert dict(transaction.execute(f'SELECT "id", "name" FROM {table}').fetchall()) == expected((0, 5))


def test_the_server_is_away(
    database: str, connection: firearrow.Connection, keyed: str, proxy: Proxy
) -> None:
    """The coordinator undoes the job when the server is back."""
    job = begin(proxy.url, keyed)
    write(job, 0, rows(10, 20))
    proxy.stop()
    until(lambda: not children(KEEPER))
    aborting = threading.Thread(target=writing.abort, args=(job,))
    aborting.start()
    time.sleep(3)
    proxy.start()
    aborting.join()
    until(lambda: not children(COORDINATOR))
    assert told(connection, keyed) == OLD
    assert connection.limbo_transactions() == []


def test_an_administrator_is_faster(
    database: str, connection: firearrow.Connection, keyed: str, version: int
) -> None:
    """The job says so, instead of success."""
    if version < 4:
        pytest.skip("Firebird 3 does not tell what became of a transaction")

    def undo() -> None:
        kill(KEEPER)
        until(lambda: len(connection.limbo_transactions()) == 2)
        for found in connection.limbo_transactions():
            connection.recover(found.number).rollback()

    with pytest.raises(AssertionError):
        # It fails although its coordinator lives.
        decided(database, keyed, undo)
    assert told(connection, keyed) == OLD


def test_tables_that_no_job_can_write(
    database: str, connection: firearrow.Connection, table: str, version: int
) -> None:
    """They are refused before anything is written."""
    connection.execute(f"CREATE GLOBAL TEMPORARY TABLE g_{table} (id INTEGER, name VARCHAR(20))")
    connection.execute(f"CREATE TABLE c_{table} (id INTEGER, name COMPUTED BY ('x' || id))")
    connection.commit()
    with pytest.raises(firearrow.NotSupportedError, match="is a global temporary table"):
        begin(database, f"g_{table}")
    with pytest.raises(firearrow.ProgrammingError, match='"NAME" is computed: leave it out'):
        begin(database, f"c_{table}", "overwrite")
    if version >= 4:
        connection.execute(
            f"CREATE TABLE i_{table} (id INTEGER GENERATED ALWAYS AS IDENTITY, name VARCHAR(20))"
        )
        connection.commit()
        with pytest.raises(firearrow.ProgrammingError, match='"ID" is generated always'):
            begin(database, f"i_{table}")
    with pytest.raises(firearrow.NotSupportedError, match="without a schema"):
        begin(database, "dbo.sales")


def test_upsert_of_null(database: str, connection: firearrow.Connection, table: str) -> None:
    """Rows with NULL in their key are new ones."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER, name VARCHAR(20))")
    connection.commit()
    found = pa.table({"id": pa.array([None, None, 3], pa.int32()), "name": ["a", "b", "c"]})
    for _ in range(2):
        job = begin(database, table, "upsert", key=("id",))
        writing.commit(job, [write(job, 0, found)])
    sql = f"SELECT COUNT(*), COUNT(id) FROM {table}"
    with connection.begin() as transaction:
        assert transaction.execute(sql).fetchone() == (5, 1)


def test_foreign_modules(database: str, keyed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Helper processes import nothing from the current folder."""
    for name in ("queue", "select", "pickle", "runpy"):
        tmp_path.joinpath(f"{name}.py").write_text(f"open({str(tmp_path / 'hijacked')!r}, 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    job = begin(database, keyed)
    writing.commit(job, [write(job, 0, rows(10, 20))])
    assert not tmp_path.joinpath("hijacked").exists()
    until(lambda: not os.path.exists(os.path.dirname(job.address)))


def test_what_a_dead_job_has_left(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """Its table is removed by the next one."""
    job = begin(database, keyed, "overwrite")
    write(job, 0, rows(10, 20))
    kill(COORDINATOR)
    until(lambda: not children(KEEPER))
    job = begin(database, keyed, "overwrite")
    writing.commit(job, [write(job, 0, rows(30, 40))])
    assert told(connection, keyed) == expected((30, 40))


def test_strangers(database: str, keyed: str) -> None:
    """Whoever does not know the job's secret cannot decide about it."""
    job = begin(database, keyed)
    stranger = writing.Job(**{**vars(job), "secret": b"guessed"})
    with pytest.raises(Exception, match="digest"):
        writing.commit(stranger, [])
    for name in ("secret", "masterkey"):
        assert name not in repr(job)
    assert os.stat(os.path.dirname(job.address)).st_mode & 0o077 == 0
    writing.abort(job)


def test_a_lock_is_not_waited_for_longer(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """An attempt that others keep from writing fails in time."""
    connection.execute(f"INSERT INTO {keyed} VALUES (15, 'not committed')")
    job = begin(database, keyed, lock_timeout=1)
    connection.executemany(f"INSERT INTO {keyed} VALUES (?, 'nor these')", [(n,) for n in range(100, 200)])
    start = time.monotonic()
    with pytest.raises(firearrow.Error):
        write(job, 0, rows(10, 300))
    # Each row waits a second, and all of them together not for minutes.
    assert time.monotonic() - start < 40
    connection.rollback()
    writing.abort(job)


def test_a_worker_that_waits_for_a_lock_is_killed(
    database: str, connection: firearrow.Connection, other: firearrow.Connection, keyed: str
) -> None:
    """Its keeper does not wait on."""
    connection.execute(f"INSERT INTO {keyed} VALUES (15, 'not committed')")
    job = begin(database, keyed)
    program = (
        "import pickle, sys; from firearrow._jobs import writing; "
        "job, batches = pickle.load(sys.stdin.buffer); writing.write(job, 0, 0, batches)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE) as worker:
        import pickle

        assert worker.stdin is not None
        worker.stdin.write(pickle.dumps((job, rows(10, 20).to_batches())))
        worker.stdin.flush()
        sql = "SELECT COUNT(*) FROM mon$attachments WHERE mon$remote_process = ?"

        def writers() -> int:
            with other.begin(isolation="read_committed") as transaction:
                return int(transaction.execute(sql, (job.message,)).fetchone()[0])

        # The coordinator has one, and a keeper two.
        until(lambda: writers() == 3)
        time.sleep(0.5)
        os.kill(worker.pid, signal.SIGKILL)
    until(lambda: writers() == 1)
    connection.rollback()
    writing.abort(job)
