"""What conversations shall be, whatever is done to them: an oracle that knows no database."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from conversations.models import Conversation, Message
from conversations.tests.manual import Call

Shape = dict[str, Any]
Source = Conversation.TitleSource
USER, ASSISTANT = Message.Role.USER, Message.Role.ASSISTANT
RUNNING, COMPLETED, FAILED, CANCELLED = Message.Status
HELD, SETTLED, EXPIRED, RELEASED = "held", "settled", "expired", "released"


@dataclass
class ExpectedMessage:
    """A message. `author` has sent it, or asked for it; `files` are the names of what goes with it;
    `error` is why a reply failed; `client_id` is what its client calls it."""

    id: UUID
    author: UUID
    role: str
    parent: UUID | None
    content: str = ""
    reasoning: str = ""
    status: str = COMPLETED
    error: str | None = None
    files: tuple[str, ...] = ()
    client_id: str | None = None

    @property
    def name(self) -> UUID | str:
        """What its client names it by."""
        return self.client_id or self.id

    @property
    def beginning(self) -> str:
        return self.content or next(iter(self.files), "")


@dataclass
class Talk:
    """A conversation. `messages` is in the order in which it came."""

    id: UUID
    title: str = ""
    source: str = Source.FIRST_MESSAGE
    space: UUID | None = None
    leaf: UUID | None = None
    messages: dict[UUID, ExpectedMessage] = field(default_factory=dict)
    shared: Shape | None = None
    is_pinned: bool = False
    is_deleted: bool = False

    @property
    def running(self) -> ExpectedMessage | None:
        return next((each for each in self.messages.values() if each.status == RUNNING), None)

    @property
    def first(self) -> ExpectedMessage | None:
        return next(iter(self.messages.values()), None)

    @property
    def characters(self) -> int:
        ended = [each for each in self.messages.values() if each.status != RUNNING]
        return sum(len(each.content) + len(each.reasoning) for each in ended)

    def called(self, client_id: str | None) -> ExpectedMessage | None:
        named = (
            each for each in self.messages.values() if client_id and each.client_id == client_id
        )
        return next(named, None)

    def replies(self, question: ExpectedMessage) -> list[ExpectedMessage]:
        """The oldest first. Another question may follow one whose reply was deleted."""
        messages = self.messages.values()
        return [each for each in messages if (each.parent, each.role) == (question.id, ASSISTANT)]

    def own_replies(self, question: ExpectedMessage) -> list[ExpectedMessage]:
        """Those that its author has asked for."""
        return [each for each in self.replies(question) if each.author == question.author]

    def branch(self, leaf: UUID | None) -> list[ExpectedMessage]:
        """From its root to that message."""
        branch: list[ExpectedMessage] = []
        while leaf is not None:
            branch.append(self.messages[leaf])
            leaf = branch[-1].parent
        return branch[::-1]

    def given(self, question: ExpectedMessage) -> int:
        """How many messages a model is given with the question, which is among them."""
        earlier = self.branch(question.parent)
        return 1 + sum(each.role == USER or each.content != "" for each in earlier)

    def add(self, question: ExpectedMessage, reply: ExpectedMessage) -> None:
        """The question may be there."""
        self.messages |= {question.id: question, reply.id: reply}
        self.leaf = reply.id
        if self.source == Source.FIRST_MESSAGE and not self.title:
            self.title = question.beginning

    def remove(self, message_id: UUID) -> list[ExpectedMessage]:
        """With all that follows it. Returns what is gone."""
        gone = self.after(message_id)
        parent = self.messages[message_id].parent
        for each in gone:
            del self.messages[each.id]
        if self.leaf not in self.messages:
            left = [*self.messages.values()] if parent is None else self.after(parent)
            self.leaf = max((each.id for each in left), default=None)
        if self.source == Source.FIRST_MESSAGE:
            self.rename("")
        return gone

    def after(self, message_id: UUID) -> list[ExpectedMessage]:
        """A message, and all that follows it on any branch."""
        messages = self.messages.values()
        return [each for each in messages if self.messages[message_id] in self.branch(each.id)]

    def rename(self, title: str) -> None:
        """By its user."""
        self.source = Source.USER if title else Source.FIRST_MESSAGE
        self.title = title or (self.first.beginning if self.first else "")

    def entitle(self, title: str, question_id: UUID) -> bool:
        """By a model, after that message. Is it called so now?"""
        if (
            self.is_deleted
            or question_id not in self.messages
            or self.source != Source.FIRST_MESSAGE
        ):
            return False
        self.title, self.source = title, Source.MODEL
        return True

    def public(self) -> Shape:
        """What others read once it is shared now."""
        branch = self.branch(self.leaf)
        is_its_own = self.source == Source.USER or not branch
        is_of_these = self.source == Source.MODEL and branch[:1] == [self.first]
        shown = [each for each in branch if each.status != RUNNING and each.content]
        return {
            "title": self.title if is_its_own or is_of_these else branch[0].content,
            "messages": [(each.role, each.content) for each in shown],
        }


@dataclass
class Writing:
    """A reply as its process sees it: what its log has, what has become of its charge and its job,
    and whether its user has been sent the end."""

    call: Call
    talk: Talk
    log: list[tuple[str, str]] = field(default_factory=list)
    is_saved: bool = False
    is_unwanted: bool = False
    is_announced: bool = False
    charge: str = HELD
    job: str = RUNNING

    @property
    def payer(self) -> UUID:
        return self.call.started.call.account_id

    @property
    def is_billed(self) -> bool:
        return self.charge in (SETTLED, EXPIRED)

    @property
    def length(self) -> int:
        """Of its log, in code points."""
        return sum(len(text) for _, text in self.log)

    def text(self, kind: str = "text") -> str:
        return "".join(text for each, text in self.log if each == kind)

    def expire(self) -> None:
        """Nobody settles it."""
        if self.charge == HELD:
            self.charge = EXPIRED if self.is_saved else RELEASED

    def conclude(self, charge: str, error: str | None) -> None:
        """Its process ends it. Whoever has let its charge expire has interrupted it."""
        if self.charge == HELD:
            self.charge = charge
        else:
            error = "interrupted"
        self._end(error)

    def give_up(self, error: str) -> None:
        """Nobody can conclude it."""
        self.expire()
        self._end("cancelled" if self.is_unwanted else error)

    def release_readers(self) -> None:
        """Its user need not wait."""
        self._announce("cancelled")

    def _end(self, error: str | None) -> None:
        self.job = _status(error)
        self._announce(error)

    def _announce(self, error: str | None) -> None:
        is_there = self.call.id in self.talk.messages and not self.talk.is_deleted
        if not self.is_announced and is_there:
            reply = self.talk.messages[self.call.id]
            reply.content, reply.reasoning = self.text(), self.text("reasoning")
            reply.status = _status(error)
            reply.error = error if reply.status == FAILED else None
        self.is_announced = True


def _status(error: str | None) -> str:
    if error is None:
        return COMPLETED
    return CANCELLED if error == "cancelled" else FAILED
