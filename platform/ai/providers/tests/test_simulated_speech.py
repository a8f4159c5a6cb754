"""Speech wires against the simulator, which knows none of our code."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from ai.providers.config import from_environ
from ai.providers.errors import RequestRefused, UpstreamError
from ai.providers.registry import aclose, get_speech_wire
from ai.providers.types import Deadlines, SpeechRequest, Transcript
from media.audio.measuring import AudioFormat
from simulator.process import RunningSimulator
from tests.audio import tone

PATIENT = Deadlines(connect=2.0, total=20.0)
MODELS = {"openai": "gpt-transcribe", "groq": "whisper-large-v3-turbo", "deepgram": "nova-3"}
every_provider = pytest.mark.parametrize("provider", MODELS)


class Simulated:
    """Providers at the simulator, and a marker for this test's calls."""

    def __init__(self, simulator: RunningSimulator) -> None:
        self._simulator = simulator
        self._marker = uuid4().hex

    async def hear(
        self,
        provider: str,
        form: AudioFormat = "wav",
        language: str | None = None,
        **options: Any,
    ) -> Transcript:
        wire = get_speech_wire(provider)
        assert wire is not None
        audio = tone(1.5, form, title=f"@sim {json.dumps({'marker': self._marker} | options)}")
        return await wire.transcribe(
            SpeechRequest(MODELS[provider], audio, form, language), PATIENT
        )

    def calls(self) -> list[dict[str, Any]]:
        return self._simulator.calls(self._marker)


@pytest.fixture
async def simulated(settings: Settings, simulator: RunningSimulator) -> AsyncIterator[Simulated]:
    settings.PROVIDERS = from_environ({}, simulated=frozenset(MODELS), simulator_url=simulator.url)
    yield Simulated(simulator)
    await aclose()


@every_provider
async def test_a_transcript_comes(simulated: Simulated, provider: str) -> None:
    transcript = await simulated.hear(provider, text="Ten of clubs.")
    assert transcript.text == "Ten of clubs."
    assert transcript.language == (None if provider == "openai" else "en")
    (call,) = simulated.calls()
    assert (call["model"], call["audio_seconds"]) == (MODELS[provider], 1.5)
    assert call["outcome"] == "completed"


@every_provider
async def test_the_language_is_told(simulated: Simulated, provider: str) -> None:
    assert (await simulated.hear(provider, language="fr")).language == "fr"
    assert simulated.calls()[0]["language"] == "fr"


@every_provider
@pytest.mark.parametrize("form", ["flac", "mp3", "mp4", "ogg", "webm"])
async def test_every_format_is_taken(
    simulated: Simulated, provider: str, form: AudioFormat
) -> None:
    assert "stands in for" in (await simulated.hear(provider, form)).text


@every_provider
@pytest.mark.parametrize(
    "fault", [{"status": 500}, {"bad_json": True}, {"error_in_200": True}, {"drop": True}]
)
async def test_a_provider_that_fails_is_an_upstream_error(
    simulated: Simulated, provider: str, fault: dict[str, Any]
) -> None:
    with pytest.raises(UpstreamError):
        await simulated.hear(provider, **fault)


@every_provider
async def test_a_refusal_can_be_mended(simulated: Simulated, provider: str) -> None:
    with pytest.raises(RequestRefused):
        await simulated.hear(provider, status=400)
