"""What becomes of cards, seen from all sides: socket, replay, log and session tell the same."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from council.tests.conftest import NewOwner
from council.tests.owner import BALANCE_ONLY, IN_PLAN, MODELS, Owner, Shape
from tests.follow import wait_until
from tests.stopwatch import Stopwatch
from tests.worker import Worker
from work.jobs.models import Job

LOOKERS = 3
# Long enough to act in the middle of it.
SLOW: dict[str, Any] = {"tokens": 300, "delay_ms": 20}


@pytest.fixture
def alice(owner: NewOwner) -> Owner:
    return owner()


def test_a_council_answers(alice: Owner) -> None:
    session = alice.start(*[IN_PLAN, BALANCE_ONLY] * 2, prompt=alice.text(tokens=150, delay_ms=10))

    with alice.follow(session) as follower:
        pass

    last = follower.pictures[-1]
    assert _statuses(last) == ["completed"] * 4
    # The text has come little by little.
    assert len({_card(picture)["content"] for picture in follower.pictures}) > 3
    assert [len(card["content"].split()) for card in last["cards"]] == [150] * 4
    assert len(alice.calls()) == 4
    alice.check_money(last)


def test_a_picture_is_true_at_any_moment(alice: Owner) -> None:
    session = alice.start(*[IN_PLAN] * 8, prompt=alice.text(tokens=80, delay_ms=15))

    with alice.follow(session) as follower, ThreadPoolExecutor(LOOKERS) as threads:
        for _ in range(LOOKERS):
            threads.submit(follower.wait_until_idle, glances=(0, 0.01))

    assert len(follower.pictures) > 10


def test_a_card_is_added(alice: Owner) -> None:
    session = alice.finished(IN_PLAN)

    with alice.follow(session) as follower:
        alice.do("POST", f"/sessions/{session['id']}/cards", model_key=BALANCE_ONLY)

    assert _statuses(follower.pictures[-1]) == ["completed"] * 2
    alice.check_money(follower.pictures[-1])


def test_an_answer_is_written_anew_by_another_model(alice: Owner) -> None:
    session = alice.finished(IN_PLAN)

    with alice.follow(session) as follower:
        _regenerate(alice, session, model_key=BALANCE_ONLY, instructions=alice.text(tokens=7))

    [card] = follower.pictures[-1]["cards"]
    assert (card["current_version"], card["model"], card["source"]) == (
        2,
        BALANCE_ONLY,
        "regenerate",
    )
    assert len(card["content"].split()) == 7
    alice.check_money(follower.pictures[-1])


def test_an_earlier_version_is_restored(alice: Owner) -> None:
    session = alice.finished(IN_PLAN, prompt=alice.text(text="Deep 🌊, very deep."))
    with alice.follow(session):
        _regenerate(alice, session, instructions=alice.text(tokens=9))

    with alice.follow(session) as follower:
        alice.do("POST", f"/cards/{_card(session)['id']}/restore", version=1)

    [card] = follower.pictures[-1]["cards"]
    assert (card["current_version"], card["content"]) == (3, _card(session)["content"])
    alice.check_money(follower.pictures[-1])


def test_a_card_at_rest_is_removed(alice: Owner) -> None:
    session = alice.finished(IN_PLAN, BALANCE_ONLY)

    with alice.follow(session) as follower:
        alice.do("DELETE", f"/cards/{_card(session)['id']}")

    last = follower.pictures[-1]
    assert [card["model"] for card in last["cards"]] == [BALANCE_ONLY]
    assert last["cost_usd"] == session["cost_usd"] > last["cards"][0]["cost_usd"] > 0
    alice.check_money(last)


def test_a_card_that_waits_is_removed_and_never_called(alice: Owner, worker: Worker) -> None:
    session = alice.finished(IN_PLAN)

    with alice.follow(session) as follower:
        worker.freeze()
        try:
            added = alice.do("POST", f"/sessions/{session['id']}/cards", model_key=BALANCE_ONLY)
            alice.do("DELETE", f"/cards/{added['id']}")
        finally:
            worker.thaw()

    assert len(follower.pictures[-1]["cards"]) == 1
    assert len(alice.calls()) == 1
    alice.check_money(follower.pictures[-1])


def test_a_card_that_is_being_written_is_removed_and_billed_at_what_it_produced(
    alice: Owner,
) -> None:
    session = alice.start(BALANCE_ONLY, prompt=alice.text(**SLOW))

    with alice.follow(session) as follower:
        wait_until(lambda: _card(follower.look())["content"] != "")
        alice.do("DELETE", f"/cards/{_card(session)['id']}")

    last = follower.pictures[-1]
    assert (last["cards"], last["status"]) == ([], "cancelled")
    [charge] = alice.charges().values()
    assert charge.status == "settled"
    assert 0 < charge.tokens_out < SLOW["tokens"]
    assert alice.calls()[0]["outcome"] == "client_gone"
    alice.check_money(last)


@pytest.mark.parametrize("thoughts", [0, 300])
def test_a_card_that_is_removed_before_it_said_anything_is_billed_for_what_was_read(
    alice: Owner, thoughts: int
) -> None:
    prompt = alice.text(**SLOW, ttft_ms=1500, reasoning_tokens=thoughts)
    session = alice.start(BALANCE_ONLY, prompt=prompt)

    with alice.follow(session) as follower:
        wait_until(lambda: len(alice.calls()) == 1)
        alice.do("DELETE", f"/cards/{_card(session)['id']}")
        assert follower.look()["cards"] == []
        # Nobody waits for a call that is only read on to learn what it costs.
        wait_until(lambda: [each.status for each in alice.charges().values()] == ["settled"])

    [charge] = alice.charges().values()
    assert charge.tokens_in > 0
    assert 0 < charge.tokens_out < SLOW["tokens"] / 2
    assert alice.calls()[0]["outcome"] == "client_gone"
    alice.check_money(follower.pictures[-1])


def test_a_card_that_is_stopped_keeps_its_text_and_is_billed_once(alice: Owner) -> None:
    session = alice.start(BALANCE_ONLY, prompt=alice.text(**SLOW))

    with alice.follow(session) as follower:
        wait_until(lambda: _card(follower.look())["content"] != "")
        alice.do("POST", f"/cards/{_card(session)['id']}/stop")

    last = follower.pictures[-1]
    card = _card(last)
    assert (last["status"], card["status"], card["error"]) == ("cancelled", "cancelled", None)
    [charge] = alice.charges().values()
    assert charge.status == "settled"
    assert 0 < len(card["content"].split()) <= charge.tokens_out < SLOW["tokens"]
    assert alice.calls()[0]["outcome"] == "client_gone"
    alice.check_money(last)


def test_nobody_waits_for_a_stopped_call_of_which_it_is_not_known_what_it_costs(
    alice: Owner,
) -> None:
    session = alice.start(BALANCE_ONLY, prompt=alice.text(**SLOW, ttft_ms=3000))

    with alice.follow(session) as follower:
        wait_until(lambda: len(alice.calls()) == 1)
        with Stopwatch() as watch:
            alice.do("POST", f"/sessions/{session['id']}/stop")
            wait_until(lambda: follower.look()["status"] == "cancelled")
        assert watch.seconds < 1.5
        assert next(iter(alice.charges().values())).status == "held"
        wait_until(lambda: _card(follower.look())["cost_usd"] > 0)

    last = follower.pictures[-1]
    assert (_card(last)["status"], _card(last)["content"]) == ("cancelled", "")
    alice.check_money(last)


def test_a_council_that_is_deleted_ends_its_calls(alice: Owner) -> None:
    session = alice.start(BALANCE_ONLY, prompt=alice.text(**SLOW))
    wait_until(lambda: len(alice.calls()) == 1)

    alice.do("DELETE", f"/sessions/{session['id']}")

    wait_until(lambda: [each.status for each in alice.charges().values()] == ["settled"])
    [charge] = alice.charges().values()
    assert 0 < charge.tokens_out < SLOW["tokens"]
    wait_until(lambda: not Job.objects.filter(account=alice.user, ended_at=None).exists())


@pytest.mark.parametrize(
    "fault",
    [
        {"fail": "before"},
        {"status": 429, "retry_after": 60},
        {"status": 400},
        {"bad_json": True},
        {"drop": True},
    ],
    ids=["error", "too_many", "refused", "bad_json", "cut"],
)
def test_a_provider_that_fails_before_it_answers_costs_nothing(
    alice: Owner, fault: dict[str, Any]
) -> None:
    prompt = alice.text({"model": BALANCE_ONLY, **fault})
    session = alice.start(IN_PLAN, BALANCE_ONLY, prompt=prompt)

    with alice.follow(session) as follower:
        pass

    last = follower.pictures[-1]
    assert _statuses(last) == ["completed", "failed"]
    assert last["status"] == "completed"
    failed = last["cards"][1]
    assert (failed["content"], failed["usage"], failed["cost_usd"]) == ("", None, 0)
    alice.check_money(last)


@pytest.mark.parametrize("fault", [{"fail": "after"}, {"drop": True}, {"bad_json": True}])
def test_a_provider_that_fails_in_the_middle_is_billed_for_what_came(
    alice: Owner, fault: dict[str, Any]
) -> None:
    prompt = alice.text(tokens=None, text="one " * 40, after_tokens=12, **fault)
    session = alice.start(BALANCE_ONLY, prompt=prompt)

    with alice.follow(session) as follower:
        pass

    last = follower.pictures[-1]
    card = _card(last)
    assert (last["status"], card["status"]) == ("failed", "failed")
    assert card["error"]["code"] == "upstream_error"
    assert len(card["content"].split()) == card["usage"]["output_tokens"] == 12
    alice.check_money(last)


def test_a_card_that_could_not_be_paid_for_is_regenerated_after_a_top_up(owner: NewOwner) -> None:
    # Enough for one of three such calls at its worst, not for two at once.
    alice = owner(balance_cents=30)
    session = alice.start(*[BALANCE_ONLY] * 3, prompt=alice.text(ttft_ms=1500))

    with alice.follow(session) as follower:
        pass

    last = follower.pictures[-1]
    assert sorted(_statuses(last)) == ["completed", "failed", "failed"]
    refused = next(card for card in last["cards"] if card["status"] == "failed")
    assert refused["error"]["code"] == "insufficient_for_request"
    assert {"needed_usd", "balance_usd"} <= refused["error"].keys()
    assert len(alice.calls()) == 1
    alice.check_money(last)

    alice.top_up(100)
    with alice.follow(session) as follower:
        alice.do("POST", f"/cards/{refused['id']}/regenerate")
    again = next(card for card in follower.pictures[-1]["cards"] if card["id"] == refused["id"])
    assert (again["status"], again["current_version"]) == ("completed", 2)
    alice.check_money(follower.pictures[-1])


def test_whatever_characters_a_model_writes_are_told(alice: Owner) -> None:
    text = 'A\0B "quoted" \\ \x01\x7f 🌊🏴‍☠️ é 中文 \u2028\u2029 end'
    session = alice.start(IN_PLAN, prompt=alice.text(tokens=None, text=text, split=True))

    with alice.follow(session) as follower:
        pass

    assert _card(follower.pictures[-1])["content"] == text.replace("\0", "")


def test_a_long_answer_comes_whole(alice: Owner) -> None:
    session = alice.start(IN_PLAN, prompt=alice.text(tokens=5000))

    with alice.follow(session) as follower:
        pass

    assert len(_card(follower.pictures[-1])["content"].split()) == 5000


def test_thoughts_are_billed_and_not_told(alice: Owner) -> None:
    session = alice.start(BALANCE_ONLY, prompt=alice.text(reasoning_tokens=20))

    with alice.follow(session) as follower:
        pass

    card = _card(follower.pictures[-1])
    assert len(card["content"].split()) == 3
    assert card["usage"]["output_tokens"] == 23
    alice.check_money(follower.pictures[-1])


def test_a_card_says_how_its_answer_ended(alice: Owner) -> None:
    cut, declined, silent = MODELS[1:]
    prompt = alice.text(
        {"model": cut, "finish": "max_tokens"},
        {"model": declined, "refusal": True},
        {"model": silent, "tokens": 0, "reasoning_tokens": 9},
    )
    session = alice.start(*MODELS, prompt=prompt)

    with alice.follow(session) as follower:
        pass

    last = follower.pictures[-1]
    assert [(card["status"], card["finish_reason"]) for card in last["cards"]] == [
        ("completed", "stop"),
        ("completed", "length"),
        ("failed", None),
        ("failed", None),
    ]
    why = [(card["error"]["code"], card["error"]["finish_reason"]) for card in last["cards"][2:]]
    assert why == [("no_text", "content_filter"), ("no_text", "stop")]
    assert last["cards"][3]["cost_usd"] > 0
    alice.check_money(last)


def _regenerate(alice: Owner, session: Shape, **body: Any) -> None:
    alice.do("POST", f"/cards/{_card(session)['id']}/regenerate", **body)


def _card(session: Shape) -> Shape:
    card: Shape = session["cards"][0]
    return card


def _statuses(session: Shape) -> list[str]:
    return [card["status"] for card in session["cards"]]
