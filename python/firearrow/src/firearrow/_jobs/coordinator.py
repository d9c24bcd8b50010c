"""The process of a job that writes: it decides about a job and carries the decision out.

It listens where only its user can reach it, for a program that knows the job's secret.
"""

from __future__ import annotations

import os
import queue
import secrets
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection as Peer
from multiprocessing.connection import Listener
from typing import Any

from .. import errors
from .._base import library
from ..connection import Connection
from .process import answer, detach_output, fail, requests
from .stage import Stage
from .state import decision, decision_text, prepared
from .writing import Beginning, Job

# Seconds: between two looks at the program that the job belongs to, and at transactions that are about to
# end.
_PAUSE, _SHORT = 1.0, 0.05
# Seconds before taking over transactions that no keeper holds.
_KEEPERS = 1.0
# Seconds that keepers have to carry a decision out before the caller gets an answer.
_PATIENCE = 60.0


class Coordinator:
    """Decides about one job."""

    def __init__(self, beginning: Beginning) -> None:
        pyarrow = library("pyarrow")

        self.target = beginning.target
        self.anchor = beginning.anchor
        self.message = f"firearrow job {beginning.identifier}"
        schema = pyarrow.ipc.read_schema(pyarrow.py_buffer(beginning.schema))
        self.connection = self._connect()
        try:
            self.leader = self.connection.begin(isolation="read_committed")
            number = self.leader.number
            self.stage = Stage(self.connection, self.target, schema, self.message, number)
        except BaseException:
            self.connection.close()
            raise
        self.decided: frozenset[int] | None = None
        # Whether the leader's connection is the one that there is.
        self._has_leader = True
        secret = secrets.token_bytes(32)
        self.listener = Listener(authkey=secret)
        self.job = Job(
            place=self.target.place,
            identifier=beginning.identifier,
            leader=number,
            table=self.stage.written,
            lock_timeout=self.target.lock_timeout,
            address=str(self.listener.address),
            secret=secret,
        )

    def _connect(self) -> Connection:
        return self.target.place.connect(self.message)

    def serve(self) -> None:
        """Wait for the decision, or for the end of the program that would make it."""
        asked: queue.Queue[tuple[Peer, tuple[Any, ...]]] = queue.Queue()
        threading.Thread(target=self._listen, args=(asked,), name="firearrow listener", daemon=True).start()
        while self.anchor.is_alive:
            try:
                peer, request = asked.get(timeout=_PAUSE)
            except queue.Empty:
                continue
            error: BaseException | None = None
            try:
                self.commit(request[1]) if request[0] == "commit" else self.abort()
            except BaseException as failed:
                error = failed if isinstance(failed, errors.Error) else errors.OperationalError(repr(failed))
            with suppress(OSError):
                peer.send(error)
                # Let the caller read it first.
                peer.poll(_PAUSE)
            break
        else:
            self.abort()
        self.listener.close()
        if self.decided is not None:
            # It must stay readable until every keeper has acted.
            self._resolve(self.decided, None)
            self._finish()

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
        except BaseException:
            # The server may have got it all the same.
            if not self._is_decided():
                with suppress(errors.Error):
                    self.abort()
                raise
        self.decided = frozenset(numbers)
        if not self._resolve(self.decided, _PATIENCE):
            raise errors.OperationalError(
                f"job {self.job.identifier} was decided, but some transactions are still pending; they will be "
                "committed when their processes respond"
            )
        self._finish()

    def _is_decided(self) -> bool:
        """Whether the decision is in the database, after an error that leaves this open.

        Raises
        ------
        OperationalError
            It cannot be found out.
        """
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            with suppress(errors.Error):
                if not self.connection._core.is_alive:
                    self._reconnect()
                elif self._has_leader:
                    return decision(self.connection, self.job) is not None
                if (found := decision(self.connection, self.job)) is not None:
                    return found.is_commit
            time.sleep(_PAUSE)
        raise errors.OperationalError(
            f"job {self.job.identifier}: the connection was lost when the job was decided, and the server does not "
            f"answer: `firearrow limbo list` will show whether a transaction of {self.message!r} says 'commit'"
        )

    def _reconnect(self) -> None:
        """Connect again. What the old connection had prepared is in limbo."""
        with suppress(errors.Error):
            self.connection.close()
        self._has_leader = False
        self.connection = self._connect()
        self.stage.use(self.connection)

    def _finish(self) -> None:
        """Finish once every listed attempt is committed."""
        while not self._has_leader:
            # The server may need a moment to notice that the old connection is gone.
            if any(found.number == self.job.leader for found in self.connection.limbo_transactions()):
                self.connection.recover(self.job.leader).commit()
                break
            time.sleep(_PAUSE)
        else:
            self.leader.commit()
        self.decided = None
        try:
            self.stage.finish()
        except BaseException:
            with suppress(errors.Error):
                self.stage.remove()
            raise
        with suppress(errors.Error):
            self._remove(failed=False)

    def abort(self) -> None:
        """Undo everything that the job has done."""
        with suppress(errors.Error):
            self.leader.rollback()
        if not self.connection._core.is_alive:
            # The server may have been restarted.
            self._reconnect()
        self._resolve(frozenset(), _PATIENCE)
        self._remove(failed=True)

    def _resolve(self, numbers: frozenset[int], patience: float | None) -> bool:
        """Wait until keepers have carried the decision out, and do it for those that are gone."""
        begin = time.monotonic()
        while True:
            try:
                # Not at once: Firebird 3 would wait until other connections end their prepared transactions.
                if not self._resolve_some(numbers, takes_over=time.monotonic() - begin > _KEEPERS):
                    return True
            except errors.Error:
                with suppress(errors.Error):
                    if not self.connection._core.is_alive:
                        self._reconnect()
            if patience is not None and time.monotonic() - begin > patience:
                return False
            time.sleep(_SHORT if patience is not None else _PAUSE)

    def _resolve_some(self, numbers: frozenset[int], *, takes_over: bool) -> bool:
        """End transactions that nobody holds; return whether any are left."""
        left = [number for number in prepared(self.connection, self.job) if number != self.job.leader]
        if left and takes_over:
            orphans = {found.number for found in self.connection.limbo_transactions()}
            for number in orphans.intersection(left):
                taken = self.connection.recover(number)
                taken.commit() if number in numbers else taken.rollback()
        return bool(left)

    def _remove(self, *, failed: bool) -> None:
        """Remove tables, which attempts may still use for a moment."""
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                return self.stage.remove(failed=failed)
            except errors.Error:
                if time.monotonic() > end:
                    raise
            time.sleep(_PAUSE)


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
    with suppress(errors.Error):
        coordinator.connection.close()
    # A thread may still be listening.
    os._exit(0)


if __name__ == "__main__":
    main()
