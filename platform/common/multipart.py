"""Bodies that bring a file: forms (RFC 7578) with one part named `file`."""

import re
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from typing import IO, Any, cast

from django.core.exceptions import TooManyFieldsSent, TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from drf_spectacular.utils import extend_schema_field
from rest_framework.parsers import BaseParser, DataAndFiles
from rest_framework.serializers import FileField

from common.errors import MalformedRequest, PayloadTooLarge, ValidationFailed

FIELD = "file"
MAX_FILE_BYTES = 25_000_000
# The file, and the other parts of the form.
MAX_FORM_BYTES = MAX_FILE_BYTES + 64 * 1024
# A longer file is written to disk.
_MEMORY_BYTES = 256 * 1024
_NAMELESS = "file"
# The search for an undecodable part header ends here: the most that comes before and after a file.
_BEGINNING_BYTES = MAX_FORM_BYTES - MAX_FILE_BYTES
_DISPOSITION = re.compile(rb"^content-disposition:.*$", re.IGNORECASE | re.MULTILINE)

TOO_LARGE = f"A file has at most 25 MB, which are {MAX_FILE_BYTES:,} bytes."
NAME_UNREADABLE = "The name of the file is not UTF-8. Send it as UTF-8, or send another name."


@extend_schema_field({"type": "string", "format": "binary"})
class FormFileField(FileField):
    """The file of a form."""


class FormWithFileParser(BaseParser):
    """A form with one file of at most 25 MB, and texts.

    Raises MalformedRequest, PayloadTooLarge, or ValidationFailed for a file in another part, and
    for one whose name is not UTF-8.
    """

    media_type = "multipart/form-data"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> "DataAndFiles[Any, Any]":
        request = (parser_context or {})["request"]
        with ExitStack() as unused:
            kept = unused.enter_context(tempfile.SpooledTemporaryFile(_MEMORY_BYTES))
            beginning = _Beginning(stream)
            form = _parse(request.META, beginning, _OneFile(request, kept))
            if form.files:
                # Closed together with the request.
                unused.pop_all()
            elif beginning.has_unreadable_head:
                raise ValidationFailed.of(FIELD, NAME_UNREADABLE)
            return form


class _Beginning:
    """The body of a form, and a copy of its first bytes: Django silently skips parts whose headers
    it cannot decode."""

    def __init__(self, stream: IO[Any]) -> None:
        self._stream = stream
        self._kept = b""

    def read(self, size: int) -> bytes:
        data: bytes = self._stream.read(size)
        self._kept += data[: _BEGINNING_BYTES - len(self._kept)]
        return data

    @property
    def has_unreadable_head(self) -> bool:
        """Is there a part whose name, or whose file name, is not UTF-8?"""
        heads = _DISPOSITION.findall(self._kept)
        return any("\ufffd" in head.decode("utf-8", "replace") for head in heads)


def _parse(
    meta: Mapping[str, Any], stream: _Beginning, handler: "_OneFile"
) -> "DataAndFiles[Any, Any]":
    try:
        return DataAndFiles(*_Form(meta, cast(IO[bytes], stream), [handler], "utf-8").parse())
    except MultiPartParserError as error:
        raise MalformedRequest(f"The form cannot be read: {error}") from None
    except (TooManyFieldsSent, TooManyFilesSent):
        raise MalformedRequest("The form has too many parts.") from None


class _Form(MultiPartParser):
    def sanitize_file_name(self, file_name: str) -> str:
        """Also a part whose file name has no usable character is a file. Browsers write quotation
        marks as `%22` (https://html.spec.whatwg.org/#multipart-form-data)."""
        return super().sanitize_file_name(file_name.replace("%22", '"')) or _NAMELESS


class _OneFile(FileUploadHandler):
    """Stores the file in `kept`, an unnamed file, so that nothing is left when the process is
    killed."""

    def __init__(self, request: HttpRequest, kept: IO[bytes]) -> None:
        super().__init__(request)
        self._kept = kept
        self._has_begun = False

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        if self.field_name != FIELD:
            raise ValidationFailed.of(str(self.field_name), f"Send the file as `{FIELD}`.")
        if self._has_begun:
            raise ValidationFailed.of(FIELD, "Send one file at a time.")
        self._has_begun = True

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if start + len(raw_data) > MAX_FILE_BYTES:
            raise PayloadTooLarge(TOO_LARGE)
        self._kept.write(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile:
        self._kept.seek(0)
        return UploadedFile(self._kept, self.file_name, self.content_type, file_size)

    def upload_interrupted(self) -> None:
        raise MalformedRequest("The form breaks off: there is no boundary after the file.")
