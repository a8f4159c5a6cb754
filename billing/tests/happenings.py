"""What may happen to three accounts: the calls of every day, and what the rest is drawn from.

The draws are weighted by hand, so that in a few dozen of them calls meet caps, spent allowances and
empty balances.
"""

from dataclasses import dataclass
from datetime import timedelta

from hypothesis import strategies as st

from billing.tests.terms import Plan
from billing.types import ChargeStatus, RequestKey

IN_PLAN, LOCKED, BALANCE_ONLY = "gpt-6-luna", "claude-sonnet-5-5", "kimi-k3"
FREE_MODELS = {IN_PLAN}
# Advanced has less of one model than max: what an operator changed has to work too.
PLANS = {
    plan.key: plan
    for plan in (
        Plan("free", False, {}),
        Plan("starter", False, {IN_PLAN: 5}),
        Plan("pro", False, {IN_PLAN: 10, LOCKED: 3}),
        Plan("max", True, {IN_PLAN: 20, LOCKED: 8}),
        Plan("advanced", True, {IN_PLAN: 15, LOCKED: 30}),
        Plan("enterprise", True, {}, by_contract=True),
    )
}
PERSONAS = ("alice", "bob", "charlie")

# Small numbers collide: balances that just cover a hold, caps that are just reached.
AMOUNTS = st.sampled_from([1, 2, 3, 5, 8, 13, 50, 0])
WHO = st.sampled_from(["alice", "alice", "alice", "bob", "charlie"])
MODELS = st.sampled_from([IN_PLAN, IN_PLAN, LOCKED, BALANCE_ONLY])
PICK = st.integers(0, 99)
NAMES = st.sampled_from(["a", "b"])
SHARES = st.sampled_from(["all", "all", "all", "half", "none", "more"])


@dataclass
class Begin:
    """A call that begins: `via` a key, or in the web app as a chat's message, a title or a job."""

    who: str
    model: str
    worst: int
    via: str
    pick: int
    seconds: int = 600
    reply: str = "comes"
    request_key: RequestKey | None = None


@dataclass
class End:
    """Of a call that is open, or (`late`) may have ended before."""

    pick: int
    status: ChargeStatus
    share: str
    late: bool


@dataclass
class Checkpoint:
    pick: int
    share: str
    its_own: bool


@dataclass
class Wait:
    """Time passes, or runs to a second before the end of the month, or to the end; then a sweep."""

    how_long: timedelta | str
    sweep: bool


Event = Begin | End | Checkpoint | Wait

BEGINS = st.builds(
    Begin,
    who=WHO,
    model=MODELS,
    worst=AMOUNTS,
    via=st.sampled_from(["key"] * 5 + ["job"] * 2 + ["chat", "title"]),
    pick=PICK,
    seconds=st.sampled_from([600, 60, 86_400]),
    reply=st.sampled_from(
        ["comes"] * 5 + ["is asked for again", "is asked for too late", "is lost"]
    ),
    request_key=st.none()
    | st.none()
    | st.builds(RequestKey, st.just("chat"), NAMES, st.sampled_from([b"x", b"x", b"y"])),
)
ENDS = st.builds(
    End,
    pick=PICK,
    status=st.sampled_from(["settled"] * 4 + ["released", "expired"]),
    share=SHARES,
    late=st.booleans(),
)
CHECKPOINTS = st.builds(Checkpoint, pick=PICK, share=SHARES, its_own=st.booleans())
WAITS = st.builds(
    Wait,
    how_long=st.sampled_from(
        [timedelta(seconds=number) for number in (1, 7, 8, 9, 15, 16, 29, 30, 31, 300, 601)]
        + [timedelta(hours=1), timedelta(days=1), timedelta(days=12)]
        + ["to the end of the month", "to a second before"]
    ),
    sweep=st.booleans(),
)
EVENTS = st.lists(
    st.sampled_from([BEGINS] * 6 + [ENDS] * 4 + [CHECKPOINTS, WAITS]).flatmap(lambda kind: kind),
    min_size=2,
    max_size=12,
)
