"""The cost of a call: whole numbers only, rounded up once per request, never in between."""

from ai.catalog.types import ImagePrice, SpeechPrice, TokenPrice, UnitPrice

_PICO_PER_NANO = 1_000
_SECONDS_PER_HOUR = 3_600


def effective_input(price: TokenPrice) -> int:
    """The provider's input rate plus the platform's fee, in micro-USD per 1,000,000 tokens."""
    return price.input + price.fee


def effective_cached_input(price: TokenPrice) -> int:
    """The provider's rate of input from its cache plus the platform's fee, in micro-USD per
    1,000,000 tokens; the rate of all input where the provider has none of its own."""
    rate = price.input if price.cached_input is None else price.cached_input
    return rate + price.fee


def effective_output(price: TokenPrice) -> int:
    """The provider's output rate plus the platform's fee, in micro-USD per 1,000,000 tokens."""
    return price.output + price.fee


def effective_image(price: ImagePrice, quality: str) -> int:
    """The provider's price of one picture plus the platform's fee, in nano-USD.

    Raises KeyError for a quality that the model does not have.
    """
    return price.per_image[quality] + price.fee


def effective_unit(price: UnitPrice, variant: str) -> int:
    """The provider's price of one second or asset plus the platform's fee, in nano-USD.

    Raises KeyError for a variant that has no rate.
    """
    return price.per_unit[variant] + price.fee


def token_cost(price: TokenPrice, tokens_in: int, tokens_out: int, cached_tokens: int = 0) -> int:
    """Nano-USD of one request. `cached_tokens` are those of `tokens_in` that the provider has read
    from its cache; no more of them count than there are of `tokens_in`.

    A rate in micro-USD per 1,000,000 tokens is the pico-USD of one token, so the sum is exact; it
    is rounded up to a nano-USD once. Raises ValueError for a negative count.
    """
    if min(tokens_in, tokens_out, cached_tokens) < 0:
        raise ValueError("Tokens are counted from zero.")
    cached = min(cached_tokens, tokens_in)
    pico = (
        (tokens_in - cached) * effective_input(price)
        + cached * effective_cached_input(price)
        + tokens_out * effective_output(price)
    )
    return -(-pico // _PICO_PER_NANO)


def image_cost(price: ImagePrice, quality: str, n: int) -> int:
    """Nano-USD of `n` pictures of that quality.

    Raises KeyError for a quality that the model does not have, ValueError for a negative count.
    """
    if n < 0:
        raise ValueError("Pictures are counted from zero.")
    return n * effective_image(price, quality)


def speech_cost(price: SpeechPrice, seconds: int) -> int:
    """Nano-USD of that many seconds of audio, rounded up. Raises ValueError for a negative
    count."""
    if seconds < 0:
        raise ValueError("Seconds are counted from zero.")
    return -(-seconds * (price.per_hour + price.fee) // _SECONDS_PER_HOUR)


def unit_cost(price: UnitPrice, variant: str, quantity: int) -> int:
    """Nano-USD of that many seconds or assets of the variant.

    Raises KeyError for a variant that has no rate, ValueError for a negative quantity.
    """
    if quantity < 0:
        raise ValueError("Seconds and assets are counted from zero.")
    return quantity * effective_unit(price, variant)
