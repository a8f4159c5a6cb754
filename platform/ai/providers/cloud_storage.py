"""Objects in Google Cloud Storage, which are named `gs://bucket/object`.

Protocol: the XML interface, "GET Object", at `https://storage.googleapis.com/{bucket}/{object}`.
"""

import re

# Names that need no escape in a URL, and do not lead out of their folder.
_OBJECT = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[\w.=+@-]+)+", re.ASCII)
_SCHEME = "gs://"


class CloudFolder:
    """A folder, `gs://bucket/folder` without a slash at its end; objects are read below `url`."""

    def __init__(self, uri: str, url: str) -> None:
        self.uri = uri
        self._url = url

    def address_of(self, uri: str) -> str | None:
        """The URL of an object in this folder; None for anything else."""
        inside = uri.removeprefix(self.uri)
        if inside == uri or not _OBJECT.fullmatch(inside):
            return None
        return f"{self._url}/{uri.removeprefix(_SCHEME)}"
