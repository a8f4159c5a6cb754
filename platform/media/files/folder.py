"""Files in a folder, which may be a file system of its own."""

import errno
import os
from contextlib import suppress
from typing import Any

from django.core.files import File
from django.core.files.storage import FileSystemStorage


class Folder(FileSystemStorage):
    """A folder. A file is missing only where there are others: a folder that is not there, or is
    empty, belongs to a file system that is not mounted, and reading from it is another OSError than
    FileNotFoundError."""

    def open(self, name: str, mode: str = "rb") -> File[Any]:
        try:
            return super().open(name, mode)
        except FileNotFoundError:
            if self._is_away():
                raise OSError(errno.EIO, "The folder is not there, or is empty") from None
            raise

    def _is_away(self) -> bool:
        with suppress(FileNotFoundError), os.scandir(self.location) as entries:
            return next(entries, None) is None
        return True
