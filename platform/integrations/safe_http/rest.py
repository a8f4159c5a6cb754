"""Calls to a host's REST interface with somebody's token: what an answer is, and what it means."""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote

from common.titles import one_line
from integrations.safe_http.client import JSON, Answer, Client
from integrations.safe_http.errors import (
    AccessRefused,
    AddressNotCalled,
    AddressRefused,
    AnswerTooLarge,
    HostError,
    HostFailed,
    Missing,
    NotSent,
    OutboundError,
    RateLimited,
    Rejected,
    TokenRefused,
)

T = TypeVar("T")

# Returns another token for one that the host has refused. Raises TokenRefused where there is none.
Renew = Callable[[str], str]

# Calls for one request that are made side by side.
_PARALLEL: Final = 8
_MAX_ANSWER: Final = 30_000_000  # bytes; a listing of 50,000 files has some 15 million
_SECONDS: Final = 20.0
# All calls of one client together, which serves one request: a listing can have hundreds of pages.
SECONDS_IN_ALL: Final = 60.0
_SENTENCE: Final = 300  # characters of the host's own words
_DEFAULT_WAIT: Final = 60  # seconds, where the host does not say
_LONGEST_WAIT: Final = 3_600
# Characters of what a host names: people, branches, repositories, objects; and of addresses.
MAX_NAME: Final = 255
MAX_ADDRESS: Final = 1_000
# PostgreSQL takes no NUL, and UTF-8 no half of a surrogate pair.
_NOT_STORED: Final = re.compile("[\0\ud800-\udfff]")
_MAX_REDIRECTS: Final = 2  # a renamed repository is moved

# Google's words for too many calls, which come with a 403.
_LIMITS: Final = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded"})

# An answer with this status to a call that changes something may come after the change.
_UNSURE = range(500, 600)


class RestClient:
    """Calls one host with one token, and again where the token is refused and `renew` has another.
    Threads may share it. It calls nobody later than SECONDS_IN_ALL after it was made."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        headers: Mapping[str, str] | None = None,
        renew: Renew | None = None,
    ) -> None:
        """Raises AddressNotCalled."""
        self._token = token
        self._renew = renew
        self._until = time.monotonic() + SECONDS_IN_ALL
        try:
            self._client = Client(base_url, headers=headers)
        except AddressRefused as error:
            raise AddressNotCalled(str(error)) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def end_within(self, seconds: float) -> None:
        """From now on, all calls together end within so many seconds."""
        self._until = min(self._until, time.monotonic() + seconds)

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str | int] | None = None,
        json: object = None,
        headers: Mapping[str, str] | None = None,
        media_types: tuple[str, ...] = JSON,
        max_bytes: int = _MAX_ANSWER,
        seconds: float = _SECONDS,
    ) -> Answer:
        """A successful answer, in `seconds`, which bound the call with the first token, its renewal
        and the call with the other one together: no call begins later. Raises HostError for any
        other answer."""
        changes = method not in ("GET", "HEAD")
        until = min(time.monotonic() + seconds, self._until)
        if until <= time.monotonic():
            raise HostFailed("The host took too long.", may_be_done=False)

        def call(token: str) -> Answer:
            return self._client.request(
                method,
                path,
                params=params,
                json=json,
                headers={**(headers or {}), "Authorization": f"Bearer {token}"},
                seconds=until - time.monotonic(),
                max_bytes=max_bytes,
                media_types=media_types,
                max_redirects=_MAX_REDIRECTS,
            )

        try:
            answer = call(token := self._token)
            if answer.status == 401 and self._renew is not None:
                self._token = self._renew(token)
                answer = call(self._token)
        except AddressRefused as error:
            raise AddressNotCalled(str(error)) from None
        except OutboundError as error:
            if isinstance(error, AnswerTooLarge) and not changes:
                raise Rejected(f"This is longer than {max_bytes:,} bytes.") from None
            may_be_done = changes and not isinstance(error, NotSent)
            raise HostFailed(f"The host did not answer: {error}", may_be_done=may_be_done) from None
        if not answer.is_success:
            raise error_of(answer, may_be_done=changes and answer.status in _UNSURE)
        return answer

    def get(self, path: str, **params: str | int) -> Any:
        """The JSON of an answer."""
        return decoded(self.send("GET", path, params=params or None))

    def post(self, path: str, body: Mapping[str, object]) -> Any:
        """The JSON of an answer."""
        return decoded(self.send("POST", path, json=body))

    def get_object(self, path: str, **params: str | int) -> dict[str, Any]:
        """The JSON object of an answer. Raises HostFailed for JSON of another shape."""
        found = self.get(path, **params)
        if not isinstance(found, dict):
            raise HostFailed("The host's answer is no object.", may_be_done=False)
        return found


def decoded(answer: Answer) -> Any:
    """The JSON of an answer. Raises HostFailed."""
    try:
        return answer.json()
    except OutboundError as error:
        raise HostFailed(f"The host's answer cannot be read: {error}", may_be_done=False) from None


def error_of(answer: Answer, *, may_be_done: bool = False) -> HostError:
    """The error that an answer means."""
    words = words_of(answer)
    wait = _wait_of(answer)
    is_limited = wait is not None or any(
        each.get("reason") in _LIMITS for each in _details_of(answer)
    )
    if answer.status == 429 or (answer.status == 403 and is_limited):
        seconds = wait or _DEFAULT_WAIT
        return RateLimited(f"The host wants no calls for {seconds} seconds.", seconds)
    if answer.status == 401:
        return TokenRefused("The host does not accept the token any more.")
    if answer.status == 403:
        return AccessRefused(f"The host refuses access: {words}")
    if answer.status == 404:
        return Missing("The host has no such thing, or the token does not reach it.")
    if 400 <= answer.status < 500:
        return Rejected(f"The host says: {words}")
    return HostFailed(f"The host failed with status {answer.status}.", may_be_done=may_be_done)


def words_of(answer: Answer) -> str:
    """The host's own words in an error, in one line, without invisible characters."""
    body = _error_body(answer)
    words = [body.get(name) for name in ("message", "error_description", "error")]
    parts = [each if isinstance(each, str) else str(each) for each in words if each]
    parts += [str(each.get("message") or "") for each in _details_of(answer)]
    text = one_line(": ".join(part for part in parts if part))
    return text[:_SENTENCE] or f"status {answer.status}"


