"""`GET /v1/models` and `GET /v1/models/{id}`: the catalog with live prices."""

from typing import cast

import msgspec

from accounts.features import KeyFeature
from ai.catalog import pricing
from ai.catalog.selectors import aget_catalog
from ai.catalog.types import ImagePrice, Model, Price, TokenPrice
from billing.selectors.api_keys import KeyHolder
from billing.selectors.plans import models_in_plan
from common.money import usd
from publicapi.v1.authentication import authenticate, sent_key
from publicapi.v1.exchange import Exchange
from publicapi.v1.model_access import find_listed
from publicapi.v1.models_schema import (
    Capabilities,
    ImagePricing,
    ListedModality,
    ModelList,
    ModelRow,
    QualityPrices,
    TokenPricing,
)

MODEL_PREFIX = "/v1/models/"
_MICRO = 1_000_000


async def list_models(exchange: Exchange) -> None:
    """Every model on offer; with a key also whether it may call them and its plan includes them."""
    holder = await _optional_holder(exchange)
    models = [model for model in (await aget_catalog()).models.values() if model.is_public]
    included = await _included(holder)
    answer = ModelList([_row(model, holder, included) for model in models])
    if holder:
        answer.plan = holder.plan
    await exchange.respond(200, msgspec.json.encode(answer))


async def get_model(exchange: Exchange) -> None:
    """One model, by id or legacy alias."""
    holder = await _optional_holder(exchange)
    model = await find_listed(exchange.path.removeprefix(MODEL_PREFIX))
    row = _row(model, holder, await _included(holder))
    await exchange.respond(200, msgspec.json.encode(row))


async def _optional_holder(exchange: Exchange) -> KeyHolder | None:
    return None if sent_key(exchange) is None else await authenticate(exchange)


async def _included(holder: KeyHolder | None) -> frozenset[str]:
    return await models_in_plan(holder.account_id, holder.plan) if holder else frozenset()


def _row(model: Model, holder: KeyHolder | None, included: frozenset[str]) -> ModelRow:
    row = ModelRow(
        id=model.id,
        created=model.created,
        owned_by=model.owned_by,
        display_name=model.display_name,
        modality=cast(ListedModality, model.modality),
        capabilities=Capabilities(model.vision, model.tools, model.streaming),
        context_window=model.context_window,
        max_output_tokens=model.max_output_tokens,
        pricing=_pricing(model.price),
    )
    if holder:
        row.allowed_for_key = holder.may_call(model.id)
        row.included_in_plan = model.id in included
        if holder.features:
            row.features_for_key = _usable(model, holder)
    return row


def _usable(model: Model, holder: KeyHolder) -> list[KeyFeature]:
    """The features of the key that the model has."""
    abilities: dict[KeyFeature, bool] = {
        "tools": model.tools,
        "structured_outputs": model.tools,
        "vision": model.vision,
    }
    return [name for name, can in abilities.items() if can and name in holder.features]


def _pricing(price: Price) -> TokenPricing | ImagePricing:
    if isinstance(price, TokenPrice):
        cached, effective_cached = _of_cached_input(price)
        return TokenPricing(
            input_per_1m_usd=price.input / _MICRO,
            cached_input_per_1m_usd=cached,
            output_per_1m_usd=price.output / _MICRO,
            platform_fee_per_1m_usd=price.fee / _MICRO,
            effective_input_per_1m_usd=pricing.effective_input(price) / _MICRO,
            effective_cached_input_per_1m_usd=effective_cached,
            effective_output_per_1m_usd=pricing.effective_output(price) / _MICRO,
        )
    price = cast(ImagePrice, price)
    effective = {
        quality: usd(pricing.effective_image(price, quality)) for quality in price.per_image
    }
    return ImagePricing(
        per_image_usd=usd(price.per_image["standard"]),
        platform_fee_per_image_usd=usd(price.fee),
        effective_per_image_usd=effective["standard"],
        effective_per_image_usd_by_quality=QualityPrices(**effective),
    )


def _of_cached_input(price: TokenPrice) -> tuple[float, float] | tuple[None, None]:
    """The provider's rate, and that with the fee."""
    if price.cached_input is None:
        return None, None
    return price.cached_input / _MICRO, pricing.effective_cached_input(price) / _MICRO
