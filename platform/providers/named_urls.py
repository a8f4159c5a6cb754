"""Which of the URLs that a provider names are followed: its own, and no others.

Whoever controls an answer must not choose whom we call (server-side request forgery). So the form
is narrower than RFC 3986: no user, no port, no IPv6, no character that parsers disagree about.
"""

import re
from urllib.parse import urlsplit

_HTTPS = re.compile(r"https://(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+)/")
_REST = re.compile(r"[!-\[\]-~]*")  # visible ASCII, but no backslash: some take it for a slash
_MAX_LENGTH = 4_096


class NamedUrls:
    """The URLs of one provider: any under its configured origin, and https under its own domain.

    `domain` is one that the provider alone has names in: `bfl.ai` stands for `x.bfl.ai` as well.
    """

    def __init__(self, base_url: str, domain: str) -> None:
        parts = urlsplit(base_url)
        self._origin = f"{parts.scheme}://{parts.netloc}/"
        self._domain = domain

    def may_be_followed(self, url: str) -> bool:
        """Is that URL the provider's own?"""
        if len(url) > _MAX_LENGTH or not _REST.fullmatch(url):
            return False
        return url.startswith(self._origin) or self._is_in_domain(url)

    def _is_in_domain(self, url: str) -> bool:
        match = _HTTPS.match(url)
        return match is not None and f".{match['host']}".endswith(f".{self._domain}")
