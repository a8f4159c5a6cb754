"""POST /api/project/sessions/{id}/control: pause, resume and cancel a run."""

import pytest

from events.models import Event
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import Principal, Shape, part
from tests.follow import Follower, wait_until

SLOW = {"delay_ms": 40, "tokens": 60}


def control(alice: Principal, run: Shape, action: str) -> Shape:
    shown: Shape = alice.do("POST", f"/sessions/{run['id']}/control", action=action)
    return shown


def events_of(run: Shape) -> list[str]:
    return list(Event.objects.filter(stream=run["id"]).values_list("type", flat=True))


def wait_for_work(follower: Follower) -> None:
    """Until some subtask has written something."""
    wait_until(lambda: any(each["text"] for each in follower.look()["subtasks"]))


def test_a_pause_begins_nothing_new_and_what_runs_goes_on_to_its_end(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.start(goal=alice.goal(part("a"), part("b", "a"), work=SLOW))
    with alice.follow(run) as follower:
        wait_for_work(follower)
        paused = control(alice, run, "pause")
        assert (paused["status"], paused["pause_reason"]) == ("paused", "user")
        assert paused["in_flight"] == 1
        assert paused["activity"] == "Paused. Working on “Part a”."
    last = follower.pictures[-1]
    [a, b] = last["subtasks"]
    assert (last["status"], last["in_flight"], last["activity"]) == ("paused", 0, "Paused.")
    assert [attempt["status"] for attempt in a["attempts"]] == ["completed"]
    assert (b["status"], b["attempts"]) == ("queued", [])
    alice.check_money(last)


def test_a_resumed_run_goes_on_where_it_was(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.start(goal=alice.goal(part("a"), part("b", "a"), work=SLOW))
    with alice.follow(run) as follower:
        wait_for_work(follower)
        control(alice, run, "pause")
        wait_until(lambda: follower.look()["in_flight"] == 0)
        assert control(alice, run, "resume")["status"] == "running"
    last = follower.pictures[-1]
    assert last["status"] == "completed"
    assert [len(each["attempts"]) for each in last["subtasks"]] == [1, 1]


def test_a_step_that_waits_while_its_run_is_paused_is_not_made(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.start(goal=alice.goal(part("a"), plan={"ttft_ms": 300}))
    control(alice, run, "pause")
    with alice.follow(run) as follower:
        wait_until(lambda: follower.look()["in_flight"] == 0)
        control(alice, run, "resume")
    assert follower.pictures[-1]["status"] == "completed"
    alice.check_money(follower.pictures[-1])


def test_a_cancelled_run_is_over_at_once_and_pays_for_what_was_written(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.start(goal=alice.goal(part("a"), part("b", "a"), work=SLOW))
    with alice.follow(run) as follower:
        wait_for_work(follower)
        cancelled = control(alice, run, "cancel")
        assert (cancelled["status"], cancelled["activity"]) == ("cancelled", "Cancelled.")
        assert [each["status"] for each in cancelled["subtasks"]] == ["cancelled", "cancelled"]
    last = follower.pictures[-1]
    assert last["status"] == "cancelled"
    assert last["cost_usd"] > 0
    alice.check_money(last)


def test_what_a_run_is_already_it_stays_without_an_event(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.start(goal=alice.goal(part("a"), plan={"ttft_ms": 400}))
    assert control(alice, run, "resume")["status"] in ("queued", "running")
    control(alice, run, "pause")
    before = events_of(run).count("run.paused")
    assert control(alice, run, "pause")["status"] == "paused"
    assert events_of(run).count("run.paused") == before == 1
    control(alice, run, "cancel")
    assert control(alice, run, "cancel")["status"] == "cancelled"
    assert events_of(run).count("run.cancelled") == 1


@pytest.mark.parametrize("action", ["pause", "resume", "cancel"])
def test_a_run_that_has_completed_is_beyond_control(principal: NewPrincipal, action: str) -> None:
    alice = principal()
    run = alice.finished(part("a"))
    refused = alice.send("POST", f"/sessions/{run['id']}/control", action=action)
    assert refused.status_code == 409
    assert refused.json()["code"] == "invalid_state"
    assert refused.json()["detail"] == f"This run is completed: you cannot {action} it."


@pytest.mark.parametrize("body", [{}, {"action": "stop"}, {"action": 1}, {"action": None}])
def test_other_words_are_422(principal: NewPrincipal, body: Shape) -> None:
    alice = principal()
    run = alice.start(goal=alice.goal(part("a")))
    assert alice.send("POST", f"/sessions/{run['id']}/control", **body).status_code == 422
