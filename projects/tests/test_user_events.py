"""Runs in the user's own event stream: what changes in the list of runs, as it changes."""

from events.tests.streams import user_events
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import part


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


def test_a_deleted_run_leaves_the_lists(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"))
    alice.do("DELETE", f"/sessions/{run['id']}")
    assert user_events(alice.user)[-1] == ("project.deleted", {"project_id": run["id"]})
