"""Files and their rows, and the jobs that made them."""

from collections.abc import Sequence
from pathlib import Path

from bench.campaign.notes import Note
from bench.campaign.oracle.sessions import Reader
from bench.campaign.people import Person
from media.files.models import StoredFile, Upload
from media.files.types import storage_path


def check_rows_and_files(outputs: Path, uploads: Path) -> list[str]:
    """Every file has a row, and every row that is kept has its file. A row without a file may be
    the remains of a write that failed, which expires."""
    stored = {storage_path(row.name): row for row in StoredFile.objects.all()}
    there = _files_in(outputs)
    missing = [
        path
        for path, row in stored.items()
        if path not in there and row.is_kept and row.taken_down_at is None
    ]
    sent = {storage_path(str(row.pk)): row for row in Upload.objects.all()}
    received = _files_in(uploads)
    never_swept = [
        path
        for rows, found in ((stored, there), (sent, received))
        for path, row in rows.items()
        if path not in found and not row.expires_at
    ]
    strays = (there - set(stored)) | (received - set(sent))
    return [
        *(f"a file without a row: {path}" for path in sorted(strays)),
        *(f"a kept row without its file: {path}" for path in missing),
        *(f"a row without a file that never expires: {path}" for path in never_swept),
    ]


def _files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def check_uploads(note: Note, folder: Path) -> list[str]:
    """What was uploaded or imported, and answered, is there as it was."""
    wrong = []
    for upload_id, content in note.seen.get("uploads", {}).items():
        path = folder / storage_path(upload_id)
        if not path.is_file() or path.read_text() != content:
            wrong.append(f"{note}: the upload {upload_id} is not there as it was")
    return wrong


def check_jobs(note: Note, person: Person, reader: Reader) -> list[str]:
    """What was seen to end stays as it was, and its files are there."""
    wrong = []
    if shown := note.seen.get("shown"):
        for answer in reader.get(person, f"/api/jobs/{note.seen['job']}"):
            if answer.status_code != 200 or answer.json()["status"] != shown["status"]:
                wrong.append(f"was seen to end as {shown['status']}, now: {answer.text[:200]}")
            elif shown["status"] == "completed":
                wrong += _links([each["url"] for each in answer.json()["outputs"]], reader, person)
    wrong += _links(note.seen.get("files", []), reader, person)
    return [f"{note}: {each}" for each in wrong]


def _links(urls: Sequence[str], reader: Reader, person: Person) -> list[str]:
    paths = [f"/files/{url.partition('/files/')[2]}" for url in urls]
    answers = [answer for path in paths for answer in reader.get(person, path)]
    return [f"{each.url.path}: {each.status_code}" for each in answers if each.status_code != 200]
