"""Stored secrets: for whom they can be read, and how their keys are changed."""

from datetime import timedelta
from uuid import UUID

import pytest
from pytest_django import Settings

from common.encryption import Unreadable, decrypt, encrypt
from common.ids import uuid7

ALICE, BOB = uuid7(), uuid7()
OLD = "an older key of more than 32 characters"
NEW = "a newer key of more than 32 characters"


def seal(text: str = "secret", owner: UUID = ALICE) -> str:
    return encrypt(text.encode(), purpose="letters", owner=owner)


def read(sealed: str, *, owner: UUID = ALICE, purpose: str = "letters") -> str:
    return decrypt(sealed, purpose=purpose, owner=owner).decode()


def test_a_secret_is_read_again() -> None:
    assert read(seal("grüße")) == "grüße"


def test_a_secret_is_never_written_twice_in_the_same_way() -> None:
    assert seal() != seal()


def test_a_secret_is_read_for_its_owner_and_its_purpose_alone() -> None:
    sealed = seal()
    with pytest.raises(Unreadable):
        read(sealed, owner=BOB)
    with pytest.raises(Unreadable):
        read(sealed, purpose="parcels")


@pytest.mark.parametrize("damage", ["", "é", "gAAAA", "x" * 100])
def test_what_is_no_secret_is_not_read(damage: str) -> None:
    with pytest.raises(Unreadable):
        read(damage)


def test_a_secret_can_be_too_old() -> None:
    sealed = seal()
    with pytest.raises(Unreadable):
        decrypt(sealed, purpose="letters", owner=ALICE, within=timedelta(seconds=-1))


def test_an_older_key_still_reads(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    sealed = seal()
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    assert read(sealed) == "secret"
    settings.ENCRYPTION_KEYS = [NEW]
    with pytest.raises(Unreadable):
        read(sealed)


def test_the_secret_key_encrypts_where_there_is_no_other(settings: Settings) -> None:
    sealed = seal()
    settings.ENCRYPTION_KEYS = [NEW, settings.SECRET_KEY]
    assert read(sealed) == "secret"


def test_the_first_key_encrypts(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    sealed = seal()
    settings.ENCRYPTION_KEYS = [NEW]
    assert read(sealed) == "secret"
