"""How long an image call may take."""

import msgspec

from ai.inference.images import STORE_SECONDS
from ai.inference.runner import SETTLE_TIMEOUT
from ai.inference.types import ImageCall


def test_an_image_call_ends_within_180_seconds() -> None:
    """The provider's part, which its wires end, then storing the pictures and settling."""
    [provider] = [
        field.default
        for field in msgspec.structs.fields(ImageCall)
        if field.name == "total_seconds"
    ]
    assert provider + STORE_SECONDS + SETTLE_TIMEOUT <= 180
