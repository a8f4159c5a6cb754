"""How a goal becomes a plan, and what the user can do with the plan before it is carried out."""

import json
from typing import Any

import pytest

from events.models import Event
from projects.models import Step
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import Principal, Shape, part
from tests.follow import wait_until


def kinds(run: Shape) -> list[str]:
    return list(Step.objects.filter(run=run["id"]).order_by("id").values_list("kind", flat=True))


def with_plan(alice: Principal, text: str) -> str:
    return alice.goal(plan={"text": text})


@pytest.mark.parametrize(
    "text",
    [
        "I would begin with the beginning.",
        "<html><body>No plan</body></html>",
        json.dumps({"subtasks": [part("a", "b"), part("b", "a")]}),
        json.dumps({"subtasks": [{"key": f"s{n}"} for n in range(200)]}),
        json.dumps({"subtasks": [part("a"), {"key": "b"}, {"key": "c"}]}),
        json.dumps({"subtasks": [{**part("a"), "key": "k" * 10_240}]}),
    ],
)
def test_what_is_no_plan_is_repaired_once_and_then_the_goal_is_the_plan(
    principal: NewPrincipal, text: str
) -> None:
    alice = principal()
    run = alice.finished(goal=with_plan(alice, text))
    assert kinds(run) == ["plan", "repair", "work", "review"]
    [only] = run["subtasks"]
    assert (only["key"], only["status"], run["status"]) == ("goal", "completed", "completed")
    asked = alice.calls()[1]["user_text"]
    assert "cannot be carried out" in asked
    alice.check_money(run)


def created(run: Shape) -> Shape:
    """The data of the event with which the plan came."""
    [event] = Event.objects.filter(stream=run["id"], type="plan.created")
    data: Shape = json.loads(event.data)
    return data


def test_a_model_that_may_not_be_used_is_chosen_by_us_and_the_plan_says_so(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(part("a", model="gpt-2"), part("b"))
    assert kinds(run)[:2] == ["plan", "work"]
    assert [each["assigned_by"] for each in run["subtasks"]] == ["spread", "spread"]
    note = 'Subtask "a" suggests the model "gpt-2", which may not be used. Another was chosen.'
    assert (created(run)["reason"], created(run)["notes"]) == (None, [note])


def test_of_a_plan_with_too_many_parts_the_first_are_kept_where_it_is_not_mended(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    parts = [part("last", "s0"), *(part(f"s{n}") for n in range(5))]
    run = alice.finished(*parts, max_subtasks=4)
    assert kinds(run)[:2] == ["plan", "repair"]
    assert "has 6 subtasks, and may have 4" in alice.calls()[1]["user_text"]
    assert [each["key"] for each in run["subtasks"]] == ["s0", "last", "s1", "s2"]
    assert created(run)["reason"] == "partial"
    [note] = created(run)["notes"]
    assert '"Part s3", "Part s4" are left out' in note
    assert run["plan"]["summary"].endswith(note)
    alice.check_money(run)


def test_what_is_sound_of_an_earlier_answer_is_kept_where_the_later_is_none(
    principal: NewPrincipal,
) -> None:
    alice = principal(balance_cents=5_000)
    parts = [part("a"), part("b", "a"), {**part("c"), "instructions": ""}]
    run = alice.finished(*parts)
    assert [each["key"] for each in run["subtasks"]] == ["a", "b"]
    assert '"Part c" are left out' in created(run)["notes"][0]


def test_a_plan_in_prose_is_read(principal: NewPrincipal) -> None:
    alice = principal()
    plan = json.dumps({"subtasks": [part("a")]})
    run = alice.finished(goal=with_plan(alice, f"Gladly.\n```json\n{plan}\n```\nShall I?"))
    assert [each["key"] for each in run["subtasks"]] == ["a"]


def test_parts_go_to_several_vendors_where_the_plan_names_no_models(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    run = alice.finished(part("a"), part("b"), part("c", model="gpt-6-luna"))
    by_key = {each["key"]: each for each in run["subtasks"]}
    assert by_key["c"]["model"] == "gpt-6-luna"
    assert [by_key[key]["assigned_by"] for key in "abc"] == ["spread", "spread", "plan"]
    assert len({each["model"] for each in run["subtasks"]}) == 3


def test_a_run_calls_only_the_models_that_its_user_allows(principal: NewPrincipal) -> None:
    alice = principal()
    allowed = ["gpt-6-luna", "claude-haiku-5-5"]
    run = alice.finished(part("a"), part("b"), models=allowed, planner_model="gpt-6-luna")
    assert {call["model"] for call in alice.calls()} == set(allowed)
    assert run["status"] == "completed"


# --- Looking at the plan first --------------------------------------------------------------------


@pytest.fixture
def alice(principal: NewPrincipal) -> Principal:
    return principal()


@pytest.fixture
def waiting(alice: Principal) -> Shape:
    """A run whose plan waits for alice."""
    parts = (part("a"), part("b", "a"), part("c", "b"))
    run = alice.finished(*parts, approve_plan=True)
    assert (run["status"], run["pause_reason"]) == ("paused", "plan_review")
    assert kinds(run) == ["plan"]
    return run


def edit(alice: Principal, run: Shape, **changes: Any) -> Shape:
    shown: Shape = alice.do("PATCH", f"/sessions/{run['id']}/plan", **changes)
    return shown


def test_a_plan_that_waits_is_carried_out_when_the_run_is_resumed(
    alice: Principal, waiting: Shape
) -> None:
    alice.do("POST", f"/sessions/{waiting['id']}/control", action="resume")
    with alice.follow(waiting) as follower:
        pass
    assert follower.pictures[-1]["status"] == "completed"


def test_its_user_changes_adds_removes_and_reorders(alice: Principal, waiting: Shape) -> None:
    with alice.follow(waiting) as follower:
        changed = edit(
            alice,
            waiting,
            summary="Shorter.",
            final_instructions="Join them.",
            add=[part("d"), part("e", "d")],
            change=[{"key": "b", "title": "Second", "depends_on": [], "model": "gpt-6-luna"}],
            remove=["c"],
            order=["b", "a"],
        )
    assert [each["key"] for each in changed["subtasks"]] == ["b", "a", "d", "e"]
    assert changed["plan"]["subtasks"] == ["b", "a", "d", "e"]
    assert changed["plan"]["summary"] == "Shorter."
    assert changed["plan"]["final_instructions"] == "Join them."
    second = changed["subtasks"][0]
    assert (second["title"], second["model"]) == ("Second", "gpt-6-luna")
    assert (second["assigned_by"], second["depends_on"]) == ("user", [])
    assert follower.pictures[-1] == changed


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"change": [{"key": "a", "depends_on": ["c"]}]}, "circle"),
        ({"remove": ["a"]}, 'depends on "a", which does not exist'),
        ({"add": [part("a")]}, 'Two subtasks have the key "a"'),
        ({"add": [part("d", model="gpt-2")]}, "may not be used"),
        ({"add": [part(f"s{n}") for n in range(12)]}, "may have 12"),
        ({"add": [{"key": "d"}]}, 'has no "title"'),
        ({"change": [{"key": "z", "title": "None"}]}, "does not exist"),
        ({"change": [{"title": "None"}]}, 'has no "key"'),
        ({"change": [{"key": "a", "promt": "Shorter."}]}, 'fields that there are not: "promt"'),
        ({"add": [part("d", foo=1)]}, 'Subtask "d" has fields that there are not: "foo"'),
        ({"order": ["b", "nope"]}, 'Subtask "nope" does not exist'),
    ],
)
def test_an_unsound_plan_is_refused_as_a_whole(
    alice: Principal, waiting: Shape, changes: Shape, fault: str
) -> None:
    refused = alice.send("PATCH", f"/sessions/{waiting['id']}/plan", **changes)
    assert refused.status_code == 422
    assert refused.json()["code"] == "unsound_plan"
    assert fault in refused.json()["detail"]
    assert alice.do("GET", f"/sessions/{waiting['id']}") == waiting


