"""Operators find a charge by whatever its customer gives them, and see no more than they may."""

from uuid import UUID

import pytest
from django.core.cache import cache

from accounts.models import ApiKey, User
from billing.models import Charge, IdempotencyKey
from billing.services import balance
from billing.tests.bank import charge_of, hold, live_owner, new_account, settle
from common.ids import uuid7
from conversations.tests.rows import talk
from tests.operators import Operator, new_operator
from tests.personas import new_key
from work.jobs.models import Job


@pytest.fixture
def support(db: None) -> Operator:
    """Sees charges, accounts and keys."""
    cache.clear()
    return new_operator("billing.view_charge", "accounts.view_user", "accounts.view_apikey")


@pytest.fixture
def alice(db: None) -> User:
    return new_account()


@pytest.fixture
def key(alice: User) -> ApiKey:
    return new_key(alice)[0]


@pytest.fixture
def charge(alice: User, key: ApiKey) -> Charge:
    _, charge = hold(alice, 100, owner=live_owner(), key=key)
    settle(charge, 100)
    Charge.objects.filter(pk=charge).update(request_id="req_of_Alice-1")
    return charge_of(charge)


def find(operator: Operator, term: str) -> str:
    response = operator.client.get("/admin/find/", {"q": term})
    assert response.status_code == 200
    return response.content.decode()


def page_of(charge: UUID) -> str:
    return f'href="/admin/billing/charge/{charge}/change/"'


def test_the_search_is_on_the_first_page_of_those_who_may_see_charges(support: Operator) -> None:
    assert 'action="/admin/find/"' in support.get("")
    assert 'action="/admin/find/"' in new_operator().get("")
    assert 'action="/admin/find/"' not in new_operator("accounts.view_user").get("")


def test_a_charge_is_found_by_the_id_of_its_request(support: Operator, charge: Charge) -> None:
    for term in ("req_of_Alice-1", "  req_of_Alice-1 "):
        assert page_of(charge.pk) in find(support, term)
    assert page_of(charge.pk) not in find(support, "req_of_alice-1")


def test_a_charge_is_found_by_its_own_id(support: Operator, charge: Charge) -> None:
    for term in (str(charge.pk), charge.pk.hex, str(charge.pk).upper()):
        assert page_of(charge.pk) in find(support, term)


def test_a_charge_is_found_by_its_refund(support: Operator, charge: Charge) -> None:
    done = balance.refund(operation_id=uuid7(), charge=charge, reason="It was cut off")
    assert page_of(charge.pk) in find(support, str(done.pk))


def test_a_charge_is_found_by_its_idempotency_key(support: Operator, charge: Charge) -> None:
    IdempotencyKey.objects.create(
        account_id=charge.account_id,
        route="/v1/chat/completions",
        key="order 66",
        digest=b"",
        charge_id=charge.pk,
        created_at=charge.admitted_at,
    )
    assert page_of(charge.pk) in find(support, "order 66")


def test_the_end_of_a_key_finds_it_and_its_newest_charges(
    support: Operator, alice: User, key: ApiKey, charge: Charge
) -> None:
    _, of_no_key = hold(alice, 10, owner=live_owner())
    settle(of_no_key, 10)
    for term in (key.hint, f"...{key.hint}", f"…{key.hint}"):
        page = find(support, term)
        assert page_of(charge.pk) in page
        assert page_of(of_no_key) not in page
        assert f"/admin/accounts/apikey/{key.pk}/change/" in page


def test_a_whole_key_is_not_searched_for(support: Operator, alice: User, charge: Charge) -> None:
    _, secret = new_key(alice)
    page = find(support, secret)
    assert "Ask for its last four characters only" in page
    assert "/admin/accounts/apikey/" not in page.partition('id="content"')[2]


def test_what_shares_its_id_with_a_charge_is_found_too(alice: User, db: None) -> None:
    operator = new_operator()
    conversation = talk(alice, "How deep is the sea?", "Very.")
    reply = conversation.leaf
    assert reply is not None
    job = Job.objects.create(kind="tests", queue=Job.Queue.DEFAULT, account=alice)
    path = f"/admin/conversations/conversation/{conversation.pk}/change/"
    assert path in find(operator, str(reply.pk))
    assert path in find(operator, str(conversation.pk))
    assert f"/admin/jobs/job/{job.pk}/change/" in find(operator, str(job.pk))
    assert f"/admin/accounts/user/{alice.pk}/change/" in find(operator, str(alice.pk))


def test_an_operator_sees_no_links_to_what_may_not_be_seen(charge: Charge, key: ApiKey) -> None:
    viewer = new_operator("billing.view_charge")
    page = find(viewer, key.hint)
    assert page_of(charge.pk) in page
    assert "/admin/accounts/" not in page


def test_others_do_not_search(charge: Charge) -> None:
    other = new_operator("accounts.view_user")
    assert other.client.get("/admin/find/", {"q": str(charge.pk)}).status_code == 403
    found = other.client.get("/admin/search/", {"s": str(charge.pk), "extended": "1"})
    assert str(charge.pk) not in found.content.decode()


def test_the_command_search_finds_charges(support: Operator, charge: Charge) -> None:
    for term in ("req_of_Alice-1", str(charge.pk)):
        found = support.client.get("/admin/search/", {"s": term, "extended": "1"})
        assert page_of(charge.pk) in found.content.decode()


@pytest.mark.parametrize(
    "term",
    [
        "",
        " ",
        "x",
        "' OR 1=1",
        "%",
        "a" * 255,
        "a" * 256,
        "mk_",
        "…",
        str(UUID(int=7)),
        "<b>",
        "۱۲۳۴",
    ],
)
def test_what_is_nothing_finds_nothing(support: Operator, charge: Charge, term: str) -> None:
    page = find(support, term)
    assert page_of(charge.pk) not in page
    assert "<b>" not in page.partition('id="content"')[2]
    found = support.client.get("/admin/search/", {"s": term, "extended": "1"})
    assert found.status_code == 200


def test_what_cannot_be_read_is_refused(support: Operator) -> None:
    for term in ("a\0", "a" * 10_000):
        assert support.client.get("/admin/find/", {"q": term}).status_code == 400
