"""The price list. `services.seed_catalog` applies it.

Rates are the providers' list prices in USD. Where a provider charges more for long prompts, the
context window listed here ends below that tier, so that the listed rate is always the right one. A
changed price is a further `Price` with its date; a line that was live is never edited.

Cached input is listed by its provider, as of November 2026, at this part of the price of input:
Anthropic 5 % (Haiku 10 %), DeepSeek 3.3 %, Google, Mistral and Moonshot 10 %, Groq 50 %, OpenAI 5 %
(Luna 10 %), xAI 25 %. Writing to a cache is billed as any input (decision 79).
"""

from datetime import date
from functools import partial

from ai.catalog import param_schemas
from ai.catalog.listing import ModelSeed, per_hour, per_image, per_million
from ai.catalog.studio_seeds import ASSET_MODELS, VIDEO_MODELS
from ai.catalog.types import LOCAL_PROVIDER


def _speech(
    name: str,
    display_name: str,
    provider: str,
    owned_by: str,
    released_on: date,
    usd_per_hour: str,
    minimum_seconds: int = 0,
) -> ModelSeed:
    """A speech model. The length of audio is its limit, not tokens."""
    return ModelSeed(
        id=name,
        display_name=display_name,
        modality="speech",
        provider=provider,
        owned_by=owned_by,
        released_on=released_on,
        context_window=0,
        max_output_tokens=0,
        prices=(per_hour(usd_per_hour),),
        minimum_seconds=minimum_seconds,
    )


CHAT_MODELS = (
    ModelSeed(
        id="gpt-6.1-sol",
        display_name="GPT-6.1 Sol",
        provider="openai",
        released_on=date(2026, 9, 29),
        context_window=272_000,
        max_output_tokens=128_000,
        prices=(per_million("2.00", "10.00", cached_usd="0.10"),),
        vision=True,
        tools=True,
        reasoning=True,
        reasons_unasked=True,
        aliases=("gpt-5", "gpt-5.6-sol"),
    ),
    ModelSeed(
        id="gpt-6.1-terra",
        display_name="GPT-6.1 Terra",
        provider="openai",
        released_on=date(2026, 10, 26),
        context_window=272_000,
        max_output_tokens=128_000,
        prices=(per_million("1.00", "5.00", cached_usd="0.05"),),
        vision=True,
        tools=True,
        reasoning=True,
        reasons_unasked=True,
        aliases=("gpt-5.6-terra", "gpt-4.1"),
    ),
    ModelSeed(
        id="gpt-6-luna",
        display_name="GPT-6 Luna",
        provider="openai",
        released_on=date(2026, 10, 1),
        context_window=272_000,
        max_output_tokens=128_000,
        prices=(per_million("0.10", "0.50", cached_usd="0.01"),),
        vision=True,
        tools=True,
        reasoning=True,
        free=True,
        aliases=("gpt-4o-mini", "gpt-4.1-mini", "gpt-5-mini"),
    ),
    ModelSeed(
        id="claude-opus-5-5",
        display_name="Claude Opus 5.5",
        provider="anthropic",
        released_on=date(2026, 10, 1),
        context_window=1_000_000,
        max_output_tokens=128_000,
        prices=(per_million("4.00", "20.00", cached_usd="0.20"),),
        vision=True,
        tools=True,
        reasoning=True,
        reasons_unasked=True,
        aliases=("claude-opus-5", "claude-opus-4-8"),
    ),
    ModelSeed(
        id="claude-sonnet-5-5",
        display_name="Claude Sonnet 5.5",
        provider="anthropic",
        released_on=date(2026, 10, 1),
        context_window=1_000_000,
        max_output_tokens=128_000,
        prices=(per_million("2.00", "10.00", cached_usd="0.10"),),
        vision=True,
        tools=True,
        reasoning=True,
        aliases=("claude-sonnet-5", "claude-sonnet-4-5"),
    ),
    ModelSeed(
        id="claude-haiku-5-5",
        display_name="Claude Haiku 5.5",
        provider="anthropic",
        released_on=date(2026, 10, 1),
        context_window=100_000,
        max_output_tokens=128_000,
        prices=(per_million("0.10", "0.50", cached_usd="0.01"),),
        vision=True,
        tools=True,
        reasoning=True,
        free=True,
        aliases=("claude-haiku-4-5",),
    ),
    ModelSeed(
        id="gemini-3.1-pro-preview",
        display_name="Gemini 3.1 Pro",
        provider="google",
        released_on=date(2026, 2, 19),
        context_window=200_000,
        max_output_tokens=65_536,
        prices=(per_million("2.00", "12.00", cached_usd="0.20"),),
        vision=True,
        tools=True,
        reasoning=True,
        reasons_unasked=True,
        aliases=("gemini-2.5-pro",),
    ),
    ModelSeed(
        id="gemini-3.8-flash",
        display_name="Gemini 3.8 Flash",
        provider="google",
        released_on=date(2026, 9, 1),
        context_window=1_048_576,
        max_output_tokens=65_536,
        prices=(
            per_million("0.75", "3.75", cached_usd="0.075"),
            # The introductory price ends.
            per_million("1.50", "7.50", cached_usd="0.15", since=date(2027, 1, 1)),
        ),
        vision=True,
        tools=True,
        reasoning=True,
        reasons_unasked=True,
        aliases=("gemini-2.5-flash",),
    ),
    ModelSeed(
        id="grok-4.7",
        display_name="Grok 4.7",
        provider="xai",
        released_on=date(2026, 9, 21),
        context_window=200_000,
        max_output_tokens=65_536,
        prices=(per_million("2.00", "6.00", cached_usd="0.50"),),
        vision=True,
        tools=True,
        reasoning=True,
        reasons_unasked=True,
        aliases=("grok-4.6",),
    ),
    ModelSeed(
        id="deepseek-v4-pro",
        display_name="DeepSeek V4 Pro",
        provider="deepseek",
        released_on=date(2026, 4, 24),
        context_window=1_000_000,
        max_output_tokens=384_000,
        # The peak rate: the other hours cost us less.
        prices=(per_million("1.32", "3.96", cached_usd="0.044"),),
        tools=True,
        reasoning=True,
        reasons_unasked=True,
        aliases=("deepseek-chat", "deepseek-reasoner"),
    ),
    ModelSeed(
        id="mistral-medium-3.5",
        display_name="Mistral Medium 3.5",
        provider="mistral",
        upstream_model="mistral-medium-2604",
        released_on=date(2026, 4, 29),
        context_window=262_144,
        prices=(per_million("1.50", "7.50", cached_usd="0.15"),),
        vision=True,
        tools=True,
        reasoning=True,
    ),
    ModelSeed(
        id="kimi-k3",
        display_name="Kimi K3",
        provider="moonshot",
        released_on=date(2026, 7, 17),
        context_window=1_048_576,
        max_output_tokens=131_072,
        prices=(per_million("3.00", "15.00", cached_usd="0.30"),),
        vision=True,
        tools=True,
        reasoning=True,
        reasons_unasked=True,
        aliases=("kimi-k2.6",),
    ),
    ModelSeed(
        id="gpt-oss-120b",
        display_name="gpt-oss 120B",
        provider="groq",
        upstream_model="openai/gpt-oss-120b",
        owned_by="openai",
        released_on=date(2025, 8, 5),
        context_window=131_072,
        max_output_tokens=65_536,
        prompt_overhead_tokens=128,  # its chat template begins with a system block of its own
        prices=(per_million("0.15", "0.60", cached_usd="0.075"),),
        tools=True,
        reasoning=True,
        free=True,
    ),
)

