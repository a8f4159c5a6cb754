"""Bodies of the type `multipart/form-data`, by RFC 7578."""

from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_hex


@dataclass(frozen=True, slots=True)
class File:
    """A file in a form. We choose its names, so nothing in them is escaped."""

    field: str
    name: str
    media_type: str
    data: bytes


def encoded(fields: Mapping[str, str], file: File) -> tuple[str, bytes]:
    """The content type and the body of a form; no value contains a line break."""
    boundary = token_hex(16)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{file.field}"; '
        f'filename="{file.name}"\r\nContent-Type: {file.media_type}\r\n\r\n'
    )
    body = ("".join(parts) + head).encode(), file.data, f"\r\n--{boundary}--\r\n".encode()
    return f"multipart/form-data; boundary={boundary}", b"".join(body)
