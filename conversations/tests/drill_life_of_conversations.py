"""Whatever is done to conversations, in any order: they are as an oracle says, and so are the jobs,
the logs and the money of their replies.

What happens at the same moment is for test_at_once.py.

How to live through more lives: tests/lives.py.
"""

from dataclasses import dataclass
from typing import get_args

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from ai.generations.types import Kind
from ai.inference.errors import AnswerInterrupted, CallCancelled
from billing.services.reconciliation import find_violations
from common.errors import DomainError
from conversations.tests.acts import one
from conversations.tests.comparing import compare
from conversations.tests.world import World
from tests.lives import RolledBackLife, live_through

PICK = st.integers(min_value=0, max_value=100)
SIMPLE = {
    "go on": World.go_on,
    "release": World.release,
    "release readers": World.release_readers_of,
    "die": World.die,
}
WHAT = [
    *["say"] * 3,
    *["delete", "delete message", "regenerate", "send again", "write", "settle", "settle", "stop"],
    *SIMPLE,
]


@dataclass
class Act:
    """What happens every day."""

    what: str
    by_member: bool
    pick: int
    where: int
    words: str
    name: str | None  # few, so that they meet
    kind: Kind
    is_late: bool
    failure: DomainError | None


DAYS = st.lists(
    st.builds(
        Act,
        what=st.sampled_from(WHAT),
        by_member=st.booleans(),
        pick=PICK,
        where=PICK,
        words=st.sampled_from(["How deep?", "And how blue? 🌊", ""]),
        name=st.sampled_from([None, "a", "b"]),
        kind=st.sampled_from(get_args(Kind)),
        is_late=st.booleans(),
        failure=st.sampled_from([None, None, AnswerInterrupted(), CallCancelled()]),
    ),
    max_size=10,
)


class Life(RolledBackLife):
    """Each step is something rare, and then what happens every day: hypothesis leaves some of the
    rules out of each life, and no life shall be without replies."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.world.upload()
        self.world.make_space()
        self.world.open_space(0)
        self.world.begin_conversation(0)

    @rule(then=DAYS)
    def goes_on(self, then: list[Act]) -> None:
        self.happen(then)

    @rule(pick=PICK, then=DAYS)
    def a_conversation_begins(self, pick: int, then: list[Act]) -> None:
        if len(self.world.talks) < 3:
            self.world.begin_conversation(pick)
        self.happen(then)

    @precondition(lambda self: self.world.talks)
    @rule(
        what=st.sampled_from(
            ["rename", "rename by member", "entitle", "switch", "pin", "pin", "delete all"]
        ),
        pick=PICK,
        title=st.sampled_from(["Mine", ""]),
        then=DAYS,
    )
    def a_conversation_changes(self, what: str, pick: int, title: str, then: list[Act]) -> None:
        talk = one([*self.world.talks.values()], pick)
        match what:
            case "rename":
                self.world.rename(talk, title)
            case "rename by member":
                self.world.rename_by_member(talk, title)
            case "entitle":
                self.world.entitle(pick)
            case "switch":
                self.world.switch(pick)
            case "pin":
                self.world.pin(talk)
            case "delete all":
                self.world.delete_all()
        self.happen(then)

    @precondition(lambda self: self.world.talks)
    @rule(pick=PICK, then=DAYS)
    def a_request_is_sent_again(self, pick: int, then: list[Act]) -> None:
        """Twice at once, of which nothing comes, and then once more."""
        world = self.world
        talk, sent = one([*world.talks.values()], pick), len(world.sent)
        world.settle_all()
        name = f"again {sent}"
        world.say(world.alice, talk, 0, "How deep?", pick, name, waits=True)
        second = world.waiting[-1:]
        world.send_again(sent, waits=False)
        world.release(-1)
        self.happen(then)
        world.settle_all()
        world.send_again(sent, waits=False)
        for request in second:
            if request in world.waiting:
                world.go_on(world.waiting.index(request))

    @precondition(lambda self: self.world.talks)
    @rule(how=st.sampled_from(["", "move", "leave", "read", "take back"]), pick=PICK, then=DAYS)
    def a_member_writes(self, how: str, pick: int, then: list[Act]) -> None:
        """And may not any more when the reply is to begin, or may still."""
        world = self.world
        talk = one([*world.talks.values()], pick)
        world.settle_all()
        world.let_write(talk)
        world.say(world.bob, talk, 0, "How deep?", pick, None, waits=True)
        begins = world.waiting[-1:]
        world.end_access(talk, how)
        for request in begins:
            world.go_on(world.waiting.index(request))
        self.happen(then)

    @rule(
        what=st.sampled_from(["make", "open", "open", "move", "move", "delete", "join or leave"]),
        pick=PICK,
        then=DAYS,
    )
    def a_space(self, what: str, pick: int, then: list[Act]) -> None:
        if what == "join or leave":
            self.world.join_or_leave()
        elif what == "make" or not self.world.spaces:
            self.world.make_space()
        elif what == "open":
            self.world.open_space(pick)
        elif what == "delete":
            self.world.delete_space(pick)
        elif talks := [*self.world.talks.values()]:
            self.world.move(one(talks, pick), pick // len(talks))
        self.happen(then)

    @precondition(lambda self: self.world.talks)
    @rule(revokes=st.booleans(), pick=PICK, then=DAYS)
    def a_link(self, revokes: bool, pick: int, then: list[Act]) -> None:
        talk = one([*self.world.talks.values()], pick)
        self.world.share(talk)
        self.happen(then)
        if revokes and not talk.is_deleted:
            self.world.revoke(talk)

    @rule(then=DAYS)
    def an_upload(self, then: list[Act]) -> None:
        self.world.upload()
        self.happen(then)

    @rule(what=st.sampled_from(["drains", "is thought dead", "repeats"]), pick=PICK, then=DAYS)
    def a_process(self, what: str, pick: int, then: list[Act]) -> None:
        match what:
            case "drains":
                self.world.drain(pick)
            case "is thought dead":
                self.world.lose_the_charge(pick)
            case "repeats":
                self.world.end_again(pick)
        self.happen(then)

    # --- What holds after every step ------------------------------------------------------------

    @invariant()
    def the_invariants_of_money_hold(self) -> None:
        assert find_violations() == []

    @invariant()
    def all_is_as_the_oracle_says(self) -> None:
        compare(self.world)

    # --- How it is done -------------------------------------------------------------------------

    def happen(self, acts: list[Act]) -> None:
        for act in acts:
            self.act(act, self.world)

    def act(self, act: Act, world: World) -> None:
        asker = world.bob if act.by_member else world.alice
        match act.what:
            case "say" | "delete" if not world.talks:
                world.begin_conversation(act.pick)
            case "say":
                talk = one([*world.talks.values()], act.pick)
                where = (act.where, act.words, act.pick, act.name)
                world.say(asker, talk, *where, waits=act.is_late)
            case "delete":
                world.delete(one([*world.talks.values()], act.pick))
            case "delete message":
                world.delete_message(act.pick)
            case "regenerate":
                world.regenerate(asker, act.pick, act.name, waits=act.is_late)
            case "stop":
                world.stop(asker, act.pick)
            case "send again":
                world.send_again(act.pick, waits=act.is_late)
            case "write":
                world.write(act.pick, act.kind, saves=act.is_late)
            case "settle":
                world.settle(act.pick, act.failure)
            case _:
                SIMPLE[act.what](world, act.pick)


@pytest.mark.django_db
@pytest.mark.usefixtures("providers")
def test_lives_of_conversations() -> None:
    live_through(Life, lives=6, steps=12)
