"""The requests to Google Drive, version 3: `about.get`, `files.list`, `files.get` and
`files.export`."""

import base64
import binascii

from simulator.drive import query, selection
from simulator.drive.exports import EXPORTS
from simulator.drive.files import File
from simulator.oauth.exchange import Answer, Request, json_answer
from simulator.oauth.tokens import Token
from simulator.provider import Json, Problem, Refused

_SCOPE = "https://www.googleapis.com/auth/drive"
_READS = frozenset({_SCOPE, f"{_SCOPE}.readonly"})
_LISTS = frozenset({*_READS, f"{_SCOPE}.metadata", f"{_SCOPE}.metadata.readonly"})
# With this one an app reaches the files that it made, or that were picked for it. There are none.
_OWN = frozenset({f"{_SCOPE}.file"})
_USUAL_FILE = "kind,id,name,mimeType"
_USUAL_LIST = f"kind,incompleteSearch,nextPageToken,files({_USUAL_FILE})"
_MAX_EXPORT = 10 * 1024 * 1024  # bytes


def get_about(request: Request) -> Answer:
    """Whose drive it is; which fields are wanted has to be said. Raises `Refused`."""
    token = _token(request, _LISTS | _OWN)
    if "fields" not in request.query:
        message = "The 'fields' parameter is required for this method."
        raise Refused(Problem(400, message, "required", "fields"))
    about: Json = {"user": {"displayName": token.login, "emailAddress": address_of(token.login)}}
    return json_answer(about)


def list_files(request: Request) -> Answer:
    """One page of the files that fit. Raises `Refused`."""
    token = _token(request, _LISTS | _OWN)
    asked = request.query
    fields = selection.of_list(asked.get("fields", _USUAL_LIST))
    files = _reached(request, token)
    for test in query.tests(asked["q"]) if "q" in asked else ():
        files = [file for file in files if test(file)]
    if "orderBy" in asked:
        files = query.ordered(files, asked["orderBy"])
    size, start = _page_size(asked.get("pageSize", "100")), _start(asked.get("pageToken"))
    page: Json = {
        "kind": "drive#fileList",
        "incompleteSearch": False,
        "files": [file.shown() for file in files[start : start + size]],
    }
    if start + size < len(files):
        page["nextPageToken"] = base64.urlsafe_b64encode(f"{start + size}".encode()).decode()
    return json_answer(selection.select(page, fields))


def get_file(request: Request) -> Answer:
    """What is known of a file, or with `alt=media` its bytes. Raises `Refused`."""
    if request.query.get("alt") == "media":
        return _media(request)
    file = _file(request, _token(request, _LISTS | _OWN))
    fields = selection.of_file(request.query.get("fields", _USUAL_FILE))
    return json_answer(selection.select(file.shown(), fields))


def export(request: Request) -> Answer:
    """The content of a Docs Editors file in another format. Raises `Refused`."""
    file = _file(request, _token(request, _READS | _OWN))
    _check_download(file)
    if file.google_type is None:
        message = "Only files of the Docs editors can be exported."
        raise Refused(Problem(403, message, "fileNotExportable"))
    mime = request.query.get("mimeType")
    if mime is None:
        raise Refused(Problem(400, "`mimeType` is missing.", "required", "mimeType"))
    convert = EXPORTS.get((file.google_type, mime))
    if convert is None:
        raise Refused(Problem(400, f"There is no conversion to {mime}.", "badRequest", "convertTo"))
    content = convert(file.content)
    if len(content) > _MAX_EXPORT:
        message = "The file is too large to be exported."
        raise Refused(Problem(403, message, "exportSizeLimitExceeded"))
    return Answer(200, content, {"content-type": mime})


def address_of(login: str) -> str:
    """The address of a person's account."""
    return login if "@" in login else f"{login}@gmail.com"


def _media(request: Request) -> Answer:
    file = _file(request, _token(request, _READS | _OWN))
    _check_download(file)
    if file.google_type is not None:
        message = "Only files with bytes of their own can be downloaded; export this one."
        raise Refused(Problem(403, message, "fileNotDownloadable", "alt"))
    return Answer(200, file.content, {"content-type": file.mime})


def _check_download(file: File) -> None:
    if not file.can_download:
        message = "The person may not download this file."
        raise Refused(Problem(403, message, "cannotDownloadFile"))


def _token(request: Request, scopes: frozenset[str]) -> Token:
    """The token of a request, with one of the scopes. Raises `Refused`."""
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not text.strip():
        raise Refused(Problem(401, "Login is required.", "required"))
    token = request.state.tokens.find("google", text.strip())
    if token is None:
        raise Refused(Problem(401, "The token is invalid, expired or revoked.", "authError"))
    if scopes.isdisjoint(token.scopes):
        message = "The token has not the scopes for this."
        raise Refused(Problem(403, message, "insufficientPermissions"))
    return token


def _reached(request: Request, token: Token) -> list[File]:
    return [] if _LISTS.isdisjoint(token.scopes) else request.state.files.of(token.login)


def _file(request: Request, token: Token) -> File:
    wanted = request.path["id"]
    for file in _reached(request, token):
        if file.id == wanted:
            return file
    raise Refused(Problem(404, f"File not found: {wanted}.", "notFound", "fileId"))


def _page_size(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:5]) <= 1000:
        message = "`pageSize` must be from 1 to 1000."
        raise Refused(Problem(400, message, "invalidParameter", "pageSize"))
    return int(text[:5])


def _start(page_token: str | None) -> int:
    """The number of the first file of a page."""
    if page_token is None:
        return 0
    try:
        return abs(int(base64.urlsafe_b64decode(page_token)))
    except (binascii.Error, ValueError) as error:
        raise Refused(Problem(400, "Invalid `pageToken`.", "invalid", "pageToken")) from error
