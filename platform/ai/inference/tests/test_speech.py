"""What audio is billed as, and what it may take of a process."""

from dataclasses import replace
from uuid import uuid4

import pytest

from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model
from ai.inference import speech
from ai.inference.speech import MAX_MEMORY, SpeechRunner
from ai.inference.types import SpeechCall, billed_seconds
from ai.provider_health.services import permit_of
from ai.providers.types import Deadlines, SpeechRequest, Transcript
from common.errors import ServiceUnavailable

pytestmark = pytest.mark.django_db


class NobodyListens:
    """A wire that must not be called."""

    async def transcribe(self, request: SpeechRequest, deadlines: Deadlines) -> Transcript:
        raise AssertionError("The provider was called.")


@pytest.fixture
def nova() -> Model:
    model = get_catalog().find("nova-3")
    assert model is not None
    return model


@pytest.mark.parametrize(
    ("duration", "least", "billed"),
    [(0.01, 0, 1), (1.0, 0, 1), (1.001, 0, 2), (7_200.0, 0, 7_200), (3.2, 10, 10), (11.5, 10, 12)],
)
def test_seconds_are_rounded_up_and_have_a_least_number(
    nova: Model, duration: float, least: int, billed: int
) -> None:
    assert billed_seconds(replace(nova, minimum_seconds=least), duration) == billed


async def test_where_there_is_no_memory_left_nothing_is_held_nor_asked(nova: Model) -> None:
    call = SpeechCall(
        account_id=uuid4(),
        api_key_id=None,
        source="web",
        model=nova,
        audio=bytes(1_000),
        format="wav",
        duration=1.0,
        request_id="",
    )
    runner = SpeechRunner(call, NobodyListens(), permit_of(call.model, None), uuid4())
    with speech._memory.share() as others:
        others.reserve(MAX_MEMORY - 1_999)
        await runner.run()
    with pytest.raises(ServiceUnavailable):
        await runner.ended()
