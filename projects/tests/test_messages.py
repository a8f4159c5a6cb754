"""POST /api/project/sessions/{id}/message: talking into a run."""

import json
import math
import re
from typing import Any

import pytest

from ai.catalog.selectors import get_catalog
from events.models import Event
from projects.models import Step
from projects.selectors.prompts import ask
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import BALANCE_ONLY, Principal, Shape, part
from projects.tests.reviewer import Reviewer
from tests.follow import Follower, wait_until

SLOW = {"delay_ms": 40, "tokens": 50}


def say(alice: Principal, run: Shape, content: str) -> Shape:
    message: Shape = alice.do("POST", f"/sessions/{run['id']}/message", content=content)
    return message


def reply(**answer: Any) -> Shape:
    """The planner answers so."""
    return {"text": json.dumps(answer)}


def wait_for_work(follower: Follower) -> None:
    wait_until(lambda: any(each["text"] for each in follower.look()["subtasks"]))


def statuses(follower: Follower) -> list[str]:
    return [each["status"] for each in follower.look()["subtasks"]]


def delivered_to(run: Shape) -> list[str]:
    events = Event.objects.filter(stream=run["id"], type="message.delivered").order_by("seq")
    return [json.loads(data)["delivered_to"] for data in events.values_list("data", flat=True)]


def test_the_planner_answers_and_the_next_calls_are_sent_it(principal: NewPrincipal) -> None:
    alice = principal()
    parts = (part("a"), part("b", "a"))
    run = alice.start(goal=alice.goal(*parts, work=SLOW, reply=reply(reply="I will.")))
    with alice.follow(run) as follower:
        wait_for_work(follower)
        sent = say(alice, run, "Mind the whales.")
        assert (sent["number"], sent["role"], sent["status"]) == (1, "user", "waiting")
    last = follower.pictures[-1]
    shown = [(each["role"], each["content"], each["number"]) for each in last["messages"]]
    assert shown == [("user", "Mind the whales.", 1), ("planner", "I will.", 1)]
    assert last["messages"][0]["status"] == "delivered"
    assert delivered_to(run) == ["planner"]
    step = Step.objects.filter(run=run["id"], subtask__key="b", kind="work").get()
    model = get_catalog().find(step.model)
    assert model is not None
    [prompt] = ask(step, model).messages
    assert "<note>\nMind the whales.\n</note>" in prompt.text
    alice.check_money(last)


def test_the_planner_gives_notes_and_changes_the_plan(principal: NewPrincipal) -> None:
    alice = principal()
    answer = reply(
        reply="Done.",
        notes=[{"subtask": "b", "text": "Whales."}, {"subtask": "z", "text": "Nobody."}],
        add=[part("c", "b")],
        change=[{"key": "b", "title": "Whales"}],
    )
    run = alice.start(goal=alice.goal(part("a"), part("b", "a"), work=SLOW, reply=answer))
    with alice.follow(run) as follower:
        wait_for_work(follower)
        say(alice, run, "More about whales.")
    last = follower.pictures[-1]
    assert [each["title"] for each in last["subtasks"]] == ["Part a", "Whales", "Part c"]
    assert last["status"] == "completed"


def changed(principal: NewPrincipal, **answer: Any) -> tuple[Shape, Shape]:
    """A run whose queued part the planner changes so; the part, and the run."""
    alice = principal()
    later = part("b", "a", instructions="List the winds of the sea, and say of each its season.")
    run = alice.start(goal=alice.goal(part("a"), later, work=SLOW, reply=reply(**answer)))
    with alice.follow(run) as follower:
        wait_for_work(follower)
        say(alice, run, "Also mention bread.")
    last = follower.pictures[-1]
    alice.check_money(last)
    return next(each for each in last["subtasks"] if each["key"] == "b"), last


def test_what_the_planner_adds_to_a_brief_leaves_the_rest(principal: NewPrincipal) -> None:
    changes = [
        {"key": "b", "add_to_instructions": "Also mention bread."},
        {"key": "b", "add_to_acceptance": ["It mentions bread."], "title": "Winds"},
    ]
    b, _ = changed(principal, reply="Done.", change=changes)
    assert b["instructions"] == (
        "List the winds of the sea, and say of each its season.\n\nAlso mention bread."
    )
    assert b["acceptance"] == ["It is there.", "It mentions bread."]
    assert (b["title"], b["depends_on"]) == ("Winds", ["a"])


def test_a_brief_is_not_lost_by_accident(principal: NewPrincipal) -> None:
    change = {"key": "b", "instructions": "Also mention bread."}
    b, run = changed(principal, reply="Done.", change=[change])
    assert b["instructions"] == "List the winds of the sea, and say of each its season."
    kinds = Step.objects.filter(run=run["id"], kind="reply").count()
    assert (kinds, len(run["messages"])) == (2, 2)
    assert "leave out most of the old ones" in run["messages"][-1]["content"]
    wanted = change | {"rewrite": True}
    b, _ = changed(principal, reply="Done.", change=[wanted])
    assert b["instructions"] == "Also mention bread."


