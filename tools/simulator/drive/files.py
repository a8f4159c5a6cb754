"""The files in people's drives."""

import hashlib
import secrets
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from simulator.provider import Json

GoogleType = Literal["document", "spreadsheet", "presentation", "drawing", "form", "folder"]
_OF_GOOGLE = "application/vnd.google-apps."


@dataclass(frozen=True, slots=True)
class File:
    """A file of one person. One of a `google_type` has no bytes: its content is for exports."""

    login: str
    name: str
    mime: str
    content: bytes
    google_type: GoogleType | None = None
    can_download: bool = True
    is_trashed: bool = False
    id: str = field(default_factory=lambda: f"1{secrets.token_urlsafe(24)}")
    modified_at: float = field(default_factory=time.time)

    @property
    def mime_type(self) -> str:
        return self.mime if self.google_type is None else f"{_OF_GOOGLE}{self.google_type}"

    def shown(self) -> Json:
        """The resource `File` of Google's interface, as far as it is simulated."""
        modified = datetime.fromtimestamp(self.modified_at, UTC)
        shown: Json = {
            "kind": "drive#file",
            "id": self.id,
            "name": self.name,
            "mimeType": self.mime_type,
            "trashed": self.is_trashed,
            "modifiedTime": f"{modified:%Y-%m-%dT%H:%M:%S}.{modified.microsecond // 1000:03}Z",
            "capabilities": {"canDownload": self.can_download},
        }
        if self.google_type != "folder":
            shown["size"] = str(len(self.content))
        if self.google_type is None:
            shown["md5Checksum"] = hashlib.md5(self.content, usedforsecurity=False).hexdigest()
        return shown


class Files:
    """All files of all people, the oldest first."""

    def __init__(self) -> None:
        self._files: dict[str, File] = {}

    def add(self, file: File) -> None:
        self._files[file.id] = file

    def of(self, login: str) -> list[File]:
        """The files of a person."""
        return [file for file in self._files.values() if file.login == login]
