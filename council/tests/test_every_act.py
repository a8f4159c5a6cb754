"""Each endpoint that changes a council is tried under the stream harness (tests/follow.py): socket,
replay, log and session tell the same afterwards, and so do charges and wallet.

An endpoint without a line here fails the last test.
"""

from typing import Any

import pytest

from council.tests.conftest import NewOwner
from council.tests.owner import BALANCE_ONLY, IN_PLAN
from tests.documents import assert_same
from tests.endpoints import Endpoint, acts_under

PREFIX = "/api/council/"
SESSION, CARD = f"{PREFIX}sessions/{{session_id}}", f"{PREFIX}cards/{{card_id}}"
# What each is sent; `content`, `prompt` and `instructions` are marked for the simulator.
BODIES: dict[Endpoint, dict[str, Any]] = {
    ("PATCH", SESSION): {"title": "Sea"},
    ("POST", f"{SESSION}/stop"): {},
    ("POST", f"{SESSION}/cards"): {"model_key": IN_PLAN, "prompt": "How wide is it?"},
    ("POST", f"{SESSION}/chat"): {"content": "Why?"},
    ("POST", f"{SESSION}/chat/estimate"): {"content": "Why?"},
    ("POST", f"{SESSION}/merge"): {"mode": "guided", "instructions": "Be brief."},
    ("POST", f"{SESSION}/merge/estimate"): {"mode": "fuse"},
    ("POST", f"{SESSION}/debate"): {"rounds": 1},
    ("POST", f"{SESSION}/debate/estimate"): {"rounds": 1},
    ("POST", f"{PREFIX}sessions/estimate"): {"prompt": "How deep?", "models": [IN_PLAN]},
    ("DELETE", CARD): {},
    ("POST", f"{CARD}/stop"): {},
    ("POST", f"{CARD}/regenerate"): {"model_key": BALANCE_ONLY},
    ("POST", f"{CARD}/restore"): {"version": 1},
    ("POST", f"{CARD}/messages"): {"content": "Why?"},
    ("POST", f"{CARD}/continue"): {},
}
# The first begins what all tests here follow; of the second nothing is left to be followed.
FOLLOWED_ELSEWHERE = {("POST", f"{PREFIX}sessions"), ("DELETE", SESSION)}


@pytest.mark.parametrize(("method", "path"), BODIES)
def test_all_sides_tell_the_same_after_it(owner: NewOwner, method: str, path: str) -> None:
    alice = owner()
    session = alice.finished(IN_PLAN, BALANCE_ONLY)
    where = path.format(session_id=session["id"], card_id=session["cards"][0]["id"])
    marked = {"content", "prompt", "instructions"}
    body = {
        name: alice.text(words=value) if name in marked else value
        for name, value in BODIES[method, path].items()
    }

    with alice.follow(session) as follower:
        alice.do(method, where.removeprefix("/api/council"), **body)

    alice.check_money(follower.pictures[-1])


def test_every_endpoint_that_changes_a_council_is_tried() -> None:
    tried = BODIES.keys() | FOLLOWED_ELSEWHERE
    assert_same(tried, acts_under(PREFIX), "BODIES in council/tests/test_every_act.py")
