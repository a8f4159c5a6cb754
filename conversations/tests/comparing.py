"""Are somebody's conversations as the oracle says?"""

from uuid import UUID

from accounts.models import User
from billing.models import LedgerEntry
from billing.tests import bank
from common.money import NUSD_PER_USD
from conversations.models import Attachment, Conversation, Message
from conversations.selectors.conversations import get_detail
from conversations.serializers.conversations import ConversationDetailSerializer
from conversations.tests.acts import BALANCE_USD, text
from conversations.tests.manual import COST
from conversations.tests.story import RUNNING, ExpectedMessage, Shape
from conversations.tests.world import World
from events.models import Event
from media.files.models import Upload
from work.jobs.models import Job


def compare(world: World) -> None:
    compare_conversations(world)
    compare_list(world)
    compare_with_what_a_member_sees(world)
    compare_links(world)
    compare_files(world)
    compare_writings(world)
    compare_money(world)


def compare_conversations(world: World) -> None:
    """As they are shown, and as they are counted."""
    talks = world.talks.values()
    rows = Conversation.objects.filter(account=world.alice)
    counts = {row.pk: (row.messages_count, row.characters) for row in rows}
    assert counts == {talk.id: (len(talk.messages), talk.characters) for talk in talks}
    messages = Message.objects.filter(account_id=world.alice.pk)
    assert messages.count() == sum(len(talk.messages) for talk in talks)
    for talk in talks:
        shown = ConversationDetailSerializer(get_detail(world.alice, talk.id)).data
        assert (shown["title"], shown["pinned"]) == (talk.title, talk.is_pinned)
        assert text(shown["space_id"]) == text(talk.space)
        assert text(shown["active_leaf_id"]) == text(talk.leaf)
        assert shown["running_message_id"] == (talk.running and talk.running.id)
        assert {each["id"] for each in shown["messages"]} == talk.messages.keys()
        for each in shown["messages"]:
            compare_message(world, talk.messages[each["id"]], each)


def compare_list(world: World) -> None:
    """Those that are pinned come first."""
    pinned = [row["pinned"] for row in world.client.get("/api/conversations").json()]
    assert pinned == sorted((talk.is_pinned for talk in world.talks.values()), reverse=True)


def compare_with_what_a_member_sees(world: World) -> None:
    """The same as the owner where the space is open, but the cost of their own replies and not of
    hers; else nothing."""
    opened = world.opened if world.is_together else {}
    open_spaces = {space for space, shared in opened.items() if shared}
    assert {row["id"] for row in world.member.get("/api/spaces").json()} == set(
        map(str, open_spaces)
    )
    for talk in world.talks.values():
        seen = world.member.get(f"/api/conversations/{talk.id}")
        access = world.access(world.bob, talk)
        assert seen.status_code == (200 if access else 404)
        if access:
            owners = world.client.get(f"/api/conversations/{talk.id}").json()
            shown = seen.json()
            costs = {each["id"]: each["usage"] for each in shown["messages"]}
            messages = [{**each, "usage": costs[each["id"]]} for each in owners["messages"]]
            assert shown == {**owners, "access": access, "messages": messages}
            billed = [text(each) for each in billed_to(world, world.bob)]
            assert {each for each, cost in costs.items() if cost} == {
                text(each) for each in talk.messages if text(each) in billed
            }


def compare_message(world: World, message: ExpectedMessage, shown: Shape) -> None:
    content, reasoning = message.content, message.reasoning
    writing = world.writings.get(message.id)
    if writing and message.status == RUNNING:
        content, reasoning = writing.text(), writing.text("reasoning")
    assert (shown["role"], shown["parent_id"]) == (message.role, message.parent)
    assert shown["client_id"] == message.client_id
    assert (shown["content"], shown["reasoning"]) == (content, reasoning or None)
    error = shown["error"] and shown["error"]["code"]
    assert (shown["status"], error) == (message.status, message.error)
    assert tuple(each["name"] for each in shown["attachments"]) == message.files
    assert text(shown["author_id"]) == text(message.author)
    assert (shown["usage"] is not None) == (message.id in billed_to(world, world.alice))


def compare_links(world: World) -> None:
    for link, talk in world.links.items():
        answer = world.client.get(f"/api/conversations/shared/{link}")
        assert answer.status_code == (200 if talk else 404)
        if talk:
            shown = answer.json()
            messages = [(each["role"], each["content"]) for each in shown["messages"]]
            assert {"title": shown["title"], "messages": messages} == talk.shared


def compare_files(world: World) -> None:
    """They last as long as what they are attached to."""
    attached = Attachment.objects.filter(message__account_id=world.alice.pk)
    kept = Upload.objects.filter(account_id=world.alice.pk, expires_at=None)
    assert {each.pk for each in kept} == set(attached.values_list("upload", flat=True))


def compare_writings(world: World) -> None:
    """Jobs end when they shall, and the end is told once."""
    writings = world.writings.items()
    rows = Job.objects.filter(account__in=[world.alice, world.bob])
    jobs = {job.pk: (job.account_id, job.status, job.signal) for job in rows}
    signals = {True: Job.Signal.CANCEL, False: Job.Signal.NONE}
    assert jobs == {
        reply_id: (each.payer, each.job, signals[each.is_unwanted]) for reply_id, each in writings
    }
    ends = Event.objects.filter(stream__in=world.writings, type="reply.ended")
    announced = [reply_id for reply_id, each in writings if each.is_announced]
    assert sorted(ends.values_list("stream_id", flat=True)) == sorted(announced)


def compare_money(world: World) -> None:
    """Each is billed at most once, to who has asked for it, and nothing else is."""
    writings = world.writings.items()
    charges = {reply_id: bank.charge_of(reply_id).status for reply_id in world.writings}
    assert charges == {reply_id: each.charge for reply_id, each in writings}
    for user in (world.alice, world.bob):
        billed = billed_to(world, user)
        paid = LedgerEntry.objects.filter(account=user, kind="charge")
        assert dict(paid.values_list("pk", "delta")) == dict.fromkeys(billed, -2 * COST)
        balance = BALANCE_USD * NUSD_PER_USD - 2 * COST * len(billed)
        assert bank.wallet_of(user).balance == balance


def billed_to(world: World, user: User) -> list[UUID]:
    """The replies that somebody has paid."""
    writings = world.writings.items()
    return [reply_id for reply_id, each in writings if each.is_billed and each.payer == user.pk]
