"""Going on with one card or with all, seen from all sides."""

import pytest

from council.errors import CardRunning
from council.tests.conftest import NewOwner
from council.tests.owner import BALANCE_ONLY, IN_PLAN, Owner, Shape
from tests.follow import wait_until


@pytest.fixture
def alice(owner: NewOwner) -> Owner:
    return owner()


def test_one_card_is_asked_on(alice: Owner) -> None:
    session = alice.finished(IN_PLAN, BALANCE_ONLY)
    asked, other = session["cards"]

    with alice.follow(session) as follower:
        message = _say(alice, asked, alice.text(tokens=5))

    last = follower.pictures[-1]
    assert [card["current_version"] for card in last["cards"]] == [2, 1]
    assert last["cards"][1] == other
    thread = alice.do("GET", f"/cards/{asked['id']}/messages")
    assert [said["role"] for said in thread] == ["user", "assistant"] * 2
    assert thread[2]["id"] == message["id"]
    assert thread[3]["content"] == last["cards"][0]["content"]
    alice.check_money(last)


def test_all_cards_are_asked_on_at_once(alice: Owner) -> None:
    session = alice.finished(IN_PLAN, BALANCE_ONLY)

    with alice.follow(session) as follower:
        _chat(alice, session, alice.text(tokens=40, delay_ms=10))

    last = follower.pictures[-1]
    assert {picture["activity"] for picture in follower.pictures} == {None, "chatting"}
    assert [card["current_version"] for card in last["cards"]] == [2, 2]
    assert len(alice.calls()) == 4
    alice.check_money(last)


def test_a_slow_card_does_not_hold_up_the_others(alice: Owner) -> None:
    slow = alice.text({"model": BALANCE_ONLY, "tokens": 100, "delay_ms": 20})
    session = alice.start(IN_PLAN, BALANCE_ONLY, prompt=slow)

    with alice.follow(session) as follower:
        wait_until(lambda: follower.look()["cards"][0]["status"] == "completed")
        _chat(alice, session, alice.text(tokens=5))

    last = follower.pictures[-1]
    assert [card["current_version"] for card in last["cards"]] == [2, 1]
    assert [card["status"] for card in last["cards"]] == ["completed"] * 2
    alice.check_money(last)


def test_each_model_hears_its_own_answer_and_no_other(alice: Owner) -> None:
    prompt = alice.text({"model": BALANCE_ONLY, "tokens": 50}, tokens=3)
    session = alice.finished(IN_PLAN, BALANCE_ONLY, prompt=prompt)

    with alice.follow(session):
        _chat(alice, session, "In metres?")

    heard: dict[str, list[int]] = {}
    for call in alice.calls():
        heard.setdefault(call["model"], []).append(call["prompt_tokens"])
    grown = {model: later - first for model, (first, later) in heard.items()}
    assert grown[BALANCE_ONLY] - grown[IN_PLAN] == 50 - 3


def test_a_reply_that_fails_can_be_written_anew(alice: Owner) -> None:
    session = alice.finished(IN_PLAN, BALANCE_ONLY)

    with alice.follow(session) as follower:
        _chat(alice, session, alice.text({"model": BALANCE_ONLY, "fail": "before"}))
    last = follower.pictures[-1]
    assert [card["status"] for card in last["cards"]] == ["completed", "failed"]
    assert last["status"] == "completed"
    alice.check_money(last)

    failed = last["cards"][1]["id"]
    with alice.follow(session) as follower:
        alice.do("POST", f"/cards/{failed}/regenerate", instructions=alice.text(tokens=8))
    assert [card["status"] for card in follower.pictures[-1]["cards"]] == ["completed"] * 2
    thread = alice.do("GET", f"/cards/{failed}/messages")
    assert [said["role"] for said in thread] == ["user", "assistant"] * 2
    alice.check_money(follower.pictures[-1])


def test_a_reply_to_a_restored_answer_forgets_what_came_after_it(alice: Owner) -> None:
    session = alice.finished(IN_PLAN)
    [card] = session["cards"]
    with alice.follow(session):
        _say(alice, card, alice.text(words="In feet?"))

    with alice.follow(session):
        alice.do("POST", f"/cards/{card['id']}/restore", version=1)
        _say(alice, card, alice.text(words="In metres?"))

    thread = alice.do("GET", f"/cards/{card['id']}/messages")
    assert [said["content"].partition("\n")[0] for said in thread if said["role"] == "user"] == [
        "How deep is the sea?",
        "In metres?",
    ]


def test_a_card_that_is_being_written_takes_no_message(alice: Owner) -> None:
    session = alice.start(IN_PLAN, prompt=alice.text(tokens=100, delay_ms=10))
    [card] = session["cards"]

    with alice.follow(session) as follower:
        refused = [
            alice.send("POST", f"/cards/{card['id']}/messages", content="And now?"),
            alice.send("POST", f"/cards/{card['id']}/regenerate"),
            alice.send("POST", f"/cards/{card['id']}/restore", version=1),
        ]

    refusals = [(answer.status_code, answer.json()["detail"]) for answer in refused]
    assert refusals == [(409, CardRunning.message)] * 3
    assert len(alice.calls()) == 1
    alice.check_money(follower.pictures[-1])


def test_a_chat_goes_on_without_a_card_that_is_removed_meanwhile(alice: Owner) -> None:
    session = alice.finished(IN_PLAN, BALANCE_ONLY)

    with alice.follow(session) as follower:
        _chat(alice, session, alice.text(tokens=100, delay_ms=10))
        alice.do("DELETE", f"/cards/{session['cards'][0]['id']}")

    last = follower.pictures[-1]
    assert [card["current_version"] for card in last["cards"]] == [2]
    alice.check_money(last)


def _say(alice: Owner, card: Shape, content: str) -> Shape:
    begun = alice.do("POST", f"/cards/{card['id']}/messages", content=content)
    message: Shape = begun["message"]
    return message


def _chat(alice: Owner, session: Shape, content: str) -> None:
    alice.do("POST", f"/sessions/{session['id']}/chat", content=content)
