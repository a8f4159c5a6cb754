"""Google Drive's REST interface, version 3 (developers.google.com/drive/api/reference/rest/v3)."""

from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from common.titles import one_line
from integrations.connectors.types import MAX_PAGE_TOKEN
from integrations.safe_http.errors import Rejected
from integrations.safe_http.rest import (
    RestClient,
    items_of,
    name_of,
    optional_name_of,
    quoted,
    readable,
    text_of,
)

_PAGE: Final = 50
_FILE: Final = "id,name,mimeType,size,modifiedTime"
_OF_GOOGLE: Final = "application/vnd.google-apps."
# What a document of Google's editors is exported as, and how its name ends then.
_EXPORTS: Final = {
    f"{_OF_GOOGLE}document": ("text/markdown", ".md"),
    f"{_OF_GOOGLE}spreadsheet": ("text/csv", ".csv"),
    f"{_OF_GOOGLE}presentation": ("text/plain", ".txt"),
}
_SECONDS: Final = 60.0
_LONGEST_NAME: Final = 32_768  # characters


class DriveFile(Struct, frozen=True, kw_only=True):
    """`size` is None where Google does not say."""

    id: str
    name: str
    mime: str
    size: int | None
    modified_at: datetime | None


class DrivePage(Struct, frozen=True):
    """`next_page` is None on the last one."""

    files: tuple[DriveFile, ...]
    next_page: str | None


class Drive(RestClient):
    """One person's drive. All methods raise HostError."""

    def get_login(self) -> str:
        """The address of the account."""
        about = self.get_object("/about", fields="user(emailAddress)")
        return name_of(about.get("user"), "emailAddress")

    def list_files(self, *, query: str, page: str) -> DrivePage:
        """Files, the latest changed first; with `query` those with this text in their names. `page`
        is the `next_page` of the one before, or empty."""
        tests = ["trashed = false", f"mimeType != '{_OF_GOOGLE}folder'"]
        if query:
            escaped = query.replace("\\", "\\\\").replace("'", "\\'")
            tests.append(f"name contains '{escaped}'")
        asked: dict[str, str | int] = {
            "q": " and ".join(tests),
            "orderBy": "modifiedTime desc",
            "pageSize": _PAGE,
            "fields": f"nextPageToken,files({_FILE})",
        }
        if page:
            asked["pageToken"] = page
        found = self.get_object("/files", **asked)
        files = tuple(readable(_file, items_of(found.get("files"))))
        return DrivePage(
            files, optional_name_of(found, "nextPageToken", most=MAX_PAGE_TOKEN) or None
        )

    def get_file(self, file_id: str) -> DriveFile:
        """Raises Missing."""
        return _file(self.get_object(f"/files/{quoted(file_id)}", fields=_FILE))

    def download(self, file: DriveFile, *, max_bytes: int) -> tuple[str, bytes]:
        """The name and the content of a file; documents of Google's editors are exported. Raises
        Rejected for what is longer or cannot be exported."""
        path, params = f"/files/{quoted(file.id)}", {"alt": "media"}
        name = file.name
        if file.mime.startswith(_OF_GOOGLE):
            if file.mime not in _EXPORTS:
                kind = file.mime.removeprefix(_OF_GOOGLE)
                raise Rejected(f"A {kind} of Google has no content that can be imported.")
            mime, ending = _EXPORTS[file.mime]
            path, params = f"{path}/export", {"mimeType": mime}
            name = name if name.endswith(ending) else name + ending
        elif (file.size or 0) > max_bytes:
            raise Rejected(f"This is longer than {max_bytes:,} bytes.")
        answer = self.send(
            "GET", path, params=params, media_types=(), max_bytes=max_bytes, seconds=_SECONDS
        )
        return name, answer.body


def _file(row: Any) -> DriveFile:
    size = optional_name_of(row, "size")
    return DriveFile(
        id=name_of(row, "id"),
        name=one_line(text_of(row, "name", most=_LONGEST_NAME)),
        mime=name_of(row, "mimeType"),
        size=int(size) if size.isdecimal() else None,
        modified_at=_moment(row.get("modifiedTime")),
    )


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text))
    except ValueError:
        return None
