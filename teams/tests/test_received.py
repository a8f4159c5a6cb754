"""GET /api/teams/invites/{token}, and POST .../decline"""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from common.redaction import redact
from conftest import Persona
from server.client_limit import is_for_authentication
from teams.models import Invitation
from teams.tests.people import accept, found, invite, refusal, token_for, verify

DORA = "dora@example.com"


@pytest.fixture
def path(alice: Persona) -> str:
    """The path of an invitation of dora."""
    found(alice, "Sea")
    invite(alice, DORA, "admin")
    return f"/api/teams/invites/{token_for(DORA)}"


def test_whoever_has_the_mail_sees_what_it_is_about(path: str, visitor: APIClient) -> None:
    answer = visitor.get(path)
    assert answer.status_code == 200
    body = answer.json()
    assert body.pop("expires_at").endswith("Z")
    assert body == {
        "team_name": "Sea",
        "role": "admin",
        "invited_by_name": "Alice",
        "email": DORA,
    }


def test_an_invitation_from_before_the_secret_key_was_changed_is_good(
    path: str, visitor: APIClient, settings: Settings
) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-secret-key-of-more-than-32-bytes"
    assert visitor.get(path).status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert visitor.get(path).status_code == 404


def test_nothing_keeps_it_or_passes_it_on(path: str, visitor: APIClient) -> None:
    answer = visitor.get(path)
    assert (answer["Cache-Control"], answer["Referrer-Policy"]) == ("no-store", "no-referrer")


def test_a_stale_token_in_the_header_does_not_stand_in_the_way(path: str) -> None:
    client = APIClient(HTTP_AUTHORIZATION="Bearer stale")
    assert client.get(path).status_code == 200
    assert client.post(f"{path}/decline").status_code == 204


def test_seeing_it_does_not_use_it_up(path: str, visitor: APIClient) -> None:
    assert [visitor.get(path).status_code for _ in range(3)] == [200] * 3


def test_who_declines_needs_no_account(path: str, visitor: APIClient, alice: Persona) -> None:
    assert visitor.post(f"{path}/decline").status_code == 204
    assert alice.client.get("/api/teams/me/invites").json() == []
    for answer in (visitor.get(path), visitor.post(f"{path}/decline")):
        assert refusal(answer) == (404, "invitation_not_found")


def test_what_was_declined_can_be_sent_anew(path: str, alice: Persona, bob: Persona) -> None:
    verify(bob.user)
    invite(alice, bob.user.email)
    declined = token_for(bob.user.email)
    bob.client.post(f"/api/teams/invites/{declined}/decline")
    invite(alice, bob.user.email)
    assert accept(bob, token_for(bob.user.email)).status_code == 200


def test_what_is_not_valid_is_refused_alike(path: str, visitor: APIClient) -> None:
    refused = visitor.get("/api/teams/invites/unknown")
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert visitor.get(path).content == refused.content
    assert visitor.post(f"{path}/decline").content == refused.content


@pytest.mark.parametrize("end", ["", "/accept", "/decline"])
def test_guessing_is_limited_as_guessing_passwords_is(end: str) -> None:
    """100 attempts a minute of one address, also while Redis is away."""
    assert is_for_authentication("POST", f"/api/teams/invites/guess{end}")
    assert not is_for_authentication("OPTIONS", f"/api/teams/invites/guess{end}")
    assert not is_for_authentication("POST", "/api/teams/me/invites")


def test_a_token_in_a_logged_path_is_redacted(path: str) -> None:
    *_, token = path.split("/")
    assert redact(f"GET {path}/accept 200") == "GET /api/teams/invites/[redacted]/accept 200"
    assert token not in redact(f'{{"path": "{path}"}}')
