"""Requests for replies, and what the oracle says of them.

What they do is done step by step, so that one may begin long after it was prepared, as where two
meet.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

import pytest
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from billing.errors import IdempotencyInProgress, IdempotencyMismatch
from billing.tests import bank
from billing.types import RequestKey
from common.errors import DomainError, NotFound
from conversations.errors import (
    MessageExists,
    MessageNotFound,
    ReadOnly,
    ReplyDeleted,
    ReplyRunning,
)
from conversations.models import Conversation, Message
from conversations.selectors.conversations import get_writable
from conversations.selectors.messages import find_earlier, find_sent, get_message, is_answer
from conversations.services import sending
from conversations.services.preparation import (
    PreparedReply,
    prepare_message,
    prepare_regeneration,
    prepare_repeat,
)
from conversations.tests.acts import REFUSED, Conversations, one
from conversations.tests.manual import Call
from conversations.tests.story import (
    ASSISTANT,
    FAILED,
    RUNNING,
    USER,
    ExpectedMessage,
    Shape,
    Talk,
    Writing,
)
from media.files.errors import UploadNotFound
from media.files.models import Upload


@dataclass(eq=False)
class Request:
    """The request of `asker` for a reply: to the `question`, or to something new after `parent`,
    with that `body` and these `files`. `follows`: only while `parent` is the end of the branch that
    is shown. `refusal`: what its preparation is answered with."""

    asker: User
    talk: Talk
    request_key: RequestKey | None
    ask: Callable[[Conversation], PreparedReply]
    question: UUID | None = None
    parent: UUID | None = None
    follows: bool = False
    body: Shape = field(default_factory=dict)
    files: tuple[str, ...] = ()
    refusal: type[DomainError] | None = None
    prepared: PreparedReply | None = None


class World(Conversations):
    """Somebody who has conversations, and has messages answered, as has a member of her team."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Callable[..., None]] = []
        self.waiting: list[Request] = []
        self.named: dict[tuple[UUID, str, str], tuple[bytes, UUID]] = {}

    def say(
        self,
        asker: User,
        talk: Talk,
        where: int,
        words: str,
        file: int,
        name: str | None,
        *,
        waits: bool,
    ) -> None:
        """At the end of the branch that is shown, at the root, or after some message. A file goes
        with every fourth message, and with one without words; every other one has an id of its
        client's, of which there are few."""
        files = () if words and file % 4 else (one([*self.uploads], file),)
        places: list[Shape] = [{}, {}, {"parent_id": None}]
        places += [{"parent_id": each.name} for each in talk.messages.values()]
        place = one(places, where)
        client_id = one([None, "the-id-of-client-A", None, "the-id-of-client-B"], file)
        send = partial(self.send, asker, talk, words, files, place, name, client_id)
        self.sent.append(send)
        send(waits=waits)

    def regenerate(self, asker: User, pick: int, name: str | None, *, waits: bool) -> None:
        if messages := self.messages:
            send = partial(self.send_message, asker, *one(messages, pick), name)
            self.sent.append(send)
            send(waits=waits)

    def send_again(self, pick: int, *, waits: bool) -> None:
        """The very request."""
        if self.sent:
            one(self.sent, pick)(waits=waits)

    def send(
        self,
        asker: User,
        talk: Talk,
        words: str,
        files: tuple[str, ...],
        place: Shape,
        name: str | None,
        client_id: str | None,
        *,
        waits: bool,
    ) -> None:
        upload_ids = [self.uploads[each] for each in files]
        parent = place.get("parent_id", talk.leaf)
        parent = next((each.id for each in talk.messages.values() if each.name == parent), parent)
        refusal: type[DomainError] | None = None
        if parent is not None and parent not in talk.messages:
            refusal = MessageNotFound
        elif any(is_gone(each, asker) for each in upload_ids):
            refusal = UploadNotFound
        elif any(each.status == RUNNING for each in talk.branch(parent)):
            refusal = ReplyRunning
        body: Shape = {"content": words, "upload_ids": upload_ids, "client_id": client_id, **place}
        request = Request(
            asker,
            talk,
            once_of(f"/{talk.id}", name, str(body)),
            partial(prepare_message, asker, **body),
            parent=parent,
            follows=not place,
            body=body,
            files=files,
            refusal=refusal,
        )
        self.request(request, waits=waits)

    def send_message(
        self, asker: User, talk: Talk, message: ExpectedMessage, name: str | None, *, waits: bool
    ) -> None:
        def ask(conversation: Conversation) -> PreparedReply:
            row = get_message(asker, talk.id, message.name)
            return prepare_regeneration(asker, conversation, row)

        # It may be deleted, and another message have its client's id.
        named = [each for each in talk.messages.values() if each.name == message.name]
        message = named[0] if named else message
        request_key = once_of(f"/{talk.id}/{message.id}", name, "")
        question = message.id if message.role == USER else message.parent
        refusal = None if named else NotFound
        self.request(
            Request(asker, talk, request_key, ask, question=question, refusal=refusal),
            waits=waits,
        )

    def stop(self, asker: User, pick: int) -> None:
        if messages := self.messages:
            talk, message = one(messages, pick)
            path = f"/{talk.id}/messages/{message.name}/stop"
            client = self.client if asker == self.alice else self.member
            if refused := REFUSED.get(self.access(asker, talk)):
                self.ask("POST", path, expected=refused, client=client)
                return
            replies = talk.replies(message) if message.role == USER else [message]
            if not replies:
                self.ask("POST", path, expected=404, client=client)
                return
            reply = replies[-1]
            runs = reply.status == RUNNING
            self.ask("POST", path, expected=202 if runs else 200, client=client)
            if runs:
                self.writings[reply.id].is_unwanted = True

    def request(self, request: Request, *, waits: bool) -> None:
        """What the view does, as far as the reply is prepared."""
        asker, talk, request_key = request.asker, request.talk, request.request_key
        if refusal := self.no_access(request):
            with pytest.raises(refusal):
                get_writable(asker, talk.id)
            return
        conversation = get_writable(asker, talk.id)
        if self.is_anothers(request):
            with pytest.raises(IdempotencyMismatch):
                find_earlier(asker, request_key)
            return
        if self.is_made_gone(request):
            with pytest.raises(ReplyDeleted):
                find_earlier(asker, request_key)
            return
        earlier, made = find_earlier(asker, request_key), self.made(request)
        sent = talk.called(request.body.get("client_id"))
        if made is None and sent is not None:
            if not self.is_same(request, sent):
                with pytest.raises(MessageExists):
                    find_sent(asker, conversation, request.body)
                return
            if not talk.own_replies(sent):
                with pytest.raises(ReplyDeleted):
                    find_sent(asker, conversation, request.body)
                return
            earlier = find_sent(asker, conversation, request.body)
            made = talk.own_replies(sent)[-1]
        assert (earlier and earlier.pk) == (made and made.id)
        if earlier and made:
            if made.status == RUNNING:
                with pytest.raises(IdempotencyInProgress):
                    is_answer(earlier)
                return
            assert is_answer(earlier) != self.is_to_be_repeated(made)
            if not self.is_to_be_repeated(made):
                return
            ask = partial(prepare_repeat, asker, failed=earlier)
            request = Request(
                asker, talk, request_key, ask, question=made.parent, parent=made.id, follows=True
            )
        if request.refusal is not None:
            with pytest.raises(request.refusal):
                request.ask(conversation)
            return
        request.prepared = request.ask(conversation)
        self.waiting.append(request)
        if not waits:
            self.go_on(-1)

    def go_on(self, pick: int) -> None:
        """With a request, before which something may have come since it was prepared."""
        if not self.waiting:
            return
        request = self.waiting.pop(pick % len(self.waiting))
        assert request.prepared is not None
        begin = partial(
            sending.start,
            prepared=request.prepared,
            request_key=request.request_key,
            owner_id=self.owner,
            request_id="req_test",
        )
        if refusal := self.refusal_of(request):
            with pytest.raises(refusal):
                begin()
            return
        started = begin()
        if isinstance(started, Message):
            made = self.made(request)
            assert made is not None
            assert (started.pk, self.is_to_be_repeated(made)) == (made.id, False)
        else:
            self.started(request, Call(started, self.owner))

    def is_same(self, request: Request, sent: ExpectedMessage) -> bool:
        """Is it the message that was sent before with its id?"""
        is_there = request.follows or request.parent == sent.parent
        asked = (request.asker.pk, request.body["content"], request.files)
        return is_there and asked == (sent.author, sent.content, sent.files)

    def no_access(self, request: Request) -> type[DomainError] | None:
        """Why its sender may not write there, if it is so."""
        access = self.access(request.asker, request.talk)
        return NotFound if access is None else ReadOnly if access == "read" else None

    def called_so(self, request: Request) -> tuple[bytes, UUID] | None:
        """The digest and the reply of its sender's request of that name."""
        key = request.request_key
        return None if key is None else self.named.get((request.asker.pk, key.route, key.key))

    def is_anothers(self, request: Request) -> bool:
        """Does its name stand for another request?"""
        named, key = self.called_so(request), request.request_key
        return named is not None and key is not None and named[0] != key.digest

    def refusal_of(self, request: Request) -> type[DomainError] | None:
        """Of what was prepared before."""
        talk = request.talk
        if self.is_anothers(request):
            return IdempotencyMismatch
        if self.is_made_gone(request):
            return ReplyDeleted
        if made := self.made(request):
            is_again = self.is_to_be_repeated(made)
            if made.status == RUNNING or (is_again and request.question is None):
                return IdempotencyInProgress
            if not is_again:
                return None
        if refusal := self.no_access(request):
            return refusal
        is_new = request.question is None
        if is_new and talk.called(request.body["client_id"]):
            return IdempotencyInProgress
        if talk.running or (request.follows and talk.leaf != request.parent):
            return ReplyRunning
        anchor = request.parent if is_new else request.question
        if anchor is not None and anchor not in talk.messages:
            return NotFound
        is_lost = is_new and any(
            is_gone(self.uploads[each], request.asker) for each in request.files
        )
        return UploadNotFound if is_lost else None

    def started(self, request: Request, call: Call) -> None:
        asker, talk, started = request.asker.pk, request.talk, call.started
        if request.question is None:
            content, parent = started.question.content, request.parent
            question = ExpectedMessage(
                started.question.pk,
                asker,
                USER,
                parent,
                content,
                files=request.files,
                client_id=request.body["client_id"],
            )
        else:
            question = talk.messages[request.question]
        assert started.question.pk == question.id
        given = started.reply.context
        assert given["messages"] + given["omitted"] == talk.given(question)
        talk.add(question, ExpectedMessage(call.id, asker, ASSISTANT, question.id, status=RUNNING))
        self.writings[call.id] = Writing(call, talk)
        self.owner = bank.live_owner()
        if request_key := request.request_key:
            named = (asker, request_key.route, request_key.key)
            self.named[named] = (request_key.digest, call.id)

    def made(self, request: Request) -> ExpectedMessage | None:
        """The reply that the very request has brought."""
        named = self.called_so(request)
        if named is None or request.talk.is_deleted or self.is_anothers(request):
            return None
        return request.talk.messages.get(named[1])

    def is_made_gone(self, request: Request) -> bool:
        """Was the reply that the very request has brought deleted, and its conversation not?"""
        named, talk = self.called_so(request), request.talk
        if named is None or talk.is_deleted or self.is_anothers(request):
            return False
        return named[1] not in talk.messages

    def is_to_be_repeated(self, reply: ExpectedMessage) -> bool:
        return reply.status == FAILED and not self.writings[reply.id].is_billed


def once_of(route: str, name: str | None, body: str) -> RequestKey | None:
    return None if name is None else RequestKey(route, name, body.encode())


def is_gone(upload_id: UUID, user: User) -> bool:
    """Has the user no such file, or not any more?"""
    there = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return not Upload.objects.filter(there, pk=upload_id, account=user).exists()
