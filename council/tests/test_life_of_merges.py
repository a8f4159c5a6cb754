"""Merges and debates, seen from all sides."""

import pytest

from council.errors import SessionBusy
from council.tests.conftest import NewOwner
from council.tests.owner import BALANCE_ONLY, IN_PLAN, Owner, Shape
from tests.follow import wait_until

THIRD = "gemini-3.8-flash"
AUTHORS = (IN_PLAN, BALANCE_ONLY)


@pytest.fixture
def alice(owner: NewOwner) -> Owner:
    return owner()


def test_answers_are_merged(alice: Owner) -> None:
    session = alice.finished(*AUTHORS)

    with alice.follow(session) as follower:
        merge = _merge(alice, session, alice.text(tokens=30, delay_ms=10))

    last = follower.pictures[-1]
    assert {picture["activity"] for picture in follower.pictures} == {None, "merging"}
    card = _find(last, merge)
    assert (card["kind"], card["status"]) == ("merge", "completed")
    assert len(card["content"].split()) == 30
    alice.check_money(last)


def test_another_model_merges_where_the_first_cannot_be_reached(alice: Owner) -> None:
    requested = "grok-4.7"
    session = alice.finished(*AUTHORS)

    with alice.follow(session) as follower:
        instructions = alice.text({"model": requested, "fail": "before"}, tokens=6)
        merge = _merge(alice, session, instructions, model_key=requested)

    last = follower.pictures[-1]
    card = _find(last, merge)
    assert card["details"]["synthesis"]["source"] == "fallback"
    assert card["model"] == card["details"]["synthesis"]["used_model"] not in AUTHORS
    assert (card["status"], card["current_version"]) == ("completed", 1)
    alice.check_money(last)


def test_a_merge_that_fails_twice_is_written_anew(alice: Owner) -> None:
    session = alice.finished(*AUTHORS)
    with alice.follow(session) as follower:
        merge = _merge(alice, session, alice.text(fail="before"))
    assert _find(follower.pictures[-1], merge)["status"] == "failed"
    alice.check_money(follower.pictures[-1])

    with alice.follow(session) as follower:
        again = alice.text(tokens=4)
        alice.do("POST", f"/cards/{merge['id']}/regenerate", instructions=again)

    card = _find(follower.pictures[-1], merge)
    assert (card["status"], card["current_version"]) == ("completed", 2)
    alice.check_money(follower.pictures[-1])


def test_a_merge_is_removed_while_it_is_written(alice: Owner) -> None:
    session = alice.finished(*AUTHORS)

    with alice.follow(session) as follower:
        merge = _merge(alice, session, alice.text(tokens=300, delay_ms=20))
        wait_until(lambda: _find(follower.look(), merge)["content"] != "")
        alice.do("DELETE", f"/cards/{merge['id']}")

    assert follower.pictures[-1]["cards"] == session["cards"]
    alice.check_money(follower.pictures[-1])


def test_cards_debate_and_what_they_changed_is_restored_away(alice: Owner) -> None:
    session = alice.finished(*AUTHORS, THIRD, prompt=alice.text(tokens=None))

    with alice.follow(session) as follower:
        alice.do("POST", f"/sessions/{session['id']}/debate", rounds=2)
    last = follower.pictures[-1]
    assert {picture["activity"] for picture in follower.pictures} >= {None, "debating"}
    assert all(card["current_version"] > 1 for card in last["cards"])
    assert all(card["status"] == "completed" for card in last["cards"])
    alice.check_money(last)

    first = session["cards"][0]
    with alice.follow(session) as follower:
        alice.do("POST", f"/cards/{first['id']}/restore", version=1)
    assert _find(follower.pictures[-1], first)["content"] == first["content"]


def test_a_debate_goes_on_without_those_who_fail_or_are_removed(alice: Owner) -> None:
    session = alice.finished(*AUTHORS, THIRD, IN_PLAN, prompt=alice.text(tokens=None))
    focus = alice.text(
        {"model": BALANCE_ONLY, "fail": "after", "after_tokens": 60}, tokens=None, delay_ms=10
    )
    leaver = session["cards"][0]

    with alice.follow(session) as follower:
        alice.do("POST", f"/sessions/{session['id']}/debate", rounds=3, focus=focus)
        wait_until(lambda: _find(follower.look(), leaver)["status"] == "running")
        alice.do("DELETE", f"/cards/{leaver['id']}")

    last = follower.pictures[-1]
    failed, *others = last["cards"]
    assert [card["status"] for card in last["cards"]] == ["completed"] * 3
    assert (failed["source"], failed["content"]) == ("restore", session["cards"][1]["content"])
    assert all(card["source"] == "debate" for card in others)
    assert last["status"] == "completed"
    alice.check_money(last)


def test_one_thing_at_a_time_is_done_with_the_whole_council(alice: Owner) -> None:
    session = alice.finished(*AUTHORS)
    path = f"/sessions/{session['id']}"

    with alice.follow(session) as follower:
        _merge(alice, session, alice.text(tokens=60, delay_ms=10))
        refused = [
            alice.send("POST", f"{path}/merge"),
            alice.send("POST", f"{path}/debate"),
            alice.send("POST", f"{path}/chat", content="And now?"),
        ]

    refusals = [(answer.status_code, answer.json()["detail"]) for answer in refused]
    assert refusals == [(409, SessionBusy.message)] * 3
    alice.check_money(follower.pictures[-1])


def _merge(alice: Owner, session: Shape, instructions: str, **body: str) -> Shape:
    asked = {"mode": "custom", "instructions": instructions, **body}
    card: Shape = alice.do("POST", f"/sessions/{session['id']}/merge", **asked)
    return card


def _find(session: Shape, card: Shape) -> Shape:
    found: Shape = next(each for each in session["cards"] if each["id"] == card["id"])
    return found