def _details_of(answer: Answer) -> list[dict[str, Any]]:
    """The objects in the `errors` of an error."""
    details = _error_body(answer).get("errors")
    found = details if isinstance(details, list) else []
    return [each for each in found if isinstance(each, dict)]


def _error_body(answer: Answer) -> dict[str, Any]:
    """Google puts all of it into `error`."""
    try:
        body = answer.json()
    except OutboundError:
        return {}
    inner = body.get("error") if isinstance(body, dict) else None
    found = inner if isinstance(inner, dict) else body
    return found if isinstance(found, dict) else {}


def quoted(part: str) -> str:
    """A part of a path: slashes too are encoded."""
    return quote(part, safe="")


def quoted_path(path: str) -> str:
    """Several parts of a path."""
    return quote(path, safe="/")


def side_by_side(function: Any, items: Iterable[T]) -> list[Any]:
    """The results of a call for each item, in their order; the first error is raised."""
    with ThreadPoolExecutor(_PARALLEL, thread_name_prefix="host") as threads:
        return list(threads.map(function, items))


def readable(read: Callable[[Any], T], rows: Iterable[object]) -> list[T]:
    """What `read` makes of the rows, without those that are unusable: one odd name does not hide
    the others. Raises HostFailed where all of them are."""
    found: list[T] = []
    failure: HostFailed | None = None
    for row in rows:
        try:
            found.append(read(row))
        except HostFailed as error:
            failure = error
    if failure is not None and not found:
        raise failure
    return found


def items_of(value: object) -> list[dict[str, Any]]:
    """A list of objects. Raises HostFailed."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise HostFailed("The host's answer is no list.", may_be_done=False)
    return value


def text_of(row: object, name: str, *, most: int) -> str:
    """A text of an object, of at most so many characters, that can be stored. Raises HostFailed."""
    value = row.get(name) if isinstance(row, dict) else None
    if not isinstance(value, str) or not len(value) <= most or _NOT_STORED.search(value):
        raise HostFailed(f"The host's answer has no usable {name}.", may_be_done=False)
    return value


def name_of(row: object, name: str, *, most: int = MAX_NAME) -> str:
    """A text of an object that is shown within a line: nothing in it is invisible. Raises
    HostFailed."""
    value = text_of(row, name, most=most)
    if " ".join(value.split()) != one_line(value):
        raise HostFailed(f"The host's answer has no usable {name}.", may_be_done=False)
    return value


def optional_name_of(row: object, name: str, *, most: int = MAX_NAME) -> str:
    """The same, but empty where it is missing or null."""
    is_missing = isinstance(row, dict) and row.get(name) is None
    return "" if is_missing else name_of(row, name, most=most)


def whole_number(value: object) -> int | None:
    """A number that PostgreSQL can store; None of anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**63 else None


def texts_in(value: object) -> tuple[str, ...]:
    """The texts of a list; none of anything else."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def address_of(row: object, name: str) -> str:
    """The address of a page, which people open. Raises HostFailed."""
    value = name_of(row, name, most=MAX_ADDRESS)
    if not value.startswith(("https://", "http://")):
        raise HostFailed(f"The host's answer has no usable {name}.", may_be_done=False)
    return value


def _wait_of(answer: Answer) -> int | None:
    """The seconds that the host wants to be left alone, where it says so."""
    headers = answer.headers
    try:
        if "retry-after" in headers:
            wait = int(headers["retry-after"])
        elif "0" in (headers.get("x-ratelimit-remaining"), headers.get("ratelimit-remaining")):
            reset = headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset") or ""
            wait = int(reset) - int(time.time())
        else:
            return None
    except ValueError:
        return _DEFAULT_WAIT
    return max(1, min(wait, _LONGEST_WAIT))
