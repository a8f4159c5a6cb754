"""Somebody who has audio written down, over HTTP, against the running service."""

import json
from typing import Any

import httpx

from billing.models import Charge
from conversations.tests.speaker import Speaker
from tests.audio import tone

# By provider: OpenAI's wire, the same and Whisper's, Deepgram's.
MODELS = {
    "openai": "gpt-transcribe",
    "groq": "whisper-large-v3-turbo",
    "deepgram": "nova-3",
}


class Dictation:
    """A speaker's audio. The simulator is steered by its title."""

    def __init__(self, speaker: Speaker) -> None:
        self.speaker = speaker

    def audio(self, seconds: float = 2.5, form: str = "wav", **options: Any) -> bytes:
        steering = json.dumps({"marker": self.speaker.marker} | options)
        return tone(seconds, form, title=f"@sim {steering}")

    def post(
        self,
        audio: bytes | None = None,
        *,
        name: str = "memo.wav",
        headers: dict[str, str] | None = None,
        **fields: str,
    ) -> httpx.Response:
        request = self.request(audio, name=name, headers=headers, **fields)
        return self.speaker.http.send(request)

    def request(
        self,
        audio: bytes | None = None,
        *,
        name: str = "memo.wav",
        headers: dict[str, str] | None = None,
        **fields: str,
    ) -> httpx.Request:
        return self.speaker.http.build_request(
            "POST",
            "/api/transcribe",
            files={"file": (name, self.audio() if audio is None else audio, "audio/wav")},
            data=fields,
            headers=self.speaker.headers | (headers or {}),
        )

    def transcript(self, audio: bytes | None = None, **fields: str) -> dict[str, Any]:
        """The answer to a request that goes well."""
        response = self.post(audio, headers=None, **fields)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def refusal(self, response: httpx.Response, status: int, code: str) -> dict[str, Any]:
        """The body of an answer that refuses so, and for which nothing was billed."""
        assert (response.status_code, response.json()["code"]) == (status, code), response.text
        assert not self.charges().filter(status__in=["settled", "expired", "held"]).exists()
        body: dict[str, Any] = response.json()
        return body

    def charges(self) -> Any:
        return Charge.objects.filter(account=self.speaker.user)

    def calls(self) -> list[dict[str, Any]]:
        """What the providers say they were asked."""
        return self.speaker.calls()
