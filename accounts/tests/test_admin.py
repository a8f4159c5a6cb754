"""The admin pages of accounts and keys."""

import pytest
from django.test import Client

from accounts import keys
from accounts.models import ApiKey, User
from conftest import Persona
from tests.personas import new_key


@pytest.fixture
def admin(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("admin@example.com", "secret"))
    return client


def test_an_account_can_be_suspended(admin: Client, alice: Persona) -> None:
    url = f"/admin/accounts/user/{alice.user.pk}/change/"
    assert admin.get(url).status_code == 200
    response = admin.post(url, {"name": "Alice", "avatar_url": "", "status": "suspended"})
    assert response.status_code == 302
    assert alice.client.get("/api/auth/me").status_code == 403


def test_accounts_are_neither_added_nor_deleted(admin: Client, alice: Persona) -> None:
    assert admin.get("/admin/accounts/user/add/").status_code == 403
    assert admin.get(f"/admin/accounts/user/{alice.user.pk}/delete/").status_code == 403


def test_password_hashes_and_digests_are_not_shown(admin: Client, alice: Persona) -> None:
    key, raw = new_key(alice.user)
    alice.user.refresh_from_db()
    for url in (
        "/admin/accounts/user/",
        f"/admin/accounts/user/{alice.user.pk}/change/",
        "/admin/accounts/apikey/",
        f"/admin/accounts/apikey/{key.pk}/change/",
    ):
        response = admin.get(url)
        assert response.status_code == 200
        page = response.content.decode()
        assert alice.user.password not in page
        assert keys.digest(raw).hex() not in page
        assert "digest" not in page.lower()


def test_keys_can_be_revoked(admin: Client, alice: Persona) -> None:
    key, _ = new_key(alice.user)
    chosen = {"action": "revoke", "_selected_action": [str(key.pk)]}
    assert admin.post("/admin/accounts/apikey/", chosen).status_code == 302
    assert not ApiKey.objects.owned_by(alice.user).active().exists()


def test_others_are_asked_to_sign_in(client: Client, alice: Persona) -> None:
    assert client.get("/admin/accounts/user/").status_code == 302
    client.force_login(alice.user)
    assert client.get("/admin/accounts/user/").status_code == 302
