"""What an action would cost, before it starts."""

from copy import deepcopy

from django.db import transaction

from accounts.models import User
from ai.inference.bounds import chat_cost, input_bound, output_bound
from ai.providers.tokens import estimate_input
from billing.selectors.affordability import SpendingPower, get_spending_power
from common.errors import DomainError
from council.models import Turn
from council.services.actions import Action, begin
from council.services.admission import Call, calls_of, refusal_of
from council.types import CallEstimate, Estimate

# How long an answer is taken to be where the model may write as much.
EXPECTED_OUTPUT_TOKENS = 800
# How many bytes a token of an answer is, where it is what another call is about.
BYTES_PER_TOKEN = 4


def estimate(*, user: User, action: Action) -> Estimate:
    """What an action would cost. It is started and rolled back, so that there is no
    second computation of the same.

    Raises what the action does, and PlanRequired.
    """
    with transaction.atomic():
        turn = begin(user=user, action=action)
        calls = _calls(user, turn)
        transaction.set_rollback(True)
    made = [call for call in calls if call.refusal is None]
    return Estimate(
        calls=calls,
        expected=sum(call.expected for call in made),
        at_most=sum(call.at_most for call in made),
        available=get_spending_power(user).available,
    )


def _calls(user: User, turn: Turn) -> list[CallEstimate]:
    """Those of all rounds, in the order in which they are made."""
    calls, till = calls_of(turn), _Till(get_spending_power(user))
    estimates = [till.reckon(call) for call in calls]
    going_on = [call for call, made in zip(calls, estimates, strict=True) if not made.refusal]
    longer = _growth(going_on)
    for later in range(2, turn.params.get("rounds", 1) + 1):
        estimates += [till.reckon(call, later, longer) for call in going_on]
    return estimates


class _Till:
    """Reckons calls one after the other: each is paid with what those before it have left."""

    def __init__(self, spending_power: SpendingPower) -> None:
        self._spending_power = spending_power
        self._expected, self._at_most = deepcopy(spending_power), deepcopy(spending_power)

    def reckon(self, call: Call, later: int | None = None, longer: int = 0) -> CallEstimate:
        """A call, as it is or as it will be in a later round: then its input may be so many tokens
        longer than its messages."""
        refusal = refusal_of(call, self._spending_power)
        expected, at_most = _costs(call, longer)
        model_id = call.version.generation.model
        return CallEstimate(
            card_id=None if call.version.number == 1 else call.version.card_id,
            round=later or call.version.details.get("round"),
            model=model_id,
            expected=_pay(self._expected, model_id, expected, refusal),
            at_most=_pay(self._at_most, model_id, at_most, refusal),
            refusal=refusal,
        )


def _pay(
    spending_power: SpendingPower, model_id: str, cost: int, refusal: DomainError | None
) -> int:
    """What is paid; a call that is refused leaves it as it is."""
    payment = (
        spending_power.price(model_id, cost) if refusal else spending_power.pay(model_id, cost)
    )
    return payment.total


def _costs(call: Call, longer: int) -> tuple[int, int]:
    """What a call is expected to cost, and costs at most, in nano-USD at cost."""
    model = call.model
    if model is None:
        return 0, 0
    most = output_bound(model)
    expected = chat_cost(model, estimate_input(call.messages), min(EXPECTED_OUTPUT_TOKENS, most))
    return expected, chat_cost(model, input_bound(model, call.messages) + longer, most)


def _growth(debaters: list[Call]) -> int:
    """How many tokens longer than in the first round their answers may be in a later one. As they
    are expected, they stay as long as they are."""
    most = sum(output_bound(call.model) * BYTES_PER_TOKEN for call in debaters if call.model)
    answers = [call.version.revises.generation.content for call in debaters if call.version.revises]
    return max(0, most - sum(len(answer.encode()) for answer in answers))
