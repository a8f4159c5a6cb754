"""What `/api/models` answers."""

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from accounts.selectors.preferences import Agent
from ai.catalog import pricing
from ai.catalog.types import ImagePrice, Model, Price, TokenPrice, UnitPrice
from ai.providers.types import ReasoningEffort
from billing.selectors.picker import PickerModel
from billing.serializers.entitlements import FreeMessagesSerializer
from common.fields import UsdField
from common.money import usd

_MICRO = 1_000_000
# Files are sent as text, so they count as an input of text models.
_TAKES = {
    "chat": ["text", "files"],
    "image": ["text"],
    "video": ["text"],
    "3d": ["text"],
    "speech": ["audio"],
}
_EFFORTS = list(get_args(ReasoningEffort))


def _prices_by_variant() -> serializers.DictField:
    return serializers.DictField(child=serializers.FloatField(), read_only=True, allow_null=True)


class QualityPricesSerializer(serializers.Serializer[Any]):
    low = serializers.FloatField(read_only=True)
    standard = serializers.FloatField(read_only=True)
    high = serializers.FloatField(read_only=True)


@extend_schema_serializer(component_name="ModelPrices")
class PricesSerializer(serializers.Serializer[Any]):
    """US dollars, with the platform's fee, as an allowance is charged; a balance pays twice that.
    Prices that the model does not have are null. Cached input is what the provider has read from
    its cache; without a price of its own it costs what other input costs. Prices per second of
    video and per 3D asset are by variant: the values of the fields in `x-priced-by` of the model's
    `params`, joined by a plus, such as `720p`; a field that is true is there by its name
    (`720p+audio`), one that is false is not."""

    input_per_1m_usd = serializers.FloatField(read_only=True, allow_null=True)
    cached_input_per_1m_usd = serializers.FloatField(read_only=True, allow_null=True)
    output_per_1m_usd = serializers.FloatField(read_only=True, allow_null=True)
    per_image_usd = QualityPricesSerializer(read_only=True, allow_null=True)
    per_hour_usd = serializers.FloatField(read_only=True, allow_null=True)
    per_second_usd = _prices_by_variant()
    per_asset_usd = _prices_by_variant()


@extend_schema_serializer(component_name="ModelPreferences")
class PreferencesSerializer(serializers.Serializer[Agent]):
    """Your preferences, as in `/api/agents`."""

    enabled = serializers.BooleanField(read_only=True)
    favourite = serializers.BooleanField(read_only=True)
    reasoning_effort = serializers.ChoiceField(_EFFORTS, read_only=True, allow_null=True)
    has_instructions = serializers.BooleanField(read_only=True)


class PickerModelSerializer(serializers.Serializer[Any]):
    """A model on offer: its properties, its prices, your entitlement and your preferences.

    `takes`: `text`, `files` (text files; of others the model gets the name), `pictures` (uploads
    that are named in fields of `params`), `audio`. `params` is a JSON Schema (draft 2020-12) of the
    fields that a model of a studio takes beside the prompt, null for other models.
    `reasoning_efforts` are those that can be requested, empty where it does not reason;
    `reasons_unasked`: it reasons without being asked. `callable`: would a call be admitted now?
    `default`: requests that name no model use it. `preferences` is null where it is no chat model.
    """

    id = serializers.CharField(read_only=True)
    display_name = serializers.CharField(read_only=True)
    provider = serializers.CharField(read_only=True)
    owned_by = serializers.CharField(read_only=True)
    modality = serializers.ChoiceField(list(_TAKES), read_only=True)
    aliases = serializers.ListField(child=serializers.CharField(), read_only=True)
    takes = serializers.ListField(
        child=serializers.ChoiceField(["text", "files", "pictures", "audio"]), read_only=True
    )
    reasoning_efforts = serializers.ListField(
        child=serializers.ChoiceField(_EFFORTS), read_only=True
    )
    reasons_unasked = serializers.BooleanField(read_only=True)
    context_window = serializers.IntegerField(read_only=True)
    max_output_tokens = serializers.IntegerField(read_only=True)
    params = serializers.DictField(read_only=True, allow_null=True)
    prices = PricesSerializer(read_only=True)
    callable = serializers.BooleanField(read_only=True)
    included_in_plan = serializers.BooleanField(read_only=True)
    allowance_usd = UsdField()
    remaining_usd = UsdField()
    resets_at = serializers.DateTimeField(read_only=True, allow_null=True)
    free = FreeMessagesSerializer(read_only=True, allow_null=True)
    default = serializers.BooleanField(read_only=True)
    preferences = PreferencesSerializer(read_only=True, allow_null=True)

    def to_representation(self, instance: PickerModel) -> dict[str, Any]:
        model, entitlement = instance.model, instance.entitlement
        return super().to_representation(
            {
                **_catalog_part(model),
                "aliases": instance.aliases,
                "callable": entitlement.callable,
                "included_in_plan": entitlement.included_in_plan,
                "allowance_usd": entitlement.allowance.granted,
                "remaining_usd": entitlement.allowance.remaining,
                "resets_at": entitlement.resets_at,
                "free": entitlement.free,
                "default": instance.is_default,
                "preferences": _preferences(instance.agent),
            }
        )


def _catalog_part(model: Model) -> dict[str, Any]:
    return {
        "id": model.id,
        "display_name": model.display_name,
        "provider": model.provider,
        "owned_by": model.owned_by,
        "modality": model.modality,
        "takes": [*_TAKES[model.modality], *(["pictures"] if model.params.takes_uploads else [])],
        "reasoning_efforts": _EFFORTS if model.reasoning else [],
        "reasons_unasked": model.reasons_unasked,
        "context_window": model.context_window,
        "max_output_tokens": model.max_output_tokens,
        "params": model.params.schema or None,
        "prices": _prices(model.price),
    }


def _prices(price: Price) -> dict[str, Any]:
    prices: dict[str, Any] = dict.fromkeys(PricesSerializer().fields)
    if isinstance(price, TokenPrice):
        prices["input_per_1m_usd"] = pricing.effective_input(price) / _MICRO
        if price.cached_input is not None:
            prices["cached_input_per_1m_usd"] = pricing.effective_cached_input(price) / _MICRO
        prices["output_per_1m_usd"] = pricing.effective_output(price) / _MICRO
    elif isinstance(price, ImagePrice):
        prices["per_image_usd"] = {
            quality: usd(pricing.effective_image(price, quality)) for quality in price.per_image
        }
    elif isinstance(price, UnitPrice):
        prices[f"per_{price.unit}_usd"] = {
            variant: usd(pricing.effective_unit(price, variant)) for variant in price.per_unit
        }
    else:
        prices["per_hour_usd"] = usd(price.per_hour + price.fee)
    return prices


def _preferences(agent: Agent | None) -> dict[str, Any] | None:
    if agent is None:
        return None
    return {
        "enabled": agent.enabled,
        "favourite": agent.favourite,
        "reasoning_effort": agent.reasoning_effort or None,
        "has_instructions": bool(agent.instructions),
    }
