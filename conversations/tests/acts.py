"""Somebody's conversations, changed through the web interface by her and by a member of her team,
and what the oracle says of them: whatever is done is done to both.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from billing.tests import bank
from billing.tests.web_app import client_of
from billing.types import Ending
from conversations.selectors.access import OWNER
from conversations.services import titles
from conversations.tests.manual import COST
from conversations.tests.sharers import put_together
from conversations.tests.speaker import BALANCE_ONLY
from conversations.tests.story import (
    RUNNING,
    ExpectedMessage,
    Shape,
    Talk,
)
from conversations.tests.writers import Writers
from media.files.models import Upload
from teams.models import Member, Team
from tests.personas import new_user

BALANCE_USD = 1_000
WRITE = "write"
# How a change is answered to those who may not make it.
REFUSED: dict[str | None, int] = {None: 404, "read": 403}
T = TypeVar("T")


class Conversations(Writers):
    """What happens to which of them is picked by a number."""

    def __init__(self) -> None:
        super().__init__(new_user("alice", plan="max", balance_usd=BALANCE_USD))
        self.client = client_of(self.alice)
        self.bob = new_user("bob", plan="max", balance_usd=BALANCE_USD)
        self.is_together = False
        self.join_or_leave()
        self.member = client_of(self.bob)
        # What alice's team may do in her spaces.
        self.opened: dict[UUID | None, str | None] = {}
        self.owner = bank.live_owner()
        self.talks: dict[UUID, Talk] = {}
        self.spaces: list[UUID] = []
        self.uploads: dict[str, UUID] = {}
        # Where links lead; None: nowhere any more.
        self.links: dict[str, Talk | None] = {}

    # --- Conversations ----------------------------------------------------------------------------

    def begin_conversation(self, pick: int) -> None:
        space = one([*self.spaces, None], pick)
        body = {"model": BALANCE_ONLY, "space_id": text(space)}
        talk = Talk(UUID(self.ask("POST", "", body)["id"]), space=space)
        self.talks[talk.id] = talk

    def rename(self, talk: Talk, title: str) -> None:
        self.ask("PATCH", f"/{talk.id}", {"title": title})
        talk.rename(title)

    def rename_by_member(self, talk: Talk, title: str) -> None:
        """As far as the space is open."""
        answer = self.member.patch(f"/api/conversations/{talk.id}", {"title": title}, format="json")
        access = self.access(self.bob, talk)
        assert answer.status_code == REFUSED.get(access, 200)
        if access == WRITE:
            talk.rename(title)

    def entitle(self, pick: int) -> None:
        """By a model, whose call for the title of some message may have taken until now."""
        if not self.writings:
            return
        writing = one([*self.writings.values()], pick)
        talk, question_id = writing.talk, writing.call.started.question.pk
        _, charge = bank.hold(self.alice, COST, owner=self.owner, funding="platform")
        ending = Ending(charge, self.alice.pk, "settled", COST, {"tokens_in": 5, "tokens_out": 10})
        _, title = titles.conclude(question_id=question_id, ending=ending, title="Made")
        assert title == ("Made" if talk.entitle("Made", question_id) else None)

    def switch(self, pick: int) -> None:
        """To another branch."""
        if messages := self.messages:
            talk, message = one(messages, pick)
            self.ask("PATCH", f"/{talk.id}", {"active_leaf_id": text(message.name)})
            talk.leaf = message.id

    def move(self, talk: Talk, pick: int) -> None:
        space = one([*self.spaces, None], pick)
        self.ask("PATCH", f"/{talk.id}", {"space_id": text(space)})
        talk.space = space

    def pin(self, talk: Talk) -> None:
        talk.is_pinned = not talk.is_pinned
        self.ask("PATCH", f"/{talk.id}", {"pinned": talk.is_pinned})

    def delete(self, talk: Talk) -> None:
        self.ask("DELETE", f"/{talk.id}")
        self.forget(talk)

    def delete_all(self) -> None:
        """All that there are, and one that is none."""
        ids = [text(talk_id) for talk_id in self.talks]
        answer = self.ask("POST", "/delete", {"ids": [*ids, text(self.alice.pk)]})
        assert sorted(answer["deleted"]) == sorted(filter(None, ids))
        for talk in [*self.talks.values()]:
            self.forget(talk)

    def delete_message(self, pick: int) -> None:
        if messages := self.messages:
            talk, message = one(messages, pick)
            path = f"/{talk.id}/messages/{message.name}"
            self.ask("DELETE", path)
            for each in talk.remove(message.id):
                if each.status == RUNNING:
                    self.writings[each.id].is_unwanted = True
            self.ask("GET", path, expected=404)

    def forget(self, talk: Talk) -> None:
        """One that is deleted."""
        self.ask("GET", f"/{talk.id}", expected=404)
        if talk.running:
            self.writings[talk.running.id].is_unwanted = True
        talk.is_deleted = True
        del self.talks[talk.id]
        self.void_link(talk)

    def make_space(self) -> None:
        made = self.client.post("/api/spaces", {"name": "Sea"}, format="json")
        self.spaces.append(UUID(made.json()["id"]))

    def open_space(self, pick: int) -> None:
        """To the team, or take it back."""
        space = one(self.spaces, pick)
        self.share_space(space, one([WRITE, "read", None], pick // len(self.spaces)))

    def share_space(self, space: UUID, shared: str | None) -> None:
        body = {"shared": shared}
        answer = self.client.patch(f"/api/spaces/{space}", body, format="json")
        assert answer.json()["shared"] == shared
        self.opened[space] = shared

    def let_write(self, talk: Talk) -> None:
        """Let the other member write in a conversation."""
        if talk.space is None:
            if not self.spaces:
                self.make_space()
            self.move(talk, 0)
        assert talk.space is not None
        self.share_space(talk.space, WRITE)
        if not self.is_together:
            self.join_or_leave()

    def end_access(self, talk: Talk, how: str) -> None:
        """Of the other member, who writes in that conversation."""
        match how:
            case "move":
                self.move(talk, len(self.spaces))
            case "leave":
                self.join_or_leave()
            case "read" | "take back":
                assert talk.space is not None
                self.share_space(talk.space, how if how == "read" else None)

    def join_or_leave(self) -> None:
        """The other member of the team."""
        if self.is_together:
            Member.objects.filter(account=self.bob).delete()
        elif team := Team.objects.filter(members__account=self.alice).first():
            Member.objects.create(account=self.bob, team=team, role="member")
        else:
            put_together(self.alice, self.bob)
        self.is_together = not self.is_together

    def delete_space(self, pick: int) -> None:
        space = one(self.spaces, pick)
        self.spaces.remove(space)
        self.opened.pop(space, None)
        assert self.client.delete(f"/api/spaces/{space}").status_code == 204
        for talk in self.talks.values():
            talk.space = None if talk.space == space else talk.space

    def share(self, talk: Talk) -> None:
        path, shown = f"/{talk.id}/share", talk.public()
        if not shown["messages"]:
            self.ask("POST", path, expected=409)
            return
        link = self.ask("POST", path, expected=200 if talk.shared else 201)["share_token"]
        assert (self.links.get(link) is talk) == (talk.shared is not None)
        talk.shared = shown
        self.links[link] = talk

    def revoke(self, talk: Talk) -> None:
        self.ask("DELETE", f"/{talk.id}/share", expected=204 if talk.shared else 404)
        talk.shared = None
        self.void_link(talk)

    def void_link(self, talk: Talk) -> None:
        self.links = {link: None if of is talk else of for link, of in self.links.items()}

    def upload(self) -> None:
        upload = Upload.objects.create(
            account=self.alice,
            name=f"{len(self.uploads)}.bin",
            media_type="application/octet-stream",
            is_text=False,
            size=7,
            expires_at=timezone.now() + timedelta(days=1),
        )
        self.uploads[upload.name] = upload.pk

    # --- How it is done ---------------------------------------------------------------------------

    def access(self, user: User, talk: Talk) -> str | None:
        """What somebody may do with a conversation; None: they do not see it."""
        if talk.is_deleted:
            return None
        if user == self.alice:
            return OWNER
        return self.opened.get(talk.space) if self.is_together else None

    @property
    def messages(self) -> list[tuple[Talk, ExpectedMessage]]:
        return [(talk, each) for talk in self.talks.values() for each in talk.messages.values()]

    def ask(
        self,
        method: str,
        path: str,
        body: Shape | None = None,
        *,
        expected: int = 0,
        client: APIClient | None = None,
    ) -> Any:
        call = getattr(client or self.client, method.lower())
        answer = call(f"/api/conversations{path}", body, format="json" if body else None)
        assert answer.status_code in ([expected] if expected else range(200, 300))
        return answer.json() if answer.content else None


def one(items: Sequence[T], pick: int) -> T:
    """The last as often as the first."""
    return items[pick % len(items)]


def text(value: UUID | str | None) -> str | None:
    return None if value is None else str(value)
