"""Changing the key of stored secrets."""

from io import StringIO

import pytest
from django.core.management import call_command
from pytest_django import Settings

from accounts.models import SecondFactor
from common.encryption import decrypt, encrypt
from conftest import Persona
from integrations.connectors.models import Authorization, Connector
from integrations.connectors.oauth import Tokens
from integrations.workspaces.models import TOKEN_PURPOSE, Workspace

OLD = "an older key of more than 32 characters"
NEW = "a newer key of more than 32 characters"


@pytest.mark.django_db
def test_stored_secrets_are_encrypted_under_the_newest_key(
    alice: Persona, bob: Persona, settings: Settings
) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    factor = SecondFactor.objects.create(
        operator=alice.user,
        secret=encrypt(b"app", purpose="accounts.totp", owner=alice.user.pk),
        last_step=0,
        recovery_codes=[],
    )
    SecondFactor.objects.create(
        operator=bob.user, secret="no key reads this", last_step=0, recovery_codes=[]
    )
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    said = StringIO()
    call_command("reencrypt_secrets", stdout=said)
    assert said.getvalue().splitlines() == [
        "Encrypted under the newest key: 1.",
        "Left as they are, because no key reads them: 1.",
    ]
    settings.ENCRYPTION_KEYS = [NEW]
    factor.refresh_from_db()
    plain = decrypt(factor.secret, purpose="accounts.totp", owner=alice.user.pk)
    assert plain == b"app"


@pytest.mark.django_db
def test_so_are_the_tokens_of_accounts_elsewhere(alice: Persona, settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    account = {"account": alice.user, "provider": "github", "login": "alice"}
    connector = Connector(**account)
    connector.set_tokens(
        Tokens(access="an access", refresh="a refresh", expires_at=None, scopes=None)
    )
    connector.save()
    asked = Authorization(
        account=alice.user,
        provider="github",
        digest=b"x" * 32,
        page="/",
        expires_at="2030-01-01T00:00:00Z",
    )
    asked.set_verifier("a verifier")
    asked.save()
    sealed = encrypt(b"a token", purpose=TOKEN_PURPOSE, owner=alice.user.pk)
    workspace = Workspace.objects.create(**account, name="site", token=sealed)
    without_token = Workspace.objects.create(**account, name="site", connector=connector)

    settings.ENCRYPTION_KEYS = [NEW, OLD]
    said = StringIO()
    call_command("reencrypt_secrets", stdout=said)

    assert said.getvalue() == "Encrypted under the newest key: 4.\n"
    settings.ENCRYPTION_KEYS = [NEW]
    for row in (connector, asked, workspace, without_token):
        row.refresh_from_db()
    assert (connector.tokens.access, connector.tokens.refresh) == ("an access", "a refresh")
    assert asked.verifier == "a verifier"
    plain = decrypt(workspace.token, purpose=TOKEN_PURPOSE, owner=alice.user.pk)
    assert plain == b"a token"
    assert without_token.token == ""
