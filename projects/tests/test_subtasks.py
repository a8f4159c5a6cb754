"""POST /api/project/sessions/{id}/reassign and /replace: what a user does with a subtask."""

from typing import Any

import pytest

from events.models import Event
from projects.models import Attempt, Subtask
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import BALANCE_ONLY, Principal, Shape, part
from projects.types import MAX_ATTEMPTS, AttemptReason
from tests.follow import Follower, wait_until

OTHER = "gpt-6-luna"
# Of a provider that nobody can call here.
ELSEWHERE = "mistral-medium-3.5"
SLOW = {"delay_ms": 40, "tokens": 60}


def by_key(run: Shape) -> dict[str, Shape]:
    return {each["key"]: each for each in run["subtasks"]}


def reassign(alice: Principal, run: Shape, key: str, **body: Any) -> Shape:
    body = {"subtask_id": by_key(run)[key]["id"], "model_key": OTHER, **body}
    shown: Shape = alice.do("POST", f"/sessions/{run['id']}/reassign", **body)
    return shown


def replace(alice: Principal, run: Shape, key: str, **body: Any) -> Shape:
    body = {"subtask_id": by_key(run)[key]["id"], "content": "Mine.", **body}
    shown: Shape = alice.do("POST", f"/sessions/{run['id']}/replace", **body)
    return shown


def attempts(run: Shape, key: str) -> list[tuple[str, str, str]]:
    return [
        (each["reason"], each["status"], each["source"]) for each in by_key(run)[key]["attempts"]
    ]


def wait_for_work(follower: Follower) -> None:
    wait_until(lambda: any(each["text"] for each in follower.look()["subtasks"]))


CHAIN = (part("a"), part("b", "a"), part("c", "b"), part("d"))


