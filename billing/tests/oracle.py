"""What money should do, by the rules of docs/charging.md, in plain Python and without a database.

Nothing is counted up here: what is held, used and billed is summed from the calls each time it is
asked for, and what was granted follows from the terms that were in force. So the oracle cannot
share a mistake with the counters that the money functions keep.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from uuid import UUID

from billing.tests.terms import Plan, Terms, month_after, month_of
from billing.types import ChargeStatus, HoldRequest, RequestKey
from common.money import NUSD_PER_CENT

LEASE = timedelta(seconds=30)
UNKNOWN_FOR = timedelta(seconds=15)
DOUBT = timedelta(seconds=8)
WINDOW = timedelta(hours=4)
MESSAGES = 10
NAMED_FOR = timedelta(hours=24)


@dataclass
class Process:
    """`lease_until` is None once it has given its lease up."""

    id: UUID
    lease_until: datetime | None
    doubted_at: datetime | None = None

    def has_lease(self, now: datetime) -> bool:
        return self.lease_until is not None and self.lease_until > now


@dataclass
class Key:
    """`cap`: None for none; `models`: empty for all."""

    cap: int | None
    models: frozenset[str] = frozenset()
    revoked: bool = False


@dataclass
class Call:
    """A charge. `plan_part` at cost, `balance_part` and `shortfall` at twice the cost."""

    request: HoldRequest
    plan: str
    process: Process
    admitted_at: datetime
    from_plan: int
    from_balance: int
    window: datetime | None
    status: ChargeStatus = "held"
    has_output: bool = False
    cost: int = 0
    tokens: tuple[int, int] = (0, 0)
    plan_part: int = 0
    balance_part: int = 0
    shortfall: int = 0

    @property
    def is_open(self) -> bool:
        return self.status == "held"

    @property
    def age_order(self) -> tuple[datetime, UUID]:
        return self.admitted_at, self.request.charge_id

    @property
    def month(self) -> date:
        return month_of(self.admitted_at)

    @property
    def held(self) -> int:
        return self.from_plan + self.from_balance if self.is_open else 0

    @property
    def billed(self) -> int:
        return self.plan_part + self.balance_part

    @property
    def keeps_key(self) -> bool:
        """Is what its client calls it taken for good?"""
        was_paid = self.cost > 0 or self.window is not None
        return self.status in ("held", "settled") or (self.status == "expired" and was_paid)

    @property
    def is_usage(self) -> bool:
        return self.status in ("settled", "expired")

    def is_overdue(self, now: datetime) -> bool:
        return self.admitted_at + timedelta(seconds=self.request.seconds) < now

    def has_lapsed(self, now: datetime) -> bool:
        return self.is_overdue(now) or not self.process.has_lease(now)


@dataclass(frozen=True)
class Answer:
    """Of a hold. Fields that do not belong to the verdict are None."""

    verdict: str
    needed: int | None = None
    afford: int | None = None
    balance: int | None = None
    used: int | None = None
    reset_at: datetime | None = None


@dataclass
class Named:
    """What a client's name for an operation stands for; `answer` once that was settled. `earlier`
    are the calls that it has stood for before, on the same day."""

    digest: bytes
    operation: UUID
    since: datetime
    answer: bytes | None = None
    earlier: list[UUID] = field(default_factory=list)


@dataclass
class Account:
    """`ledger`: kind, delta and the balance after it. `windows`: when each model's began."""

    terms: list[Terms]
    is_active: bool = True
    calls: dict[UUID, Call] = field(default_factory=dict)
    ledger: list[tuple[str, int, int]] = field(default_factory=list)
    windows: dict[str, datetime] = field(default_factory=dict)
    names: dict[tuple[str, str], Named] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        return self.terms[-1].plan

    @property
    def balance(self) -> int:
        return sum(delta for _, delta, _ in self.ledger)

    @property
    def held(self) -> int:
        return sum(call.from_balance for call in self.open_calls)

    @property
    def open_calls(self) -> list[Call]:
        return sorted(
            (call for call in self.calls.values() if call.is_open), key=lambda call: call.age_order
        )

    # --- Sums -----------------------------------------------------------------------------------

    def allowance(self, model: str, month: date) -> tuple[int, int, int]:
        """Granted (by the last terms of that month), used and held."""
        last = [terms for terms in self.terms if terms.since < month_after(month)][-1]
        mine = self._calls_of(model, month)
        held = sum(call.from_plan for call in mine if call.is_open)
        return last.granted(model), sum(call.plan_part for call in mine), held

    def key_month(self, key_id: UUID, month: date) -> tuple[int, int, int]:
        """Billed, held, and the number of requests that were billed."""
        mine = [
            call
            for call in self.calls.values()
            if call.request.api_key_id == key_id and call.month == month
        ]
        held = sum(call.held for call in mine)
        return sum(call.billed for call in mine), held, sum(call.is_usage for call in mine)

    def messages_used(self, model: str) -> int:
        """In the model's window, without those that were given back."""
        return sum(
            call.request.model_id == model
            and call.window == self.windows.get(model)
            and call.status != "released"
            for call in self.calls.values()
            if call.window
        )

    def days(self) -> dict[tuple[UUID | None, str, date], tuple[int, int, int, int]]:
        """Requests, tokens in, tokens out and billed, by key, model and day of admission; without
        what the platform calls for itself."""
        days: dict[tuple[UUID | None, str, date], tuple[int, int, int, int]] = {}
        for call in self.calls.values():
            request = call.request
            if call.is_usage and request.funding == "customer":
                day = (request.api_key_id, request.model_id, call.admitted_at.date())
                before = days.get(day, (0, 0, 0, 0))
                more = (1, *call.tokens, call.billed)
                days[day] = tuple(map(sum, zip(before, more, strict=True)))  # type: ignore[assignment]
        return days

    def _calls_of(self, model: str, month: date) -> list[Call]:
        return [
            call
            for call in self.calls.values()
            if call.request.model_id == model and call.month == month
        ]

    # --- Verbs ----------------------------------------------------------------------------------

    def hold(
        self, request: HoldRequest, *, key: Key | None, process: Process, free: bool, now: datetime
    ) -> Answer:
        """Admit a call, or say why not. `free`: the free plan has its model."""
        if call := self.calls.get(request.charge_id):
            return Answer("held" if call.is_open and call.process is process else "resolved")
        if refusal := self._refusal(request.model_id, key):
            return Answer(refusal)
        self.expire(call for call in self.open_calls if call.has_lapsed(now))
        if key and key.cap is not None and request.api_key_id:
            billed, held, _ = self.key_month(request.api_key_id, month_of(now))
            if billed >= key.cap:
                return Answer("spend_cap_reached")
            if billed + held >= key.cap:
                return Answer("spend_cap_in_flight")
        if request.free_window and self.plan.key == "free":
            return (
                self._hold_a_message(request, process, now) if free else Answer("free_model_locked")
            )
        if request.funding == "platform":
            self._admit(request, process, now, 0, 0)
            return Answer("held")
        return self._hold_funds(request, process, now)

    def _refusal(self, model: str, key: Key | None) -> str | None:
        if key and key.revoked:
            return "invalid_api_key"
        if not self.is_active:
            return "account_disabled"
        if key and not self.plan.api_access:
            return "api_access_required"
        if key and key.models and model not in key.models:
            return "model_not_allowed"
        return None

    def _hold_a_message(self, request: HoldRequest, process: Process, now: datetime) -> Answer:
        began = self.windows.get(request.model_id)
        if began is None or now - began >= WINDOW:
            began = self.windows[request.model_id] = now
        used = self.messages_used(request.model_id)
        if used >= MESSAGES:
            free_balance = self.balance - self.held
            return Answer("free_limit", balance=free_balance, used=used, reset_at=began + WINDOW)
        self._admit(request, process, now, 0, 0, window=began)
        return Answer("held")

    def _hold_funds(self, request: HoldRequest, process: Process, now: datetime) -> Answer:
        granted, used, held = self.allowance(request.model_id, month_of(now))
        left, funds = max(0, granted - used - held), self.balance - self.held
        from_plan = min(left, request.worst_cost)
        from_balance = 2 * (request.worst_cost - from_plan)
        if from_balance > funds:
            is_nothing = left + funds < NUSD_PER_CENT
            code = "insufficient_balance" if is_nothing else "insufficient_for_request"
            return Answer(code, from_plan + from_balance, left + funds, funds)
        self._admit(request, process, now, from_plan, from_balance)
        return Answer("held")

    def _admit(
        self,
        request: HoldRequest,
        process: Process,
        now: datetime,
        from_plan: int,
        from_balance: int,
        window: datetime | None = None,
    ) -> None:
        self.calls[request.charge_id] = Call(
            request, self.plan.key, process, now, from_plan, from_balance, window
        )

    def hold_idempotently(
        self,
        request_key: RequestKey,
        request: HoldRequest,
        *,
        key: Key | None,
        process: Process,
        free: bool,
        now: datetime,
    ) -> tuple[Answer, bytes | None]:
        """The same for a call with a name; with the answer that it brought before."""
        named = self._named(request_key, now)
        if named and named.operation != request.charge_id:
            call = self.calls[named.operation]
            if call.is_open and call.has_lapsed(now):
                self.expire([call])
            if call.keeps_key:
                return self._told_again(named, call, request_key)
        answer = self.hold(request, key=key, process=process, free=free, now=now)
        if answer.verdict == "held":
            earlier = [*named.earlier, named.operation] if named else []
            earlier = [each for each in earlier if each != request.charge_id]
            self.names[request_key.route, request_key.key] = Named(
                request_key.digest, request.charge_id, now, earlier=earlier
            )
        return answer, None

    def _told_again(
        self, named: Named, call: Call, request_key: RequestKey
    ) -> tuple[Answer, bytes | None]:
        if named.digest != request_key.digest:
            return Answer("idempotency_mismatch"), None
        if call.is_open:
            return Answer("idempotency_in_progress"), None
        if named.answer is not None:
            return Answer("replay"), named.answer
        return Answer("interrupted" if call.status == "expired" else "forgotten"), None

    def resolve(
        self, call: Call, status: ChargeStatus, cost: int = 0, tokens: tuple[int, int] = (0, 0)
    ) -> str:
        """Settle, expire or release a call; whoever comes second moves nothing."""
        if not call.is_open:
            return "already"
        if status == "expired" and call.has_output:
            cost, tokens = call.cost, call.tokens
        elif status != "settled":
            status, cost, tokens = "released", 0, (0, 0)
        if call.request.funding == "customer" and call.window is None:
            granted, used, held = self.allowance(call.request.model_id, call.month)
            others = held - call.from_plan
            call.plan_part = min(cost, max(call.from_plan, granted - used - others))
            owed = 2 * (cost - call.plan_part)
            call.balance_part = min(owed, call.from_balance + self.balance - self.held)
            call.shortfall = owed - call.balance_part
        call.status, call.cost, call.tokens = status, cost, tokens
        if call.balance_part:
            self.move("charge", -call.balance_part)
        return "resolved"

    def expire(self, calls: Iterable[Call]) -> None:
        for call in calls:
            self.resolve(call, "expired")

    def move(self, kind: str, delta: int) -> bool:
        """Anything that changes the balance; refused where it would not cover what is held."""
        after = self.balance + delta
        if after < self.held:
            return False
        self.ledger.append((kind, delta, after))
        return True

    def topup_idempotently(
        self, request_key: RequestKey, operation: UUID, amount: int, now: datetime
    ) -> UUID | None:
        """The operation that the name stands for; None if it stands for another amount."""
        if named := self._named(request_key, now):
            return named.operation if named.digest == request_key.digest else None
        self.move("topup", amount)
        self.names[request_key.route, request_key.key] = Named(request_key.digest, operation, now)
        return operation

    def _named(self, request_key: RequestKey, now: datetime) -> Named | None:
        named = self.names.get((request_key.route, request_key.key))
        return named if named and now - named.since < NAMED_FOR else None

    def exceeded(self, plan: Plan, now: datetime) -> set[str]:
        """The models of which less would be granted than now and than was used or is held: those
        that are furthest beyond it."""
        future, month = Terms(now, plan, self.terms[-1].contract), month_of(now)
        beyond: dict[str, int] = {}
        for model in {call.request.model_id for call in self.calls.values()}:
            granted, used, held = self.allowance(model, month)
            if future.granted(model) < min(granted, used + held):
                beyond[model] = used + held - future.granted(model)
        return {model for model, much in beyond.items() if much == max(beyond.values())}

    def agree(
        self,
        now: datetime,
        *,
        plan: Plan | None = None,
        contract: Mapping[str, int] | None = None,
    ) -> None:
        """New terms, from now on."""
        last = self.terms[-1]
        terms = Terms(now, plan or last.plan, last.contract if contract is None else contract)
        self.terms.append(terms)
