"""GET /api/keys"""

import pytest
from rest_framework.test import APIClient

from accounts.models import ApiKey
from billing.models import KeyMonth
from billing.selectors.subscriptions import current_month
from billing.services.balance import change_plan
from common.money import NUSD_PER_USD
from conftest import Persona
from tests.personas import new_key

URL = "/api/keys"


def test_the_newest_comes_first_and_the_raw_key_never_again(alice: Persona) -> None:
    for name in ("first", "second"):
        key, _ = new_key(alice.user)
        ApiKey.objects.filter(pk=key.pk).update(name=name)
    response = alice.client.get(URL)
    assert response.status_code == 200
    assert sorted(key["name"] for key in response.json()) == ["first", "second"]
    ids = [key["id"] for key in response.json()]
    assert ids == sorted(ids, reverse=True)
    assert response.json()[0].keys() == {
        "id",
        "name",
        "hint",
        "monthly_spend_cap_usd",
        "allowed_models",
        "spent_this_month_usd",
        "created_at",
        "last_used_at",
        "revoked_at",
    }


def test_it_shows_what_each_key_billed_this_month(alice: Persona) -> None:
    spender, _ = new_key(alice.user)
    new_key(alice.user)
    month = current_month()
    KeyMonth.objects.create(api_key=spender, month=month, billed=1_234_567_891)
    before = month.replace(year=month.year - 1)
    KeyMonth.objects.create(api_key=spender, month=before, billed=7 * NUSD_PER_USD)
    shown = {key["id"]: key["spent_this_month_usd"] for key in alice.client.get(URL).json()}
    assert shown.pop(str(spender.pk)) == 1.234567891
    assert list(shown.values()) == [0]


def test_revoked_keys_stay_listed(alice: Persona) -> None:
    key, _ = new_key(alice.user)
    alice.client.delete(f"{URL}/{key.pk}")
    [listed] = alice.client.get(URL).json()
    assert listed["id"] == str(key.pk)
    assert listed["revoked_at"].endswith("Z")


def test_other_peoples_keys_are_not_listed(alice: Persona, bob: Persona) -> None:
    new_key(bob.user)
    assert alice.client.get(URL).json() == []


def test_it_needs_no_api_access(alice: Persona) -> None:
    change_plan(account=alice.user, plan="max")
    new_key(alice.user)
    change_plan(account=alice.user, plan="free")
    assert len(alice.client.get(URL).json()) == 1


def test_a_page_links_to_the_next(alice: Persona) -> None:
    for _ in range(3):
        new_key(alice.user)
    everything = [key["id"] for key in alice.client.get(URL).json()]
    first = alice.client.get(f"{URL}?limit=2")
    assert [key["id"] for key in first.json()] == everything[:2]
    link, _, relation = first["Link"].partition("; ")
    assert relation == 'rel="next"'
    second = alice.client.get(link.strip("<>"))
    assert [key["id"] for key in second.json()] == everything[2:]
    assert "Link" not in second


def test_a_list_is_bounded_to_100(alice: Persona) -> None:
    ApiKey.objects.bulk_create(
        ApiKey(account=alice.user, name="old", digest=bytes([number] * 32), hint="abcd")
        for number in range(101)
    )
    response = alice.client.get(f"{URL}?limit=5000")
    assert len(response.json()) == 100
    assert "Link" in response


@pytest.mark.parametrize("query", ["limit=0", "limit=-1", "limit=x", "limit=", "before=x"])
def test_a_wrong_query_value_is_422(alice: Persona, query: str) -> None:
    response = alice.client.get(f"{URL}?{query}")
    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == [query.partition("=")[0]]


@pytest.mark.django_db
def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.get(URL).status_code == 401
