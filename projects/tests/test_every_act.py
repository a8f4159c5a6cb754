"""Each endpoint that changes a run is tried under the stream harness (tests/follow.py): socket,
replay, log and run tell the same afterwards, and so do charges and wallet.

An endpoint without a line here fails the last test.
"""

from typing import Any

import pytest

from projects.tests.conftest import NewPrincipal
from projects.tests.principal import part
from tests.documents import assert_same
from tests.endpoints import Endpoint, acts_under

PREFIX = "/api/project/"
SESSION = f"{PREFIX}sessions/{{session_id}}"
# What each is sent; "SUBTASK" is the id of the first subtask.
BODIES: dict[Endpoint, dict[str, Any]] = {
    ("PATCH", SESSION): {
        "title": "Sea",
        "budget_usd": 5,
        "max_output_tokens": 9_000,
        "notify_by_mail": True,
    },
    ("POST", f"{PREFIX}sessions/estimate"): {"prompt": "Write about the sea."},
    ("PATCH", f"{SESSION}/plan"): {"add": [part("c", "b")], "order": ["b"]},
    ("POST", f"{SESSION}/control"): {"action": "resume"},
    ("POST", f"{SESSION}/message"): {"content": "Mind the whales."},
    ("POST", f"{SESSION}/reassign"): {"subtask_id": "SUBTASK", "model_key": "gpt-6-luna"},
    ("POST", f"{SESSION}/replace"): {"subtask_id": "SUBTASK", "content": "Mine."},
}
# The first begins what all tests here follow; of the second nothing is left to be followed; the
# others need staged files (test_changes.py, test_merges.py).
FOLLOWED_ELSEWHERE = {
    ("POST", f"{PREFIX}sessions"),
    ("DELETE", SESSION),
    ("POST", f"{SESSION}/changes/apply"),
    ("POST", f"{SESSION}/changes/discard"),
    ("POST", f"{SESSION}/changes/resolve"),
}


@pytest.mark.parametrize(("method", "path"), BODIES)
def test_all_sides_tell_the_same_after_it(principal: NewPrincipal, method: str, path: str) -> None:
    alice = principal()
    run = alice.finished(part("a", writes=["sea.md"]), part("b", "a"), approve_plan=True)
    subtask_id = run["subtasks"][0]["id"]
    body = {
        name: subtask_id if value == "SUBTASK" else value
        for name, value in BODIES[method, path].items()
    }

    with alice.follow(run) as follower:
        where = path.format(session_id=run["id"]).removeprefix("/api/project")
        alice.do(method, where, **body)
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")

    assert follower.pictures[-1]["status"] == "completed"
    alice.check_money(follower.pictures[-1])


def test_every_endpoint_that_changes_a_run_is_tried() -> None:
    tried = BODIES.keys() | FOLLOWED_ELSEWHERE
    acts = {act for act in acts_under(PREFIX) if not act[1].startswith(f"{PREFIX}workspaces")}
    assert_same(tried, acts, "BODIES in projects/tests/test_every_act.py")
