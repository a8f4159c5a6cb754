"""Transcribes audio."""

from typing import cast

from asgiref.sync import async_to_sync
from django.conf import settings

from accounts.models import User
from ai.catalog.pricing import speech_cost
from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model, SpeechPrice
from ai.inference.availability import network_of
from ai.inference.errors import RequestRefusedByProvider
from ai.inference.services import open_speech
from ai.inference.speech import SpeechRunner
from ai.inference.types import SpeechAnswer, SpeechCall, billed_seconds
from ai.provider_health.errors import ProviderNotAvailable
from billing.selectors.affordability import get_spending_power
from billing.selectors.charges import get_usage
from billing.selectors.idempotency import find_result
from billing.types import RequestKey
from common.errors import DomainError, ValidationFailed
from common.threads import release_connection
from conversations.transcripts import Transcription
from media.audio.measuring import measure


def transcribe(
    *,
    user: User,
    audio: bytes,
    language: str | None,
    model: str | None,
    request_key: RequestKey | None,
    request_id: str,
) -> Transcription:
    """Transcribe audio with a speech model. The call continues, and is billed, even if the request
    ends.

    Raises InvalidAudio, ValidationFailed for a language that the model does not take,
    ProviderNotAvailable, CallsKeepFailing, ServiceUnavailable, PaymentRequired,
    IdempotencyMismatch, IdempotencyInProgress, AnswerLost, and the errors of the call.
    """
    speech_model = _find_model(model)
    _check_spending_power(user, speech_model, request_key)
    # Back to the pool: the call takes a while.
    release_connection()
    measured = measure(audio, owner=user.pk)
    call = SpeechCall(
        account_id=user.pk,
        api_key_id=None,
        source="web",
        model=speech_model,
        audio=audio,
        format=measured.format,
        duration=measured.seconds,
        language=language,
        request_key=request_key,
        request_id=request_id,
        free_network=network_of(user),
    )
    try:
        runner, answer = async_to_sync(_carry_out)(call)
    except RequestRefusedByProvider as refusal:
        raise _told_of_language(refusal, language) from None
    usage = (
        None if runner.billed is None else get_usage(user, [runner.charge_id]).get(runner.charge_id)
    )
    return Transcription(answer, usage, runner.replayed)


def _told_of_language(refusal: RequestRefusedByProvider, language: str | None) -> DomainError:
    """The refusal; that of the field, where the provider's words are about the language."""
    if language is None or "language" not in refusal.text.lower():
        return refusal
    return ValidationFailed.of(
        "language", f"The model does not take `{language}`. Leave it out, or choose another model."
    )


async def _carry_out(call: SpeechCall) -> tuple[SpeechRunner, SpeechAnswer]:
    runner = await open_speech(call)
    return runner, await runner.ended()


def _check_spending_power(user: User, model: Model, request_key: RequestKey | None) -> None:
    """Decoding costs processor time: it is not done for a user who could not pay for one second. A
    repeated request may have been paid before. Raises PaymentRequired."""
    if request_key is not None and find_result(user, request_key):
        return
    cost = speech_cost(cast(SpeechPrice, model.price), billed_seconds(model, 0))
    refusal = get_spending_power(user).refusal_of(model.id, cost)
    if refusal is not None:
        raise refusal


def _find_model(name: str | None) -> Model:
    """The model of that id, or the default one."""
    model = get_catalog().find(name or settings.DEFAULT_SPEECH_MODEL)
    if model is None:
        raise ProviderNotAvailable
    return model