# For a picture the context window limits the prompt, and no tokens come out.
_image = partial(ModelSeed, modality="image", context_window=8_192, max_output_tokens=0)

IMAGE_MODELS = (
    _image(
        id="gpt-image-2.5-flare",
        display_name="GPT Image 2.5 Flare",
        provider="openai",
        released_on=date(2026, 9, 8),
        prices=(per_image("0.006", "0.013", "0.053"),),
        params=param_schemas.pictures(references=4),
    ),
    _image(
        id="gemini-nano-banana-2.1",
        display_name="Gemini Nano Banana 2.1",
        provider="google",
        released_on=date(2026, 10, 6),
        prices=(per_image("0.034", "0.034", "0.050"),),
        params=param_schemas.pictures(references=4, has_seed=True),
    ),
    _image(
        id="flux-2-pro",
        display_name="FLUX.2 Pro",
        provider="bfl",
        owned_by="black-forest-labs",
        released_on=date(2025, 11, 25),
        prices=(per_image("0.03", "0.03", "0.045"),),
        params=param_schemas.pictures(references=2, has_seed=True),
    ),
    _image(
        id="grok-imagine-image-2.0",
        display_name="Grok Imagine Image 2.0",
        provider="xai",
        released_on=date(2026, 10, 12),
        prices=(per_image("0.04", "0.06", "0.08"),),
        params=param_schemas.pictures(references=4),
    ),
)

EMBEDDING_MODELS = (
    ModelSeed(
        id="text-embedding-3-small",
        display_name="Text Embedding 3 Small",
        modality="embedding",
        provider="openai",
        released_on=date(2024, 1, 25),
        context_window=8_192,
        max_output_tokens=0,
        prices=(per_million("0.02", "0"),),
    ),
)

SPEECH_MODELS = (
    _speech("gpt-transcribe", "GPT Transcribe", "openai", "openai", date(2026, 8, 27), "0.27"),
    _speech(
        *("whisper-large-v3-turbo", "Whisper Large v3 Turbo", "groq", "openai"),
        *(date(2024, 10, 1), "0.04"),
        minimum_seconds=10,
    ),
    _speech("nova-3", "Nova-3", "deepgram", "deepgram", date(2025, 2, 12), "0.312"),
)

# Served on the machine itself; listed only where the local default runs.
LOCAL_MODELS = (
    ModelSeed(
        id="smollm2-135m",
        display_name="SmolLM2 135M (local)",
        provider=LOCAL_PROVIDER,
        owned_by="huggingface",
        released_on=date(2024, 11, 1),
        context_window=8_192,
        max_output_tokens=1_024,
        prices=(per_million("0.01", "0.02"),),
        free=True,
    ),
    _speech(
        *("pocketsphinx-en", "PocketSphinx English (local)", "local_speech", "cmusphinx"),
        *(date(2025, 1, 10), "0.01"),
    ),
)

RETIRED = ("dall-e-2", "dall-e-3", "sora-2", "text-davinci-003", "imagen-4.0-generate-001")


def hosted_models() -> tuple[ModelSeed, ...]:
    """All listed models without those that run on this machine."""
    studio = VIDEO_MODELS + ASSET_MODELS
    return CHAT_MODELS + IMAGE_MODELS + EMBEDDING_MODELS + SPEECH_MODELS + studio
