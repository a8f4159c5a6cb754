"""The operators' list of charges, which are millions: what it looks through, and what it finds."""

from uuid import UUID, uuid4

import pytest
from django.contrib import admin
from django.db import connection
from django.template.response import TemplateResponse
from django.test import RequestFactory

from accounts.models import User
from billing.admin.history import ChargeAdmin
from billing.models import Charge
from billing.tests.bank import expire, hold, live_owner, new_account
from tests.operators import Operator, new_operator


class Short(ChargeAdmin):
    """The same list where the newest are two."""

    newest = 2


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


@pytest.fixture
def alice(db: None) -> User:
    return new_account()


@pytest.fixture
def charges(alice: User) -> list[UUID]:
    """Three of alice's, the oldest first."""
    ids = [hold(alice, 2, owner=live_owner())[1] for _ in range(3)]
    for charge in ids:
        expire(charge)
    return ids


def listed(operator: Operator, **query: str) -> tuple[set[UUID], str]:
    """The ids on the page, and the page."""
    request = RequestFactory().get("/admin/billing/charge/", query)
    request.user = operator.user
    response = Short(Charge, admin.site).changelist_view(request)
    assert isinstance(response, TemplateResponse)
    assert response.context_data is not None
    page = response.render().content.decode()
    return {charge.pk for charge in response.context_data["cl"].result_list}, page


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"kind": "chat"},
        {"failure": "interrupted"},
        {"days": "x"},
        {"days": "1"},
        {"q": "alice"},
    ],
)
def test_only_the_newest_are_looked_through(
    operator: Operator, alice: User, charges: list[UUID], query: dict[str, str]
) -> None:
    query = {name: alice.email if name == "q" else value for name, value in query.items()}
    found, page = listed(operator, **query)
    assert found == set(charges[1:])
    assert "The newest 2 rows of an account or of all are looked through" in page


def test_the_newest_of_an_account_are_found_however_many_others_have(
    operator: Operator, alice: User, charges: list[UUID]
) -> None:
    bob = new_account()
    for _ in range(3):
        expire(hold(bob, 2, owner=live_owner())[1])
    for query in (alice.email, str(alice.pk)):
        assert listed(operator, q=query)[0] == set(charges[1:])


def test_of_several_accounts_the_newest_of_each_are_found(
    operator: Operator, alice: User, charges: list[UUID]
) -> None:
    bob = new_account()
    of_bob = hold(bob, 2, owner=live_owner())[1]
    expire(of_bob)
    common = alice.email[: len("alice-0")]
    assert bob.email.startswith(common)
    assert {*charges, of_bob} <= listed(operator, q=common)[0]


def test_older_ones_are_found_by_their_ids(operator: Operator, charges: list[UUID]) -> None:
    Charge.objects.filter(pk__in=charges).update(request_id="req_of_a_page")
    assert listed(operator, q="req_of_a_page")[0] == set(charges)
    assert listed(operator, q=str(charges[0]))[0] == {charges[0]}


@pytest.mark.parametrize("form", ["an id", "32 digits", "the beginning of an address"])
def test_a_request_is_found_whatever_else_its_id_looks_like(
    operator: Operator, charges: list[UUID], form: str
) -> None:
    bob = new_account()
    request = {
        "an id": str(uuid4()),
        "32 digits": uuid4().hex,
        "the beginning of an address": bob.email.partition("@")[0],
    }[form]
    Charge.objects.filter(pk=charges[0]).update(request_id=request)
    assert listed(operator, q=request)[0] == {charges[0]}


def test_charges_of_a_request_are_read_in_the_order_of_an_index(db: None) -> None:
    """A caller may give all requests the same id: nothing sorts or walks through all of them."""
    # An id that no charge has, and no primary key: what is cheapest in a table that small depends
    # on the tests so far.
    of_it = Charge.objects.filter(request_id="req_of_nobody").order_by("-pk")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid IN ("
            "SELECT relid FROM pg_partition_tree('billing_charge_pkey'))"
        )
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%USING hash%'")
        assert cursor.fetchall() == []
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits"
            " WHERE inhparent = 'charge_by_request'::regclass"
        )
        of_months = [name for (name,) in cursor.fetchall()]
    plan = of_it.explain()
    assert of_months
    assert all(f"using {name} " in plan or f"Backward using {name} " in plan for name in of_months)
    assert "Sort  (" not in plan


def test_the_page_says_how_many_are_looked_through(operator: Operator) -> None:
    assert "The newest 50,000 rows of an account or of all are" in operator.get("billing/charge/")


def test_an_old_charge_is_shown(operator: Operator, charges: list[UUID]) -> None:
    request = RequestFactory().get("/")
    assert Short(Charge, admin.site).get_object(request, str(charges[0])) is not None


def test_the_reason_of_a_failure_is_in_the_list_and_on_the_page(
    operator: Operator, charges: list[UUID]
) -> None:
    failure = {
        "code": "upstream_error",
        "message": "The provider failed (HTTP 500).",
        "provider": "openai",
        "status": 500,
        "reason": "server_error",
        "attempts": 3,
    }
    Charge.objects.filter(pk=charges[2]).update(failure=failure)
    found, page = listed(operator, failure="upstream_error")
    assert found == {charges[2]}
    assert "upstream_error" in page
    shown = operator.get(f"billing/charge/{charges[2]}/change/")
    assert "The provider failed (HTTP 500)." in shown
    assert "server_error" in shown
