"""The end of the interpreter, with connections to embedded databases that nobody closed."""

from __future__ import annotations

import atexit
import weakref
from typing import TYPE_CHECKING

from . import errors

if TYPE_CHECKING:
    from .connection import Connection

__all__ = ["close_at_exit"]

_open: weakref.WeakSet[Connection] = weakref.WeakSet()


def close_at_exit(connection: Connection) -> None:
    """Close a connection before the process ends, if nobody else does, in case its engine is in this process.

    The engine's own clean-up, which comes later, can wait for ever if a database is still open. Servers
    notice by themselves that a client has gone.
    """
    if not connection._core.wire_stats()["round_trips"]:
        _open.add(connection)


@atexit.register
def _close() -> None:
    left = [connection for connection in list(_open) if not connection.closed]
    texts = [(connection._not_closed(), connection) for connection in left]
    raised: BaseException | None = None
    for connection in left:
        try:
            connection._core.close()
        except errors.Error:
            pass
        except BaseException as error:
            # Of a signal handler: the others must be closed all the same.
            raised = error
    for text, connection in texts:
        connection._warn(text)
    if raised is not None:
        raise raised
