"""Sign-up while operators have closed it."""

from collections.abc import Iterator

import pytest
from rest_framework.test import APIClient

from accounts.models import UsedIdToken, User
from conftest import PASSWORD, Persona
from content.flags import SIGN_UP
from simulator.process import RunningSimulator
from tests.flags import switched

pytestmark = pytest.mark.django_db
DORA = {"email": "dora@example.com", "password": PASSWORD}
REFUSAL = {
    "detail": "New accounts cannot be made at the moment. Accounts that exist can sign in.",
    "code": "sign_up_closed",
}


@pytest.fixture
def closed(alice: Persona) -> Iterator[None]:
    """After alice has signed up."""
    with switched(SIGN_UP, on=False):
        yield


@pytest.mark.usefixtures("closed")
def test_no_account_is_made(visitor: APIClient) -> None:
    answer = visitor.post("/api/auth/signup", DORA, format="json")
    assert (answer.status_code, answer.json()) == (403, REFUSAL)
    assert not User.objects.filter(email=DORA["email"]).exists()


@pytest.mark.usefixtures("closed")
def test_who_has_an_account_signs_in(alice: Persona, visitor: APIClient) -> None:
    body = {"email": alice.user.email, "password": PASSWORD}
    assert visitor.post("/api/auth/login", body, format="json").status_code == 200


@pytest.mark.usefixtures("closed")
def test_a_taken_address_is_not_revealed(alice: Persona, visitor: APIClient) -> None:
    answer = visitor.post("/api/auth/signup", {**DORA, "email": alice.user.email}, format="json")
    assert answer.json() == REFUSAL


@pytest.mark.usefixtures("closed")
def test_google_makes_no_account_either_and_the_token_is_not_used_up(
    visitor: APIClient, google: RunningSimulator
) -> None:
    claims = {"sub": "1", "email": "dora@example.com", "email_verified": True}
    body = {"id_token": google.id_token(claims=claims)}
    answer = visitor.post("/api/auth/google", body, format="json")
    assert (answer.status_code, answer.json()) == (403, REFUSAL)
    assert not User.objects.filter(email="dora@example.com").exists()
    assert not UsedIdToken.objects.exists()


def test_it_is_open_again_when_it_is_switched_on(visitor: APIClient) -> None:
    with switched(SIGN_UP, on=False):
        visitor.post("/api/auth/signup", DORA, format="json")
    assert visitor.post("/api/auth/signup", DORA, format="json").status_code == 201
