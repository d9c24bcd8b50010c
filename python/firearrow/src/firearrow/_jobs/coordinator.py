"""The process of a job that writes: it decides about a job and carries the decision out.

It listens where only its user can reach it, for a program that knows the job's secret.
"""

from __future__ import annotations

import os
import queue
import secrets
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.connection import Connection as Peer
from multiprocessing.connection import Listener
from typing import Any

from .. import errors
from .._base import engine_release, library
from ..connection import Connection
from .process import answer, detach_output, fail, requests
from .stage import Stage
from .state import Decision, decision, decision_text, is_active, prepared, rolled_back
from .writing import Beginning, Job, message

# Seconds between checks of the program that the job belongs to, and of transactions that are about to end.
_PAUSE, _SHORT = 1.0, 0.05
# Seconds before taking over transactions that no keeper holds.
_KEEPERS = 1.0
# Seconds that keepers have to carry a decision out before the caller gets an answer.
_PATIENCE = 60.0
# Seconds that they have to roll back what does not count.
_OTHERS = 10.0
# Seconds for which a server may be away.
_LONGEST = 24 * 3600.0
# Seconds between signs of life.
_BEAT = 5.0
# Characters of a folder in which a socket can be.
_SHORT_PATH = 60


class Coordinator:
    """Decides about one job."""

    def __init__(self, beginning: Beginning) -> None:
        pyarrow = library("pyarrow")

        self.target = beginning.target
        self.anchor = beginning.anchor
        self.message = message(beginning.identifier)
        schema = pyarrow.ipc.read_schema(pyarrow.py_buffer(beginning.schema))
        secret = secrets.token_bytes(32)
        self._folder, self.listener = _listener(secret)
        self.connection = self._connect()
        try:
            self.leader = self.connection.begin(isolation="read_committed")
            number = self.leader.number
            release = engine_release(self.connection.info)
            self.stage = Stage(self.connection, self.target, schema, self.message, release)
        except BaseException:
            self.close()
            raise
        # What is decided; None while nothing is, or after a rollback.
        self.decided: frozenset[int] | None = None
        # Whether the rows are where they belong, or why they cannot be; and whether all is done.
        self.is_moved = self.has_ended = False
        self.failed: errors.Error | None = None
        # Whether the leader's connection is the one that there is.
        self._has_leader = True
        self.job = Job(
            place=self.target.place,
            identifier=beginning.identifier,
            leader=number,
            table=self.stage.written,
            lock_timeout=self.target.lock_timeout,
            release=release,
            address=str(self.listener.address),
            secret=secret,
        )

    def close(self) -> None:
        """Disconnect, and leave nothing in the file system."""
        with suppress(errors.Error):
            self.connection.close()
        with suppress(OSError):
            self.listener.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _connect(self) -> Connection:
        return self.target.place.connect(self.message)

    def serve(self) -> None:
        """Wait for the decision, or for the end of the program that would make it."""
        asked: queue.Queue[tuple[Peer, tuple[Any, ...]]] = queue.Queue()
        threading.Thread(target=self._listen, args=(asked,), name="firearrow listener", daemon=True).start()
        is_asked = False
        end: float | None = None
        while not self.has_ended and (end is None or time.monotonic() < end):
            with suppress(queue.Empty):
                self._answer(*asked.get(timeout=_PAUSE))
                is_asked = True
                continue
            if is_asked or not self.anchor.is_alive:
                # What is left: the server may be away, or a keeper does not answer.
                end = end or time.monotonic() + _LONGEST
                with suppress(errors.Error):
                    self._undo(_PATIENCE) if self.decided is None else self._carry_out(_PATIENCE)

    def _answer(self, peer: Peer, request: tuple[Any, ...]) -> None:
        """Do what is asked, and say every few seconds that it is being done."""
        is_done = threading.Event()

        def beat() -> None:
            while not is_done.wait(_BEAT):
                with suppress(OSError):
                    peer.send((False, None))

        beating = threading.Thread(target=beat, name="firearrow beat", daemon=True)
        beating.start()
        error: BaseException | None = None
        try:
            self.commit(request[1]) if request[0] == "commit" else self.abort()
        except BaseException as failed:
            error = failed if isinstance(failed, errors.Error) else errors.OperationalError(repr(failed))
        is_done.set()
        beating.join()
        with suppress(OSError):
            peer.send((True, error))
            # Let the caller read it first.
            peer.poll(_PAUSE)

    def _listen(self, asked: queue.Queue[tuple[Peer, tuple[Any, ...]]]) -> None:
        while True:
            # Whoever does not know the secret is refused.
            with suppress(Exception):
                peer = self.listener.accept()
                asked.put((peer, peer.recv()))

    def commit(self, numbers: tuple[int, ...]) -> None:
        """Commit these attempts, and nothing else of the job.

        Raises
        ------
        Error
            Nothing is committed, unless the message says otherwise.
        """
        if self.decided is None:
            self._decide(numbers)
        if not self._carry_out(_PATIENCE):
            raise errors.OperationalError(
                f"job {self.job.identifier} was decided, but some transactions are still pending; they will be "
                "committed when their processes respond"
            )

    def _decide(self, numbers: tuple[int, ...]) -> None:
        try:
            text = decision_text(self.job, numbers)
            there = prepared(self.connection, self.job)
            if lost := [number for number in numbers if number not in there]:
                raise errors.OperationalError(
                    f"job {self.job.identifier}: transaction {lost[0]} is no longer prepared; nothing was committed"
                )
        except BaseException:
            with suppress(errors.Error):
                self.abort()
            raise
        try:
            self.leader.prepare_commit(text)
        except BaseException as error:
            # The server may have got it all the same.
            found = self._learn(_PATIENCE)
            if found is None:
                raise errors.OperationalError(
                    f"job {self.job.identifier}: the connection was lost when the job was decided, and the server does "
                    f"not answer. `firearrow limbo list` will show whether a transaction of {self.message!r} says 'commit'"
                ) from error
            if not found.is_commit:
                with suppress(errors.Error):
                    self.abort()
                raise
        self.decided = frozenset(numbers)

    def _learn(self, patience: float) -> Decision | None:
        """What the database says about the job; ``None`` if it does not say so in time."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            with suppress(errors.Error):
                if not self.connection._core.is_alive:
                    self._reconnect()
                if (found := decision(self.connection, self.job)) is not None:
                    return found
                if self._has_leader:
                    # Nobody else decides.
                    return Decision(frozenset(), is_commit=False)
            time.sleep(_PAUSE)
        return None

    def _reconnect(self) -> None:
        """Connect again. What the old connection had prepared is in limbo."""
        with suppress(errors.Error):
            self.connection.close()
        self._has_leader = False
        self.connection = self._connect()
        self.stage.use(self.connection)

    def _carry_out(self, patience: float) -> bool:
        """Carry out the commit that is decided; return whether it has ended.

        Raises
        ------
        Error
            The rows could not be moved, or somebody has rolled attempts back.
        """
        assert self.decided is not None
        if not self.is_moved:
            if not self._resolve(self.decided, patience):
                return False
            try:
                if undone := rolled_back(self.connection, self.decided, self.job.release):
                    raise errors.OperationalError(
                        f"job {self.job.identifier}: somebody has rolled back transaction {min(undone)}, whose rows are "
                        "missing"
                    )
                self.stage.finish()
            except errors.Error as error:
                self.failed = error
            self.is_moved = True
        # Before the leader ends: then everybody may take the staging table.
        self._remove(patience, failed=self.failed is not None)
        try:
            self._end_leader(patience)
            self.has_ended = True
        except errors.Error:
            # It is tried again. The rows do not depend on it.
            if not self.connection._core.is_alive:
                with suppress(errors.Error):
                    self._reconnect()
        if self.failed is not None:
            raise self.failed
        return True

    def _end_leader(self, patience: float) -> None:
        """End the leader when nobody needs its decision any more."""
        if self._has_leader:
            self.leader.commit()
            return
        end = time.monotonic() + patience
        # The server may need a moment to notice that the old connection is gone.
        while time.monotonic() < end and self.job.leader in prepared(self.connection, self.job):
            if not is_active(self.connection, self.job.leader, self.job.release):
                self.connection.recover(self.job.leader).commit()
                return
            time.sleep(_PAUSE)

    def abort(self) -> None:
        """Undo everything that the job has done.

        Raises
        ------
        OperationalError
            The server does not answer yet, or the job is decided.
        """
        if self.decided is not None:
            raise errors.OperationalError(f"job {self.job.identifier} was decided and is being committed")
        if not self._undo(_PATIENCE):
            raise errors.OperationalError(
                f"job {self.job.identifier} is not undone yet: it will be when the server answers"
            )

    def _undo(self, patience: float) -> bool:
        """Roll everything back; return whether it has ended."""
        with suppress(errors.Error):
            if self._has_leader and self.leader.is_open:
                self.leader.rollback()
        if (found := self._learn(patience)) is None:
            return False
        if found.is_commit:
            # The decision had arrived, although its answer was lost.
            self.decided = found.numbers
            return self._carry_out(patience)
        if not self._resolve(frozenset(), patience):
            return False
        self._remove(patience, failed=True)
        self.has_ended = True
        return True

    def _resolve(self, numbers: frozenset[int], patience: float) -> bool:
        """Wait until keepers have carried the decision out, and do it for those that are gone."""
        begin = time.monotonic()
        while (waited := time.monotonic() - begin) < patience:
            try:
                left = prepared(self.connection, self.job).keys() - {self.job.leader}
                # Attempts that do not count may be in the hands of a keeper that does not answer. Nobody else needs to wait.
                if not left or (numbers.isdisjoint(left) and waited > _OTHERS):
                    return True
                if waited > _KEEPERS:
                    self._take_over(left, numbers)
            except errors.Error:
                with suppress(errors.Error):
                    if not self.connection._core.is_alive:
                        self._reconnect()
            time.sleep(_SHORT)
        return False

    def _take_over(self, left: Iterable[int], numbers: frozenset[int]) -> None:
        """End transactions that nobody holds."""
        for number in left:
            if not is_active(self.connection, number, self.job.release):
                taken = self.connection.recover(number)
                taken.commit() if number in numbers else taken.rollback()

    def _remove(self, patience: float, *, failed: bool) -> None:
        """Remove tables, which attempts may still use for a moment. What cannot be removed, the next job removes."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            with suppress(errors.Error):
                return self.stage.remove(failed=failed)
            time.sleep(_PAUSE)


def _listener(secret: bytes) -> tuple[str | None, Listener]:
    """A listener that only this user reaches, and the folder of its socket."""
    if not hasattr(socket, "AF_UNIX"):
        return None, Listener(authkey=secret)
    # The names of sockets are short.
    parent = tempfile.gettempdir() if len(tempfile.gettempdir()) < _SHORT_PATH else "/tmp"
    folder = tempfile.mkdtemp(prefix="firearrow-", dir=parent)
    return folder, Listener(os.path.join(folder, "job"), "AF_UNIX", authkey=secret)


def main() -> None:
    """Run the process."""
    beginning: Beginning = requests()
    try:
        coordinator = Coordinator(beginning)
    except BaseException as error:
        fail(error)
        return
    answer(coordinator.job)
    detach_output()
    with suppress(errors.Error):
        coordinator.serve()
    coordinator.close()
    # A thread may still be listening.
    os._exit(0)


if __name__ == "__main__":
    main()
