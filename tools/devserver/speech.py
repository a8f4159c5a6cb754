"""The local speech model: PocketSphinx, served on OpenAI's wire.

`python -m devserver.speech --port N`. It transcribes one file at a time, of at most ten minutes;
a few others wait. SIGTERM ends it at once.
"""

import argparse
import json
import select
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.parser import BytesParser
from email.policy import HTTP
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from common.errors import DomainError
from devserver.ports import LOOPBACK
from devserver.recogniser import GivenUp, Recogniser
from media.audio.measuring import InvalidAudio, measure, samples

NAME = "pocketsphinx-en"
PATH = "/v1/audio/transcriptions"
# Transcribing takes about a third of the audio's length.
MAX_SECONDS = 600
_MAX_FORM = 26 * 1024 * 1024  # bytes
_WAITING = 4


class Refused(Exception):
    """The request is answered with this status and message."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


class Server(ThreadingHTTPServer):
    """The recogniser, and the queue for it."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        self.recogniser = Recogniser()
        self.turn = threading.Lock()
        self._places = threading.BoundedSemaphore(_WAITING)
        super().__init__((LOOPBACK, port), Handler)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place in the queue during the block. Raises Refused."""
        if not self._places.acquire(blocking=False):
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "Too many others are written down.")
        try:
            yield
        finally:
            self._places.release()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """`/health`."""
        known = self.path == "/health"
        self._answer(HTTPStatus.OK if known else HTTPStatus.NOT_FOUND, {"status": "ok"})

    def do_POST(self) -> None:
        """OpenAI's "Create transcription", for JSON."""
        server = cast(Server, self.server)
        try:
            with server.place():
                self._answer(HTTPStatus.OK, self._transcript(server))
        except Refused as refusal:
            self.close_connection = True
            self._answer(refusal.status, {"error": {"message": str(refusal)}})
        except (GivenUp, OSError):
            self.close_connection = True

    def _transcript(self, server: Server) -> dict[str, Any]:
        audio, language = self._request()
        if language not in ("", "en"):
            raise Refused(HTTPStatus.BAD_REQUEST, f"{NAME} understands English alone.")
        try:
            seconds = measure(audio, owner=self).seconds
        except InvalidAudio as error:
            raise Refused(HTTPStatus.BAD_REQUEST, error.text) from error
        except DomainError as error:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, error.text) from error
        if seconds > MAX_SECONDS:
            message = f"{NAME} takes audio of at most {MAX_SECONDS} seconds."
            raise Refused(HTTPStatus.BAD_REQUEST, message)
        with server.turn, samples(audio, seconds=MAX_SECONDS) as pcm:
            text = server.recogniser.recognise(pcm, self._is_wanted)
        usage = {"type": "duration", "seconds": round(seconds)}
        return {"text": text, "language": "en", "usage": usage}

    def _request(self) -> tuple[bytes, str]:
        """The file and the language of the form. Raises Refused."""
        length = self.headers.get("Content-Length", "")
        if self.path != PATH or not length.isdecimal() or int(length) > _MAX_FORM:
            raise Refused(HTTPStatus.BAD_REQUEST, f"Send a form of at most 25 MB to {PATH}.")
        head = f"Content-Type: {self.headers.get('Content-Type')}\r\n\r\n".encode("latin-1")
        form = BytesParser(policy=HTTP).parsebytes(head + self.rfile.read(int(length)))
        fields = {
            part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
            for part in form.iter_parts()
        }
        audio, language = fields.get("file"), fields.get("language", b"")
        if not isinstance(audio, bytes) or not isinstance(language, bytes):
            raise Refused(HTTPStatus.BAD_REQUEST, "There is no file in the form.")
        return audio, language.decode("ascii", "replace")

    def _is_wanted(self) -> bool:
        """Is the client still there?"""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return not readable or bool(self.connection.recv(1, socket.MSG_PEEK))

    def _answer(self, status: HTTPStatus, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m devserver.speech", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    port: int = parser.parse_args().port
    try:
        server = Server(port)
    except OSError as error:
        sys.exit(f"The local recogniser could not be served on port {port}: {error}")
    server.serve_forever()


if __name__ == "__main__":
    main()
