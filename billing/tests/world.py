"""The database and the oracle side by side: each verb is carried out on both, and compared."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import event

from accounts.models import ApiKey, User
from ai.catalog.models import PriceVersion
from billing.errors import (
    BelowHeld,
    IdempotencyMismatch,
    SamePlan,
    UnknownPlan,
    UsageExceedsPlan,
)
from billing.models import LedgerEntry, PlanAllowance
from billing.services import balance, sweeps
from billing.tests import bank, money_functions
from billing.tests.oracle import (
    DOUBT,
    LEASE,
    UNKNOWN_FOR,
    Account,
    Answer,
    Call,
    Key,
    Process,
)
from billing.tests.terms import Plan, Terms
from billing.types import ChargeStatus, Ending, HoldRequest, RequestKey
from common.errors import Conflict
from common.ids import uuid7
from tests.personas import new_key, new_user


class World:
    """Some accounts, their keys, and the processes that run their calls.

    `unheard`: calls of which their process does not know, because the hold's reply was lost.
    """

    def __init__(self, now: datetime, plans: Mapping[str, Plan], free_models: set[str]) -> None:
        self.plans, self.free_models = plans, free_models
        self.users: dict[str, User] = {}
        self.accounts: dict[str, Account] = {}
        self.keys: dict[UUID, Key] = {}
        self.running: list[Process] = []
        self.frozen: list[Process] = []
        self.gone: list[Process] = []
        self.unheard: set[UUID] = set()
        self._names: dict[UUID, RequestKey] = {}
        self._prices = dict(PriceVersion.objects.values_list("model_id", "id"))
        self.set_clock(now)
        PlanAllowance.objects.all().delete()
        PlanAllowance.objects.bulk_create(
            PlanAllowance(plan_id=plan.key, model_id=model, granted=granted)
            for plan in plans.values()
            for model, granted in plan.allowances.items()
        )

    def open_account(self, who: str, plan: str) -> None:
        self.users[who] = new_user(who, plan=plan)
        self.accounts[who] = Account([Terms(self.now, self.plans[plan], {})])

    def open_key(self, who: str, key: Key) -> None:
        row, _ = new_key(self.users[who], cap=key.cap, models=tuple(key.models))
        self.keys[row.pk] = key

    def keys_of(self, who: str) -> list[UUID]:
        """The newest first, the revoked ones among them."""
        mine = ApiKey.objects.filter(account=self.users[who])
        return [key for key in reversed(self.keys) if mine.filter(pk=key).exists()]

    @property
    def calls(self) -> list[Call]:
        """Every charge, the open ones first."""
        every = [call for account in self.accounts.values() for call in account.calls.values()]
        return sorted(every, key=lambda call: not call.is_open)

    @property
    def open_calls(self) -> list[Call]:
        return [call for call in self.calls if call.is_open]

    # --- Calls ----------------------------------------------------------------------------------

    def request(
        self,
        who: str,
        model: str,
        *,
        worst: int,
        owner: Process,
        key: UUID | None = None,
        chat: bool = False,
        title: bool = False,
        seconds: int = 600,
    ) -> HoldRequest:
        """A call: through a key, or of the web app (a chat's message, a title, or a job)."""
        return HoldRequest(
            uuid7(),
            self.users[who].pk,
            key,
            model,
            self._prices[model],
            source="api" if key else "web",
            kind="chat",
            worst_cost=worst,
            owner_id=owner.id,
            seconds=seconds,
            funding="platform" if title else "customer",
            free_window=chat,
        )

    def hold(self, request: HoldRequest) -> str:
        """Returns the verdict."""
        expected = self._expect(request)
        _agree(money_functions.hold(request), expected)
        return expected.verdict

    def hold_together(self, requests: Sequence[HoldRequest]) -> None:
        expected = [self._expect(request) for request in requests]
        for answer, promised in zip(money_functions.hold_together(requests), expected, strict=True):
            _agree(answer, promised)

    def hold_idempotently(self, request_key: RequestKey, request: HoldRequest) -> str:
        """Returns the verdict."""
        account, key, owner = self._parties(request)
        free = request.model_id in self.free_models
        expected, kept = account.hold_idempotently(
            request_key, request, key=key, process=owner, free=free, now=self.now
        )
        answer, replayed = money_functions.hold_idempotently(request_key, request)
        _agree(answer, expected)
        assert replayed == kept
        if expected.verdict == "held":
            self._names[request.charge_id] = request_key
        return expected.verdict

    def end(self, call: Call, status: ChargeStatus, cost: int = 0) -> None:
        """As its process does; with its answer, where the call has a name."""
        ending, account = self._ending(call, status, cost), self._account(call.request)
        expected = account.resolve(call, status, cost, _tokens(ending))
        request_key = self._names.get(call.request.charge_id)
        if request_key is None:
            assert money_functions.resolve(ending) == expected
            return
        answer = str(call.request.charge_id).encode()
        assert money_functions.resolve_idempotently(request_key, answer, ending) == expected
        named = account.names[request_key.route, request_key.key]
        if expected == "resolved" and status == "settled" and named.operation == ending.charge_id:
            named.answer = answer

    def end_together(self, ends: Sequence[tuple[Call, ChargeStatus, int]]) -> None:
        endings = [self._ending(*end) for end in ends]
        expected = [
            self._account(call.request).resolve(call, status, cost, _tokens(ending))
            for (call, status, cost), ending in zip(ends, endings, strict=True)
        ]
        assert money_functions.resolve_together(endings) == expected

    def checkpoint(self, call: Call, owner: Process, cost: int) -> None:
        tokens, charge = (5, 3), call.request.charge_id
        not_theirs = money_functions.checkpoint(owner.id, charge, cost, tokens)
        if owner is call.process and call.is_open:
            call.has_output, call.cost, call.tokens = True, max(call.cost, cost), tokens
            assert not_theirs == set()
        else:
            assert not_theirs == {charge}

    def _expect(self, request: HoldRequest) -> Answer:
        account, key, owner = self._parties(request)
        free = request.model_id in self.free_models
        answer = account.hold(request, key=key, process=owner, free=free, now=self.now)
        event(f"hold: {answer.verdict}")
        return answer

    def _parties(self, request: HoldRequest) -> tuple[Account, Key | None, Process]:
        key = self.keys[request.api_key_id] if request.api_key_id else None
        every = [*self.running, *self.frozen, *self.gone]
        [owner] = [process for process in every if process.id == request.owner_id]
        return self._account(request), key, owner

    def _account(self, request: HoldRequest) -> Account:
        [who] = [who for who, user in self.users.items() if user.pk == request.account_id]
        return self.accounts[who]

    def _ending(self, call: Call, status: ChargeStatus, cost: int) -> Ending:
        assert status != "held"
        ids = call.request.charge_id, call.request.account_id
        return (
            Ending(*ids, status, cost, {"tokens_in": 7, "tokens_out": 11})
            if status == "settled"
            else Ending(*ids, status)
        )

    # --- Time and processes ---------------------------------------------------------------------

    def set_clock(self, moment: datetime) -> None:
        """For all that follows in this transaction."""
        self.now = moment
        bank.set_clock(moment)

    def start_process(self) -> Process:
        process = Process(uuid4(), None)
        self.running.append(process)
        self.beat(process)
        return process

    def beat(self, process: Process) -> None:
        """Renew its lease, and expire what it holds without knowing."""
        mine = [call for call in self.open_calls if call.process is process]
        known = {call.request.charge_id for call in mine} - self.unheard
        unknown = money_functions.heartbeat(process.id, known)
        process.lease_until, process.doubted_at = self.now + LEASE, None
        assert unknown == {
            call.request.charge_id
            for call in mine
            if call.request.charge_id not in known and self.now - call.admitted_at > UNKNOWN_FOR
        }
        for call in mine:
            if call.request.charge_id in unknown:
                self.end(call, "expired")

    def leave(self, process: Process) -> None:
        """It gives its lease up, as a process does that is told to stop."""
        bank.run("DELETE FROM leases_lease WHERE owner_id = %s RETURNING 1", process.id)
        process.lease_until = None

    def sweep(self) -> None:
        for process in [*self.running, *self.frozen, *self.gone]:
            if process.lease_until and not process.has_lease(self.now):
                process.doubted_at = process.doubted_at or self.now
        for account in self.accounts.values():
            account.expire([call for call in account.open_calls if self._is_given_up(call)])
        sweeps.expire_lapsed_charges()

    def _is_given_up(self, call: Call) -> bool:
        if call.is_overdue(self.now) or call.process.lease_until is None:
            return True
        doubted_at = call.process.doubted_at
        return doubted_at is not None and self.now - doubted_at > DOUBT

    # --- Money and plans ------------------------------------------------------------------------

    def topup(self, who: str, operation: UUID, amount: int) -> None:
        self.accounts[who].move("topup", amount)
        entry = balance.topup(operation_id=operation, account=self.users[who], amount=amount)
        assert (entry.pk, entry.delta) == (operation, amount)

    def topup_idempotently(self, who: str, request_key: RequestKey, amount: int) -> None:
        operation, user = uuid7(), self.users[who]
        expected = self.accounts[who].topup_idempotently(request_key, operation, amount, self.now)
        event(f"top-up by name: {expected and expected == operation}")
        if expected is None:
            with pytest.raises(IdempotencyMismatch):
                balance.topup(
                    operation_id=operation,
                    account=user,
                    amount=amount,
                    request_key=request_key,
                )
        else:
            entry = balance.topup(
                operation_id=operation, account=user, amount=amount, request_key=request_key
            )
            assert (entry.pk, entry.delta) == (expected, amount)

    def adjust(self, who: str, operation: UUID, delta: int) -> bool:
        """Returns whether it may be."""
        user, moved = self.users[who], self.accounts[who].move("adjust", delta)
        event(f"adjust: {moved}")
        if moved:
            balance.adjust(operation_id=operation, account=user, delta=delta, reason="")
        else:
            with pytest.raises(BelowHeld):
                balance.adjust(operation_id=operation, account=user, delta=delta, reason="")
        return moved

    def repeat(self, entry: LedgerEntry, *, more: int) -> None:
        """A top-up or adjustment of that id again, for as much or for more."""
        user, delta = entry.account, entry.delta + more
        if more:
            with pytest.raises(Conflict):
                balance.adjust(operation_id=entry.pk, account=user, delta=delta, reason="")
            with pytest.raises(Conflict):
                balance.topup(operation_id=entry.pk, account=user, amount=delta)
        elif entry.kind == "topup":
            assert balance.topup(operation_id=entry.pk, account=user, amount=delta) == entry
        else:
            same = balance.adjust(operation_id=entry.pk, account=user, delta=delta, reason="")
            assert same == entry

    def change_plan(self, who: str, plan: str, *, forced: bool) -> None:
        account, user = self.accounts[who], self.users[who]
        refusal: type[Exception] | None = None
        beyond: set[str] = set()
        if plan not in self.plans:
            refusal = UnknownPlan
        elif plan == account.plan.key:
            refusal = None if forced else SamePlan
        elif beyond := set() if forced else account.exceeded(self.plans[plan], self.now):
            refusal = UsageExceedsPlan
        else:
            account.agree(self.now, plan=self.plans[plan])
        event(f"plan: {refusal}")
        if refusal is None:
            balance.change_plan(account=user, plan=plan, forced=forced)
            return
        with pytest.raises(refusal) as raised:
            balance.change_plan(account=user, plan=plan, forced=forced)
        if isinstance(raised.value, UsageExceedsPlan):
            assert raised.value.extra["model_key"] in beyond

    def set_contract(self, who: str, model: str, granted: int | None) -> None:
        balance.set_contract(account=self.users[who], model_id=model, granted=granted)
        contract = {**self.accounts[who].terms[-1].contract}
        contract.pop(model, None)
        if granted is not None:
            contract[model] = granted
        self.accounts[who].agree(self.now, contract=contract)

    # --- What both say --------------------------------------------------------------------------

    def compare(self) -> None:
        """All that the database has of the accounts is what the oracle says."""
        found = money_functions.statements([user.pk for user in self.users.values()])
        for who, account in self.accounts.items():
            self._compare(found[self.users[who].pk], account)

    def _compare(self, found: money_functions.Statement, account: Account) -> None:
        wallet = (account.plan.key, account.balance, account.held, len(account.open_calls))
        assert (found.plan, found.balance, found.held, found.open_charges) == wallet
        assert found.ledger == account.ledger
        assert found.charges == {key: _as_row(call) for key, call in account.calls.items()}
        calls = account.calls.values()
        months = {(call.request.model_id, call.month) for call in calls}
        expected = {pair: account.allowance(*pair) for pair in months | found.allowances.keys()}
        # An allowance of nothing need not be written down.
        assert found.allowances == {
            pair: sums
            for pair, sums in expected.items()
            if pair in found.allowances or any(sums[1:])
        }
        key_months = {(call.request.api_key_id, call.month) for call in calls}
        sums = {(key, month): account.key_month(key, month) for key, month in key_months if key}
        assert found.key_months == {pair: each for pair, each in sums.items() if any(each)}
        assert found.windows == {
            model: (began, account.messages_used(model)) for model, began in account.windows.items()
        }
        assert found.days == account.days()


def _agree(answer: Answer, expected: Answer) -> None:
    """In all that the verdict has to say."""
    assert answer.verdict == expected.verdict
    for name in ("needed", "afford", "balance", "used", "reset_at"):
        if (promised := getattr(expected, name)) is not None:
            assert getattr(answer, name) == promised, name


def _as_row(call: Call) -> tuple[object, ...]:
    """As `money_functions.Statement.charges` has it."""
    funding = "platform" if call.window else call.request.funding
    held = (call.from_plan, call.from_balance)
    paid = (call.cost, call.plan_part, call.balance_part, call.shortfall)
    return (call.status, funding, call.plan, call.month, *held, *paid, *call.tokens)


def _tokens(ending: Ending) -> tuple[int, int]:
    return ending.units.get("tokens_in", 0), ending.units.get("tokens_out", 0)
