"""Byte ranges of a file that is sent over HTTP (RFC 9110, 14)."""

import re
from dataclasses import dataclass

from simulator.connection import Connection

_CHUNK = 64 * 1024
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


@dataclass(frozen=True, slots=True)
class Body:
    """The bytes of a file, `padding` zeros after them: these take no memory."""

    data: bytes
    padding: int = 0

    @property
    def size(self) -> int:
        return len(self.data) + self.padding

    def part(self, first: int, end: int) -> bytes:
        """The bytes from `first` up to `end`, or up to the end of the file."""
        return self.data[first:end].ljust(min(end, self.size) - first, b"\0")

    async def write(self, connection: Connection, first: int, end: int) -> None:
        """Write the bytes from `first` up to `end`."""
        for start in range(first, end, _CHUNK):
            await connection.write(self.part(start, min(end, start + _CHUNK)))


async def send(connection: Connection, body: Body, headers: dict[str, str]) -> bool:
    """Send a file, or the part of it that the request asks for. Returns whether it was sent to its
    end."""
    wanted = _range(connection.headers.get("range"), body.size)
    sized = headers | {"accept-ranges": "bytes"}
    if wanted is None:
        sized |= {"content-range": f"bytes */{body.size}", "content-length": "0"}
        await connection.start(416, sized)
        await connection.end()
        return False
    first, end = wanted
    status = 200
    if "range" in connection.headers:
        status = 206
        sized["content-range"] = f"bytes {first}-{end - 1}/{body.size}"
    await connection.start(status, sized | {"content-length": str(end - first)})
    await body.write(connection, first, end)
    await connection.end()
    return end == body.size


def _range(header: str | None, size: int) -> tuple[int, int] | None:
    """The first byte and the end of the one range that is asked for; None if it lies outside."""
    if header is None:
        return 0, size
    found = _RANGE.fullmatch(header.replace(" ", ""))
    if found is None or found[1] == found[2] == "":
        return None
    if not found[1]:
        first, end = max(0, size - int(found[2])), size
    else:
        first, end = int(found[1]), min(size, int(found[2] or size) + 1)
    return (first, end) if first < end else None
