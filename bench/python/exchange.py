"""The packets of one execution, sent and received by a socket alone: what a round trip costs at least."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

TIMEOUT = 10.0


class Exchange:
    """A proxy in front of the server that records what one call sends and receives, and repeats it without the driver."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._listener = socket.create_server(("127.0.0.1", 0))
        login = parts.netloc.rpartition("@")[0]
        place = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.url = urlunsplit(parts._replace(netloc=f"{login}@{place}" if login else place))
        self._server = (str(parts.hostname), parts.port or 3050)
        self._relays = threading.Event()
        self._relays.set()
        self._ended = False
        self._sent = bytearray()
        self._received = bytearray()
        self._upstream: socket.socket | None = None
        self.request, self.response = b"", b""
        self._thread = threading.Thread(target=self._relay, daemon=True)
        self._thread.start()

    def record(self, call: Callable[[], object]) -> None:
        """Records a call, which must send and receive the same bytes each time."""
        # The first ones prepare the statement.
        for _ in range(3):
            call()
        seen = []
        for _ in range(2):
            self._sent.clear()
            self._received.clear()
            call()
            seen.append((bytes(self._sent), bytes(self._received)))
        if seen[0] != seen[1] or not all(seen[0]):
            raise RuntimeError("two calls have not sent and received the same bytes")
        self.request, self.response = seen[0]
        self._relays.clear()
        # It sees this within the time of its select.
        threading.Event().wait(0.3)

    def __call__(self) -> bytes:
        """Repeats it."""
        assert self._upstream is not None
        self._upstream.sendall(self.request)
        found = self._upstream.recv(65536)
        while len(found) < len(self.response):
            piece = self._upstream.recv(65536)
            if not piece:
                raise ConnectionError("the server has closed the connection")
            found += piece
        return found

    def close(self) -> None:
        self._ended = True
        self._relays.set()
        self._listener.close()
        self._thread.join(TIMEOUT)

    def _relay(self) -> None:
        self._listener.settimeout(TIMEOUT)
        client, _ = self._listener.accept()
        upstream = self._upstream = socket.create_connection(self._server, timeout=TIMEOUT)
        for end in (client, upstream):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with client, upstream:
            while not self._ended:
                self._relays.wait(TIMEOUT)
                ready, _, _ = select.select([client, upstream], [], [], 0.1)
                if not self._relays.is_set():
                    continue
                for end in ready:
                    data = end.recv(65536)
                    if not data:
                        return
                    (self._sent if end is client else self._received).extend(data)
                    (upstream if end is client else client).sendall(data)
