"""Money on the operators' pages: balances, plans and contracts."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.admin.models import LogEntry
from django.core.signing import Signer, TimestampSigner, b62_encode
from django.db import connection

from accounts.models import User
from billing.models import Allowance, ContractAllowance, LedgerEntry, Plan, PlanAllowance
from billing.services import balance
from billing.tests.bank import (
    IN_PLAN,
    hold,
    live_owner,
    new_account,
    other_connection,
    release,
    settle,
    wallet_of,
)
from common.ids import uuid7
from common.money import NUSD_PER_CENT, NUSD_PER_USD
from tests.locks import wait_until_blocked
from tests.operators import Operator, audit_of, new_operator

pytestmark = pytest.mark.usefixtures("committed")

FINANCE = ("billing.change_wallet", "billing.change_subscription")
REASON = "Chargeback 4711"
EMBEDDING = "text-embedding-3-small"


@pytest.fixture
def finance(committed: None) -> Operator:
    """Staff, but no superuser."""
    return new_operator(*FINANCE)


def adjust(operator: Operator, account: User, amount: str, **values: str) -> str:
    """What the page says; empty where it was done."""
    form = {"amount": amount, "reason": REASON, **values}
    form.setdefault("operation", operation_of(operator, account))
    response = operator.post(f"billing/wallet/{account.pk}/adjust/", **form)
    return "" if response.status_code == 302 else response.content.decode()


def operation_of(operator: Operator, account: User) -> str:
    """What the form carries, so that it is carried out once."""
    page = operator.get(f"billing/wallet/{account.pk}/adjust/")
    return re.findall(r'name="operation" value="([^"]+)"', page)[0]  # type: ignore[no-any-return]


def change_plan(operator: Operator, account: User, plan: str, **values: str) -> str:
    form = {"plan": plan, "reason": REASON, **values}
    response = operator.post(f"billing/subscription/{account.pk}/change_plan/", **form)
    return "" if response.status_code == 302 else response.content.decode()


def plan_of(account: User) -> str:
    account.subscription.refresh_from_db()
    return account.subscription.plan_id


def use(account: User, cost: int) -> None:
    _, charge = hold(account, cost, owner=live_owner(), model=IN_PLAN)
    settle(charge, cost)


def test_a_balance_is_adjusted_with_a_reason(finance: Operator) -> None:
    alice = new_account(balance=10 * NUSD_PER_USD)
    assert adjust(finance, alice, "-2.50") == ""

    entry = LedgerEntry.objects.filter(account=alice).latest("seq")
    assert (entry.kind, entry.delta, entry.description) == ("adjust", -2_500_000_000, REASON)
    assert wallet_of(alice).balance == 7_500_000_000
    assert audit_of(alice) == [f"Balance adjusted by -$2.50 to $7.50. Reason: {REASON}"]
    assert "$7.50" in finance.get(f"billing/wallet/{alice.pk}/change/")


def test_a_form_that_is_sent_twice_moves_money_once(finance: Operator) -> None:
    alice = new_account(balance=0)
    operation = operation_of(finance, alice)
    for _ in range(2):
        assert adjust(finance, alice, "5", operation=operation) == ""
    assert wallet_of(alice).balance == 5 * NUSD_PER_USD
    assert len(audit_of(alice)) == 1

    assert "carried out before" in adjust(finance, alice, "6", operation=operation)
    assert wallet_of(alice).balance == 5 * NUSD_PER_USD


def test_a_form_that_is_sent_twice_at_once_is_logged_once(finance: Operator) -> None:
    """Both wait for the wallet, and the second sees what the first has done."""
    alice = new_account(balance=0)
    operation = operation_of(finance, alice)

    def send(operator: Operator) -> str:
        try:
            return adjust(operator, alice, "5", operation=operation)
        finally:
            connection.close()

    with other_connection() as holder, ThreadPoolExecutor(2) as threads:
        holder.execute("BEGIN")
        holder.execute("SELECT FROM billing_wallet WHERE account_id = %s FOR UPDATE", (alice.pk,))
        both = [threads.submit(send, operator) for operator in (finance, new_operator(*FINANCE))]
        wait_until_blocked(holder, 2)
        holder.execute("COMMIT")
        assert [one.result() for one in both] == ["", ""]

    assert wallet_of(alice).balance == 5 * NUSD_PER_USD
    assert len(audit_of(alice)) == 1


def test_every_page_carries_an_operation_of_its_own(finance: Operator) -> None:
    alice = new_account()
    assert len({operation_of(finance, alice) for _ in range(2)}) == 2


def test_an_operation_that_is_not_of_the_page_is_refused(finance: Operator) -> None:
    """Least of all the id of a running call, under which its charge will be entered."""
    alice, bob = new_account(), new_account()
    _, charge = hold(alice, 2, owner=live_owner())
    salt = f"billing.AdjustBalance.{alice.pk}"
    yesterday = b62_encode(int(time.time()) - 24 * 60 * 60 - 1)
    old = Signer(salt=salt).sign(f"{uuid7()}:{yesterday}")
    own = operation_of(finance, alice)
    for operation in ("x", str(charge), str(uuid7()), operation_of(finance, bob), own[:-1], old):
        assert "Open the page again." in adjust(finance, alice, "1", operation=operation)
    signed = TimestampSigner(salt=salt).sign(str(charge))
    assert "carried out before" in adjust(finance, alice, "1", operation=signed)
    assert wallet_of(alice).balance == NUSD_PER_USD
    settle(charge, 2)
    assert wallet_of(alice).balance == NUSD_PER_USD - 4


def test_an_adjustment_below_what_is_held_is_refused_in_words(finance: Operator) -> None:
    alice = new_account(balance=10 * NUSD_PER_USD)
    _, charge = hold(alice, 3 * NUSD_PER_USD, owner=live_owner())
    assert "of which running calls hold" in adjust(finance, alice, "-5")
    assert wallet_of(alice).balance == 10 * NUSD_PER_USD
    assert audit_of(alice) == []
    release(charge)


@pytest.mark.parametrize(
    ("amount", "problem"),
    [
        ("0", "changes nothing"),
        ("0.001", "whole cents"),
        ("1000000.01", "1,000,000"),
        ("NaN", "like 12.50"),
        ("1e9", "like 12.50"),
        ("1_5", "like 12.50"),
        ("١٢", "like 12.50"),
        ("five", "like 12.50"),
        (".", "number of US dollars"),
        ("", "This field is required."),
    ],
)
def test_an_amount_that_is_none_is_refused_on_the_form(
    finance: Operator, amount: str, problem: str
) -> None:
    alice = new_account()
    assert problem in adjust(finance, alice, amount)
    assert wallet_of(alice).balance == NUSD_PER_USD


def test_a_reason_is_needed_and_short(finance: Operator) -> None:
    alice = new_account()
    assert "This field is required." in adjust(finance, alice, "1", reason="")
    assert "at most 200 characters" in adjust(finance, alice, "1", reason="x" * 201)
    assert wallet_of(alice).balance == NUSD_PER_USD


def test_only_who_may_change_wallets_adjusts_them() -> None:
    alice = new_account()
    viewer = new_operator("billing.view_wallet")
    assert "Adjust" not in viewer.get(f"billing/wallet/{alice.pk}/change/")
    response = viewer.post(
        f"billing/wallet/{alice.pk}/adjust/", amount="1", reason=REASON, operation=uuid7()
    )
    assert response.status_code == 403
    assert wallet_of(alice).balance == NUSD_PER_USD


def test_operators_cannot_credit_themselves_or_each_other(finance: Operator) -> None:
    superuser = new_operator()
    for operator, accounts in (
        (finance, (finance.user, superuser.user)),
        (superuser, (superuser.user,)),
    ):
        for account in accounts:
            for url, form in (
                (f"billing/wallet/{account.pk}/", {"amount": "500"}),
                (f"billing/subscription/{account.pk}/", {"plan": "max"}),
            ):
                act = "adjust" if "amount" in form else "change_plan"
                assert act not in operator.get(f"{url}change/")
                assert not operator.is_allowed(f"{url}{act}/")
                assert operator.post(f"{url}{act}/", reason=REASON, **form).status_code == 403
            assert wallet_of(account).balance == 0
            assert plan_of(account) == "free"
    assert adjust(superuser, finance.user, "1") == ""


def test_a_wallet_that_there_is_not_is_a_404(finance: Operator) -> None:
    for wallet in (uuid7(), "x", "%00"):
        assert finance.client.get(f"/admin/billing/wallet/{wallet}/adjust/").status_code == 404


def test_a_plan_is_changed(finance: Operator) -> None:
    alice = new_account(plan="starter")
    assert change_plan(finance, alice, "pro") == ""
    assert plan_of(alice) == "pro"
    assert audit_of(alice) == [f"Plan changed from Starter to Pro. Reason: {REASON}"]


def test_a_plan_that_is_used_beyond_the_smaller_one_is_changed_after_asking_again(
    finance: Operator,
) -> None:
    alice = new_account(plan="max")
    use(alice, 100 * NUSD_PER_CENT)

    page = change_plan(finance, alice, "starter")
    assert "More of gpt-6-luna was used this month than Starter includes." in page
    assert re.search(r'<input type="checkbox"[^>]*name="anyway"', page)
    assert plan_of(alice) == "max"

    assert change_plan(finance, alice, "starter", anyway="on") == ""
    assert plan_of(alice) == "starter"
    assert Allowance.objects.get(account=alice).downgraded
    assert "although more was used this month" in audit_of(alice)[0]
    assert "gpt-6-luna" in finance.get(f"billing/subscription/{alice.pk}/change/")


def test_the_plan_one_has_and_an_unknown_one_cannot_be_chosen(finance: Operator) -> None:
    alice = new_account(plan="pro")
    for plan in ("pro", "platinum", ""):
        assert change_plan(finance, alice, plan) != ""
    assert plan_of(alice) == "pro"
    assert audit_of(alice) == []


def test_a_contract_is_agreed_changed_and_ended() -> None:
    operator = new_operator(
        "accounts.view_user",
        "catalog.view_aimodel",
        *(f"billing.{verb}_contractallowance" for verb in ("add", "change", "delete")),
    )
    alice = new_account(plan="enterprise")
    use(alice, 10)
    page = "billing/contractallowance/"

    values = {"account": alice.pk, "model": IN_PLAN, "granted": "100"}
    assert operator.post(f"{page}add/", **values).status_code == 302
    contract = ContractAllowance.objects.get(account=alice)
    assert contract.granted == 100 * NUSD_PER_USD
    assert audit_of(contract) == [f"Account: {alice}, Model: {IN_PLAN}, Granted (USD): 100.00"]
    assert LogEntry.objects.get(object_id=contract.pk).object_repr == f"{alice}: {IN_PLAN}"
    assert "already exists" in operator.post(f"{page}add/", **values).content.decode()

    assert operator.post(f"{page}{contract.pk}/change/", granted="200.50").status_code == 302
    contract.refresh_from_db()
    assert contract.granted == 200_500_000_000
    assert audit_of(contract)[0] == "Granted (USD): 100.00 → 200.50"

    assert operator.post(f"{page}{contract.pk}/delete/", post="yes").status_code == 302
    assert not ContractAllowance.objects.filter(account=alice).exists()


def test_contracts_that_are_deleted_together_grant_nothing_any_more() -> None:
    accounts = [new_account(plan="enterprise") for _ in range(2)]
    for account in accounts:
        balance.set_contract(account=account, model_id=IN_PLAN, granted=100)
        use(account, 10)
    contracts = ContractAllowance.objects.filter(account__in=accounts)
    granted = Allowance.objects.filter(account__in=accounts).values_list("granted", flat=True)
    assert list(granted) == [100, 100]

    chosen = {"_selected_action": [contract.pk for contract in contracts], "post": "yes"}
    answer = new_operator().post("billing/contractallowance/", action="delete_selected", **chosen)

    assert answer.status_code == 302
    assert not contracts.all().exists()
    assert list(granted.all()) == [0, 0]


def test_operators_agree_on_no_contract_with_themselves_or_each_other() -> None:
    superuser = new_operator()
    sales = new_operator(
        "accounts.view_user",
        "catalog.view_aimodel",
        *(f"billing.{verb}_contractallowance" for verb in ("add", "change", "delete")),
    )
    page = "billing/contractallowance/"
    for account in (sales.user, superuser.user):
        values = {"account": account.pk, "model": IN_PLAN, "granted": "100"}
        refused = sales.post(f"{page}add/", **values)
        assert "You may not agree on anything" in refused.content.decode()

        balance.set_contract(account=account, model_id=IN_PLAN, granted=1)
        contract = ContractAllowance.objects.get(account=account)
        assert sales.post(f"{page}{contract.pk}/change/", granted="200").status_code == 403
        assert sales.post(f"{page}{contract.pk}/delete/", post="yes").status_code == 403
        chosen = {"action": "delete_selected", "_selected_action": contract.pk, "post": "yes"}
        assert sales.post(page, **chosen).status_code == 403
        contract.refresh_from_db()
        assert contract.granted == 1
    values = {"account": sales.user.pk, "model": "gpt-6.1-sol", "granted": "100"}
    assert superuser.post(f"{page}add/", **values).status_code == 302


def test_embeddings_are_neither_offered_nor_granted() -> None:
    operator = new_operator()
    alice = new_account(plan="enterprise")
    source = "app_label=billing&model_name=contractallowance&field_name=model"
    offered = operator.get(f"autocomplete/?{source}&term=-")
    assert IN_PLAN in offered
    assert EMBEDDING not in offered
    values = {"account": alice.pk, "model": EMBEDDING, "granted": "100"}
    refused = operator.post("billing/contractallowance/add/", **values)
    assert "Select a valid choice." in refused.content.decode()

    page = operator.get("billing/plan/pro/change/")
    assert f'value="{IN_PLAN}"' in page
    assert f'value="{EMBEDDING}"' not in page


def test_a_plans_price_and_allowances_are_changed_for_new_months() -> None:
    operator = new_operator()
    plan = Plan.objects.create(key=uuid7().hex, name="Trial", price=10 * NUSD_PER_USD, rank=900)
    url = f"billing/plan/{plan.pk}/change/"
    allowances = {"allowances-TOTAL_FORMS": 1, "allowances-INITIAL_FORMS": 0}
    new = {"allowances-0-model": IN_PLAN, "allowances-0-granted": "9", "allowances-0-plan": plan.pk}
    try:
        response = operator.post(url, name="Trial", price="12.34", **allowances, **new)
        assert response.status_code == 302
        plan.refresh_from_db()
        assert plan.price == 12_340_000_000
        assert plan.allowances.get().granted == 9 * NUSD_PER_USD
        assert "$9.00 (73% of the price, too much)" in operator.get(url)
        assert audit_of(plan)[0].startswith("Price (USD): 10.00 → 12.34")

        refused = operator.post(url, name="Trial", price="", **allowances)
        assert "This plan has a price." in refused.content.decode()
    finally:
        PlanAllowance.objects.filter(plan=plan).delete()
        plan.delete()


def test_a_plan_by_contract_gets_no_price() -> None:
    operator = new_operator()
    assert 'name="price"' not in operator.get("billing/plan/enterprise/change/")


def test_what_happened_is_looked_at_and_found_but_not_changed() -> None:
    operator = new_operator()
    alice, bob = new_account(plan="max"), new_account(plan="max")
    for account in (alice, bob):
        use(account, 30)
        _, charge = hold(account, 2, owner=live_owner())
        settle(charge, 2)
    for page, ids in (
        ("billing/charge/", (alice.pk, alice.email, charge)),
        ("billing/ledgerentry/", (alice.pk, alice.email[:-5])),
        ("billing/usagedaily/", (alice.pk, alice.email)),
        ("billing/wallet/", (alice.pk, alice.email)),
        ("billing/subscription/", (alice.pk, alice.email)),
    ):
        for term in ids:
            found = operator.get(f"{page}?q={term}")
            assert (bob.email if term == charge else alice.email) in found
            assert (alice.email if term == charge else bob.email) not in found
        assert not operator.is_allowed(f"{page}add/")
    for url in (f"billing/charge/{charge}/", f"billing/ledgerentry/{charge}/"):
        assert "$0.000000004" in operator.get(f"{url}change/")
        assert operator.post(f"{url}change/").status_code == 403
        assert operator.post(f"{url}delete/", post="yes").status_code == 403


def test_charges_are_found_by_request_id_and_filtered() -> None:
    operator = new_operator()
    alice = new_account()
    _, charge = hold(alice, 2, owner=live_owner())
    release(charge)
    assert alice.email in operator.get("billing/charge/?q=req_test")
    assert alice.email not in operator.get("billing/charge/?q=req_other")
    shown = "billing/charge/?days=1&kind=chat&source__exact=api&status__exact=released"
    assert alice.email in operator.get(shown)
    assert alice.email not in operator.get(shown.replace("released", "settled"))
    assert alice.email not in operator.get(shown.replace("chat", "images"))
