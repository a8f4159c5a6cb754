"""The events of a run: what each says, and when it comes (docs/api/projects.md)."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from demo.project_runs import write_runs
from events.models import Event
from events.types import SYSTEM, USER, model_actor
from projects.models import Apply, Run
from projects.services import applies, apply_settlement
from projects.tests.world import World
from projects.types import StepKind
from tests.personas import new_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("providers")]

PLANNER = model_actor("gpt-6-luna")


@pytest.fixture
def world() -> World:
    """A run with a plan of five subtasks, two of which have begun."""
    world = World(max_parallel=2, budget_usd=None, approve_plan=False)
    world.end(0, "good")
    return world


def log(run: Run, after: int = 0) -> list[tuple[str, str, dict[str, Any]]]:
    """Type, actor and data of each event after that one."""
    rows = Event.objects.filter(stream=run.pk, seq__gt=after).order_by("seq")
    return [(row.type, row.actor, json.loads(row.data)) for row in rows]


def types(run: Run, after: int = 0) -> list[str]:
    return [event_type for event_type, _, _ in log(run, after)]


def newest(run: Run) -> int:
    return Event.objects.filter(stream=run.pk).latest("seq").seq


def acted(world: World, what: str, pick: int = 0) -> list[tuple[str, str, dict[str, Any]]]:
    """The events of an act of alice's."""
    before = newest(world.run)
    world.act(what, pick)
    world.check()
    return log(world.run, before)


def ended(world: World, fate: str, pick: int = 0) -> list[tuple[str, str, dict[str, Any]]]:
    """The events of the end of a step, and of its beginning where it had not begun."""
    before = newest(world.run)
    world.end(pick, fate)
    world.check()
    return log(world.run, before)


def finish(world: World) -> None:
    while world.active():
        world.end(0, "good")


def finished_demo_run() -> Run:
    """The shop of the demo, of which a review asks for a change."""
    alice = new_user("alice", plan="max", balance_usd=50)
    write_runs(alice)
    return Run.objects.filter(account=alice).earliest("id")


# --- From the start to the end --------------------------------------------------------------------


def test_a_run_is_created_started_planned_and_executed() -> None:
    run = finished_demo_run()
    seen = types(run)
    begins = ["run.created", "run.started", "plan.created", *["subtask.created"] * 6]
    assert seen[: len(begins)] == begins
    assert seen[len(begins) :][:3] == ["subtask.started", "subtask.started", "run.phase"]
    assert seen[-1] == "run.completed"


def test_the_first_event_has_the_goal_and_the_settings() -> None:
    run = finished_demo_run()
    _, actor, data = log(run)[0]
    assert actor == USER
    assert data["session"]["prompt"] == run.goal
    assert data["session"]["max_parallel"] == 4


def test_text_comes_with_its_offset_from_the_model_that_writes_it() -> None:
    run = finished_demo_run()
    attempts = {(str(row.subtask_id), row.number): row for row in run.rows.attempts.values()}
    offsets: dict[tuple[str, int], int] = {}
    for event_type, actor, data in log(run):
        if event_type == "subtask.delta":
            place = (data["subtask_id"], data["attempt"])
            assert data["offset"] == offsets.get(place, 0)
            assert actor == model_actor(attempts[place].model)
            offsets[place] = data["offset"] + len(data["text"])
    assert offsets.keys() == attempts.keys()


def test_an_attempt_is_reviewed_and_revised_before_its_subtask_completes() -> None:
    run = finished_demo_run()
    prices = next(row for row in run.rows.subtasks.values() if row.key == "prices")
    words = [
        (event_type, data.get("reason") or data.get("verdict"))
        for event_type, _, data in log(run)
        if str(prices.pk) in (data.get("subtask_id"), data.get("subtask", {}).get("id"))
        and event_type not in ("subtask.delta", "subtask.updated", "subtask.created")
        and event_type != "subtask.file"
    ]
    assert words == [
        ("subtask.started", "initial"),
        ("review.completed", "revise"),
        ("subtask.retrying", "revision"),
        ("review.completed", "accept"),
        ("subtask.completed", None),
        ("file.staged", None),
    ]


def test_each_attempt_tells_its_files_beside_its_text() -> None:
    run = finished_demo_run()
    told = [data for name, _, data in log(run) if name == "subtask.file"]
    prices = next(row for row in run.rows.subtasks.values() if row.key == "prices")
    seen = [
        (data["attempt"], data["path"], data["op"], data["state"])
        for data in told
        if data["subtask_id"] == str(prices.pk)
    ]
    states = [("prices.csv", "create", state) for state in ("begun", "written")]
    assert seen == [(number, *state) for number in (1, 2) for state in states]
    assert not any("@@" in data["text"] for name, _, data in log(run) if name == "subtask.delta")


