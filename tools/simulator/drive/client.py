"""The control of people's drives for tests: `RunningSimulator.drive`."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

Ask = Callable[[str, str, bytes | None], bytes]


@dataclass(frozen=True, slots=True)
class DriveControl:
    """What `/_drive` does (control.py)."""

    url: str
    ask: Ask

    @property
    def base_url(self) -> str:
        """The address of the interface, below which is `/files`."""
        return f"{self.url}/google-drive/drive/v3"

    def add_file(self, login: str, name: str, content: bytes | str, **options: Any) -> str:
        """Put a file into a person's drive. Returns its id. `options` are further fields of the
        body."""
        encoded = content.encode() if isinstance(content, str) else content
        body = {"login": login, "name": name, "base64": base64.b64encode(encoded).decode()}
        answer = self.ask("POST", "/_drive/files", msgspec.json.encode({**body, **options}))
        return str(msgspec.json.decode(answer)["id"])
