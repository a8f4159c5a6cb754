"""Changing the key of stored secrets."""

from io import StringIO

import pytest
from django.core.management import call_command
from pytest_django import Settings

from accounts.models import SecondFactor
from common.encryption import decrypt, encrypt
from conftest import Persona

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
