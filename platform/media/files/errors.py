"""Errors of storing and serving files."""

from collections.abc import Sequence

from common.errors import (
    Conflict,
    DomainError,
    Forbidden,
    NotFound,
    ServiceUnavailable,
    ValidationFailed,
)

# Where a body names an upload.
Loc = Sequence[str | int]
UPLOAD_IDS: Loc = ("upload_ids",)


class StorageUnavailable(ServiceUnavailable):
    """The storage failed to write or read a file: it is full, away, or not accessible."""


class LinkNotValid(Forbidden):
    message = "This link is not valid. Use it exactly as it was given, with everything after the ?."


class LinkExpired(Forbidden):
    message = "This link has expired. A link to a file works for 24 hours."


class LinkRevoked(Forbidden):
    """The owner's tokens have ended, and such links with them."""

    message = "This link has ended, because its owner has signed out. Sign in and ask for another."


class FileGone(NotFound):
    message = "This file is no longer kept."


class RangeNotSatisfiable(DomainError):
    """`size` is that of the file, in bytes."""

    code, status = "range_not_satisfiable", 416
    message = "The file has no such bytes."

    def __init__(self, size: int) -> None:
        self.size = size
        super().__init__()


class UploadNotFound(ValidationFailed):
    """An upload that the body names; one in the path is a plain 404."""

    message = "There is no such upload. One that goes with nothing is kept for 24 hours."

    def __init__(self, loc: Loc = UPLOAD_IDS) -> None:
        super().__init__(errors=[{"loc": list(loc), "msg": self.message}])


class ResultNotKept(ValidationFailed):
    """A result that the body names."""

    message = "This result is not kept any more."

    def __init__(self, loc: Loc) -> None:
        super().__init__(errors=[{"loc": list(loc), "msg": self.message}])


class UploadInUse(Conflict):
    code = "upload_in_use"
    message = (
        "This file goes with a message, a project run or a job. It is deleted together with it."
    )


class UploadQuotaExceeded(Conflict):
    """`used` and `limit` are `{files, bytes}`."""

    code = "upload_quota_exceeded"
    message = "There is no room for this file. Delete uploads, or conversations that have files."
