"""A TCP proxy that can lose its connections, refuse new ones for a while, or fall silent."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from urllib.parse import urlsplit, urlunsplit


class Proxy:
    """Listens on a port of its own, and hands bytes on."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        assert self._parts.hostname and self._parts.port
        self._server = (self._parts.hostname, self._parts.port)
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._flows = threading.Event()
        self._flows.set()
        self.accepted = 0
        self._listener = self._listen(0)
        self._port: int = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        """The URL through the proxy."""
        login = self._parts.netloc.rpartition("@")[0]
        place = f"127.0.0.1:{self._port}"
        return urlunsplit(self._parts._replace(netloc=f"{login}@{place}" if login else place))

    def stop(self) -> None:
        """Lose all connections and refuse new ones, as a server does that is stopped."""
        # Closing alone does not wake the thread that accepts.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop()

    def start(self) -> None:
        """Accept connections again."""
        self._listener = self._listen(self._port)

    def drop(self) -> None:
        """Lose all connections."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()

    def freeze(self) -> None:
        """Hand nothing on any longer, without closing anything."""
        self._flows.clear()

    def thaw(self) -> None:
        """Hand on what has come, and what comes."""
        self._flows.set()

    def _listen(self, port: int) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self._server, timeout=10)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self.accepted += 1
                self._pairs.append((client, server))
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._flows.wait(60)
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Proxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.thaw()
        self.stop()
