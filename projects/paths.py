"""The paths of files that models and users write."""

import re
import unicodedata
from pathlib import PurePosixPath

MAX_PATH = 400  # characters
_MAX_SEGMENT = 200  # bytes, below the 255 of common file systems

# Characters with a meaning in some file system or URL, and all that is invisible.
_FORBIDDEN = re.compile(r'[\\:*?"<>|]')
# Device names of Windows, with any extension.
_DEVICE = re.compile(
    r"(?:con(?:in\$|out\$)?|prn|aux|nul|(?:com|lpt)[\d¹²³]) *(?:\..*)?", re.IGNORECASE
)
# What NTFS takes for the short name of another file: `git~1` is `.git`, `gitmod~1` `.gitmodules`.
_SHORT_NAME = re.compile(r"(?=[^.]{3,8}(?:\.|$))[^.~]*~\d+(?:\.[^.]{0,3})?")


def fault_of(path: str) -> str | None:
    """Why a path cannot be used, in a sentence; None for a good one: relative, in NFC, and harmless
    on any file system."""
    if not path or len(path) > MAX_PATH:
        return f"The path is empty, or longer than {MAX_PATH} characters."
    if any(unicodedata.category(each)[0] in "CZ" and each != " " for each in path):
        return "The path has invisible characters."
    if _FORBIDDEN.search(path) or path != unicodedata.normalize("NFC", path):
        return 'The path has characters that not every file system takes, such as ":".'
    if path.startswith(("/", "~")):
        return "The path is not relative."
    return _fault_of_segments(path.split("/"))


def media_type_of(path: str) -> str:
    """The media type of a text file, by its extension."""
    return _MEDIA_TYPES.get(PurePosixPath(path).suffix.lower(), "text/plain")


def _fault_of_segments(segments: list[str]) -> str | None:
    for segment in segments:
        if segment in ("", ".", ".."):
            return 'The path has an empty part, "." or "..".'
        if segment.lower() == ".git":
            return "The path is in a folder of Git."
        if segment != segment.strip(" ") or segment.endswith("."):
            return "A part of the path begins or ends with a space, or ends with a dot."
        if _SHORT_NAME.fullmatch(segment):
            return "A part of the path may be the short name of another file."
        if _DEVICE.fullmatch(segment):
            return "A part of the path is the name of a device."
        if len(segment.encode()) > _MAX_SEGMENT:
            return f"A part of the path is longer than {_MAX_SEGMENT} bytes."
    return None


_MEDIA_TYPES = {
    ".csv": "text/csv",
    ".htm": "text/html",
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".md": "text/markdown",
    ".svg": "image/svg+xml",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
