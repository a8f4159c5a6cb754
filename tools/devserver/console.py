"""The supervisor's output: whole lines, each with the name of its part."""

import os
import sys
import threading
from typing import TextIO

_COLOURS = {
    "web": 36,
    "worker": 33,
    "beat": 35,
    "model": 32,
    "speech": 32,
    "simulator": 34,
    "web-app": 36,
    "local": 1,
}
_WIDTH = max(len(name) for name in _COLOURS)


class Console:
    """Lines in colour on a terminal, plain ones elsewhere."""

    def __init__(self, stream: TextIO = sys.stdout) -> None:
        self._stream = stream
        self._coloured = stream.isatty() and "NO_COLOR" not in os.environ
        self._lock = threading.Lock()

    def say(self, text: str, *, of: str = "local") -> None:
        """Write `text`, every line of it with the prefix of its part."""
        prefix = f"{of:<{_WIDTH}} |"
        if self._coloured:
            prefix = f"\x1b[{_COLOURS.get(of, 37)}m{prefix}\x1b[0m"
        self._write([f"{prefix} {line}\n" for line in text.splitlines() or [""]])

    def show(self, text: str) -> None:
        """Write `text` as it is, for users who copy it."""
        self._write([f"{text}\n"])

    def _write(self, lines: list[str]) -> None:
        with self._lock:
            try:
                self._stream.writelines(lines)
                self._stream.flush()
            except OSError:
                # The terminal or pipe is gone. The service goes on.
                self._stream = open(os.devnull, "w")  # noqa: SIM115 - for the rest of our life
