"""POST .../estimate: what a council, a message to all, a merge or a debate would cost."""

from typing import Any

import pytest
from django.db.models import Model

from ai.catalog.selectors import get_catalog
from ai.catalog.types import TokenPrice
from ai.inference.bounds import output_bound
from billing.selectors.affordability import get_spending_power
from billing.services import balance
from billing.tests import bank
from billing.tests.bank import BALANCE_ONLY, IN_PLAN
from common.ids import uuid7
from common.money import usd
from council.models import Card, Generation, Message, Session, Turn, Version
from council.services.estimates import BYTES_PER_TOKEN, EXPECTED_OUTPUT_TOKENS
from council.tests.council_client import (
    CARDS,
    QUESTION,
    SESSIONS,
    CouncilClient,
    new_council_client,
)
from events.models import Event, Stream
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("committed", "providers")

UNREACHED = "mistral-medium-3.5"


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def estimate(person: CouncilClient, path: str, **body: Any) -> dict[str, Any]:
    answer = person.post(f"{SESSIONS}{path}/estimate", **body)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def cost(model_id: str, tokens_in: int, tokens_out: int) -> int:
    """Nano-USD at cost, worked out by hand."""
    price = get_catalog().models[model_id].price
    assert isinstance(price, TokenPrice)
    pico = tokens_in * (price.input + price.fee) + tokens_out * (price.output + price.fee)
    return -(-pico // 1_000)


def test_a_council_is_expected_to_cost_an_usual_answer_of_each(alice: CouncilClient) -> None:
    found = estimate(alice, "", prompt="the sea " * 50, models=[IN_PLAN, BALANCE_ONLY])

    planned, paid = found["calls"]
    assert [call["model"] for call in found["calls"]] == [IN_PLAN, BALANCE_ONLY]
    assert {call["card_id"] for call in found["calls"]} == {None}
    # 100 words are 100 tokens, and 4 for the message around them.
    assert planned["expected_usd"] == usd(cost(IN_PLAN, 104, EXPECTED_OUTPUT_TOKENS))
    assert paid["expected_usd"] == usd(2 * cost(BALANCE_ONLY, 104, EXPECTED_OUTPUT_TOKENS))
    assert found["expected_usd"] == pytest.approx(
        planned["expected_usd"] + paid["expected_usd"], abs=1e-9
    )
    assert found["available_usd"] == 5


def test_at_most_it_costs_what_is_held() -> None:
    broke = new_council_client(balance_usd=0)
    asked: dict[str, Any] = {"prompt": QUESTION, "models": [BALANCE_ONLY]}
    needed = broke.post(SESSIONS, **asked).json()["detail"]["needed_usd"]

    [call] = estimate(broke, "", **asked)["calls"]

    assert call["at_most_usd"] == needed > call["expected_usd"]


def test_an_allowance_is_used_up_call_by_call(alice: CouncilClient) -> None:
    """Of two calls that cost as much, one is paid by the plan, the other at twice its price."""
    body = {"prompt": "the sea " * 12_500, "models": [IN_PLAN] * 2}
    one = cost(IN_PLAN, 25_004, EXPECTED_OUTPUT_TOKENS)
    spent = get_spending_power(alice.user).allowances[IN_PLAN] - one
    _, charge = bank.hold(alice.user, spent, owner=bank.live_owner(), model=IN_PLAN)
    bank.settle(charge, spent)

    found = estimate(alice, "", **body)

    assert [call["expected_usd"] for call in found["calls"]] == [usd(one), usd(2 * one)]


def test_what_could_not_be_made_says_why_and_is_not_in_the_sums() -> None:
    broke = new_council_client(balance_usd=0)

    found = estimate(broke, "", prompt=QUESTION, models=[IN_PLAN, BALANCE_ONLY, UNREACHED])

    made, unpaid, unreached = found["calls"]
    assert made["refusal"] is None
    assert unpaid["refusal"]["code"] == "insufficient_balance"
    assert unpaid["refusal"]["needed_usd"] == unpaid["at_most_usd"] > 0
    assert unreached["refusal"]["code"] == "provider_unavailable"
    assert found["expected_usd"] == made["expected_usd"]
    assert found["at_most_usd"] == made["at_most_usd"]


def test_a_message_to_all_is_a_call_of_each_card(alice: CouncilClient) -> None:
    session, cards = alice.council("Deep.", "Blue.")

    found = estimate(alice, f"/{session.pk}/chat", content="x" * 4_000)

    assert [call["card_id"] for call in found["calls"]] == [str(card.pk) for card in cards]
    shorter = estimate(alice, f"/{session.pk}/chat", content="x")
    assert found["expected_usd"] > shorter["expected_usd"]


def test_a_merge_is_one_call_on_a_card_that_is_not_there(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.", "Blue.")

    found = estimate(alice, f"/{session.pk}/merge", model_key=BALANCE_ONLY, mode="compare")

    [call] = found["calls"]
    assert (call["card_id"], call["round"], call["model"]) == (None, None, BALANCE_ONLY)
    assert found["expected_usd"] == call["expected_usd"] > 0


def test_a_debate_is_a_call_of_each_card_in_each_round(alice: CouncilClient) -> None:
    session, cards = alice.council("Deep.", "Blue.", model=BALANCE_ONLY)

    one = estimate(alice, f"/{session.pk}/debate")
    three = estimate(alice, f"/{session.pk}/debate", rounds=3)

    ids = [str(card.pk) for card in cards]
    assert [call["card_id"] for call in three["calls"]] == ids * 3
    assert [call["round"] for call in three["calls"]] == [1, 1, 2, 2, 3, 3]
    assert three["calls"][:2] == one["calls"]
    assert three["expected_usd"] == pytest.approx(3 * one["expected_usd"], abs=1e-9)
    model = get_catalog().models[BALANCE_ONLY]
    longer = 2 * output_bound(model) * BYTES_PER_TOKEN - len("Deep.Blue.")
    assert three["calls"][2]["at_most_usd"] == pytest.approx(
        one["calls"][0]["at_most_usd"] + usd(2 * cost(BALANCE_ONLY, longer, 0)), abs=2e-9
    )


def test_who_could_not_debate_is_not_in_later_rounds(alice: CouncilClient) -> None:
    session, [first, second] = alice.council("Deep.", "Blue.")
    other, [third] = alice.council("Wet.", model=BALANCE_ONLY)
    Card.objects.filter(session=other).update(session=session)
    Generation.objects.filter(session=other).update(session=session)
    left = alice.user.wallet.balance
    balance.adjust(operation_id=uuid7(), account=alice.user, delta=-left, reason="test")

    found = estimate(alice, f"/{session.pk}/debate", rounds=2)

    ids = [str(card.pk) for card in (first, second, third, first, second)]
    assert [call["card_id"] for call in found["calls"]] == ids


def test_an_estimate_leaves_nothing_behind(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.", "Blue.")
    before = alice.session(session.pk)
    counts = _counts(alice)

    estimate(alice, "", prompt=QUESTION, models=[IN_PLAN])
    estimate(alice, f"/{session.pk}/chat", content="And?")
    estimate(alice, f"/{session.pk}/merge")
    estimate(alice, f"/{session.pk}/debate", rounds=2)

    assert _counts(alice) == counts
    assert alice.session(session.pk) == before


def test_it_is_refused_where_the_action_would_be(alice: CouncilClient) -> None:
    session, cards = alice.council("Deep.", "Blue.")
    path = f"{SESSIONS}/{session.pk}"
    assert alice.post(f"{path}/merge/estimate", mode="guided").status_code == 422
    assert alice.post(f"{path}/chat/estimate", content="").status_code == 422
    assert alice.post(f"{SESSIONS}/estimate", prompt="?", models=[]).status_code == 422

    assert alice.post(f"{path}/chat", content=QUESTION).status_code == 202
    for action, body in (("chat", {"content": "?"}), ("merge", {}), ("debate", {})):
        assert alice.post(f"{path}/{action}/estimate", **body).status_code == 409
    alice.client.delete(f"{CARDS}/{cards[0].pk}")
    alice.client.delete(f"{CARDS}/{cards[1].pk}")

    bob = new_council_client("bob", plan="free")
    answer = bob.post(f"{SESSIONS}/estimate", prompt="?", models=[IN_PLAN])
    assert answer.json()["detail"]["code"] == "plan_required"


def _counts(person: CouncilClient) -> list[int]:
    of_councils: tuple[type[Model], ...] = (Turn, Card, Message, Generation)
    counts = [
        each._default_manager.filter(session__account=person.user).count() for each in of_councils
    ]
    return [
        *counts,
        Session.objects.filter(account=person.user).count(),
        Version.objects.filter(card__session__account=person.user).count(),
        Stream.objects.filter(account=person.user).count(),
        Event.objects.filter(stream__account=person.user).count(),
        Job.objects.filter(account=person.user).count(),
    ]
