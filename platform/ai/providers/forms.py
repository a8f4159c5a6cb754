"""Bodies of requests that bring files: forms (RFC 7578)."""

from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_hex


@dataclass(frozen=True, slots=True)
class FormFile:
    """A file in a form. Its names are our own, so nothing in them is escaped."""

    field: str
    name: str
    media_type: str
    data: bytes


def multipart(fields: Mapping[str, str], *files: FormFile) -> tuple[str, bytes]:
    """The content type and the body of a form."""
    boundary = token_hex(16)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    for file in files:
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="{file.field}"; '
            f'filename="{file.name}"\r\nContent-Type: {file.media_type}\r\n\r\n'
        )
        parts += [head.encode(), file.data, b"\r\n"]
    parts.append(f"--{boundary}--\r\n".encode())
    return f"multipart/form-data; boundary={boundary}", b"".join(parts)
