"""Runs in the user's own event stream: what changes in the list of runs, as it changes."""

import re

import pytest

from events.tests.streams import user_events
from projects.activity import advice_of
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import BALANCE_ONLY, part
from projects.types import PauseReason


def test_the_lists_of_all_devices_follow_a_run(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), part("b", "a"))
    events = user_events(alice.user)
    assert events[0][0] == "project.created"
    assert {kind for kind, _ in events[1:]} == {"project.updated"}
    [row] = alice.do("GET", "/sessions")
    assert events[-1][1]["project"] == row
    assert row["progress"] == run["progress"] == {"done": 2, "total": 2}
    seen = [data["project"]["status"] for _, data in events]
    assert list(dict.fromkeys(seen)) == ["queued", "running", "completed"]


def test_a_pause_is_told_with_its_reason_and_what_would_help(principal: NewPrincipal) -> None:
    """Nothing has to be asked for to show it."""
    alice = principal(balance_cents=0)
    run = alice.finished(
        part("a", model=BALANCE_ONLY), planner_model="gpt-6-luna", title="Sea", budget_usd=3
    )
    row = user_events(alice.user)[-1][1]["project"]
    told = {name: row[name] for name in ("title", "status", "pause_reason", "advice", "error")}
    assert told == {
        "title": "Sea",
        "status": "paused",
        "pause_reason": "insufficient_balance",
        "advice": "Add balance, and resume. Nothing is lost.",
        "error": run["error"],
    }
    assert run["error"]["code"] == "insufficient_balance"
    assert re.search(
        r"may cost up to \$0\.\d+, .* Add \$\d+\.\d\d at least, and resume", run["error"]["message"]
    )
    assert run["error"]["needed_usd"] > run["error"]["available_usd"] == 0
    assert (row["cost_usd"], row["budget_usd"]) == (run["cost_usd"], 3)
    alice.do("POST", f"/sessions/{run['id']}/control", action="cancel")
    row = user_events(alice.user)[-1][1]["project"]
    assert (row["status"], row["advice"], row["error"]) == ("cancelled", None, None)


@pytest.mark.parametrize("reason", PauseReason)
def test_there_is_advice_for_each_pause(reason: PauseReason) -> None:
    assert advice_of(reason, None)


def test_a_deleted_run_leaves_the_lists(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"))
    alice.do("DELETE", f"/sessions/{run['id']}")
    assert user_events(alice.user)[-1] == ("project.deleted", {"project_id": run["id"]})
