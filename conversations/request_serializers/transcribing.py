"""The body of `/api/transcribe`."""

from typing import Any

from rest_framework import serializers

from ai.catalog.fields import SpeechModelField
from common.multipart import FormFileField


class TranscribeInputSerializer(serializers.Serializer[Any]):
    """A form with a file of at most 25 MB and two hours: flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav
    or webm, with one audio track. `language` is an ISO 639-1 code, where it is known; the part
    after a hyphen, as in `en-US`, is ignored."""

    file = FormFileField(allow_empty_file=True)
    model = SpeechModelField(required=False)
    language = serializers.RegexField(
        r"\A[A-Za-z]{2}(-[A-Za-z0-9]+)*\Z",
        required=False,
        error_messages={"invalid": "Send a language code of two letters, like `en`."},
    )

    def validate_language(self, language: str) -> str:
        return language[:2].lower()
