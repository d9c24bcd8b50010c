"""The process that writes for a worker, and holds prepared transactions until the job is decided.

A worker may be ended when it has nothing to do, or with its machine. While a connection holds a prepared
transaction, others read the table as it was; once none does, whoever reads its rows gets an error. So the
worker's rows come through a pipe to this process, which has the connection, goes on without the worker, and
ends with the job.
"""

from __future__ import annotations

import os
import pickle
import select
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .. import errors
from .._base import library
from ..transaction import Transaction
from .process import answer, detach, fail, requests
from .state import Decision, decision
from .writing import Attempt, Job

if TYPE_CHECKING:
    from ..connection import Connection

# Seconds between checks of the decision.
_PAUSE = 0.25
# Seconds to wait for an attempt's rollback, and between checks.
_PATIENCE, _SHORT = 10.0, 0.02


class Keeper:
    """Writes attempts and holds them prepared."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.connection = job.place.connect(job.message)
        self.watch: Connection | None = job.place.connect(job.message)
        self.held: dict[int, Transaction] = {}
        # Whether rows are being written, and whether the job has ended; guarded by the lock, as `held` is.
        self.is_writing = self.has_ended = False
        self.rows = Counted(())
        self.lock = threading.Lock()

    def serve(self) -> None:
        """Serve requests until the pipe closes."""
        while True:
            try:
                attempt: Attempt = requests()
            except EOFError:
                return
            except pickle.UnpicklingError:
                # What comes makes no sense. The worker notices.
                detach()
                return
            try:
                number = self.write(attempt)
            except EOFError:
                return
            except BaseException as error:
                fail(error)
                if not self.connection._core.is_alive:
                    raise
            else:
                answer(number)

    def write(self, attempt: Attempt) -> int:
        """Write the rows that follow.

        Raises
        ------
        EOFError
            The stream broke off.
        """
        pyarrow = library("pyarrow")
        counted = Counted(pyarrow.ipc.open_stream(sys.stdin.buffer))
        with self.lock:
            self.rows, self.is_writing = counted, True
        transaction: Transaction | None = None
        try:
            try:
                lock_timeout = self.job.lock_timeout
                transaction = self.connection.begin(isolation="read_committed", lock_timeout=lock_timeout)
                number = transaction.number
                transaction.cursor().ingest(counted, self.job.table)
            finally:
                # Read to the end even if the insert failed.
                counted.drain()
                expected = requests()
            if counted.rows != expected:
                raise errors.OperationalError(f"{counted.rows} of {expected} rows have arrived")
            transaction.prepare_commit(f"{self.job.message} part {attempt.part} attempt {attempt.attempt}")
            with self.lock:
                if self.has_ended:
                    raise errors.OperationalError(
                        f"job {self.job.identifier} ended before this attempt was prepared"
                    )
                self.held[number] = transaction
                self.is_writing = False
            return number
        except BaseException:
            if transaction is not None:
                with suppress(errors.Error):
                    transaction.rollback()
            raise
        finally:
            with self.lock:
                self.is_writing = False

    def keep(self) -> None:
        """Wait for the decision, and do what it says. Ends the process, also after an error that nobody expects."""
        try:
            self._keep()
        finally:
            os._exit(1)

    def _keep(self) -> None:
        worker = select.poll() if hasattr(select, "poll") else None
        if worker is not None:
            worker.register(sys.stdin.fileno(), 0)
        while True:
            time.sleep(_PAUSE)
            has_worker = worker is None or not worker.poll(0)
            with self.lock:
                # Without a worker the rows will never be complete, and writing may be waiting for a lock. With one, each row
                # may wait for another transaction, and all of them together for days.
                if self.is_writing and (
                    not has_worker or self.rows.waited > self.job.lock_timeout + _PATIENCE
                ):
                    self.connection.cancel()
                if not has_worker and not self.is_writing and not self.held:
                    os._exit(0)
            if (decided := self._decision()) is not None:
                self._end(decided.numbers)
                os._exit(0)

    def _decision(self) -> Decision | None:
        try:
            if self.watch is None:
                self.watch = self.job.place.connect(self.job.message)
            return decision(self.watch, self.job)
        except errors.Error:
            if not self.connection._core.is_alive:
                # Prepared transactions stay prepared, and the coordinator takes them over.
                os._exit(1)
            self.watch = None
            return None

    def _end(self, numbers: frozenset[int]) -> None:
        with self.lock:
            self.has_ended = True
            held, self.held = self.held, {}
            if self.is_writing:
                self.connection.cancel()
        for number, transaction in held.items():
            # What cannot be done here, the coordinator does.
            with suppress(errors.Error):
                transaction.commit() if number in numbers else transaction.rollback()
        # The attempt that is being written, if there is one, is undone where it is written.
        end = time.monotonic() + _PATIENCE
        while self.is_writing and time.monotonic() < end:
            time.sleep(_SHORT)
        with suppress(errors.Error):
            self.connection.close()


class Counted:
    """An Arrow stream that counts its rows."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self._since: float | None = None
        self.rows = 0

    @property
    def waited(self) -> float:
        """Seconds since the database was given rows, unless it waits for more."""
        since = self._since
        return 0.0 if since is None else time.monotonic() - since

    def __iter__(self) -> Any:
        for batch in self._reader:
            self.rows += batch.num_rows
            self._since = time.monotonic()
            yield batch
            self._since = None
        self._since = time.monotonic()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        pyarrow = library("pyarrow")
        schema = self._reader.schema
        return pyarrow.RecordBatchReader.from_batches(schema, iter(self)).__arrow_c_stream__(requested_schema)

    def drain(self) -> None:
        """Read what is left."""
        try:
            for _ in self:
                pass
        except OSError as error:
            # pyarrow has no other error for a stream that breaks off.
            raise EOFError(str(error)) from error


def main() -> None:
    """Run the process."""
    job: Job = requests()
    try:
        keeper = Keeper(job)
    except BaseException as error:
        fail(error)
        return
    answer(None)
    threading.Thread(target=keeper.keep, name="firearrow keeper", daemon=True).start()
    try:
        keeper.serve()
    except errors.Error:
        return
    # The thread ends the process when the job is decided.
    threading.Event().wait()


if __name__ == "__main__":
    main()
