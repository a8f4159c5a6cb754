"""Access tokens of connectors: renewed before they end, once, and never after they were refused."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from devserver.configuration import simulated_connectors
from integrations.connectors.errors import ConnectorNeedsReauth, ConnectorUnavailable
from integrations.connectors.models import Connector
from integrations.connectors.providers import from_environ
from integrations.connectors.services import tokens
from integrations.connectors.tests.owner import SERVERS, Owner
from integrations.connectors.types import Provider

every_provider = pytest.mark.parametrize("provider", list(Provider))


def let_it_end(connector: Connector) -> Connector:
    """Its access token ends now, there and here."""
    Connector.objects.filter(pk=connector.pk).update(expires_at=timezone.now())
    return Connector.objects.get(pk=connector.pk)


def refreshes(owner: Owner, connector: Connector) -> int:
    server = SERVERS[Provider(connector.provider)]
    asked = owner.oauth.requests()
    return sum((each["server"], each["endpoint"]) == (server, "refresh") for each in asked)


def status_of(owner: Owner, connector: Connector) -> str:
    return str(owner.get(f"/{connector.pk}").json()["status"])


@every_provider
def test_a_token_that_lasts_is_used_as_it_is(alice: Owner, provider: str) -> None:
    connector = alice.connected(provider)
    assert tokens.access_token(connector=connector) == connector.tokens.access


@every_provider
def test_a_token_that_is_about_to_end_is_renewed(alice: Owner, provider: str) -> None:
    connector = let_it_end(alice.connected(provider))
    token = tokens.access_token(connector=connector)

    row = Connector.objects.get(pk=connector.pk)
    assert token == row.tokens.access != connector.tokens.access
    assert row.expires_at is not None
    assert row.expires_at > timezone.now() + timedelta(minutes=30)
    assert row.scopes == connector.scopes
    # Google leaves the refresh token, the others replace it.
    is_kept = row.tokens.refresh == connector.tokens.refresh
    assert is_kept == (provider == Provider.GOOGLE_DRIVE)
    assert tokens.access_token(connector=let_it_end(row)) != token


@every_provider
def test_many_who_need_it_renew_it_once(alice: Owner, provider: str) -> None:
    """Each refresh token is accepted once: a second use would end the grant."""
    connector = let_it_end(alice.connected(provider))
    before = refreshes(alice, connector)

    def use(_: int) -> str:
        try:
            return tokens.access_token(connector=connector)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        found = set(threads.map(use, range(12)))
    assert found == {Connector.objects.get(pk=connector.pk).tokens.access}
    assert refreshes(alice, connector) == before + 1


@every_provider
def test_a_grant_that_was_ended_there_needs_a_new_consent(alice: Owner, provider: str) -> None:
    connector = alice.connected(provider)
    alice.oauth.revoke(SERVERS[Provider(provider)], alice.login)
    with pytest.raises(ConnectorNeedsReauth):
        tokens.renew(connector=connector, refused=connector.tokens.access)

    assert status_of(alice, connector) == "needs_reauth"
    assert alice.events()[-1] == "connector.updated"
    # It is not tried again.
    before = refreshes(alice, connector)
    row = Connector.objects.get(pk=connector.pk)
    with pytest.raises(ConnectorNeedsReauth):
        tokens.access_token(connector=row)
    assert refreshes(alice, connector) == before

    again = alice.connect(provider)
    assert (again.status_code, again.json()["status"]) == (200, "connected")
    fresh = Connector.objects.get(pk=connector.pk)
    assert tokens.access_token(connector=fresh) == fresh.tokens.access


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 429, "retry_after": 5},
        {"html": "<p>Down</p>"},
        {"drop": True},
        {"body": {"error": "invalid_client"}},
    ],
)
@every_provider
def test_a_server_that_is_away_for_a_moment_ends_nothing(
    alice: Owner, provider: str, fault: dict[str, Any]
) -> None:
    connector = let_it_end(alice.connected(provider))
    alice.fail(provider, "refresh", **fault)
    with pytest.raises(ConnectorUnavailable):
        tokens.access_token(connector=connector)
    assert status_of(alice, connector) == "connected"
    assert tokens.access_token(connector=connector)


def test_scopes_that_are_not_repeated_stay(alice: Owner) -> None:
    connector = let_it_end(alice.connected("gitlab"))
    alice.fail("gitlab", "refresh", body={"access_token": "new", "token_type": "Bearer"})
    assert tokens.access_token(connector=connector) == "new"
    row = Connector.objects.get(pk=connector.pk)
    assert row.scopes == ["api"]
    assert row.tokens.refresh == connector.tokens.refresh


def test_an_answer_that_is_lost_after_the_renewal_needs_a_new_consent(alice: Owner) -> None:
    """The provider has replaced the refresh token and nobody has the new one: the next attempt says
    so."""
    connector = let_it_end(alice.connected("github"))
    alice.fail("github", "refresh", when="after", drop=True)
    with pytest.raises(ConnectorUnavailable):
        tokens.access_token(connector=connector)
    with pytest.raises(ConnectorNeedsReauth):
        tokens.access_token(connector=connector)
    assert status_of(alice, connector) == "needs_reauth"


def test_without_a_refresh_token_it_ends_with_the_access_token(alice: Owner) -> None:
    connector = alice.connected("github")
    Connector.objects.filter(pk=connector.pk).update(refresh_token="", expires_at=None)
    row = Connector.objects.get(pk=connector.pk)
    assert tokens.access_token(connector=row) == connector.tokens.access
    assert status_of(alice, connector) == "connected"
    let_it_end(connector)
    assert status_of(alice, connector) == "needs_reauth"


def test_tokens_that_no_key_reads_need_a_new_consent(alice: Owner, settings: Settings) -> None:
    connector = alice.connected("gitlab")
    settings.ENCRYPTION_KEYS = ["another key, of more than thirty-two characters"]
    with pytest.raises(ConnectorNeedsReauth):
        tokens.access_token(connector=connector)
    assert status_of(alice, connector) == "needs_reauth"


def test_tokens_of_a_server_are_not_sent_to_another_one(alice: Owner, settings: Settings) -> None:
    """The operator has named another GitLab since."""
    connector = let_it_end(alice.connected("gitlab"))
    elsewhere = {**simulated_connectors(alice.simulator.url), "GITLAB_URL": "https://git.example"}
    settings.CONNECTORS = from_environ(elsewhere)
    with pytest.raises(ConnectorNeedsReauth):
        tokens.access_token(connector=connector)
