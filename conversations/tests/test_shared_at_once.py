"""An access ends at the moment at which somebody makes use of it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.models import User
from billing.models import Charge, Wallet
from billing.tests import bank
from billing.tests.web_app import client_of
from common.errors import NotFound
from conversations.errors import ReadOnly
from conversations.models import Conversation, Message, Space
from conversations.selectors.conversations import get_conversation
from conversations.services import conversations, sending, spaces
from conversations.services.preparation import prepare_message
from conversations.services.sending import StartedReply
from conversations.tests import manual
from conversations.tests.sharers import new_shared_row, put_together
from events.tests.streams import user_events
from teams.services import members
from tests.locks import wait_until_blocked
from tests.personas import new_user
from tests.service import database_url

pytestmark = pytest.mark.usefixtures("committed", "providers")

Act = Callable[[], Any]


class Pair:
    """Alice and bob in one team, with a space of alice's in which bob writes."""

    def __init__(self) -> None:
        self.alice, self.bob = (new_user(name, plan="max", balance_usd=5) for name in NAMES)
        put_together(self.alice, self.bob)
        self.space, self.sea = new_shared_row(self.alice, "write", "How deep?", "Very.")
        self.clients = {user.pk: client_of(user) for user in (self.alice, self.bob)}

    def client(self, user: User) -> APIClient:
        return self.clients[user.pk]

    def remove(self) -> None:
        members.remove(user=self.alice, member_id=self.bob.pk)

    def share(self, shared: str | None) -> None:
        spaces.update(user=self.alice, space_id=self.space.pk, shared=shared)

    def rename(self) -> int:
        path = f"/api/conversations/{self.sea.pk}"
        answer = self.client(self.bob).patch(path, {"title": "Lake"}, format="json")
        return int(answer.status_code)

    def leave_space(self) -> None:
        conversations.update(user=self.alice, conversation_id=self.sea.pk, space_id=None)

    def begin(self, asker: User | None = None) -> Callable[[], StartedReply | Message]:
        """A request for a reply, bob's or that of somebody else, prepared and not yet begun."""
        asker = asker or self.bob
        prepared = prepare_message(asker, get_conversation(asker, self.sea.pk), content="Why?")
        owner_id = bank.live_owner()
        return partial(
            sending.start,
            prepared=prepared,
            request_key=None,
            owner_id=owner_id,
            request_id="req_test",
        )


NAMES = ("alice", "bob")


def alone(act: Act) -> Any:
    """What the act answers, in a thread of its own."""
    try:
        return act()
    finally:
        connection.close()


def while_it_waits(act: Act, table: str, row: Conversation | Space, other: Act) -> Any:
    """What an act answers that waits for the lock of a row while the other act is carried out."""
    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(2) as pool:
        holder.execute(f"SELECT FROM {table} WHERE id = %s FOR UPDATE", (row.pk,))
        waiting = pool.submit(alone, act)
        wait_until_blocked(holder, 1)
        pool.submit(alone, other).result()
        holder.rollback()
        return waiting.result()


def assert_nothing_begun(pair: Pair) -> None:
    assert not Message.objects.filter(conversation=pair.sea, author_id=pair.bob.pk).exists()
    assert not Charge.objects.filter(account=pair.bob).exists()
    assert Wallet.objects.get(account=pair.bob).held == 0


def test_a_reply_that_is_prepared_before_the_removal_does_not_begin_after_it() -> None:
    pair = Pair()
    start = pair.begin()
    pair.remove()
    with pytest.raises(NotFound):
        start()
    assert_nothing_begun(pair)


def test_a_reply_that_is_prepared_before_only_reading_is_left_does_not_begin() -> None:
    pair = Pair()
    start = pair.begin()
    pair.share("read")
    with pytest.raises(ReadOnly):
        start()
    assert_nothing_begun(pair)


@pytest.mark.parametrize("end", [Pair.leave_space, lambda pair: pair.share(None)])
def test_a_reply_of_the_owner_s_that_begins_after_it_was_shared_is_told_to_nobody_else(
    end: Callable[[Pair], None],
) -> None:
    pair = Pair()
    start = pair.begin(pair.alice)
    end(pair)
    told = user_events(pair.bob)
    started = start()
    assert isinstance(started, StartedReply)
    manual.Call(started, bank.live_owner()).settle("Because.")
    assert user_events(pair.bob) == told
    assert [kind for kind, _ in user_events(pair.alice)][-2:] == ["conversation.replied"] * 2


def test_a_removal_while_a_reply_waits_for_the_conversation_prevents_the_reply() -> None:
    pair = Pair()
    start = pair.begin()

    def refused() -> bool:
        with pytest.raises(NotFound):
            start()
        return True

    assert while_it_waits(refused, "conversations_conversation", pair.sea, pair.remove)
    assert_nothing_begun(pair)


def test_a_removal_while_a_new_title_waits_for_the_conversation_prevents_the_title() -> None:
    pair = Pair()
    assert while_it_waits(pair.rename, "conversations_conversation", pair.sea, pair.remove) == 404
    pair.sea.refresh_from_db()
    assert pair.sea.title == ""


def test_a_reply_that_has_begun_before_the_removal_is_paid_by_the_member() -> None:
    pair = Pair()
    call = manual.begin(pair.bob, pair.sea)
    pair.remove()
    call.settle("Because.")
    assert call.reply.status == Message.Status.COMPLETED
    charge = Charge.objects.get(pk=call.id)
    assert (charge.account, charge.status) == (pair.bob, Charge.Status.SETTLED)
    assert not Charge.objects.filter(account=pair.alice).exists()


def test_a_space_that_is_opened_while_its_owner_leaves_is_not_open_afterwards() -> None:
    pair = Pair()
    pair.share(None)
    members.transfer_ownership(user=pair.alice, member_id=pair.bob.pk)
    path = f"/api/spaces/{pair.space.pk}"
    client = pair.client(pair.alice)

    def opened() -> int:
        return int(client.patch(path, {"shared": "read"}, format="json").status_code)

    team_id = pair.bob.membership.team_id
    with psycopg.connect(database_url()) as holder, ThreadPoolExecutor(2) as pool:
        holder.execute("SELECT FROM teams_team WHERE id = %s FOR UPDATE", (team_id,))
        leaving = pool.submit(alone, lambda: members.leave(user=pair.alice))
        wait_until_blocked(holder, 1)
        opening = pool.submit(alone, opened)
        wait_until_blocked(holder, 2)
        holder.rollback()
        leaving.result()
        assert opening.result() in (200, 409)
    pair.space.refresh_from_db()
    assert pair.space.shared is None
