"""Hashing passwords, bounded."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from accounts import hashers
from accounts.hashers import BoundedArgon2PasswordHasher
from common.errors import ServiceUnavailable


def test_a_hash_is_verified_by_the_password_alone() -> None:
    hasher = BoundedArgon2PasswordHasher()
    encoded = hasher.encode("correct horse", hasher.salt())

    assert hasher.verify("correct horse", encoded)
    assert not hasher.verify("battery staple", encoded)


def test_whoever_waits_too_long_for_a_turn_is_told_to_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hashers, "WAIT_SECONDS", 0.05)
    hasher = BoundedArgon2PasswordHasher()
    for _ in range(hashers.AT_ONCE):
        hashers._turns.acquire()
    try:
        with pytest.raises(ServiceUnavailable):
            hasher.encode("correct horse", hasher.salt())
    finally:
        for _ in range(hashers.AT_ONCE):
            hashers._turns.release()

    assert hasher.encode("correct horse", hasher.salt())


def test_many_at_once_all_get_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashers, "WAIT_SECONDS", 60.0)  # however busy this machine is
    hasher = BoundedArgon2PasswordHasher()
    salts = [hasher.salt() for _ in range(hashers.AT_ONCE * 3)]

    with ThreadPoolExecutor(len(salts)) as threads:
        encoded = list(threads.map(lambda salt: hasher.encode("correct horse", salt), salts))

    assert len(set(encoded)) == len(salts)
