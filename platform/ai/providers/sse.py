"""Server-sent events: splits bytes into payloads (WHATWG HTML, section 9.2.6, "Interpreting")."""

import codecs

from ai.providers.errors import UpstreamError

MAX_EVENT = 1_000_000  # bytes


class SseSplitter:
    """Splits a byte stream into events, however the network has split it into chunks.

    The wires read only `data`; comments and other fields are dropped. An event longer than
    `MAX_EVENT` raises UpstreamError.
    """

    __slots__ = ("_buffer", "_has_begun", "_held_cr")

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._has_begun = False
        self._held_cr = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The payloads of the events that end in `chunk`."""
        seen = max(len(self._buffer) - 1, 0)
        self._buffer += self._with_plain_newlines(chunk)
        end = self._buffer.rfind(b"\n\n", seen)
        if end < 0:
            self._check_length(len(self._buffer))
            return []
        blocks = bytes(self._buffer[:end]).split(b"\n\n")
        del self._buffer[: end + 2]
        return self._payloads(blocks)

    def flush(self) -> list[bytes]:
        """The payload of a last event without a blank line after it, if there is one."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        return self._payloads([rest])

    def _with_plain_newlines(self, chunk: bytes) -> bytes:
        """Replace CRLF and CR by LF. A CR at the end is held back: its LF may begin the next
        chunk."""
        if self._held_cr:
            chunk = b"\r" + chunk
            self._held_cr = False
        if b"\r" not in chunk:
            return chunk
        if chunk.endswith(b"\r"):
            self._held_cr = True
            chunk = chunk[:-1]
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _payloads(self, blocks: list[bytes]) -> list[bytes]:
        if not self._has_begun:
            self._has_begun = True
            blocks[0] = blocks[0].removeprefix(codecs.BOM_UTF8)
        payloads = []
        for block in blocks:
            self._check_length(len(block))
            if payload := _payload(block):
                payloads.append(payload)
        return payloads

    def _check_length(self, length: int) -> None:
        if length > MAX_EVENT:
            raise UpstreamError("The provider sent an oversized event.", retryable=False)


def _payload(block: bytes) -> bytes:
    """The `data` of one event; several `data` lines are one value with newlines in between."""
    if block.startswith(b"data: ") and b"\n" not in block:
        return block[6:]
    lines = []
    for line in block.split(b"\n"):
        name, _, value = line.partition(b":")
        if name == b"data":
            lines.append(value.removeprefix(b" "))
    return b"\n".join(lines)
