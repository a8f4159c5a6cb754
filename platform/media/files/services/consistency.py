"""Compares stored files with their rows: after a restore the two may be of different moments."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from django.core.files.storage import Storage, storages
from django.db.models import CharField, Q, QuerySet
from django.db.models.functions import Cast, Now, Right

from media.files.models import StoredFile, Upload
from media.files.types import file_name, storage_path

_FOLDERS = [f"{number:02x}" for number in range(256)]
_Row = tuple[UUID, str, int]


@dataclass(frozen=True)
class Finding:
    """What is wrong with the file at `path` in a storage: `missing` (a row without bytes),
    `incomplete` (bytes of another length than the row says), or `unknown` (bytes without a row)."""

    storage: str
    path: str
    problem: str


def compare() -> Iterator[Finding]:
    """What is wrong in both storages. It is one reading of each table and of each folder; what
    changes meanwhile is looked at once more. Raises OSError where a storage cannot be read."""
    for files in (_Files("outputs", StoredFile), _Files("uploads", Upload)):
        yield from files.compare()


def delete(finding: Finding) -> None:
    """Delete bytes without a row."""
    storages[finding.storage].delete(finding.path)


def stored_files() -> int:
    """The number of rows whose bytes should be there."""
    return sum(_promised(model).count() for model in (StoredFile, Upload))


def _promised(model: type[StoredFile] | type[Upload]) -> QuerySet[StoredFile] | QuerySet[Upload]:
    """Rows whose bytes should be there: the others were taken down, or are about to be purged."""
    live = Q(expires_at=None) | Q(expires_at__gt=Now())
    return model._default_manager.filter(live, taken_down_at=None)


class _Files:
    """One storage, and the table of its files."""

    def __init__(self, name: str, model: type[StoredFile] | type[Upload]) -> None:
        self.name = name
        self.model = model
        self.storage: Storage = storages[name]

    def compare(self) -> Iterator[Finding]:
        for folder, rows in self._rows_by_folder():
            there = self._listed(folder)
            for path, (row_id, _, size) in rows.items():
                if problem := self._problem(path, row_id, size, is_there=path in there):
                    yield Finding(self.name, path, problem)
            for path in sorted(there - rows.keys()):
                if self._is_unknown(path):
                    yield Finding(self.name, path, "unknown")

    def _rows_by_folder(self) -> Iterator[tuple[str, dict[str, _Row]]]:
        """The promised rows of each folder, by their paths, in the order of folders."""
        rows = (
            _promised(self.model)
            .annotate(folder=Right(Cast("pk", CharField()), 2))
            .order_by("folder")
            .values_list("folder", "pk", "media_type", "size")
        )
        groups = groupby(rows.iterator(chunk_size=2_000), key=lambda row: row[0])
        following = next(groups, None)
        for folder in _FOLDERS:
            found: dict[str, _Row] = {}
            if following is not None and following[0] == folder:
                found = {self._path(row[1], row[2]): row[1:] for row in following[1]}
                following = next(groups, None)
            yield folder, found

    def _path(self, row_id: UUID, media_type: str) -> str:
        return storage_path(
            file_name(row_id, media_type) if self.model is StoredFile else str(row_id)
        )

    def _listed(self, folder: str) -> set[str]:
        try:
            _, names = self.storage.listdir(folder)
        except FileNotFoundError:
            return set()
        return {f"{folder}/{name}" for name in names}

    def _problem(self, path: str, row_id: UUID, size: int, *, is_there: bool) -> str:
        """What is wrong with the bytes of a row that was there at the beginning."""
        try:
            length = self.storage.size(path) if is_there or self.storage.exists(path) else None
        except FileNotFoundError:
            length = None
        if length == size or not _promised(self.model).filter(pk=row_id).exists():
            return ""
        return "missing" if length is None else "incomplete"

    def _is_unknown(self, path: str) -> bool:
        """Is there no row of that file, not even one that is about to be purged?"""
        stem = path.rpartition("/")[2].partition(".")[0]
        try:
            return not self.model._default_manager.filter(pk=UUID(stem)).exists()
        except ValueError:
            return True
