"""POST /api/auth/logout"""

import pytest
from rest_framework.test import APIClient

from conftest import Persona

pytestmark = pytest.mark.django_db

URL = "/api/auth/logout"


def test_it_ends_every_token_issued_before(alice: Persona, visitor: APIClient) -> None:
    credentials = {"email": "alice@example.com", "password": alice.password}
    elsewhere = visitor.post("/api/auth/login", credentials, format="json").json()
    response = alice.client.post(URL)
    assert response.status_code == 204
    assert response.content == b""
    assert alice.client.get("/api/auth/me").status_code == 401
    for token in (alice.signed_in.refresh_token, elsewhere["refresh_token"]):
        refreshed = visitor.post("/api/auth/refresh", {"refresh_token": token}, format="json")
        assert refreshed.status_code == 401
    visitor.credentials(HTTP_AUTHORIZATION=f"Bearer {elsewhere['access_token']}")
    assert visitor.get("/api/auth/me").status_code == 401


def test_signing_in_again_works(alice: Persona, visitor: APIClient) -> None:
    alice.client.post(URL)
    credentials = {"email": "alice@example.com", "password": alice.password}
    token = visitor.post("/api/auth/login", credentials, format="json").json()["access_token"]
    visitor.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    assert visitor.get("/api/auth/me").status_code == 200


def test_it_leaves_others_signed_in(alice: Persona, bob: Persona) -> None:
    alice.client.post(URL)
    assert bob.client.get("/api/auth/me").status_code == 200


def test_it_needs_a_token(visitor: APIClient) -> None:
    assert visitor.post(URL).status_code == 401


def test_a_second_time_is_401(alice: Persona) -> None:
    alice.client.post(URL)
    assert alice.client.post(URL).status_code == 401
