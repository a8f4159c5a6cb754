"""The log of a part: a file that does not grow for ever."""

from pathlib import Path

MAX_BYTES = 20_000_000


def put_aside(path: Path) -> None:
    """Keep the log of the run before as `NAME.1`, in the place of an older one."""
    if path.exists():
        path.replace(earlier(path))


def earlier(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


class Log:
    """Appends lines: a part that is started again goes on where it died. A file of MAX_BYTES is put
    aside, and a new one begun."""

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._file = path.open("a")

    def write(self, line: str) -> None:
        """Write a whole line, with its end."""
        if self._file.tell() >= self._max_bytes:
            self._file.close()
            put_aside(self._path)
            self._file = self._path.open("a")
        self._file.write(line)
        self._file.flush()

    def close(self) -> None:
        self._file.close()
