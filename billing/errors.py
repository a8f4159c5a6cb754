"""Why a call is not admitted. Each error says what the caller can do about it."""

from typing import Any

from billing.types import Funds
from common.errors import Conflict, DomainError, Forbidden, ValidationFailed
from common.idempotency import KEY_HOURS
from common.money import usd, usd_text

# Seconds after which running calls may have ended: most take less.
RUNNING_CALLS_RETRY = 10
_HELD = (
    "Running calls hold what allowance and balance have left for this model. "
    "Wait until they have ended, and try again."
)


class PaymentRequired(DomainError):
    """A 402. On `/api` its body always has the same eight fields, null where they do not apply, and
    the fields of the subclass (`own`). Amounts are given in nano-USD and shown in USD. `is_held`:
    allowance and balance would do if no other call ran."""

    status = 402

    def __init__(
        self,
        message: str | None = None,
        *,
        model_key: str | None = None,
        plan: str | None = None,
        funds: Funds | None = None,
        needed: int | None = None,
        retry_after: int | None = None,
        is_held: bool = False,
        **own: Any,
    ) -> None:
        super().__init__(
            _HELD if is_held else message,
            retry_after=RUNNING_CALLS_RETRY if is_held else retry_after,
            model_key=model_key,
            plan=plan,
            balance_usd=None if funds is None else usd(funds.balance),
            held_usd=None if funds is None else usd(funds.held),
            available_usd=None if funds is None else usd(funds.available),
            needed_usd=None if needed is None else usd(needed),
            **own,
        )


class InsufficientBalance(PaymentRequired):
    """Less than a cent is left of allowance and balance together. A much smaller request may
    pass."""

    code = "insufficient_balance"
    message = (
        "Allowance and balance for this model are together below one cent. "
        "Top up, or choose a model that your plan still covers."
    )


class InsufficientForRequest(PaymentRequired):
    """`afford_usd`: what is left of allowance and balance together, a cent or more."""

    code = "insufficient_for_request"
    message = (
        "Allowance and balance for this model together do not cover this request. "
        "Ask for less, choose a cheaper model, or top up."
    )


class SpendCapReached(PaymentRequired):
    """`retry_after` is set where running calls, not billed ones, fill the cap."""

    code = "spend_cap_reached"
    message = (
        "This key has reached its monthly spend cap. "
        "Raise the cap, or wait for the first of the month (UTC)."
    )


class GroupBudgetExceeded(PaymentRequired):
    """`afford_usd`: what is left of the group's budget. `retry_after` is set where running calls,
    not billed ones, leave too little."""

    code = "group_budget_exceeded"
    message = "This request may cost more than is left of the budget that it counts against."


class BudgetBelowSpent(Exception):
    """A group has billed and holds `spent` nano-USD: more than the budget that it is to have."""

    def __init__(self, spent: int) -> None:
        super().__init__(spent)
        self.spent = spent


class FreeLimit(PaymentRequired):
    """`limit` messages in `window_hours`, of which `used` are sent; the next window begins at
    `reset_at`."""

    code = "free_limit"
    message = "The free messages for this model are used up. Wait for the window, or upgrade."


class FreeModelLocked(PaymentRequired):
    """`free_models`: the ids of the models in the free plan."""

    code = "free_model_locked"
    message = "The free plan does not include this model. Choose a free one, or upgrade."


class FreeBudgetSpent(DomainError):
    """The platform has given away its free budget of the day."""

    code, status = "free_budget_spent", 503
    message = "All free messages of today have been sent. Come back tomorrow, or choose a plan."


class EmailUnverified(PaymentRequired):
    """The part of the free budget for accounts with an unverified address is spent. It is small,
    because anybody can make many such accounts."""

    code = "verify_email"
    message = (
        "The free messages for accounts with an unverified e-mail address are used up for today. "
        "Follow the link in our mail to verify yours, or have another mail sent."
    )


class PlanRequired(PaymentRequired):
    """`feature`: the feature that was asked for."""

    code = "plan_required"
    message = "This needs a paid plan. Upgrade to use it."


