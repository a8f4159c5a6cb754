"""DELETE /api/users/me, and the operator's verbs beside it"""

from typing import Any

import httpx
import pytest
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.errors import AccountDeactivated, InvalidToken
from accounts.models import ApiKey, EmailedToken, OutgoingEmail, User, UserSession
from accounts.services import passwords, users, verification
from accounts.tests.mailbox import delivered, mailed_token
from common.money import NUSD_PER_USD
from conftest import Persona
from tests.personas import new_key, new_user
from tests.service import Web

URL = "/api/users/me"
STATUS = User.Status


def log_in(persona: Persona, password: str | None = None) -> Any:
    body = {"email": persona.user.email, "password": password or persona.password}
    return APIClient().post("/api/auth/login", body, format="json")


def sign_up(persona: Persona, password: str | None = None) -> Any:
    body = {"email": persona.user.email, "password": password or persona.password}
    return APIClient().post("/api/auth/signup", body, format="json")


def current(alice: Persona) -> User:
    return User.objects.get(pk=alice.user.pk)


def show_whose_address_it_is(alice: Persona) -> None:
    verification.verify_email(token=mailed_token("/verify-email"), signed_in=alice.user)


def test_it_answers_204_and_ends_every_session(alice: Persona, visitor: APIClient) -> None:
    response = alice.client.delete(URL)
    assert (response.status_code, response.content) == (204, b"")
    assert current(alice).status == STATUS.DEACTIVATED
    assert alice.client.get(URL).status_code == 401
    body = {"refresh_token": alice.signed_in.refresh_token}
    assert visitor.post("/api/auth/refresh", body, format="json").status_code == 401


def test_a_later_sign_in_looks_like_that_of_an_unknown_address(alice: Persona) -> None:
    show_whose_address_it_is(alice)
    wrong = log_in(alice, "wrong password")
    alice.client.delete(URL)
    response = log_in(alice)
    assert response.status_code == 401
    assert response.json() == wrong.json()


def test_keys_are_revoked(alice: Persona, bob: Persona) -> None:
    (revoked, _), (kept, _) = new_key(alice.user), new_key(bob.user)
    alice.client.delete(URL)
    assert ApiKey.objects.get(pk=revoked.pk).revoked_at is not None
    assert ApiKey.objects.get(pk=kept.pk).revoked_at is None


def test_a_key_opens_nothing_any_more(committed: None, web: Web) -> None:
    user = new_user("alice", plan="max")
    _, raw = new_key(user)

    def usage() -> int:
        headers = {"Authorization": f"Bearer {raw}"}
        return httpx.get(f"{web.url}/v1/usage", headers=headers).status_code

    assert usage() == 200
    users.deactivate(user=user)
    assert usage() == 401


def test_the_wallet_stays_as_it_is(committed: None) -> None:
    user = new_user("alice", plan="max", balance_usd=7)
    users.deactivate(user=user)
    assert User.objects.get(pk=user.pk).wallet.balance == 7 * NUSD_PER_USD


def test_mails_that_wait_are_not_sent_and_their_tokens_are_void(alice: Persona) -> None:
    token = mailed_token("/verify-email")
    User.objects.filter(pk=alice.user.pk).update(email_verified=True, verified_by_holder=True)
    passwords.request_reset(email="alice@example.com")
    sent = len(delivered())
    passwords.request_reset(email="alice@example.com")
    alice.client.delete(URL)
    assert len(delivered()) == sent
    assert OutgoingEmail.objects.latest("created_at").outcome == "dropped"
    assert not EmailedToken.objects.filter(user=alice.user).exists()
    users.reactivate(user=alice.user)
    assert len(delivered()) == sent
    verified = APIClient().post("/api/auth/verify-email", {"token": token}, format="json")
    assert verified.status_code == 422


@pytest.mark.parametrize("of_its_address", [True, False])
def test_the_owner_hears_of_a_thief_who_changed_the_password_and_closed_the_account(
    alice: Persona, of_its_address: bool
) -> None:
    if of_its_address:
        show_whose_address_it_is(alice)
    stolen = passwords.change_password(
        user=alice.user, current_password=alice.password, new_password="a thief's own phrase"
    )
    users.deactivate(user=stolen.user)
    assert "Your password was changed" in delivered()[0].subject


def test_an_address_that_was_shown_to_be_theirs_stays_taken(alice: Persona) -> None:
    show_whose_address_it_is(alice)
    alice.client.delete(URL)
    assert current(alice).email == "alice@example.com"
    assert sign_up(alice).status_code == 409


