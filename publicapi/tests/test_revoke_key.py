"""DELETE /api/keys/{id}"""

import uuid

import pytest
from rest_framework.test import APIClient

from accounts.models import ApiKey
from conftest import Persona
from tests.personas import new_key


@pytest.fixture
def key(alice: Persona) -> ApiKey:
    return new_key(alice.user)[0]


def test_it_revokes_the_key(alice: Persona, key: ApiKey) -> None:
    response = alice.client.delete(f"/api/keys/{key.pk}")
    assert response.status_code == 204
    assert response.content == b""
    assert not ApiKey.objects.owned_by(alice.user).active().exists()


def test_a_second_time_changes_nothing(alice: Persona, key: ApiKey) -> None:
    alice.client.delete(f"/api/keys/{key.pk}")
    key.refresh_from_db()
    revoked_at = key.revoked_at
    assert alice.client.delete(f"/api/keys/{key.pk}").status_code == 204
    key.refresh_from_db()
    assert key.revoked_at == revoked_at


def test_it_needs_no_api_access(alice: Persona, key: ApiKey) -> None:
    assert alice.client.get("/api/auth/me").json()["plan"] == "free"
    assert alice.client.delete(f"/api/keys/{key.pk}").status_code == 204


def test_another_persons_key_is_not_there(bob: Persona, key: ApiKey) -> None:
    assert bob.client.delete(f"/api/keys/{key.pk}").status_code == 404
    key.refresh_from_db()
    assert key.revoked_at is None


def test_an_unknown_id_is_404(alice: Persona) -> None:
    assert alice.client.delete(f"/api/keys/{uuid.uuid4()}").status_code == 404


def test_it_needs_a_session(key: ApiKey, visitor: APIClient) -> None:
    assert visitor.delete(f"/api/keys/{key.pk}").status_code == 401
