"""Operators refund charges by a form: once, with a reason, and only where their rank allows it."""

import re
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from django.db import connection

from accounts.models import User
from billing.models import Charge, Refund
from billing.services import balance
from billing.tests.bank import (
    charge_of,
    hold,
    live_owner,
    new_account,
    release,
    settle,
    wallet_of,
)
from common.ids import uuid7
from common.money import NUSD_PER_USD
from tests.operators import Operator, audit_of, new_operator

pytestmark = pytest.mark.usefixtures("committed")

REASON = "The answer was cut off"


def call(account: User, cost: int) -> Charge:
    """A call that the balance has paid."""
    _, charge = hold(account, cost, owner=live_owner())
    settle(charge, cost)
    return charge_of(charge)


@pytest.fixture
def finance(committed: None) -> Operator:
    return new_operator("billing.change_charge", "billing.view_charge")


def send_form(operator: Operator, charge: Charge, **values: str) -> str:
    """What the page says; empty where it was done."""
    url = f"billing/charge/{charge.pk}/refund/"
    found = re.findall(r'name="operation" value="([^"]+)"', operator.get(url))
    response = operator.post(url, **{"operation": found[0], "reason": REASON, **values})
    return "" if response.status_code == 302 else response.content.decode()


def test_an_operator_refunds_with_a_reason(finance: Operator) -> None:
    alice = new_account(balance=NUSD_PER_USD)
    charge = call(alice, 100_000_000)

    assert send_form(finance, charge, amount="0.05") == ""
    assert wallet_of(alice).balance == 850_000_000
    assert send_form(finance, charge, amount="") == ""
    assert wallet_of(alice).balance == NUSD_PER_USD

    said = f"Refunded $0.15 to the balance. Reason: {REASON}"
    assert audit_of(charge)[0] == said
    page = finance.get(f"billing/charge/{charge.pk}/change/")
    assert page.count(REASON) == 2


@pytest.mark.parametrize(
    ("amount", "problem"),
    [
        ("0", "changes nothing"),
        ("5", "At most $0.20 can be refunded"),
        ("-0.01", "Give 0 to 1,000,000 US dollars"),
        ("0.0000000001", "at most 9 decimals"),
        ("x", "like 12.50"),
        ("1" * 10_000, "a number of US dollars"),
    ],
)
def test_an_amount_that_cannot_be_refunded_is_refused_in_words(
    finance: Operator, amount: str, problem: str
) -> None:
    alice = new_account(balance=NUSD_PER_USD)
    charge = call(alice, 100_000_000)
    assert problem in send_form(finance, charge, amount=amount)
    assert wallet_of(alice).balance == 800_000_000


def test_a_form_that_is_sent_twice_refunds_once(finance: Operator) -> None:
    alice = new_account(balance=NUSD_PER_USD)
    charge = call(alice, 100_000_000)
    url = f"billing/charge/{charge.pk}/refund/"
    [operation] = re.findall(r'name="operation" value="([^"]+)"', finance.get(url))

    for _ in range(2):
        sent = finance.post(url, operation=operation, reason=REASON, amount="0.05")
        assert sent.status_code == 302

    assert wallet_of(alice).balance == 850_000_000
    assert len(audit_of(charge)) == 1


@pytest.mark.parametrize("operation", ["", "x", "x" * 10_000, str(UUID(int=0))])
def test_a_form_of_another_page_refunds_nothing(finance: Operator, operation: str) -> None:
    alice = new_account(balance=NUSD_PER_USD)
    charge, other = (call(alice, 100_000_000) for _ in range(2))
    page = finance.get(f"billing/charge/{other.pk}/refund/")
    [of_the_other] = re.findall(r'name="operation" value="([^"]+)"', page)
    for token in (operation, of_the_other):
        assert send_form(finance, charge, operation=token) != ""
    assert wallet_of(alice).balance == 600_000_000


@pytest.mark.parametrize("reason", ["", " ", "x" * 10_000])
def test_a_refund_needs_a_reason(finance: Operator, reason: str) -> None:
    charge = call(new_account(), 100)
    assert send_form(finance, charge, reason=reason) != ""
    assert not Refund.objects.filter(charge=charge).exists()


def test_what_postgresql_cannot_store_is_refused(finance: Operator) -> None:
    charge = call(new_account(), 100)
    for values in ({"amount": "1\0"}, {"reason": "\0"}):
        sent = finance.post(f"billing/charge/{charge.pk}/refund/", **values)
        assert sent.status_code == 400
    assert not Refund.objects.filter(charge=charge).exists()


def test_two_operators_who_refund_all_of_it_give_it_back_once(finance: Operator) -> None:
    alice = new_account(balance=NUSD_PER_USD)
    charge = call(alice, 100_000_000)
    url = f"billing/charge/{charge.pk}/refund/"
    other = new_operator("billing.change_charge", "billing.view_charge")
    forms = []
    for operator in (finance, other):
        [operation] = re.findall(r'name="operation" value="([^"]+)"', operator.get(url))
        forms.append((operator, operation))

    def send(form: tuple[Operator, str]) -> int:
        try:
            return int(form[0].post(url, operation=form[1], reason=REASON).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(send, forms)) == [200, 302]
    assert wallet_of(alice).balance == NUSD_PER_USD
    assert len(audit_of(charge)) == 1


def test_only_who_may_change_charges_refunds_them() -> None:
    alice = new_account(balance=1000)
    charge = call(alice, 100)
    viewer = new_operator("billing.view_charge")
    assert "/refund/" not in viewer.get(f"billing/charge/{charge.pk}/change/")
    assert viewer.post(f"billing/charge/{charge.pk}/refund/", reason=REASON).status_code == 403


def test_nobody_refunds_a_charge_of_their_own_or_of_another_operator(finance: Operator) -> None:
    colleague = new_operator("billing.view_charge")
    for operator in (finance, colleague):
        balance.topup(operation_id=uuid7(), account=operator.user, amount=1000)
        charge = call(operator.user, 100)
        sent = finance.post(f"billing/charge/{charge.pk}/refund/", reason=REASON)
        assert sent.status_code == 403


def test_nothing_is_offered_where_nothing_was_billed(finance: Operator) -> None:
    alice = new_account(balance=1000)
    _, charge = hold(alice, 100, owner=live_owner())
    release(charge)
    assert "/refund/" not in finance.get(f"billing/charge/{charge}/change/")
