"""Compresses answers."""

import re
import secrets
from collections.abc import Callable
from gzip import GzipFile
from io import BytesIO
from typing import cast

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

MIN_BYTES = 1024
# A third of the time of level 6, for a body that is a fifth longer.
LEVEL = 1
# Answers with tokens and keys are left out. The length of a compressed answer tells an attacker who
# can put text into it whether that text resembles the secret (BREACH).
SECRET_PATHS = ("/api/auth/", "/api/keys")
MAX_PADDING = 100

_ACCEPTED = re.compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)


def compression_middleware(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Compress bodies of `MIN_BYTES` and more of `/api` and of its description, for clients that
    accept gzip. Streams are not compressed: a chunk would wait for the next one.

    The admin is not compressed either: another page can make a browser send requests there with its
    user's cookies, and learn secrets from the length of the answers. Requests to `/api` need a
    token, which such a page has not.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if not response.streaming and _is_open(request.path):
            patch_vary_headers(response, ["Accept-Encoding"])
            if _ACCEPTED.search(request.headers.get("Accept-Encoding", "")):
                _compress(cast(HttpResponse, response))
        return response

    return middleware


def _is_open(path: str) -> bool:
    if path.startswith("/api/"):
        return not path.startswith(SECRET_PATHS)
    return path == "/openapi.json"


def _compress(response: HttpResponse) -> None:
    if len(response.content) < MIN_BYTES:
        return
    # A name of random length in gzip's header hides the length of the body.
    name, compressed = "a" * secrets.randbelow(MAX_PADDING), BytesIO()
    with GzipFile(name, "wb", LEVEL, compressed, mtime=0) as file:
        file.write(response.content)
    response.content = compressed.getvalue()
    response["Content-Encoding"] = "gzip"
    response["Content-Length"] = str(len(response.content))
