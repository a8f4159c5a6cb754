"""The hosts' control for tests: `RunningSimulator.githost`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

Ask = Callable[[str, str, bytes | None], bytes]


@dataclass(frozen=True, slots=True)
class GitHostControl:
    """What `/_githost` does (control.py); the arguments are the fields of the bodies."""

    url: str
    ask: Ask

    def base_url(self, host: str) -> str:
        """The address of the pages of a host, below which is its interface."""
        return f"{self.url}/{host}"

    def create_repository(self, host: str, path: str, **options: Any) -> dict[str, Any]:
        """Returns `{clone_url, commit, folder}`. Files are texts, or `{content, base64, mode}`."""
        files = _files(options.pop("files", {}))
        body = {"host": host, "path": path, "files": files, **options}
        made: dict[str, Any] = self._send("POST", "repositories", body)
        return made

    def change_repository(self, host: str, path: str, **changes: Any) -> None:
        self._send("PATCH", "repositories", {"host": host, "path": path, **changes})

    def commit(self, host: str, path: str, **options: Any) -> str:
        """A commit of somebody else. Returns its id."""
        files = _files(options.pop("files"))
        body = {"host": host, "path": path, "files": files, **options}
        return str(self._send("POST", "commits", body)["commit"])

    def create_token(self, host: str, token: str, **options: Any) -> str:
        self._send("POST", "tokens", {"host": host, "token": token, **options})
        return token

    def revoke_token(self, token: str) -> None:
        self._send("DELETE", "tokens", {"token": token})

    def fail(self, operation: str, **options: Any) -> None:
        """A fault (faults.py)."""
        self._send("POST", "faults", [{"operation": operation, **options}])

    def stop_failing(self) -> None:
        self._send("DELETE", "faults", None)

    def requests(self) -> list[dict[str, Any]]:
        """What the hosts were asked, in order."""
        found: list[dict[str, Any]] = self._send("GET", "requests", None)
        return found

    def forget_requests(self) -> None:
        self._send("DELETE", "requests", None)

    def _send(self, method: str, path: str, body: Any) -> Any:
        encoded = None if body is None else msgspec.json.encode(body)
        return msgspec.json.decode(self.ask(method, f"/_githost/{path}", encoded))


def _files(files: dict[str, Any]) -> dict[str, Any]:
    """A text stands for a file with this content."""
    return {
        path: {"content": file} if isinstance(file, str) else file for path, file in files.items()
    }
