"""A proxy between the client and the server, which a test can break."""

from __future__ import annotations

import socket
import threading
from urllib.parse import urlsplit


class Front:
    """Each connection has one request, since urllib closes it afterwards."""

    def __init__(self, backend: str) -> None:
        at = urlsplit(backend)
        self._backend = (at.hostname, at.port or 80)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: set[socket.socket] = set()
        self._refuse = False
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.seen: list[str] = []
        """The requests that came, such as "POST /chats/send"."""
        self.faults: list[str] = []
        """What becomes of the next requests: "lost", or the status of an answer."""
        threading.Thread(target=self._serve, daemon=True).start()

    def down(self) -> None:
        """Breaks all connections and refuses new ones until up is called."""
        self._refuse = True
        for s in list(self._open):
            self._end(s)

    def up(self) -> None:
        self._refuse = False

    def close(self) -> None:
        self._listener.close()
        self.down()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._refuse:
                client.close()
                continue
            threading.Thread(target=self._handle, args=(client,), daemon=True).start()

    def _handle(self, client: socket.socket) -> None:
        self._open.add(client)
        first = client.recv(65536)
        self.seen.append(first.decode().partition(" HTTP/")[0])
        fault = self.faults.pop(0) if self.faults else ""
        if fault.isdecimal():
            client.sendall(f"HTTP/1.1 {fault} Fault\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
            self._end(client)
            return
        server = socket.create_connection(self._backend)
        server.sendall(first)
        threading.Thread(target=self._pump, args=(client, server), daemon=True).start()
        if fault == "lost":
            server.recv(65536)  # the server has answered
            self._end(client)
        else:
            self._pump(server, client)
            self._end(client)
        self._end(server)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass  # one of them was closed

    def _end(self, s: socket.socket) -> None:
        self._open.discard(s)
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed
        s.close()
