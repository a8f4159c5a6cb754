"""What conversations shall be, whatever is done to them: an oracle that knows no database."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from conversations.models import Conversation, Message
from conversations.tests.hand import Call

Shape = dict[str, Any]
Source = Conversation.TitleSource
USER, ASSISTANT = Message.Role.USER, Message.Role.ASSISTANT
RUNNING, COMPLETED, FAILED, CANCELLED = Message.Status
HELD, SETTLED, EXPIRED, RELEASED = "held", "settled", "expired", "released"


@dataclass
class Said:
    """A message. `files` are the names of what goes with it; `error` is why a reply failed;
    `client_id` is what its client calls it."""

    id: UUID
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
    """A conversation. `said` is in the order in which it came."""

    id: UUID
    title: str = ""
    source: str = Source.FIRST_MESSAGE
    space: UUID | None = None
    leaf: UUID | None = None
    said: dict[UUID, Said] = field(default_factory=dict)
    shared: Shape | None = None
    is_pinned: bool = False
    is_deleted: bool = False

    @property
    def running(self) -> Said | None:
        return next((each for each in self.said.values() if each.status == RUNNING), None)

    @property
    def first(self) -> Said | None:
        return next(iter(self.said.values()), None)

    @property
    def characters(self) -> int:
        ended = [each for each in self.said.values() if each.status != RUNNING]
        return sum(len(each.content) + len(each.reasoning) for each in ended)

    def called(self, client_id: str | None) -> Said | None:
        named = (each for each in self.said.values() if client_id and each.client_id == client_id)
        return next(named, None)

    def replies(self, question: Said) -> list[Said]:
        """The oldest first. Another question may follow one whose reply was deleted."""
        said = self.said.values()
        return [each for each in said if (each.parent, each.role) == (question.id, ASSISTANT)]

    def branch(self, leaf: UUID | None) -> list[Said]:
        """From its root to that message."""
        branch: list[Said] = []
        while leaf is not None:
            branch.append(self.said[leaf])
            leaf = branch[-1].parent
        return branch[::-1]

    def given(self, question: Said) -> int:
        """How many messages a model is given with the question, which is among them."""
        earlier = self.branch(question.parent)
        return 1 + sum(each.role == USER or each.content != "" for each in earlier)

    def add(self, question: Said, reply: Said) -> None:
        """The question may be there."""
        self.said |= {question.id: question, reply.id: reply}
        self.leaf = reply.id
        if self.source == Source.FIRST_MESSAGE and not self.title:
            self.title = question.beginning

    def remove(self, message_id: UUID) -> list[Said]:
        """With all that follows it. Returns what is gone."""
        gone = self.after(message_id)
        parent = self.said[message_id].parent
        for each in gone:
            del self.said[each.id]
        if self.leaf not in self.said:
            left = [*self.said.values()] if parent is None else self.after(parent)
            self.leaf = max((each.id for each in left), default=None)
        if self.source == Source.FIRST_MESSAGE:
            self.rename("")
        return gone

    def after(self, message_id: UUID) -> list[Said]:
        """A message, and all that follows it on any branch."""
        said = self.said.values()
        return [each for each in said if self.said[message_id] in self.branch(each.id)]

    def rename(self, title: str) -> None:
        """By its user."""
        self.source = Source.USER if title else Source.FIRST_MESSAGE
        self.title = title or (self.first.beginning if self.first else "")

    def entitle(self, title: str, question_id: UUID) -> bool:
        """By a model, after that message. Is it called so now?"""
        if self.is_deleted or question_id not in self.said or self.source != Source.FIRST_MESSAGE:
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
    and whether its user has been told the end."""

    call: Call
    talk: Talk
    log: list[tuple[str, str]] = field(default_factory=list)
    is_saved: bool = False
    is_unwanted: bool = False
    is_told: bool = False
    charge: str = HELD
    job: str = RUNNING

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

    def let_go(self) -> None:
        """Its user need not wait."""
        self._tell("cancelled")

    def _end(self, error: str | None) -> None:
        self.job = _status(error)
        self._tell(error)

    def _tell(self, error: str | None) -> None:
        is_there = self.call.id in self.talk.said and not self.talk.is_deleted
        if not self.is_told and is_there:
            reply = self.talk.said[self.call.id]
            reply.content, reply.reasoning = self.text(), self.text("reasoning")
            reply.status = _status(error)
            reply.error = error if reply.status == FAILED else None
        self.is_told = True


def _status(error: str | None) -> str:
    if error is None:
        return COMPLETED
    return CANCELLED if error == "cancelled" else FAILED
