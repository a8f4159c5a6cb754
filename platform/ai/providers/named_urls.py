"""Decides which URLs in a provider's answers are followed: the provider's own.

An attacker who controls an answer must not choose the servers that we call (server-side request
forgery). So the form is narrower than RFC 3986: no user, no port, no IPv6, no character that
parsers disagree about.
"""

import re
from urllib.parse import urlsplit

_HTTPS = re.compile(r"https://(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+)/")
# Visible ASCII without the backslash, which some parsers take for a slash.
_REST = re.compile(r"[!-\[\]-~]*")
_MAX_LENGTH = 4_096


class NamedUrls:
    """The URLs of one provider: any under its configured origin, and https under its own domains.

    Each of `domains` belongs to the provider alone: `bfl.ai` stands for `x.bfl.ai` as well.
    """

    def __init__(self, base_url: str, *domains: str) -> None:
        parts = urlsplit(base_url)
        self._origin = f"{parts.scheme}://{parts.netloc}/"
        self._endings = tuple(f".{domain}" for domain in domains)

    def may_be_followed(self, url: str) -> bool:
        """Is that URL the provider's own?"""
        if len(url) > _MAX_LENGTH or not _REST.fullmatch(url):
            return False
        return url.startswith(self._origin) or self._is_in_a_domain(url)

    def _is_in_a_domain(self, url: str) -> bool:
        match = _HTTPS.match(url)
        return match is not None and f".{match['host']}".endswith(self._endings)
