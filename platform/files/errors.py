"""Why a file is not stored, or not served."""

from common.errors import Forbidden, NotFound, ServiceUnavailable


class StorageUnavailable(ServiceUnavailable):
    """The storage took no file: full, away, or not ours to write to."""


class LinkNotValid(Forbidden):
    message = "This link is not valid. Use it exactly as it was given, with everything after the ?."


class LinkExpired(Forbidden):
    message = "This link has expired. A link to a generated file works for 24 hours."


class FileGone(NotFound):
    message = "This file is no longer kept."
