"""Records of the running processes, on disk: the next run finds and ends what a killed run left."""

import fcntl
import json
import signal
from pathlib import Path

from devserver.errors import LocalError
from devserver.processes import Process, command_of, end


class Records:
    """A folder with a file for each running process, locked while its supervisor lives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def lock(self) -> None:
        """Raises LocalError when another supervisor works here. The lock ends with our process."""
        self._lock = (self._folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LocalError(
                f"Another `make run` works in {self._folder.parent}. Stop it first (Ctrl-C there), "
                "or set VAR_DIR and PORT to run a second one beside it."
            ) from None

    def add(self, process: Process) -> None:
        service = process.service
        entry = {"pid": process.pid, "command": service.command, "stop": service.stop_signal}
        self._path(service.name).write_text(json.dumps(entry))

    def remove(self, process: Process) -> None:
        self._path(process.service.name).unlink(missing_ok=True)

    def end_leftovers(self) -> list[str]:
        """End what a killed run left, the last started first; returns the names.

        A process counts only if its command line is the recorded one: pids are used again.
        """
        ended = []
        paths = self._folder.glob("*.json")
        for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns, reverse=True):
            entry = json.loads(path.read_text())
            # Without the first word: some systems replace the interpreter's path.
            if command_of(entry["pid"])[1:] == tuple(entry["command"][1:]):
                end(entry["pid"], first=signal.Signals(entry["stop"]), grace=5)
                ended.append(path.stem)
            path.unlink()
        return ended

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"
