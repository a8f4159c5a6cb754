"""A file of the web app, in memory: what is sent of it, and to whom."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import md5

from django.utils.http import parse_etags
from servestatic.utils import parse_accept_encoding

# By the ending that a compressed form has beside its file.
CODINGS = {".br": "br", ".gz": "gzip"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent. A 304 has no body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Asset:
    """One file with its compressed forms, by their content coding; its own is under ""."""

    def __init__(self, forms: Mapping[str, bytes], headers: Mapping[str, str]) -> None:
        # Weak, because it is the same for all forms (RFC 9110, 8.8.1).
        digest = md5(forms[""], usedforsecurity=False).hexdigest()
        self._known = {"*", f'"{digest}"', f'W/"{digest}"'}
        self._headers = {**headers, "ETag": f'W/"{digest}"'}
        if len(forms) > 1:
            self._headers["Vary"] = "Accept-Encoding"
        # The smallest first.
        self._forms = sorted(forms.items(), key=lambda form: len(form[1]))

    def answer(self, accept_encoding: str, if_none_match: str) -> Answer:
        """The answer to a request with these headers, each empty where it is missing."""
        if not self._known.isdisjoint(parse_etags(if_none_match)):
            return Answer(304, self._headers, b"")
        accepted = {"", *parse_accept_encoding(accept_encoding)}
        coding, body = next(form for form in self._forms if form[0] in accepted)
        own = {"Content-Encoding": coding} if coding else {}
        return Answer(200, {**self._headers, **own, "Content-Length": str(len(body))}, body)
