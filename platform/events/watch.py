"""Ends long-lived reads whose tokens are revoked."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol
from uuid import UUID

from accounts.selectors.users import find_refusals
from accounts.tokens import AccessClaims
from events.errors import close_code


class Reader(Protocol):
    """A reader with the token of these claims."""

    @property
    def claims(self) -> AccessClaims: ...

    def end(self, code: int) -> None:
        """Stop; `code` is the close code of a socket."""


class ResponseReader:
    """A response that continues after Django is done with its request."""

    def __init__(self, claims: AccessClaims, end: Callable[[], None]) -> None:
        self.claims = claims
        self._end = end

    def end(self, code: int) -> None:
        self._end()


class TokenWatch:
    """The readers of one event loop. Ends those whose tokens are revoked: soon after a notification
    that a session was ended, and whenever all are checked. Expiry is not checked.

    The checks raise DatabaseUnavailable.
    """

    def __init__(self) -> None:
        # By session.
        self._readers: dict[UUID, set[Reader]] = {}
        self._suspects: set[UUID] = set()
        self._suspected = asyncio.Event()

    def add(self, reader: Reader) -> None:
        self._readers.setdefault(reader.claims.session_id, set()).add(reader)

    def remove(self, reader: Reader) -> None:
        session_id = reader.claims.session_id
        self._readers[session_id].remove(reader)
        if not self._readers[session_id]:
            del self._readers[session_id]

    def suspect(self, session_id: UUID) -> None:
        """The session may have ended: its readers are checked next."""
        if session_id in self._readers:
            self._suspects.add(session_id)
            self._suspected.set()

    async def check_suspects(self) -> None:
        """Wait until there are some suspects, and check their tokens."""
        await self._suspected.wait()
        self._suspected.clear()
        suspects, self._suspects = self._suspects, set()
        await self._check(suspects & self._readers.keys())

    async def check_all(self) -> None:
        await self._check(self._readers)

    async def _check(self, session_ids: Iterable[UUID]) -> None:
        readers = [reader for each in session_ids for reader in self._readers[each]]
        if not readers:
            return
        refusals = await find_refusals([reader.claims for reader in readers])
        for reader, refusal in zip(readers, refusals, strict=True):
            has_left = reader not in self._readers.get(reader.claims.session_id, ())
            if refusal and not has_left:
                reader.end(close_code(refusal))
