"""Ends long-lived reads whose tokens are revoked, or whose readers may not read any more."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol
from uuid import UUID

from accounts.selectors.users import find_refusals
from accounts.tokens import AccessClaims
from common.errors import NotFound
from events.errors import close_code

# Whether a reader may read on. Raises DatabaseUnavailable.
Permission = Callable[[], Awaitable[bool]]


class Reader(Protocol):
    """A reader with the token of these claims. `permission` is asked of a reader of what is
    somebody else's; None: of what is the reader's own."""

    @property
    def claims(self) -> AccessClaims: ...

    @property
    def permission(self) -> Permission | None: ...

    def end(self, code: int) -> None:
        """Stop; `code` is the close code of a socket."""


class ResponseReader:
    """A response that continues after Django is done with its request."""

    def __init__(
        self, claims: AccessClaims, end: Callable[[], None], permission: Permission | None
    ) -> None:
        self.claims = claims
        self.permission = permission
        self._end = end

    def end(self, code: int) -> None:
        self._end()


class Watch:
    """The readers of one event loop. Ends those whose tokens are revoked: soon after a notification
    that a session was ended, and whenever all are checked. Expiry is not checked.

    Ends those who have lost their permission: soon after a notification that their user's own
    stream has grown, where every loss is told, and whenever all are checked. They are checked once
    when they are added, for what was lost since their request was.

    The checks raise DatabaseUnavailable.
    """

    def __init__(self) -> None:
        # By session; those with a permission also by user.
        self._readers: dict[UUID, set[Reader]] = {}
        self._guests: dict[UUID, set[Reader]] = {}
        self._suspects: set[UUID] = set()
        self._suspected = asyncio.Event()

    def add(self, reader: Reader) -> None:
        self._readers.setdefault(reader.claims.session_id, set()).add(reader)
        if reader.permission is not None:
            self._guests.setdefault(reader.claims.user_id, set()).add(reader)
            self.suspect(reader.claims.user_id)

    def remove(self, reader: Reader) -> None:
        _remove(self._readers, reader.claims.session_id, reader)
        if reader.permission is not None:
            _remove(self._guests, reader.claims.user_id, reader)

    def suspect(self, changed: UUID) -> None:
        """That session may have ended, or the stream of that user has grown: the readers are
        checked next."""
        if changed in self._readers or changed in self._guests:
            self._suspects.add(changed)
            self._suspected.set()

    async def check_suspects(self) -> None:
        """Wait until there are some suspects, and check them."""
        await self._suspected.wait()
        self._suspected.clear()
        suspects, self._suspects = self._suspects, set()
        await self._check(suspects & self._readers.keys())
        await self._check_guests(suspects & self._guests.keys())

    async def check_all(self) -> None:
        await self._check(self._readers)
        await self._check_guests(self._guests)

    async def _check_guests(self, user_ids: Iterable[UUID]) -> None:
        for reader in [reader for each in user_ids for reader in self._guests[each]]:
            may_read = reader.permission is None or await reader.permission()
            has_left = reader not in self._guests.get(reader.claims.user_id, ())
            if not may_read and not has_left:
                reader.end(close_code(NotFound))

    async def _check(self, session_ids: Iterable[UUID]) -> None:
        readers = [reader for each in session_ids for reader in self._readers[each]]
        if not readers:
            return
        refusals = await find_refusals([reader.claims for reader in readers])
        for reader, refusal in zip(readers, refusals, strict=True):
            has_left = reader not in self._readers.get(reader.claims.session_id, ())
            if refusal and not has_left:
                reader.end(close_code(refusal))


def _remove(readers: dict[UUID, set[Reader]], key: UUID, reader: Reader) -> None:
    readers[key].remove(reader)
    if not readers[key]:
        del readers[key]