class FeatureRequired(PaymentRequired):
    """`feature`: the feature that was asked for; `required_plan`: the smallest plan that has it."""

    code = "feature_required"
    message = "Your plan does not include this. Upgrade to use it."


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
        f"This Idempotency-Key was used for another request within the last {KEY_HOURS} hours. "
        "Send the same body, or another key."
    )


class IdempotencyInProgress(DomainError):
    code, status = "idempotency_in_progress", 409
    message = "The request with this Idempotency-Key is still running. Try again in a moment."


class AnswerLost(DomainError):
    """The call behind an Idempotency-Key was billed (`billed_usd`), and its answer is lost. The
    call is not made again under the same key. The same for a request that was sent again without
    one (`is_named`). The status is 422, because clients repeat a 409 and a
    5xx by themselves."""

    code, status = "idempotency_answer_lost", 422
    message = "The request with this Idempotency-Key was billed, and its answer is lost."

    def __init__(self, billed: int, *, is_interrupted: bool, is_named: bool = True) -> None:
        """`billed` in nano-USD."""
        why = (
            "was interrupted: the server that made the call died"
            if is_interrupted
            else "was carried out, and its answer is not kept any more"
        )
        if is_named:
            text = (
                f"The request with this Idempotency-Key {why}. It was billed {usd_text(billed)} "
                "and is not carried out again. To send the request again, use another key."
            )
        else:
            text = (
                f"The request that this one repeats {why}. It was billed {usd_text(billed)}. Sent "
                "again, the request is a new one, and billed."
            )
        super().__init__(text, billed_usd=usd(billed))


class ChargeResolved(DomainError):
    """Somebody else ended the charge: the call behind it must stop."""

    code, status = "service_unavailable", 503
    message = "The call was interrupted. Try again."


class BelowHeld(ValidationFailed):
    """The amount is more than the free part of the balance."""

    @classmethod
    def of_wallet(cls, balance: int, held: int) -> "BelowHeld":
        """Amounts in nano-USD."""
        return cls(
            f"At most {usd_text(balance - held)} can be taken: the balance is {usd_text(balance)}, "
            f"of which running calls hold {usd_text(held)}."
        )


class RefundTooLarge(ValidationFailed):
    """The refund is more than what the charge billed."""

    @classmethod
    def of_charge(cls, left: int) -> "RefundTooLarge":
        """`left`: what the charge billed and was not refunded yet, in nano-USD."""
        return cls(f"At most {usd_text(left)} can be refunded of this charge.")


class NothingToRefund(Conflict):
    code = "nothing_to_refund"
    message = "Nothing was billed by this charge that was not refunded already."


class ChargeRunning(Conflict):
    code = "charge_running"
    message = "The call is still running. Refund it when it has ended."


class ChargeDropped(Conflict):
    code = "charge_dropped"
    message = "The call is of a month that is not kept any more. Adjust the balance instead."


class BalanceTooLarge(ValidationFailed):
    message = "A balance is at most 9,000,000 US dollars."


class SelfServiceOff(Forbidden):
    """No payment is taken on this server, so only an operator may do this."""

    code = "self_service_off"
    message = "Balance and plan cannot be changed here. Contact support."


class PlanByContract(Forbidden):
    code = "plan_by_contract"
    message = "This plan is agreed by contract. Contact us about it."


class SamePlan(Conflict):
    code = "same_plan"
    message = "The account is on this plan already."


class UnknownPlan(ValidationFailed):
    code = "unknown_plan"


class UsageExceedsPlan(Conflict):
    """`model_key`: the model with the largest usage beyond the plan. `retry_after` is set where
    only running calls hold too much."""

    code = "usage_exceeds_plan"
    message = "More of a model was used this month than that plan includes."

    @classmethod
    def by_usage(cls, model_key: str) -> "UsageExceedsPlan":
        return cls(
            f"More of {model_key} was used this month than that plan includes. "
            "Change the plan on the first of next month (UTC).",
            model_key=model_key,
        )

    @classmethod
    def by_running_calls(cls, model_key: str) -> "UsageExceedsPlan":
        return cls(
            f"Running calls hold more of {model_key} than that plan includes. Try again when they "
            "have ended.",
            retry_after=RUNNING_CALLS_RETRY,
            model_key=model_key,
        )
