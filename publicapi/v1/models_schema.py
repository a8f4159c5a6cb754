"""The answers of `/v1/models`: the catalog with live prices, in US dollars."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from accounts.features import KeyFeature

ListedModality = Literal["chat", "image", "embedding"]


class Capabilities(Struct):
    """What a model can do upstream."""

    vision: bool
    tools: bool
    streaming: bool


class TokenPricing(Struct, tag_field="unit", tag="per_1m_tokens"):
    """US dollars for a million tokens. Effective is the provider's rate plus the platform's fee.
    Cached input is what the provider has read from its cache; both its prices are null where the
    provider has none, and then it costs what other input costs."""

    input_per_1m_usd: float
    cached_input_per_1m_usd: float | None
    output_per_1m_usd: float
    platform_fee_per_1m_usd: float
    effective_input_per_1m_usd: float
    effective_cached_input_per_1m_usd: float | None
    effective_output_per_1m_usd: float


class QualityPrices(Struct):
    """US dollars for an image of each quality."""

    low: float
    standard: float
    high: float


class ImagePricing(Struct, tag_field="unit", tag="per_image"):
    """US dollars for an image. Effective is the provider's rate plus the platform's fee. Where no
    quality is named, it is `standard`."""

    per_image_usd: float
    platform_fee_per_image_usd: float
    effective_per_image_usd: float
    effective_per_image_usd_by_quality: QualityPrices


class ModelRow(Struct, tag_field="object", tag="model"):
    """A model on offer. The last fields are present when a key was sent."""

    id: str
    created: Annotated[int, Meta(description="When the model came, in Unix seconds.")]
    owned_by: str
    display_name: str
    modality: ListedModality
    capabilities: Capabilities
    context_window: Annotated[int, Meta(description="Tokens.")]
    max_output_tokens: Annotated[int, Meta(description="Tokens.")]
    pricing: TokenPricing | ImagePricing
    allowed_for_key: Annotated[
        bool | UnsetType, Meta(description="May the key that was sent call it?")
    ] = UNSET
    included_in_plan: Annotated[
        bool | UnsetType,
        Meta(description="Has the plan an allowance for it? If not, the balance pays, twice."),
    ] = UNSET
    features_for_key: Annotated[
        list[KeyFeature] | UnsetType,
        Meta(
            description="What the key that was sent may use of what the model can; there where "
            "the key has features."
        ),
    ] = UNSET


class ModelList(Struct, tag_field="object", tag="list"):
    """Every model that can be called."""

    data: list[ModelRow]
    plan: Annotated[
        str | UnsetType, Meta(description="The account's plan; there when a key was sent.")
    ] = UNSET
