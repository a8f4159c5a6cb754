"""Reading the catalog: one snapshot per process, at most a few seconds old."""

from datetime import UTC, datetime, time
from functools import cache
from types import MappingProxyType
from typing import cast

import structlog
from django.db.models.functions import Now

from ai.catalog.models import (
    IMAGE_PRICE,
    OF_THE_RIGHT_KIND,
    SPEECH_PRICE,
    TOKEN_PRICE,
    UNIT_PRICE,
    AIModel,
    Alias,
    PriceVersion,
    RetiredModel,
)
from ai.catalog.params import Params, with_results
from ai.catalog.types import (
    UNITS,
    Catalog,
    ImagePrice,
    Modality,
    Model,
    Price,
    SpeechPrice,
    TokenPrice,
    UnitPrice,
)
from common.snapshots import Snapshot

log = structlog.get_logger(__name__)


def get_catalog() -> Catalog:
    """The catalog, for synchronous code.

    Raises ServiceUnavailable where the database is away and was never reached before.
    """
    return _snapshot.get()


async def aget_catalog() -> Catalog:
    """The catalog, for code on an event loop. It never blocks the loop; only the very first caller
    waits, for a thread.

    Raises ServiceUnavailable where the database is away and was never reached before.
    """
    return await _snapshot.aget()


def price_history() -> dict[str, list[tuple[datetime, Price]]]:
    """All prices of each model, the earliest first, with the time from which each counts."""
    history: dict[str, list[tuple[datetime, Price]]] = {}
    rows = PriceVersion.objects.filter(OF_THE_RIGHT_KIND).select_related("model")
    for row in rows.order_by("valid_from"):
        history.setdefault(row.model_id, []).append((row.valid_from, _price(row)))
    return history


def get_price(version_id: int) -> Price | None:
    """The price of that version, in force or not; None where there is no such version."""
    version = PriceVersion.objects.select_related("model").filter(pk=version_id).first()
    return _price(version) if version else None


def reset() -> None:
    """Forget the snapshot. For tests, whose database changes under it."""
    _snapshot.reset()


def _load() -> Catalog:
    prices = _prices()
    rows = list(AIModel.objects.order_by("id"))
    # Those of models that are switched off, too: whether a request is refused depends on none.
    known = frozenset(name for row in rows for name in Params(row.params).fields)
    offered = (
        _model(row, prices[row.id], known) for row in rows if row.enabled and row.id in prices
    )
    models = {model.id: model for model in offered if _has_all_rates(model)}
    aliases = dict(Alias.objects.filter(model__in=list(models)).values_list("name", "model_id"))
    retired = frozenset(RetiredModel.objects.values_list("name", flat=True))
    return Catalog(MappingProxyType(models), MappingProxyType(aliases), retired)


def _prices() -> dict[str, Price]:
    """The price in force of each model. A price of the wrong kind is ignored: the price before it
    stays in force."""
    latest = (
        PriceVersion.objects.filter(valid_from__lte=Now())
        .select_related("model")
        .order_by("model_id", "-valid_from")
        .distinct("model_id")
    )
    prices = {row.model_id: _price(row) for row in latest.filter(OF_THE_RIGHT_KIND)}
    for row in latest:
        price = prices.get(row.model_id)
        if price is None or price.version_id != row.id:
            _report_wrong_kind(row.id, row.model_id)
    return prices


@cache
def _report_wrong_kind(version_id: int, model: str) -> None:
    """Log once in a process, and not with every refresh, because the row stays."""
    log.error("catalog.price_of_wrong_kind", price_version=version_id, model=model)


def _has_all_rates(model: Model) -> bool:
    """Can whatever the model takes be priced? A model is not offered while a price is in force that
    is older than one of its params."""
    price = model.price
    if not isinstance(price, UnitPrice) or model.params.variants <= price.per_unit.keys():
        return True
    _report_missing_rates(price.version_id, model.id)
    return False


@cache
def _report_missing_rates(version_id: int, model: str) -> None:
    """Log once in a process, as above."""
    log.error("catalog.price_lacks_rates", price_version=version_id, model=model)


def _price(version: PriceVersion) -> Price:
    """The price of a row, which has all rates of one kind and no others, by its check
    constraints."""
    if version.input is not None:
        rate_in, rate_out, fee = (getattr(version, name) for name in TOKEN_PRICE)
        return TokenPrice(version.id, rate_in, rate_out, fee, version.cached_input)
    if version.speech_hour is not None:
        return SpeechPrice(version.id, *(getattr(version, name) for name in SPEECH_PRICE))
    if version.unit_rates is not None:
        rates, fee = (getattr(version, name) for name in UNIT_PRICE)
        unit = UNITS[cast(Modality, version.model.modality)]
        return UnitPrice(version.id, unit, MappingProxyType(rates), fee)
    low, standard, high, fee = (getattr(version, name) for name in IMAGE_PRICE)
    per_image = MappingProxyType({"low": low, "standard": standard, "high": high})
    return ImagePrice(version.id, per_image, fee)


def _model(row: AIModel, price: Price, known: frozenset[str]) -> Model:
    return Model(
        id=row.id,
        display_name=row.display_name,
        modality=cast(Modality, row.modality),
        provider=row.provider,
        upstream_model=row.upstream_model,
        owned_by=row.owned_by,
        vision=row.vision,
        tools=row.tools,
        streaming=row.streaming,
        reasoning=row.reasoning,
        reasons_unasked=row.reasons_unasked,
        context_window=row.context_window,
        max_output_tokens=row.max_output_tokens,
        prompt_overhead_tokens=row.prompt_overhead_tokens,
        minimum_seconds=row.minimum_seconds,
        free=row.free,
        created=int(datetime.combine(row.released_on, time(), UTC).timestamp()),
        params=Params(with_results(row.params), known),
        price=price,
    )


_snapshot = Snapshot(_load)
