"""GET /api/auth/me"""

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from accounts.models import User
from conftest import Persona

pytestmark = pytest.mark.django_db

URL = "/api/auth/me"


def test_it_answers_the_user(alice: Persona) -> None:
    response = alice.client.get(URL)
    assert response.status_code == 200
    assert response.json() == {
        "id": str(alice.user.pk),
        "email": "alice@example.com",
        "name": "Alice",
        "avatar_url": "",
        "plan": "free",
        "email_verified": False,
        "is_staff": False,
        "created_at": response.json()["created_at"],
    }


def test_it_takes_one_query(
    alice: Persona, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        alice.client.get(URL)


def test_it_names_a_new_plan_at_once(alice: Persona) -> None:
    subscription = alice.user.subscription
    subscription.plan_id = "max"
    subscription.save()
    assert alice.client.get(URL).json()["plan"] == "max"


def test_without_a_token_it_is_401_and_says_how_to_authenticate(visitor: APIClient) -> None:
    response = visitor.get(URL)
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Bearer")
    assert "Authorization" in response.json()["detail"]


def test_a_suspended_account_is_403(alice: Persona) -> None:
    User.objects.filter(pk=alice.user.pk).update(status=User.Status.SUSPENDED)
    response = alice.client.get(URL)
    assert response.status_code == 403
    assert "suspended" in response.json()["detail"]


def test_a_deactivated_account_is_401(alice: Persona) -> None:
    User.objects.filter(pk=alice.user.pk).update(status=User.Status.DEACTIVATED)
    assert alice.client.get(URL).status_code == 401