def test_the_planner_has_the_final_text_written_otherwise(principal: NewPrincipal) -> None:
    _, run = changed(principal, reply="Done.", final_instructions="Write it in French.")
    assert run["plan"]["final_instructions"] == "Write it in French."


def test_what_is_over_is_done_again_with_a_note_and_what_depends_on_it(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    again = reply(reply="Gladly.", redo=[{"subtask": "a", "note": "Shorter."}, "b"])
    goal = alice.goal(part("a"), part("b", "a"), part("c", "b"), reply=again, work={"text": "Sea."})
    goal = alice.also(goal, step="work", subtask="Part c", **SLOW)
    run = alice.start(goal=goal)
    with alice.follow(run) as follower:
        wait_until(lambda: statuses(follower)[-1:] == ["running"])
        say(alice, run, "Make the first part shorter.")
    last = follower.pictures[-1]
    assert last["status"] == "completed"
    reasons = [[each["reason"] for each in row["attempts"]] for row in last["subtasks"]]
    assert [row[:2] for row in reasons] == [
        ["initial", "redo"],
        ["initial", "redo"],
        ["initial", "stale"],
    ]
    step = Step.objects.filter(run=run["id"], subtask__key="a", kind="work").latest("id")
    model = get_catalog().find(step.model)
    assert model is not None
    first, before, asked = ask(step, model).messages
    assert "<note>\nShorter.\n</note>" in first.text
    assert before.text == "Sea."
    assert asked.text.startswith(
        "The person who set the goal asks for changes:\n\n<review>\n- Short"
    )
    alice.check_money(last)


def test_what_cannot_be_done_again_is_told(principal: NewPrincipal) -> None:
    _, run = changed(principal, reply="Done.", redo=["z"], add=[part("c")])
    assert 'Subtask "z" does not exist' in run["messages"][-1]["content"]
    assert [each["key"] for each in run["subtasks"]] == ["a", "b"]


def test_a_change_that_is_not_sound_leaves_the_plan_as_it_is(principal: NewPrincipal) -> None:
    alice = principal()
    answer = reply(reply="Done.", remove=["a"])
    run = alice.start(goal=alice.goal(part("a"), part("b", "a"), work=SLOW, reply=answer))
    with alice.follow(run) as follower:
        wait_for_work(follower)
        say(alice, run, "Leave out a.")
    last = follower.pictures[-1]
    assert last["messages"][-1]["content"].startswith("Done.\n\nThe plan stays as it is:")
    assert [each["key"] for each in last["subtasks"]] == ["a", "b"]


def test_a_reply_in_prose_is_a_reply(principal: NewPrincipal) -> None:
    alice = principal()
    goal = alice.goal(part("a"), work=SLOW, reply={"text": "Why not?"})
    run = alice.start(goal=goal)
    with alice.follow(run) as follower:
        wait_for_work(follower)
        say(alice, run, "Is it deep?")
    assert follower.pictures[-1]["messages"][-1]["content"] == "Why not?"


def test_a_planner_that_cannot_be_reached_does_not_hold_the_run_up(
    principal: NewPrincipal,
) -> None:
    alice = principal()
    goal = alice.goal(part("a"), work=SLOW, reply={"status": 400})
    run = alice.start(goal=goal)
    with alice.follow(run) as follower:
        wait_for_work(follower)
        say(alice, run, "Is it deep?")
    last = follower.pictures[-1]
    assert last["status"] == "completed"
    [message] = last["messages"]
    assert (message["status"], message["error"]["code"]) == ("delivered", "invalid_body")
    [told] = Event.objects.filter(stream=run["id"], type="error").values_list("data", flat=True)
    error = json.loads(told)
    assert (error["numbers"], error["retryable"]) == ([1], False)
    assert error["message"] == message["error"]["message"]


def test_a_message_that_is_not_answered_now_may_be_sent_again(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(goal=alice.goal(part("a"), reply={"text": ""}))
    with alice.follow(run) as follower:
        say(alice, run, "Is it deep?")
    [message] = follower.pictures[-1]["messages"]
    assert message["error"]["code"] == "no_text"
    assert "give the part to another model" in message["error"]["message"]
    [told] = Event.objects.filter(stream=run["id"], type="error").values_list("data", flat=True)
    assert json.loads(told)["retryable"] is True
    assert follower.pictures[-1]["status"] == "completed"


def test_a_message_whose_call_is_not_paid_for_waits(principal: NewPrincipal) -> None:
    """The pause says what the call needs; with that, it is sent and answered."""
    alice = principal()
    goal = alice.goal(part("a"), reply={"text": "Gladly."})
    run = alice.finished(goal=goal, planner_model=BALANCE_ONLY, budget_usd=5)
    cents = math.ceil(run["cost_usd"] * 100)
    alice.do("PATCH", f"/sessions/{run['id']}", budget_usd=cents / 100)
    with alice.follow(run) as follower:
        say(alice, run, "Is it deep?")
    last = follower.pictures[-1]
    assert (last["pause_reason"], last["messages"][0]["status"]) == ("budget_exceeded", "waiting")
    assert delivered_to(run) == []
    error = last["error"]
    assert error["code"] == "group_budget_exceeded"
    assert error["needed_usd"] > error["afford_usd"]
    [row] = alice.do("GET", "/sessions")
    assert row["error"] == error

    [least] = re.findall(r"Raise it to \$(\S+) at least", error["message"])
    alice.do("PATCH", f"/sessions/{run['id']}", budget_usd=float(least))
    with alice.follow(run) as follower:
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    last = follower.pictures[-1]
    assert [(each["role"], each["status"]) for each in last["messages"]] == [
        ("user", "delivered"),
        ("planner", "delivered"),
    ]
    assert (last["status"], last["error"]) == ("completed", None)
    assert delivered_to(run) == ["planner"]
    alice.check_money(last)


def test_a_paused_run_keeps_messages_until_it_is_resumed(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), approve_plan=True)
    with alice.follow(run) as follower:
        say(alice, run, "Be context.")
        assert follower.look()["messages"][0]["status"] == "waiting"
        alice.do("POST", f"/sessions/{run['id']}/control", action="resume")
    last = follower.pictures[-1]
    assert last["messages"][0]["status"] == "delivered"
    assert last["status"] == "completed"


def test_ten_messages_may_wait(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), approve_plan=True)
    for n in range(10):
        say(alice, run, f"Message {n}")
    full = alice.send("POST", f"/sessions/{run['id']}/message", content="One more")
    assert full.status_code == 409
    assert "Try again" in full.json()["detail"]