def test_where_nothing_is_changed_a_completed_run_stays_as_it_is(alice: Principal) -> None:
    run = alice.finished(part("a"))
    assert run["status"] == "completed"
    nothing: tuple[Shape, ...] = ({}, {"add": [], "order": []})
    for changes in nothing:
        assert edit(alice, run, **changes) == alice.do("GET", f"/sessions/{run['id']}")
    assert alice.do("GET", f"/sessions/{run['id']}")["last_seq"] == run["last_seq"]


def test_what_has_begun_cannot_be_changed(principal: NewPrincipal) -> None:
    alice = principal()
    slow = {"delay_ms": 40, "tokens": 40}
    run = alice.start(goal=alice.goal(part("a"), part("b", "a"), work=slow))
    with alice.follow(run) as follower:
        wait_until(lambda: any(each["text"] for each in follower.look()["subtasks"]))
        path = f"/sessions/{run['id']}/plan"
        refused = alice.send("PATCH", path, change=[{"key": "a", "title": "Other"}])
        assert (refused.status_code, refused.json()["code"]) == (422, "unsound_plan")
        assert alice.send("PATCH", path, remove=["a", "b"]).status_code == 422
        assert edit(alice, run, add=[part("c", "a")])["status"] == "running"
    last = follower.pictures[-1]
    assert [each["status"] for each in last["subtasks"]] == ["completed"] * 3
    refused = alice.send("PATCH", path, remove=["c"])
    assert refused.status_code == 422
    assert "has a result: it cannot be removed" in refused.json()["detail"]


def test_there_is_nothing_to_change_without_a_plan_or_in_a_cancelled_run(alice: Principal) -> None:
    run = alice.start(goal=alice.goal(part("a"), plan={"ttft_ms": 500}))
    early = alice.send("PATCH", f"/sessions/{run['id']}/plan", summary="Short.")
    assert (early.status_code, early.json()["code"]) == (409, "invalid_state")
    alice.do("POST", f"/sessions/{run['id']}/control", action="cancel")
    late = alice.send("PATCH", f"/sessions/{run['id']}/plan", summary="Short.")
    assert (late.status_code, late.json()["code"]) == (409, "invalid_state")
