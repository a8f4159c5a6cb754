"""Why a call is not admitted. Each names what the caller can do about it."""

from common.errors import DomainError, ValidationFailed


class PaymentRequired(DomainError):
    status = 402


class InsufficientBalance(PaymentRequired):
    code = "insufficient_balance"
    message = "The plan's allowance for this model is spent and the balance is empty. Top up."


class InsufficientForRequest(PaymentRequired):
    code = "insufficient_for_request"
    message = (
        "The allowance and balance that remain do not cover this request. "
        "Lower max_tokens, choose a cheaper model, or top up."
    )


class SpendCapReached(PaymentRequired):
    """`retry_after` is set where running calls, not billed ones, fill the cap."""

    code = "spend_cap_reached"
    message = (
        "This key has reached its monthly spend cap. "
        "Raise the cap, or wait for the first of the month (UTC)."
    )


class FreeLimit(PaymentRequired):
    code = "free_limit"
    message = "The free messages for this model are used up. Wait for the window, or upgrade."


class InvalidApiKey(DomainError):
    code, status = "invalid_api_key", 401
    message = "This API key is unknown or revoked. Check it, or create a new one."


class AccountDisabled(DomainError):
    code, status = "account_disabled", 403
    message = "This account is suspended. Contact support."


class ApiAccessRequired(DomainError):
    code, status = "api_access_required", 403
    message = "This account's plan has no API access. Upgrade to Max, Advanced or Enterprise."


class ModelNotAllowed(DomainError):
    code, status = "model_not_allowed", 403
    message = "This API key is not allowed to call that model. Change the key's allowed models."


class IdempotencyMismatch(DomainError):
    code, status = "idempotency_mismatch", 422
    message = (
        "This Idempotency-Key was used for another request within the last 24 hours. "
        "Send the same body, or another key."
    )


class IdempotencyInProgress(DomainError):
    code, status = "idempotency_in_progress", 409
    message = "The request with this Idempotency-Key is still running. Try again in a moment."


class ChargeResolved(DomainError):
    """The charge was ended by someone else: the call behind it must stop."""

    code, status = "service_unavailable", 503
    message = "The call was interrupted. Try again."


class BelowHeld(ValidationFailed):
    message = "The balance would fall below what running calls hold. Wait for them, or take less."