def test_messages_that_nobody_was_sent_are_handed_back(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), approve_plan=True)
    with alice.follow(run) as follower:
        say(alice, run, "Be context.")
        alice.do("POST", f"/sessions/{run['id']}/control", action="cancel")
    last = follower.pictures[-1]
    assert [each["status"] for each in last["messages"]] == ["returned"]
    [returned] = Event.objects.filter(stream=run["id"], type="message.returned")
    assert json.loads(returned.data)["messages"][0]["content"] == "Be context."


def test_a_message_to_a_completed_run_brings_more_parts(principal: NewPrincipal) -> None:
    """The planner adds one; what was there is paid for once."""
    alice = principal()
    answer = reply(reply="I will.", add=[part("c")])
    run = alice.finished(goal=alice.goal(part("a"), part("b"), reply=answer))
    with alice.follow(run) as follower:
        say(alice, run, "More about whales.")
    last = follower.pictures[-1]
    assert last["status"] == "completed"
    assert [each["key"] for each in last["subtasks"]] == ["a", "b", "c"]
    assert [len(each["attempts"]) for each in last["subtasks"]] == [1, 1, 1]
    assert [each["subtask_id"] for each in last["deliverables"]] == [
        *(each["id"] for each in last["subtasks"]),
        None,
    ]
    assert Step.objects.filter(run=run["id"], kind="final").count() == 2
    final = alice.send("GET", f"/deliverables/{last['deliverables'][-1]['id']}/download")
    assert last["final_text"] == final.text
    alice.check_money(last)


def test_what_was_applied_stays_and_is_not_proposed_again(reviewer_on_github: Reviewer) -> None:
    reviewer = reviewer_on_github
    run = reviewer.staged(**{"new.md": "x\n", "other.md": "y\n"})
    reviewer.apply(run, branch="ai/x", files=["new.md"])
    with reviewer.alice.follow(run) as follower:
        say(reviewer.alice, run, "Is it good?")
    assert follower.pictures[-1]["status"] == "completed"
    changes = reviewer.changes(run)
    assert changes["state"] == "partially_applied"
    assert [each["path"] for each in changes["files"]] == ["other.md"]
    proposed = Event.objects.filter(stream=run["id"], type="changes.proposed").latest("seq")
    assert [each["path"] for each in json.loads(proposed.data)["files"]] == ["other.md"]


def test_a_cancelled_run_takes_no_messages(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.finished(part("a"), approve_plan=True)
    alice.do("POST", f"/sessions/{run['id']}/control", action="cancel")
    refused = alice.send("POST", f"/sessions/{run['id']}/message", content="Hello?")
    assert (refused.status_code, refused.json()["code"]) == (409, "invalid_state")


@pytest.mark.parametrize("content", ["", "   ", None, 7, "x" * 20_001, "x" * 100_000])
def test_a_message_is_a_text_of_bounded_length(principal: NewPrincipal, content: Any) -> None:
    alice = principal()
    run = alice.finished(part("a"), approve_plan=True)
    refused = alice.send("POST", f"/sessions/{run['id']}/message", content=content)
    assert refused.status_code == 422