def test_texts_and_files_are_delivered_as_drafts_until_the_run_completes() -> None:
    run = finished_demo_run()
    created = [data["deliverable"] for name, _, data in log(run) if name == "deliverable.created"]
    updated = [data["deliverable"] for name, _, data in log(run) if name == "deliverable.updated"]
    assert {each["status"] for each in created} == {"draft"}
    assert {each["status"] for each in updated} == {"final"}
    assert [each["id"] for each in created] == [each["id"] for each in updated]
    [proposed] = [data for name, _, data in log(run) if name == "changes.proposed"]
    staged = {data["path"] for name, _, data in log(run) if name == "file.staged"}
    assert {each["path"] for each in proposed["files"]} == staged


def test_discarded_files_are_named() -> None:
    run = finished_demo_run()
    before = newest(run)
    staged = sorted({data["path"] for name, _, data in log(run) if name == "file.staged"})
    applies.discard(user=run.account, run_id=run.pk)
    name, actor, data = log(run, before)[0]
    assert (name, actor, data["paths"]) == ("changes.discarded", USER, staged)


def test_the_end_of_an_order_brings_its_result() -> None:
    run = finished_demo_run()
    before = newest(run)
    order = Apply.objects.create(
        run=run,
        target="branch",
        branch="ai/x",
        message="Change",
        claim_until=timezone.now() - timedelta(seconds=1),
        files=[
            {"path": "a.md", "op": "create", "status": "pending", "error": None, "file_ids": []}
        ],
    )
    apply_settlement.settle_lapsed(run=run)
    name, actor, data = log(run, before)[0]
    assert (name, actor) == ("changes.applied", USER)
    assert (data["result"]["id"], data["result"]["status"]) == (str(order.pk), "failed")
    assert "interrupted" in data["result"]["files"][0]["error"]["message"]


def test_the_final_text_begins_and_ends() -> None:
    finals = [name for name in types(finished_demo_run()) if name.startswith("final.")]
    assert finals == ["final.started", "final.delta", "final.ended"]


def test_each_call_that_ends_tells_what_was_paid() -> None:
    run = finished_demo_run()
    costs = [data["session"]["cost_usd"] for name, _, data in log(run) if name == "usage.updated"]
    assert len(costs) == len(run.rows.steps)
    assert costs == sorted(costs)


# --- What alice does ------------------------------------------------------------------------------


def test_a_run_is_paused_and_resumed(world: World) -> None:
    [(name, actor, data)] = acted(world, "pause")
    assert (name, actor) == ("run.paused", USER)
    assert data["session"]["pause_reason"] == "user"
    assert acted(world, "pause") == []
    [(name, actor, data), *_] = acted(world, "resume")
    assert (name, actor, data["session"]["status"]) == ("run.resumed", USER, "running")


def test_a_run_is_renamed(world: World) -> None:
    [(name, actor, data)] = acted(world, "rename", 7)
    assert (name, actor, data["session"]["title"]) == ("run.renamed", USER, "Sea 7")


def test_the_log_tells_who_has_changed_a_budget_from_what_to_what(world: World) -> None:
    told = [acted(world, "budget", pick)[0] for pick in (2, 1, 0)]
    assert {(name, actor) for name, actor, _ in told} == {("run.budget", USER)}
    amounts = [(data["from_usd"], data["to_usd"]) for _, _, data in told]
    assert amounts == [(None, 40), (40, 0.01), (0.01, None)]
    assert [data["session"]["budget_usd"] for _, _, data in told] == [40, 0.01, None]
    assert acted(world, "budget", 0) == [], "what it is already"


def test_a_cancelled_run_cancels_its_subtasks_and_hands_messages_back(world: World) -> None:
    acted(world, "message")
    events = acted(world, "cancel")
    cancelled = [data["subtask"] for name, _, data in events if name == "subtask.cancelled"]
    assert [each["status"] for each in cancelled] == ["cancelled"] * 5
    [returned] = [data["messages"] for name, _, data in events if name == "message.returned"]
    assert [(each["number"], each["status"]) for each in returned] == [(1, "returned")]
    assert events[-1][0] == "run.cancelled"


def test_a_message_is_created_delivered_and_answered(world: World) -> None:
    [(name, actor, data), *_] = acted(world, "message")
    assert (name, actor, data["message"]["status"]) == ("message.created", USER, "waiting")
    after = newest(world.run)
    for _ in range(3):
        world.begin(0)
    world.check()
    delivered = [data for name, _, data in log(world.run, after) if name == "message.delivered"]
    assert [each["numbers"] for each in delivered] == [[1]]
    finish(world)
    [(actor, data)] = [
        (actor, data["message"])
        for name, actor, data in log(world.run, after)
        if name == "message.created"
    ]
    assert (actor, data["role"], data["content"]) == (PLANNER, "planner", "Yes.")


def test_a_message_that_the_planner_cannot_answer_is_an_error(world: World) -> None:
    acted(world, "message")
    seen = all_failed(world)
    [error] = [data for name, _, data in seen if name == "error"]
    assert error["retryable"] is True
    assert {"code", "message"} <= error.keys()


