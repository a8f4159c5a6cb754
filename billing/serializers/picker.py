"""What `/api/models` answers."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from accounts.selectors.preferences import Agent
from ai.catalog import pricing
from ai.catalog.types import ImagePrice, Price, TokenPrice, UnitPrice
from billing.selectors.picker import EFFORTS, TAKES, PickerModel
from billing.serializers.entitlements import FreeMessagesSerializer
from common.errors import DomainError
from common.fields import UsdField
from common.money import usd

_MICRO = 1_000_000


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

    def to_representation(self, instance: Price) -> dict[str, Any]:
        return super().to_representation(_prices(instance))


@extend_schema_serializer(component_name="ModelPreferences")
class PreferencesSerializer(serializers.Serializer[Agent]):
    """Your preferences, as in `/api/agents`."""

    enabled = serializers.BooleanField(read_only=True)
    favourite = serializers.BooleanField(read_only=True)
    reasoning_effort = serializers.ChoiceField(EFFORTS, read_only=True, allow_null=True)
    has_instructions = serializers.BooleanField(read_only=True)

    def to_representation(self, instance: Agent) -> dict[str, Any]:
        shown = super().to_representation(instance)
        return {**shown, "reasoning_effort": shown["reasoning_effort"] or None}


@extend_schema_serializer(component_name="ModelRefusal")
class RefusalSerializer(serializers.Serializer[DomainError]):
    """The error of a call that would be made now. `retry_after`: seconds after which the call may
    be admitted, null where waiting does not help, or nobody knows how long."""

    code = serializers.CharField(read_only=True)
    message = serializers.CharField(source="text", read_only=True)
    retry_after = serializers.IntegerField(read_only=True, allow_null=True)


class PickerModelSerializer(serializers.Serializer[PickerModel]):
    """A model on offer: its properties, its prices, your entitlement and your preferences.

    `takes`: `text`, `files` (text files; of others the model gets the name), `pictures` (uploads
    that are named in fields of `params`), `audio`. `params` is a JSON Schema (draft 2020-12) of the
    fields that a model of a studio takes beside the prompt, null for other models.
    `reasoning_efforts` are those that can be requested, empty where it does not reason;
    `reasons_unasked`: it reasons without being asked. `context_in_plan`: the tokens of its
    `context_window` that your plan gives. `callable`: would a call be admitted now?
    If not, `refusal` is the error.
    `default`: requests that name no model use it. `preferences` is null where it is no chat model.
    """

    id = serializers.CharField(source="model.id", read_only=True)
    display_name = serializers.CharField(source="model.display_name", read_only=True)
    provider = serializers.CharField(source="model.provider", read_only=True)
    owned_by = serializers.CharField(source="model.owned_by", read_only=True)
    modality = serializers.ChoiceField(list(TAKES), source="model.modality", read_only=True)
    aliases = serializers.ListField(child=serializers.CharField(), read_only=True)
    takes = serializers.ListField(
        child=serializers.ChoiceField(["text", "files", "pictures", "audio"]), read_only=True
    )
    reasoning_efforts = serializers.ListField(
        child=serializers.ChoiceField(EFFORTS), read_only=True
    )
    reasons_unasked = serializers.BooleanField(source="model.reasons_unasked", read_only=True)
    context_window = serializers.IntegerField(source="model.context_window", read_only=True)
    context_in_plan = serializers.IntegerField(read_only=True)
    max_output_tokens = serializers.IntegerField(source="model.max_output_tokens", read_only=True)
    params = serializers.DictField(read_only=True, allow_null=True)
    prices = PricesSerializer(source="model.price", read_only=True)
    callable = serializers.BooleanField(source="entitlement.callable", read_only=True)
    refusal = RefusalSerializer(read_only=True, allow_null=True)
    included_in_plan = serializers.BooleanField(
        source="entitlement.included_in_plan", read_only=True
    )
    allowance_usd = UsdField(source="entitlement.allowance.granted")
    remaining_usd = UsdField(source="entitlement.allowance.remaining")
    resets_at = serializers.DateTimeField(
        source="entitlement.resets_at", read_only=True, allow_null=True
    )
    free = FreeMessagesSerializer(source="entitlement.free", read_only=True, allow_null=True)
    default = serializers.BooleanField(source="is_default", read_only=True)
    preferences = PreferencesSerializer(source="agent", read_only=True, allow_null=True)


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
