"""A request to a host, its answer, and a refusal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from simulator.githost.hosts import Host
    from simulator.githost.tokens import Token

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """`path` has the decoded values of the route's placeholders; `origin` is the simulator's
    address as the caller sees it."""

    host: "Host"
    operation: str
    method: str
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    origin: str
    token: "Token"

    def read(self, form: type[T]) -> T:
        """The body. Raises Refusal."""
        try:
            return msgspec.json.decode(self.body or b"{}", type=form)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise Refusal(422 if self.host.name == "github" else 400, str(error)) from error

    def number(self, name: str, usual: int, most: int) -> int:
        """A positive number of the query."""
        text = self.query.get(name, "")
        return min(most, max(1, int(text))) if text.isdecimal() else usual

    @property
    def page(self) -> tuple[int, int]:
        """The number of the page, and of its items."""
        usual = 30 if self.host.name == "github" else 20
        return self.number("page", 1, 1_000_000), self.number("per_page", usual, 100)


@dataclass(slots=True)
class Answer:
    """`payload` becomes JSON, unless there are bytes."""

    payload: Any = None
    status: int = 200
    content: bytes | None = None
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        if self.content is not None:
            return self.content
        return b"" if self.status == 204 else msgspec.json.encode(self.payload)


class Refusal(Exception):
    """An error of the host. `details` are more fields of its body."""

    def __init__(self, status: int, message: str, **details: Any) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.details = details


def page_of(request: Request, items: list[Any]) -> Answer:
    """The page that is asked for, with the headers of both hosts."""
    number, size = request.page
    total = max(1, -(-len(items) // size))
    headers = {
        "x-page": str(number),
        "x-per-page": str(size),
        "x-total": str(len(items)),
        "x-total-pages": str(total),
        "x-next-page": str(number + 1) if number < total else "",
    }
    if number < total:
        query = "&".join(f"{k}={v}" for k, v in {**request.query, "page": number + 1}.items())
        headers["link"] = f'<{request.origin}?{query}>; rel="next"'
    return Answer(items[(number - 1) * size : number * size], headers=headers)
