"""A mail server on a real socket (SMTP, RFC 5321), which keeps what it takes."""

import email.policy
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from typing import Any, cast


class MailServer(socketserver.ThreadingTCPServer):
    """`received` are the mails it took, `recipients` whom they were for. `verdict` is its answer to
    each mail; an empty `greeting` is one that never comes."""

    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self._tls = tls
        self.received: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.greeting = "220 mail.example.com"
        self.verdict = "250 Taken"
        self.over = threading.Event()

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        if self._tls is not None:
            connection = self._tls.wrap_socket(connection, server_side=True)
        return connection, address

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server = cast(MailServer, self.server)
        if not server.greeting:
            server.over.wait()
            return
        self._say(server.greeting)
        for line in self.rfile:
            verb = line[:4].upper()
            if verb == b"QUIT":
                self._say("221 Bye")
                return
            if verb == b"RCPT":
                server.recipients.append(line.decode().partition("<")[2].partition(">")[0])
            if verb == b"DATA":
                self._say("354 Go on")
                self._take(server)
            else:
                self._say("250 Yes")

    def _take(self, server: MailServer) -> None:
        lines = iter(self.rfile.readline, b".\r\n")
        text = b"".join(line.removeprefix(b".") for line in lines)
        if server.verdict.startswith("250"):
            parsed: Any = email.message_from_bytes(text, policy=email.policy.default)
            server.received.append(parsed)
        self._say(server.verdict)

    def _say(self, answer: str) -> None:
        self.wfile.write(f"{answer}\r\n".encode())


@contextmanager
def running_mail_server(tls: ssl.SSLContext | None = None) -> Iterator[MailServer]:
    """A mail server until the block ends; with `tls`, one that speaks it from the first byte."""
    with MailServer(tls) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
