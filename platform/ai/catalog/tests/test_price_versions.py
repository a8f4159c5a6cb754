"""The database itself keeps prices whole and unchanged."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import JSONField, Value
from django.utils import timezone

from ai.catalog.models import PriceVersion

pytestmark = pytest.mark.django_db

TOKENS = {"input": 1, "output": 2, "token_fee": 3}
PICTURES = {"image_low": 1, "image_standard": 2, "image_high": 3, "image_fee": 4}
SPEECH = {"speech_hour": 1, "speech_fee": 2}
UNITS = {"unit_rates": {"720p": 1, "720p+audio": 0}, "unit_fee": 2}
WRONG_RATES: list[Any] = [
    {},
    {"720p": -1},
    {"720p": 1, "1080p": 0.5},
    {"720p": "1"},
    {"720p": None},
    {"720p": True},
    {"720p": {"audio": 1}},
    {"720p": [1]},
    [1],
    1,
    "720p",
    Value(None, JSONField()),
]


def add(**rates: Any) -> PriceVersion:
    return PriceVersion.objects.create(model_id="gpt-6-luna", valid_from=timezone.now(), **rates)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE catalog_priceversion SET input = 0",
        "UPDATE catalog_priceversion SET valid_from = now()",
        "DELETE FROM catalog_priceversion",
    ],
)
def test_a_price_version_is_never_altered(sql: str) -> None:
    with (
        pytest.raises(IntegrityError, match="never changes"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql)


def test_a_price_version_that_is_not_in_force_yet_is_withdrawn_but_not_altered() -> None:
    now = timezone.now()
    rows = PriceVersion.objects.filter(model_id="gpt-6-luna")
    for wait in (timedelta(seconds=50), timedelta(days=1)):
        PriceVersion.objects.create(model_id="gpt-6-luna", valid_from=now + wait, **TOKENS)
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        rows.filter(valid_from__gt=now + timedelta(hours=1)).update(input=0)
    with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
        rows.filter(valid_from__gt=now).delete()
    assert rows.filter(valid_from__gt=now + timedelta(hours=1)).delete()[0] == 1


@pytest.mark.parametrize(
    "rates",
    [
        *(TOKENS, PICTURES, SPEECH, UNITS, dict.fromkeys(TOKENS, 0)),
        *({**TOKENS, "input": 9, "cached_input": cached} for cached in (0, 8, 9, None)),
    ],
)
def test_a_whole_price_is_taken(rates: dict[str, Any]) -> None:
    assert add(**rates).id


@pytest.mark.parametrize(
    "rates",
    [
        {},
        {**TOKENS, **PICTURES},
        {**TOKENS, "input": 9, "cached_input": 10},
        {**TOKENS, "cached_input": -1},
        {"cached_input": 0},
        {"cached_input": 1, "output": 2, "token_fee": 3},
        *({**rates, "cached_input": 0} for rates in (PICTURES, SPEECH, UNITS)),
        {**TOKENS, "image_fee": 1},
        {**TOKENS, **SPEECH},
        {**PICTURES, "speech_fee": 1},
        {**TOKENS, "unit_fee": 1},
        {**UNITS, "input": 1},
        {**UNITS, "unit_fee": -1},
        *({k: v for k, v in UNITS.items() if k != name} for name in UNITS),
        *({**UNITS, "unit_rates": rates} for rates in WRONG_RATES),
        *({k: v for k, v in TOKENS.items() if k != name} for name in TOKENS),
        *({k: v for k, v in PICTURES.items() if k != name} for name in PICTURES),
        *({k: v for k, v in SPEECH.items() if k != name} for name in SPEECH),
        *({**SPEECH, name: -1} for name in SPEECH),
        *({**TOKENS, name: -1} for name in TOKENS),
        *({**PICTURES, name: -1} for name in PICTURES),
    ],
)
def test_a_price_in_parts_or_below_zero_is_refused(rates: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        add(**rates)


def test_two_prices_cannot_start_at_once() -> None:
    first = add(**TOKENS)
    with pytest.raises(IntegrityError), transaction.atomic():
        PriceVersion.objects.create(
            model_id=first.model_id, valid_from=first.valid_from, input=9, output=9, token_fee=9
        )
