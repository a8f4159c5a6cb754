"""`/api/transcribe`: speech to text."""

from hashlib import sha256

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from ai.inference.errors import RequestRefusedByProvider, UpstreamFailed
from ai.provider_health.errors import ProviderNotAvailable
from billing.errors import (
    AnswerLost,
    IdempotencyInProgress,
    IdempotencyMismatch,
    InsufficientBalance,
    InsufficientForRequest,
)
from billing.idempotency import read_request_key, replayed
from common.idempotency import IDEMPOTENCY_KEY
from common.multipart import FormWithFileParser
from common.openapi import error_responses
from common.validation import read
from common.viewsets import ViewSet
from conversations.request_serializers.transcribing import TranscribeInputSerializer
from conversations.serializers.transcripts import TranscriptSerializer
from conversations.services.transcription import transcribe
from media.audio.measuring import InvalidAudio
from server.file_bodies import TooManyFiles


class TranscribeViewSet(ViewSet):
    """Transcripts of the user's audio."""

    parser_classes = (FormWithFileParser,)

    @extend_schema(
        operation_id="transcribeAudio",
        parameters=[IDEMPOTENCY_KEY],
        request={"multipart/form-data": TranscribeInputSerializer},
        responses={
            200: TranscriptSerializer,
            **error_responses(
                RequestRefusedByProvider,
                InsufficientBalance,
                InsufficientForRequest,
                IdempotencyMismatch,
                IdempotencyInProgress,
                AnswerLost,
                InvalidAudio,
                TooManyFiles,
                UpstreamFailed,
                ProviderNotAvailable,
            ),
        },
    )
    def create(self, request: AuthenticatedRequest) -> Response:
        """Transcribe audio.

        It is billed by the second, rounded up, as it is decoded here; a model may have a minimum,
        which is billed for shorter audio. A call continues, and is billed, even if the client
        disconnects. The file itself is not kept.
        """
        form = read(TranscribeInputSerializer, request.data)
        audio = form.pop("file").read()
        transcription = transcribe(
            user=request.user,
            audio=audio,
            model=form.get("model"),
            language=form.get("language"),
            request_key=read_request_key(request, form | {"file": sha256(audio).hexdigest()}),
            request_id=request._request.request_id,  # type: ignore[attr-defined]
        )
        return Response(
            TranscriptSerializer(transcription).data,
            headers=replayed(transcription.is_replayed),
        )
