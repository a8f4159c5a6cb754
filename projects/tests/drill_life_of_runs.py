"""Whatever happens to a run, in any order: it goes on, or stands with a reason, its log says what
it is, and its money is right.

How to live through more lives: tests/lives.py.
"""

from dataclasses import dataclass

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from projects.selectors.messages import messages_of
from projects.tests.world import World
from projects.types import StepKind
from tests.lives import RolledBackLife, live_through

PICK = st.integers(min_value=0, max_value=20)
FATES = [
    *["good"] * 8,
    *["calls"] * 6,
    *["odd", "cut", "fails", "breaks off", "dies", "drains", "refused"],
]
ACTS = [
    *["pause", "resume", "resume", "resume", "cancel", "message", "rename", "budget"],
    *["reassign", "replace", "add", "change", "remove", "finish", "rewrite"],
]


@dataclass
class Step:
    """A step begins or ends."""

    pick: int
    fate: str | None  # None: it begins


STEPS = st.lists(
    st.builds(Step, pick=PICK, fate=st.sampled_from([None, *FATES])), min_size=1, max_size=10
)


class Life(RolledBackLife):
    """Each step is an act of alice's, and then what happens to the run's steps."""

    world: World

    @initialize(
        max_parallel=st.integers(min_value=1, max_value=4),
        budget_usd=st.sampled_from([None, 40]),
        approve_plan=st.booleans(),
        is_planned=st.sampled_from([True, True, False]),
        on_repository=st.booleans(),
    )
    def begins(
        self,
        max_parallel: int,
        budget_usd: int | None,
        approve_plan: bool,
        is_planned: bool,
        on_repository: bool,
    ) -> None:
        self.world = World(
            max_parallel=max_parallel,
            budget_usd=budget_usd,
            approve_plan=approve_plan,
            on_repository=on_repository,
        )
        if is_planned:
            self.world.end(0, "good")

    @rule(what=st.sampled_from(ACTS), pick=PICK, then=STEPS)
    def alice_acts(self, what: str, pick: int, then: list[Step]) -> None:
        self.world.act(what, pick)
        self.happen(then)

    @rule(then=STEPS)
    def goes_on(self, then: list[Step]) -> None:
        self.happen(then)

    @rule(hours=st.sampled_from([1, 30, 800]))
    def time_passes(self, hours: int) -> None:
        self.world.let_pass(hours)

    def happen(self, steps: list[Step]) -> None:
        for step in steps:
            if step.fate is None:
                self.world.begin(step.pick)
            else:
                self.world.end(step.pick, step.fate)

    @invariant()
    def all_is_well(self) -> None:
        if hasattr(self, "world"):
            self.world.check()


@pytest.mark.django_db
@pytest.mark.usefixtures("providers")
@pytest.mark.parametrize("part", range(4))
def test_a_run_goes_on_or_stands_with_a_reason(part: int) -> None:
    """In parts, none of which takes as long as a test may."""
    live_through(Life, lives=50, steps=8)


@pytest.mark.django_db
@pytest.mark.usefixtures("providers")
def test_a_reply_that_comes_after_the_end_is_not_carried_out() -> None:
    world = World(max_parallel=1, budget_usd=None, approve_plan=False)
    world.end(0, "good")
    world.act("message", 0)
    while (step := world.begin(0)) is not None and step.kind != StepKind.REPLY:
        pass
    world.act("cancel", 0)
    for _ in world.active():
        world.end(0, "good")
    world.check()
    assert [each.role for each in messages_of(world.run)] == ["user"]
