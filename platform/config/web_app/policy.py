"""The Content-Security-Policy of the web app (docs/decisions/0084)."""

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from html.parser import HTMLParser


@dataclass(frozen=True, slots=True)
class Inline:
    """The sources that allow what stands in a page itself, such as `'sha256-…'`."""

    scripts: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()


def content_security_policy(inline: Inline, socket: str = "") -> str:
    """The policy of a page with these inline scripts and styles, which opens sockets at `socket`,
    an origin."""
    return "; ".join(
        [
            "default-src 'self'",
            " ".join(["script-src 'self'", *inline.scripts]),
            " ".join(["style-src 'self'", *inline.styles]),
            # `style` attributes, of formulas for example. They neither run nor fetch anything that
            # the other rules do not allow, and select no other element.
            "style-src-attr 'unsafe-inline'",
            "font-src 'self' data:",
            # Pictures of people come from anywhere.
            "img-src 'self' data: blob: https:",
            "media-src 'self' blob:",
            # Not every browser takes sockets of the same host for its own.
            f"connect-src 'self' {socket}".rstrip(),
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


def inline_of(page: str) -> Inline:
    """The sources for the inline scripts and styles of a page (CSP Level 3, 2.3.1)."""
    reader = _Inline()
    reader.feed(page)
    reader.close()
    return Inline(*(tuple(map(_source, reader.texts[tag])) for tag in ("script", "style")))


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


class _Inline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {"script": [], "style": []}
        self._inside: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.texts and "src" not in dict(attrs):
            self._inside = self.texts[tag]
            self._inside.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self._inside[-1] += data
