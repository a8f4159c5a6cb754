"""What `/api/transcribe` is asked."""

from typing import Any

from rest_framework import serializers

from catalog.fields import SpeechModelField
from common.multipart import FormFileField


class TranscribeInputSerializer(serializers.Serializer[Any]):
    """A form with a file of at most 25 MB and two hours: flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav
    or webm, with one audio track. `language` is an ISO 639-1 code, where it is known."""

    file = FormFileField(allow_empty_file=True)
    model = SpeechModelField(required=False)
    language = serializers.RegexField(r"\A[a-z]{2}\Z", required=False)