def test_what_a_removed_subtask_has_cost_stays_in_the_cost_of_the_run(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    goal = alice.goal(part("a", model=BALANCE_ONLY), part("b", "a", model=BALANCE_ONLY), work=SLOW)
    run = alice.finished(goal=goal)
    with alice.follow(run) as follower:
        reassign(alice, run, "a")
        alice.do("PATCH", f"/sessions/{run['id']}/plan", remove=["b"])
    last = follower.pictures[-1]
    assert [each["key"] for each in last["subtasks"]] == ["a"]
    alice.check_money(last)


# --- Reassigning ----------------------------------------------------------------------------------


def test_a_queued_subtask_goes_to_the_other_model(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(*CHAIN, approve_plan=True)
    with alice.follow(run) as follower:
        shown = reassign(alice, run, "b", instructions="Be context.")
        assert by_key(shown)["b"]["model"] == OTHER
        assert by_key(shown)["b"]["assigned_by"] == "user"
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    last = follower.pictures[-1]
    assert attempts(last, "b") == [("initial", "completed", "model")]
    assert by_key(last)["b"]["attempts"][0]["model"] == OTHER


def test_a_running_subtask_is_stopped_and_begins_again(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.start(goal=alice.goal(part("a"), part("b", "a"), work=SLOW))
    with alice.follow(run) as follower:
        wait_for_work(follower)
        reassign(alice, follower.pictures[-1], "a")
    last = follower.pictures[-1]
    assert attempts(last, "a") == [
        ("initial", "cancelled", "model"),
        ("reassign", "completed", "model"),
    ]
    assert last["status"] == "completed"
    assert by_key(last)["a"]["attempts"][0]["cost_usd"] > 0
    alice.check_money(last)


def test_a_completed_run_is_reopened_and_what_depends_on_the_subtask_is_done_again(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(*CHAIN)
    with alice.follow(run) as follower:
        shown = reassign(alice, run, "b")
        assert shown["status"] == "running"
        assert [by_key(shown)[key]["stale"] for key in "abcd"] == [False, False, True, False]
    last = follower.pictures[-1]
    assert last["status"] == "completed"
    assert attempts(last, "a") == [("initial", "completed", "model")]
    assert [each[0] for each in attempts(last, "b")] == ["initial", "reassign"]
    assert [each[0] for each in attempts(last, "c")] == ["initial", "stale"]
    assert [each[0] for each in attempts(last, "d")] == ["initial"]
    versions = {each["name"]: each["version"] for each in last["deliverables"]}
    assert versions == {"Part a": 1, "Part b": 2, "Part c": 2, "Part d": 1, run["title"]: 2}
    types = Event.objects.filter(stream=run["id"]).values_list("type", flat=True)
    assert "run.reopened" in types
    alice.check_money(last)


def test_a_failed_subtask_is_saved_by_another_model(principal: NewPrincipal) -> None:
    """Whoever has tried it, and although the run was completed without it."""
    alice = principal()
    refused = {"status": 400, "times": 2, "marker": f"{alice.marker}-refused"}
    goal = alice.goal(part("a"), part("b", "a"), part("c"), work={})
    run = alice.finished(goal=alice.also(goal, step="work", subtask="Part a", **refused))
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/control", action="finish")
    run = follower.pictures[-1]
    assert [each["status"] for each in run["subtasks"]] == ["failed", "skipped", "completed"]
    assert run["status"] == "completed"
    with alice.follow(run) as follower:
        reassign(alice, run, "a")
    last = follower.pictures[-1]
    assert (last["status"], last["error"]) == ("completed", None)
    assert [each["status"] for each in last["subtasks"]] == ["completed"] * 3


def test_a_model_that_there_is_not_is_422_and_one_that_may_not_be_called_pauses_the_run(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(part("a"))
    body = {"subtask_id": run["subtasks"][0]["id"], "model_key": "gpt-2"}
    assert alice.send("POST", f"/sessions/{run['id']}/reassign", **body).status_code == 422


# --- Replacing ------------------------------------------------------------------------------------


def test_a_result_of_ones_own_costs_nothing_and_is_what_the_others_get(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(*CHAIN, approve_plan=True)
    with alice.follow(run) as follower:
        files = [{"path": "sea.txt", "content": "  Deep.\n"}, {"path": "x", "op": "delete"}]
        shown = replace(alice, run, "a", files=files)
        assert by_key(shown)["a"]["status"] == "completed"
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    last = follower.pictures[-1]
    assert attempts(last, "a") == [("replace", "completed", "user")]
    assert by_key(last)["a"]["cost_usd"] == 0
    assert last["status"] == "completed"
    assert all("Part a" not in call["user_text"] for call in alice.calls() if call["stream"])
    alice.check_money(last)


def test_a_completed_result_is_replaced_and_its_dependents_begin_again(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(*CHAIN)
    with alice.follow(run) as follower:
        replace(alice, run, "b")
    last = follower.pictures[-1]
    assert [each[0] for each in attempts(last, "b")] == ["initial", "replace"]
    assert [each[0] for each in attempts(last, "c")] == ["initial", "stale"]
    assert last["status"] == "completed"
    alice.check_money(last)


def test_what_is_being_worked_on_cannot_be_replaced(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.start(goal=alice.goal(part("a"), work=SLOW))
    with alice.follow(run) as follower:
        wait_for_work(follower)
        body = {"subtask_id": follower.pictures[-1]["subtasks"][0]["id"], "content": "Mine."}
        refused = alice.send("POST", f"/sessions/{run['id']}/replace", **body)
        assert (refused.status_code, refused.json()["code"]) == (409, "subtask_running")


@pytest.mark.parametrize(
    "files",
    [
        [{"path": "../a", "content": ""}],
        [{"path": "/etc/passwd", "content": ""}],
        [{"path": "a\u0000b", "content": ""}],
        [{"path": "nul", "content": ""}],
        [{"path": "C:\\a", "content": ""}],
        [{"path": "a", "content": ""}, {"path": "a", "content": ""}],
        [{"path": "a", "op": "chmod", "content": ""}],
        [{"path": f"{n}.txt", "content": ""} for n in range(500)],
        [{"path": "a"}],
        [{"path": "a", "op": "delete", "content": "x"}],
        [{"path": "a", "content": "x" * 400_001}],
        ["a"],
        "a",
    ],
)
def test_files_are_checked(principal: NewPrincipal, files: Any) -> None:
    alice = principal()
    run = alice.finished(part("a"), approve_plan=True)
    body = {"subtask_id": run["subtasks"][0]["id"], "content": "Mine.", "files": files}
    refused = alice.send("POST", f"/sessions/{run['id']}/replace", **body)
    assert refused.status_code in (400, 422), refused.text
    assert alice.do("GET", f"/sessions/{run['id']}") == run


def test_a_cancelled_run_stays_as_it_is(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), approve_plan=True)
    alice.do("POST", f"/sessions/{run['id']}/control", action="cancel")
    subtask_id = run["subtasks"][0]["id"]
    for act, body in (("reassign", {"model_key": OTHER}), ("replace", {"content": "Mine."})):
        path = f"/sessions/{run['id']}/{act}"
        refused = alice.send("POST", path, subtask_id=subtask_id, **body)
        assert (refused.status_code, refused.json()["code"]) == (409, "invalid_state")


def test_another_runs_subtask_is_404(principal: NewPrincipal) -> None:
    alice, bob = principal(), principal(name="bob")
    mine = alice.finished(part("a"), approve_plan=True)
    others = bob.finished(part("a"), approve_plan=True)
    for run in (mine, others):
        body = {"subtask_id": others["subtasks"][0]["id"], "content": "Mine."}
        assert alice.send("POST", f"/sessions/{run['id']}/replace", **body).status_code == 404


def test_a_subtask_has_a_bounded_number_of_attempts(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), approve_plan=True)
    for _ in range(MAX_ATTEMPTS):
        replace(alice, run, "a")
    which = {"subtask_id": run["subtasks"][0]["id"]}
    refused = alice.send("POST", f"/sessions/{run['id']}/replace", content="Mine.", **which)
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_attempts")

    again = f"/sessions/{run['id']}/reassign"
    alice.do("POST", again, model_key=OTHER, **which)
    Attempt.objects.filter(subtask=which["subtask_id"]).update(reason=AttemptReason.RETRY)
    refused = alice.send("POST", again, model_key=OTHER, **which)
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_attempts")
    assert "Write it yourself" in refused.json()["detail"]


def test_what_models_have_tried_too_often_is_left_for_its_user_to_write(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(goal=alice.goal(part("a"), work={"status": 400}))
    done = Attempt.objects.filter(subtask=run["subtasks"][0]["id"])
    subtask, failed = Subtask.objects.get(run=run["id"]), done[0].status
    Attempt.objects.bulk_create(
        Attempt(subtask=subtask, number=number, reason=AttemptReason.RETRY, status=failed)
        for number in range(done.count() + 1, MAX_ATTEMPTS + 1)
    )
    paused = alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    assert (paused["status"], paused["pause_reason"]) == ("paused", "step_failed")
    assert paused["error"]["message"].endswith("“Part a” 30 times, and do no more.")
    assert done.count() == MAX_ATTEMPTS
    replace(alice, run, "a")
    resumed = alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    assert resumed["status"] == "completed"


def test_a_model_that_cannot_be_called_here_takes_over_nothing(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"))
    body = {"subtask_id": run["subtasks"][0]["id"], "model_key": ELSEWHERE}
    refused = alice.send("POST", f"/sessions/{run['id']}/reassign", **body)
    assert (refused.status_code, refused.json()["code"]) == (503, "provider_unavailable")
    assert alice.do("GET", f"/sessions/{run['id']}") == run


def test_a_plan_is_changed_whose_model_has_left_the_roster(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), approve_plan=True)
    Subtask.objects.filter(run=run["id"]).update(model=ELSEWHERE)
    change = {"key": "a", "title": "Winds"}
    changed = alice.do("PATCH", f"/sessions/{run['id']}/plan", change=[change])
    assert changed["subtasks"][0]["title"] == "Winds"


def test_what_depends_on_a_subtask_by_way_of_others_begins_again_too(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(*CHAIN)
    with alice.follow(run) as follower:
        shown = replace(alice, run, "a")
        assert [by_key(shown)[key]["stale"] for key in "abcd"] == [False, True, True, False]
    assert [each[0] for each in attempts(follower.pictures[-1], "c")] == ["initial", "stale"]