@pytest.mark.parametrize("by_a_stray_click", [False, True])
def test_nobody_shuts_the_owner_of_an_address_out_by_closing_an_account(
    alice: Persona, by_a_stray_click: bool
) -> None:
    """Who signed up with the address of somebody else, who may have followed the mailed link."""
    if by_a_stray_click:
        verification.verify_email(token=mailed_token("/verify-email"), signed_in=None)
    alice.client.delete(URL)
    signed_up = sign_up(alice, "the owner's own phrase")
    assert signed_up.status_code == 201
    assert signed_up.json()["user"]["id"] != str(alice.user.pk)
    assert log_in(alice).status_code == 401
    assert log_in(alice, "the owner's own phrase").status_code == 200


def test_what_takes_the_place_of_an_address_is_one_that_nobody_can_have(alice: Persona) -> None:
    alice.client.delete(URL)
    closed = current(alice)
    closed.full_clean()
    assert closed.email.endswith("@invalid.example")
    assert str(alice.user.pk) not in closed.email  # or its user could sign up with it beforehand


def test_the_mail_of_the_owner_who_signs_up_next_is_sent(alice: Persona) -> None:
    delivered()
    alice.client.delete(URL)
    sign_up(alice)
    token = mailed_token("/verify-email")
    assert verification.verify_email(token=token, signed_in=None).pk != alice.user.pk


def test_others_are_left_alone(alice: Persona, bob: Persona) -> None:
    alice.client.delete(URL)
    assert bob.client.get(URL).status_code == 200
    assert len(delivered("bob@example.com")) == 1


def test_a_second_time_is_401(alice: Persona) -> None:
    alice.client.delete(URL)
    assert alice.client.delete(URL).status_code == 401
    with pytest.raises(InvalidToken):
        users.deactivate(user=alice.user)


def test_a_suspended_account_cannot_close_itself(alice: Persona) -> None:
    users.suspend(user=alice.user)
    assert alice.client.delete(URL).status_code == 403
    assert current(alice).status == STATUS.SUSPENDED
    assert sign_up(alice).status_code == 409


# --- What operators do --------------------------------------------------------------------------


def test_a_suspended_account_is_told_so_until_it_is_reactivated(alice: Persona) -> None:
    users.suspend(user=alice.user)
    assert alice.client.get(URL).status_code == 403
    assert log_in(alice).status_code == 403
    users.reactivate(user=alice.user)
    assert log_in(alice).status_code == 200


def test_sessions_from_before_a_suspension_stay_ended(alice: Persona, visitor: APIClient) -> None:
    users.suspend(user=alice.user)
    users.reactivate(user=alice.user)
    assert alice.client.get(URL).status_code == 401
    body = {"refresh_token": alice.signed_in.refresh_token}
    assert visitor.post("/api/auth/refresh", body, format="json").status_code == 401


def test_reactivating_an_active_account_ends_nothing(alice: Persona) -> None:
    users.reactivate(user=alice.user)
    assert alice.client.get(URL).status_code == 200


def test_a_deactivated_account_can_be_reactivated_but_not_suspended(alice: Persona) -> None:
    show_whose_address_it_is(alice)
    key, _ = new_key(alice.user)
    alice.client.delete(URL)
    with pytest.raises(AccountDeactivated):
        users.suspend(user=alice.user)
    users.reactivate(user=alice.user)
    assert log_in(alice).status_code == 200
    assert ApiKey.objects.get(pk=key.pk).revoked_at is not None


def test_revoking_sessions_ends_them_and_nothing_else(alice: Persona) -> None:
    key, _ = new_key(alice.user)
    users.revoke_sessions(user=alice.user)
    assert alice.client.get(URL).status_code == 401
    assert not UserSession.objects.filter(account=alice.user).exists()
    assert log_in(alice).status_code == 200
    assert ApiKey.objects.get(pk=key.pk).revoked_at is None


@pytest.mark.parametrize("verb", [users.revoke_sessions, users.suspend, users.deactivate])
def test_visits_to_the_admin_end_too(db: None, verb: Any) -> None:
    operator = User.objects.create_superuser("operator@example.com", "secret")
    visit = Client()
    visit.force_login(operator)
    assert visit.get("/admin/").status_code == 200
    verb(user=operator)
    users.reactivate(user=operator)
    assert visit.get("/admin/").status_code == 302


def test_a_visit_to_the_admin_outlives_a_new_secret_key(db: None, settings: Settings) -> None:
    operator = User.objects.create_superuser("operator@example.com", "secret")
    visit = Client()
    visit.force_login(operator)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-secret-key-of-more-than-32-bytes"
    assert visit.get("/admin/").status_code == 200
    users.revoke_sessions(user=operator)
    assert visit.get("/admin/").status_code == 302
