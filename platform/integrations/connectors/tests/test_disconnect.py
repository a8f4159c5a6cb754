"""DELETE /api/connectors/{id}: the grant ends at the provider, at once or as soon as it answers."""

from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.db.models import F
from django.utils import timezone
from msgspec.structs import replace

from integrations.connectors.models import Connector
from integrations.connectors.services import connectors
from integrations.connectors.tests.owner import SERVERS, Owner
from integrations.connectors.types import Provider

every_provider = pytest.mark.parametrize("provider", list(Provider))


def lives(owner: Owner, connector: Connector) -> bool:
    """Does the provider still accept a token of this grant?"""
    server = SERVERS[Provider(connector.provider)]
    login = connector.login.removesuffix("@gmail.com")
    return owner.oauth.revoke(server, login) > 0


@every_provider
def test_the_grant_ends_at_the_provider(alice: Owner, provider: str) -> None:
    connector = alice.connected(provider)

    assert alice.disconnect(connector) == 204
    assert not lives(alice, connector)
    assert not Connector.with_disconnected.filter(pk=connector.pk).exists()
    assert alice.get().json() == []
    assert alice.events()[-1] == "connector.deleted"
    assert alice.disconnect(connector) == 404


@every_provider
def test_the_grant_ends_although_the_access_token_has_ended(alice: Owner, provider: str) -> None:
    connector = alice.connected(provider)
    alice.oauth.expire(connector.tokens.access)
    Connector.objects.filter(pk=connector.pk).update(expires_at=timezone.now())
    assert alice.disconnect(connector) == 204
    assert not lives(alice, connector)


@every_provider
def test_a_provider_that_is_away_is_asked_again(alice: Owner, provider: str) -> None:
    connector = alice.connected(provider)
    alice.fail(provider, "revoke", status=503, times=2)

    assert alice.disconnect(connector) == 204
    assert alice.get(f"/{connector.pk}").status_code == 404
    assert Connector.with_disconnected.filter(pk=connector.pk).exists()
    connectors.sweep()
    assert Connector.with_disconnected.filter(pk=connector.pk).exists()
    connectors.sweep()
    assert not Connector.with_disconnected.filter(pk=connector.pk).exists()
    assert not lives(alice, connector)


def test_after_three_days_it_is_given_up(alice: Owner) -> None:
    connector = alice.connected("gitlab")
    alice.fail("gitlab", "revoke", status=503, times=2)
    alice.disconnect(connector)
    Connector.with_disconnected.filter(pk=connector.pk).update(
        disconnected_at=F("disconnected_at") - timedelta(days=3, minutes=1)
    )
    connectors.sweep()
    assert not Connector.with_disconnected.filter(pk=connector.pk).exists()
    alice.oauth.stop_failing()


@every_provider
def test_a_grant_that_was_ended_there_is_forgotten_here(alice: Owner, provider: str) -> None:
    connector = alice.connected(provider)
    assert lives(alice, connector)
    assert alice.disconnect(connector) == 204
    assert not Connector.with_disconnected.filter(pk=connector.pk).exists()


@every_provider
def test_the_same_account_of_somebody_else_stays_connected(
    alice: Owner, bob: Owner, provider: str
) -> None:
    """GitHub and Google end all tokens of an account at once."""
    shared = f"team-{alice.login}"
    mine, theirs = (each.connected(provider, login=shared) for each in (alice, bob))
    assert alice.disconnect(mine) == 204
    assert lives(bob, theirs)


@every_provider
def test_another_server_gets_no_token_of_this_one(
    alice: Owner, provider: str, settings: LazySettings
) -> None:
    """The operator has set up another server meanwhile, or none."""
    connector = alice.connected(provider)
    here = settings.CONNECTORS
    service = here[Provider(provider)]
    for change in ({"base_url": "https://another.example"}, {"client_id": ""}):
        settings.CONNECTORS = {**here, Provider(provider): replace(service, **change)}
        if alice.get(f"/{connector.pk}").status_code == 200:
            assert alice.disconnect(connector) == 204
        connectors.sweep()
        assert Connector.with_disconnected.filter(pk=connector.pk).exists()
    settings.CONNECTORS = here
    connectors.sweep()
    assert not Connector.with_disconnected.filter(pk=connector.pk).exists()
    assert not lives(alice, connector)


def test_a_connector_can_be_made_anew_while_the_old_one_waits(alice: Owner) -> None:
    old = alice.connected("gitlab")
    alice.fail("gitlab", "revoke", status=503)
    alice.disconnect(old)
    new = alice.connected("gitlab")
    assert new.pk != old.pk
    connectors.sweep()
    assert [each["id"] for each in alice.get().json()] == [str(new.pk)]
    assert lives(alice, new)


def test_authorizations_that_have_expired_are_forgotten(alice: Owner) -> None:
    from integrations.connectors.models import Authorization

    alice.authorize("github")
    Authorization.objects.filter(account=alice.user).update(expires_at=timezone.now())
    connectors.sweep()
    assert not Authorization.objects.filter(account=alice.user).exists()
