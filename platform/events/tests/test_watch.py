"""Readers are ended when their tokens are revoked, whether anybody says so or not."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from accounts import tokens
from accounts.models import User, UserSession
from accounts.services import sessions, users
from common.database import get_database
from common.threads import in_thread
from events.watch import Permission, Watch
from tests.personas import new_user

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(autouse=True)
async def database() -> AsyncIterator[None]:
    """The connections of the test's event loop end with it."""
    yield
    await get_database().close()


@dataclass(eq=False)
class Reader:
    """Notes the codes that it is ended with."""

    claims: tokens.AccessClaims
    codes: list[int] = field(default_factory=list)
    permission: Permission | None = None

    def end(self, code: int) -> None:
        self.codes.append(code)


def new_reader(user: User) -> Reader:
    """By a session of its own."""
    session = UserSession.objects.create(account=user)
    claims = tokens.Claims(user.pk, user.token_version, session.pk)
    return Reader(tokens.read_access(tokens.access_token(claims)))


async def new_readers(watch: Watch, count: int) -> tuple[User, list[Reader]]:
    def make() -> tuple[User, list[Reader]]:
        alice = new_user("alice")
        return alice, [new_reader(alice) for _ in range(count)]

    alice, readers = await in_thread(make)
    for reader in readers:
        watch.add(reader)
    return alice, readers


async def end(user: User, reader: Reader) -> None:
    session_id = reader.claims.session_id
    await in_thread(sessions.end_session, user=user, session_id=session_id)


async def test_a_check_of_all_ends_those_whose_sessions_are_no_more() -> None:
    watch = Watch()
    alice, (ended, kept) = await new_readers(watch, 2)
    await end(alice, ended)
    await watch.check_all()
    assert (ended.codes, kept.codes) == ([4401], [])


async def test_a_suspension_has_a_code_of_its_own() -> None:
    watch = Watch()
    alice, (reader,) = await new_readers(watch, 1)
    await in_thread(users.suspend, user=alice)
    await watch.check_all()
    assert reader.codes == [4403]


async def test_a_suspect_is_checked_at_once_and_no_other() -> None:
    watch = Watch()
    alice, (suspect, other) = await new_readers(watch, 2)
    await in_thread(users.revoke_sessions, user=alice)
    checking = asyncio.create_task(watch.check_suspects())
    watch.suspect(suspect.claims.session_id)
    async with asyncio.timeout(5):
        await checking
    assert (suspect.codes, other.codes) == ([4401], [])


async def test_what_is_said_of_a_session_is_not_believed_but_looked_up() -> None:
    watch = Watch()
    _, (reader,) = await new_readers(watch, 1)
    watch.suspect(reader.claims.session_id)
    await watch.check_suspects()
    assert reader.codes == []


async def test_who_leaves_during_a_check_is_not_ended() -> None:
    watch = Watch()
    alice, (gone, stays) = await new_readers(watch, 2)
    await in_thread(users.revoke_sessions, user=alice)
    checking = asyncio.create_task(watch.check_all())
    await asyncio.sleep(0)
    watch.remove(gone)
    await checking
    assert (gone.codes, stays.codes) == ([], [4401])


async def test_a_session_that_nobody_reads_by_is_no_suspect() -> None:
    watch = Watch()
    _, (reader,) = await new_readers(watch, 1)
    watch.remove(reader)
    watch.suspect(reader.claims.session_id)
    checking: asyncio.Task[Any] = asyncio.create_task(watch.check_suspects())
    await asyncio.sleep(0.05)
    assert not checking.done()
    checking.cancel()


async def test_a_guest_is_ended_when_the_permission_is_lost_and_the_user_s_stream_has_grown() -> (
    None
):
    watch, is_open = Watch(), True

    async def permission() -> bool:
        return is_open

    def make() -> list[Reader]:
        user = new_user("bob")
        return [new_reader(user), new_reader(user)]

    guest, host = await in_thread(make)
    guest.permission = permission
    for reader in (guest, host):
        watch.add(reader)
    await asyncio.wait_for(watch.check_suspects(), 5)
    assert guest.codes == []
    is_open = False
    watch.suspect(guest.claims.user_id)
    await asyncio.wait_for(watch.check_suspects(), 5)
    assert (guest.codes, host.codes) == ([4403], [])


async def test_a_guest_is_checked_when_it_is_added_and_whenever_all_are_checked() -> None:
    watch = Watch()

    async def permission() -> bool:
        return False

    guest = await in_thread(lambda: new_reader(new_user("bob")))
    guest.permission = permission
    watch.add(guest)
    await asyncio.wait_for(watch.check_suspects(), 5)
    await watch.check_all()
    assert guest.codes == [4403, 4403]
    watch.remove(guest)
    await watch.check_all()
    assert guest.codes == [4403, 4403]