def test_the_plan_changes(world: World) -> None:
    added = acted(world, "add", 1)
    assert [name for name, _, _ in added] == ["subtask.created", "plan.updated", "run.updated"]
    assert added[1][2]["plan"]["subtasks"][-1] == "x1"
    changed = acted(world, "change", 1)
    assert [name for name, _, _ in changed] == ["subtask.updated", "plan.updated", "run.updated"]
    removed = acted(world, "remove", 5)
    assert [name for name, _, _ in removed] == ["subtask.removed", "plan.updated", "run.updated"]


def test_a_subtask_is_reassigned_and_what_depends_on_it_is_stale(world: World) -> None:
    finish(world)
    events = acted(world, "reassign", 0)
    assert events[0][0] == "run.reopened"
    [(actor, moved)] = [
        (actor, data) for name, actor, data in events if name == "subtask.reassigned"
    ]
    assert (actor, moved["to_model"]) == (USER, "claude-haiku-5-5")
    assert moved["from_model"] != moved["to_model"]
    stale = [data["subtask"]["key"] for name, _, data in events if name == "subtask.stale"]
    assert stale == ["b", "c", "d"]


def test_a_subtask_is_replaced(world: World) -> None:
    finish(world)
    [(actor, data)] = [
        (actor, data["subtask"])
        for name, actor, data in acted(world, "replace", 4)
        if name == "subtask.replaced"
    ]
    assert (actor, data["key"], data["attempts"][-1]["source"]) == (USER, "e", "user")


# --- What goes wrong ------------------------------------------------------------------------------


def all_failed(world: World) -> list[tuple[str, str, dict[str, Any]]]:
    """The events of all calls, of which each fails as often as it is made."""
    seen = []
    while world.active():
        seen += ended(world, "fails")
    return seen


def test_what_fails_is_tried_again_before_it_is_told_as_failed(world: World) -> None:
    told = [
        (name, data.get("reason"))
        for name, _, data in all_failed(world)
        if name in ("subtask.retrying", "subtask.failed") and data["subtask"]["key"] == "a"
    ]
    tries = ["retry", "retry", "fallback"]
    assert told == [*(("subtask.retrying", each) for each in tries), ("subtask.failed", None)]


def test_a_run_that_is_finished_skips_what_is_not_there(world: World) -> None:
    while not world.run.subtasks.filter(status="completed").exists():
        ended(world, "good")
    told = [(name, data.get("subtask")) for name, _, data in acted(world, "finish")]
    skipped = {row["status"] for name, row in told if name == "subtask.skipped" and row}
    assert skipped == {"skipped"}


def test_a_run_without_any_result_stands(world: World) -> None:
    name, actor, data = all_failed(world)[-1]
    assert (name, actor) == ("usage.updated", SYSTEM)
    assert data["session"]["pause_reason"] == "step_failed"
    assert data["session"]["error"]["code"] == "parts_missing"


def test_a_review_that_fails_is_told_with_the_model_that_makes_it_next(world: World) -> None:
    while not [step for step in world.active() if step.kind == StepKind.REVIEW]:
        world.end(0, "good")
    seen = [event for pick in range(3) for event in ended(world, "fails", pick)]
    told = [data for name, _, data in seen if name == "run.retrying"]
    assert {each["step"] for each in told} == {"review"}
    assert told[0]["from_model"] == told[0]["to_model"]
    assert told[0]["error"]["code"] == "upstream_error"


def test_a_step_whose_worker_died_is_told(world: World) -> None:
    [recovered] = [data for name, _, data in ended(world, "dies") if name == "run.recovered"]
    assert recovered["step"] == "work"
    assert recovered["subtask_id"] is not None


def test_the_calls_of_an_author_are_told_once_they_are_carried_out() -> None:
    world = World(max_parallel=1, budget_usd=None, approve_plan=False, on_repository=True)
    world.end(0, "good")
    assert "subtask.tool" not in {name for name, _, _ in ended(world, "calls", 1)}
    world.begin(0)
    rows = Event.objects.filter(stream=world.run.pk, type="subtask.tool").order_by("seq")
    told = [json.loads(row.data) for row in rows]
    assert [(each["name"], each["path"], each["query"]) for each in told] == [
        ("read_file", "README.md", None),
        ("search", None, "sea"),
    ]


def test_every_documented_event_has_its_test() -> None:
    """Its name is in this file."""
    page = (Path(settings.BASE_DIR) / "docs" / "api" / "projects.md").read_text()
    tables = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    documented = set(re.findall(r"`((?:[a-z]+)\.[a-z]+)`", tables)) - {"plan.subtasks"}
    tested = set(re.findall(r'"([a-z]+\.[a-z]+)"', Path(__file__).read_text()))
    assert documented <= tested
