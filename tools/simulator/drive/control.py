"""`/_drive`: puts files into people's drives."""

import base64
import binascii
import time

import msgspec

from simulator.drive.files import File, GoogleType
from simulator.oauth.exchange import Answer, State, json_answer, read
from simulator.provider import Problem, Refused


class _NewFile(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Its content is a `text` or in `base64`. With a `google_type` it is a file of the Docs
    editors, and `mime` says nothing."""

    login: str
    name: str
    mime: str = "text/plain"
    text: str | None = None
    base64: str | None = None
    google_type: GoogleType | None = None
    can_download: bool = True
    trashed: bool = False
    modified_at: float | None = None


def add_file(state: State, body: bytes) -> Answer:
    """Put a file into a drive. Returns `{id}`."""
    new = read(body, _NewFile)
    if (new.text is None) == (new.base64 is None):
        raise Refused(Problem(400, "Give either `text` or `base64`."))
    file = File(
        new.login,
        new.name,
        new.mime,
        _content(new),
        google_type=new.google_type,
        can_download=new.can_download,
        is_trashed=new.trashed,
        modified_at=time.time() if new.modified_at is None else new.modified_at,
    )
    state.files.add(file)
    return json_answer({"id": file.id}, 201)


def _content(new: _NewFile) -> bytes:
    if new.base64 is None:
        return (new.text or "").encode()
    try:
        return base64.b64decode(new.base64, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused(Problem(400, "`base64` cannot be decoded.")) from error
