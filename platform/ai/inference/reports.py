"""Reports for operators: why a call failed, and a log line at the end of a call.

Reports contain no key, prompt or answer.
"""

from typing import Any
from uuid import UUID

import structlog

from ai.inference.errors import failure_of
from ai.inference.metrics import Steps, count_end, provider_faults, provider_retries
from ai.inference.types import Call
from ai.providers.errors import AccountFault, ProviderError, ProviderUnavailable, RequestRefused
from billing.types import Ending, Failure, Resolution
from common.errors import DomainError
from common.logging import CallLine

log = structlog.get_logger(__name__)

MAX_TEXT = 200  # characters

# An operator has to act: until then, all calls with this key, quota or model fail.
_ACCOUNT_EVENTS: dict[AccountFault, str] = {
    "key": "provider.key_refused",
    "quota": "provider.quota_exhausted",
    "model": "provider.model_gone",
}


class CallEnded(CallLine, tag_field="event", tag="call.ended"):
    """The log line at the end of a call.

    `status` is the status of the charge, or `refused` where nothing was held, `replayed` where an
    earlier call had been paid, `open` where the charge is left to other processes. `code` is the
    code of the error that the caller got. Money is in nano-USD: `cost` at cost, `billed` what the
    customer paid. The seconds count from the start of the call to its first output and to its end.
    """

    request_id: str
    charge_id: UUID
    account_id: UUID
    api_key_id: UUID | None
    source: str
    kind: str
    provider: str
    model: str
    status: str
    code: str | None
    attempts: int
    tokens_in: int
    tokens_out: int
    cost_nusd: int
    billed_nusd: int
    first_output_seconds: float | None
    total_seconds: float


def report_end(
    call: Call,
    charge_id: UUID,
    *,
    status: str,
    error: DomainError | None,
    attempts: int,
    ending: Ending | None,
    resolution: Resolution | None,
    first_output_seconds: float | None,
    total_seconds: float,
    steps: Steps | None = None,
) -> None:
    """Count a call that has ended, and write its line. `ending` and `resolution` are None where the
    charge was not ended here."""
    code = error.code if error else None
    count_end(
        call,
        status=status,
        code=code,
        ending=ending,
        resolution=resolution,
        first_output_at=first_output_seconds,
        seconds=total_seconds,
        steps=steps,
    )
    CallEnded(
        request_id=call.request_id,
        charge_id=charge_id,
        account_id=call.account_id,
        api_key_id=call.api_key_id,
        source=call.source,
        kind=call.kind,
        provider=call.model.provider,
        model=call.model.id,
        status=status,
        code=code,
        attempts=attempts,
        tokens_in=ending.units.get("tokens_in", 0) if ending else 0,
        tokens_out=ending.units.get("tokens_out", 0) if ending else 0,
        cost_nusd=resolution.cost if resolution else 0,
        billed_nusd=resolution.billed if resolution else 0,
        first_output_seconds=first_output_seconds and round(first_output_seconds, 4),
        total_seconds=round(total_seconds, 4),
    ).write()


def explain(call: Call, error: DomainError, cause: ProviderError | None, attempts: int) -> Failure:
    """Why a call failed, as stored with its charge. `cause` is the failure of the provider that led
    to the error, if there is one."""
    shown = failure_of(error)
    return Failure(
        code=shown.code,
        message=_message(cause) if cause else shown.message[:MAX_TEXT],
        provider=call.model.provider if attempts else "",
        status=cause.status if cause else None,
        reason=_reason(cause) if cause else "",
        attempts=attempts,
    )


def report_failure(call: Call, error: ProviderError, *, after_output: bool, again: bool) -> None:
    """Count and log that a provider failed; `again`: the provider is called once more. The level is
    error where an operator has to act, and warning otherwise."""
    facts: dict[str, Any] = {
        "provider": call.model.provider,
        "model": call.model.id,
        "status": error.status,
        "code": _reason(error),
        "request_id": call.request_id,
        "error": _message(error),
        "after_output": after_output,
    }
    if again:
        provider_retries.labels(call.model.provider).inc()
    if isinstance(error, ProviderUnavailable):
        provider_faults.labels(call.model.provider, error.fault).inc()
        log.error(_ACCOUNT_EVENTS[error.fault], **facts)
    elif isinstance(error, RequestRefused):
        log.info("provider.request_refused", **facts)
    else:
        log.warning("provider.retried" if again else "provider.failed", **facts)


def _reason(error: ProviderError) -> str:
    return " ".join(error.codes)[:MAX_TEXT]


def _message(error: ProviderError) -> str:
    """The message of an error, without the provider's words in a refusal, which may quote the
    request."""
    if isinstance(error, RequestRefused):
        return "The provider refused the request."
    return str(error)[:MAX_TEXT]
