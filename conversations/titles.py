"""Writes the title of a conversation from its first message, with a model, on the event loop."""

from uuid import UUID

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError

from ai.catalog.selectors import aget_catalog
from ai.catalog.types import Model
from ai.inference.services import open_chat
from ai.inference.types import ChatCall
from ai.provider_health.errors import ProviderNotAvailable
from billing.selectors import free_budget
from billing.types import Ending, Resolution
from common.errors import DomainError
from common.ids import uuid7
from common.threads import in_thread
from conversations.prompts_title import title_in, title_prompt
from conversations.services import titles

log = structlog.get_logger(__name__)

TOTAL_SECONDS = 15.0
# A few words, and some reasoning of models that always reason.
MAX_OUTPUT_TOKENS = 256


async def make_title(
    *, account_id: UUID, question_id: UUID, message: str, request_id: str
) -> str | None:
    """Have a cheap model write the title of the conversation that begins with this message, at the
    platform's cost. Returns it once it is written.

    None where there is none, for whatever reason: a missing title is no error. There is none either
    where the user has named the conversation or deleted the message meanwhile, or the message has
    no words.
    """
    if not any(map(str.isalnum, message)):
        return None
    try:
        model = await _model()
        await in_thread(free_budget.check_for, account_id)
        return await _make(account_id, question_id, message, request_id, model)
    except (DomainError, OperationalError, InterfaceError) as failure:
        log.info("title.not_made", message_id=str(question_id), error=str(failure))
        return None


async def _model() -> Model:
    """Raises ProviderNotAvailable where there is no such model."""
    model = (await aget_catalog()).find(settings.TITLE_MODEL)
    if model is None or model.modality != "chat":
        raise ProviderNotAvailable
    return model


async def _make(
    account_id: UUID, question_id: UUID, message: str, request_id: str, model: Model
) -> str | None:
    """The call for a title, whose charge ends with the title. Raises the DomainError of a refused
    or failed call."""
    written: str | None = None

    async def conclude(ending: Ending, failure: DomainError | None) -> Resolution:
        nonlocal written
        title = title_in(runner.text) if failure is None else None
        resolution, written = await in_thread(
            titles.conclude, question_id=question_id, ending=ending, title=title
        )
        return resolution

    call = ChatCall(
        account_id=account_id,
        api_key_id=None,
        source="web",
        funding="platform",
        model=model,
        messages=title_prompt(message),
        max_output_tokens=MAX_OUTPUT_TOKENS,
        request_id=request_id,
        total_seconds=TOTAL_SECONDS,
        charge_id=uuid7(),
        conclude=conclude,
    )
    runner = await open_chat(call)
    await runner.ended()
    return written
