"""The tokens of the pictures that a model looks at, by the formulas that the providers publish."""

from ai.providers.types import InputImage

# Pixels a side of the patches that most models make a token of.
_PATCH = 28


def image_upper_bound(provider: str, image: InputImage) -> int:
    """An upper bound of the provider's count for a picture, whatever its detail."""
    return -(-image.width // _PATCH) * -(-image.height // _PATCH)


def estimate_image(provider: str, image: InputImage) -> int:
    """An estimate of the provider's count for a picture, at most its upper bound."""
    return image_upper_bound(provider, image)
