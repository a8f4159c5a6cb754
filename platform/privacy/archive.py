"""Writes everything that an account has into a ZIP file, and holds no more than some rows of it.

`data/` has a file for each model, with a JSON object in each line; `files/` has the bytes of
uploads and of results; `manifest.json`, written last, says how much there is of what.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import msgspec
from django.core.files.storage import storages

from accounts.models import User
from common.consistent_reads import consistent_reads
from common.ownership import Owned, StoredBytes, entries
from privacy.errors import ExportStopped
from privacy.rows import exported_rows

CHUNK_ROWS = 500
CHUNK_BYTES = 256 * 1024
_NOTE = (
    "Each line of a file in data/ is a row as JSON. Times are UTC, amounts of money whole nano-USD."
)


class Archive:
    """One export. `go_on` is asked again and again whether the export is still wanted."""

    def __init__(self, user: User, file: IO[bytes], go_on: Callable[[], bool]) -> None:
        self._user = user
        self._zip = ZipFile(file, "w", compression=ZIP_DEFLATED)
        self._go_on = go_on
        self._rows: dict[str, int] = {}
        self._missing: list[str] = []
        self._files = 0

    def write(self) -> None:
        """Write the whole archive. Rows are all of one moment; files are copied after them.

        Raises ExportStopped, and OSError where a storage or the disk fails.
        """
        with self._zip:
            with consistent_reads():
                for entry in entries():
                    if entry.columns:
                        self._write_rows(entry)
            for entry in entries():
                for stored in self._stored(entry):
                    self._write_file(stored)
            self._zip.writestr("manifest.json", self._manifest())

    def _write_rows(self, entry: Owned) -> None:
        count = 0
        with self._zip.open(f"data/{entry.name}.jsonl", "w", force_zip64=True) as member:
            for row in exported_rows(entry, self._user, chunk=CHUNK_ROWS):
                member.write(msgspec.json.encode(row) + b"\n")
                count += 1
                if count % CHUNK_ROWS == 0:
                    self._check()
        self._rows[entry.name] = count
        self._check()

    def _stored(self, entry: Owned) -> Iterator[StoredBytes]:
        if entry.file is None:
            return
        for row in exported_rows(entry, self._user, chunk=CHUNK_ROWS):
            if stored := entry.file(row):
                yield stored

    def _write_file(self, stored: StoredBytes) -> None:
        """Copy a file as it is: pictures and films are compressed already."""
        self._check()
        name = f"files/{stored.storage}/{stored.name}"
        try:
            source = storages[stored.storage].open(stored.path)
        except FileNotFoundError:
            self._missing.append(name)  # it has expired meanwhile
            return
        with source, self._zip.open(_uncompressed(name), "w", force_zip64=True) as member:
            while piece := source.read(CHUNK_BYTES):
                member.write(piece)
                self._check()
        self._files += 1

    def _manifest(self) -> bytes:
        manifest = {
            "account_id": self._user.pk,
            "created_at": datetime.now(UTC),
            "note": _NOTE,
            "rows": self._rows,
            "files": self._files,
            "missing_files": self._missing,
        }
        return msgspec.json.format(msgspec.json.encode(manifest))

    def _check(self) -> None:
        if not self._go_on():
            raise ExportStopped


def _uncompressed(name: str) -> ZipInfo:
    """A member that is stored as it is."""
    member = ZipInfo(name, date_time=datetime.now(UTC).timetuple()[:6])
    member.compress_type = ZIP_STORED
    return member
