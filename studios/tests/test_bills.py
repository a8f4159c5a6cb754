"""What an order is billed: what its provider says that it costs, and never more than was held."""

import pytest

from ai.catalog.selectors import get_catalog
from ai.providers.operations import Succeeded
from common.ids import uuid7
from studios.calls import Order, Terms, call_of
from studios.types import Kind

pytestmark = pytest.mark.django_db

MODEL = "gen4.5"
TERMS = Terms("seconds", quantity=5, rate=100, fee=10)


@pytest.mark.parametrize(
    ("told", "billed"), [(None, 550), (0, 50), (300, 350), (500, 550), (501, 550), (9_000, 550)]
)
def test_it_is_the_providers_own_cost_with_the_fee_up_to_what_is_held(
    told: int | None, billed: int
) -> None:
    model = get_catalog().models[MODEL]
    order = Order(
        model=MODEL,
        provider=model.provider,
        upstream_model=model.upstream_model,
        prompt="A lighthouse.",
        params={},
        terms=TERMS,
    )
    call = call_of(Kind.VIDEO, request_id="order", account_id=uuid7(), model=model, order=order)

    assert call.worst_cost == 550
    assert call.cost_of(Succeeded(("https://example.com/a.mp4",), cost=told)) == billed
