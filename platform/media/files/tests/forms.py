"""Forms with files, as clients send them."""

from dataclasses import dataclass
from typing import Any

from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile

from conftest import Persona
from media.files.models import Upload
from media.files.types import storage_path

URL = "/api/uploads"
BOUNDARY = "xYzZy"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
END = f"--{BOUNDARY}--\r\n".encode()

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(64)


@dataclass
class File:
    """What somebody sends: `claimed` is what their program says that it is."""

    content: bytes = b"some words"
    name: str = "a.txt"
    claimed: str = "text/plain"


def send(persona: Persona, file: File) -> Any:
    content = SimpleUploadedFile(file.name, file.content, file.claimed)
    return persona.client.post(URL, {"file": content})


def send_raw(persona: Persona, body: bytes, content_type: str = MULTIPART) -> Any:
    """A body that no client would make."""
    return persona.client.generic("POST", URL, body, content_type)  # type: ignore[arg-type]


def part(disposition: str, content: bytes = b"some words", *headers: str) -> bytes:
    """A part of a form: the file, if `disposition` says so."""
    lines = [f"--{BOUNDARY}", f"Content-Disposition: form-data; {disposition}", *headers, "", ""]
    return "\r\n".join(lines).encode() + content + b"\r\n"


def uploaded(persona: Persona, file: File | None = None) -> Upload:
    response = send(persona, file or File())
    assert response.status_code == 201, response.content
    return Upload.objects.get(pk=response.json()["id"])


def has_bytes(upload: Upload) -> bool:
    return storages["uploads"].exists(storage_path(str(upload.pk)))


def bytes_of(upload: Upload) -> bytes:
    with storages["uploads"].open(storage_path(str(upload.pk))) as file:
        return bytes(file.read())
