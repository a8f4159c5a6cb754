"""Hashing passwords, bounded."""

import os
import threading
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
    hasher, may_end = BoundedArgon2PasswordHasher(), threading.Event()
    for _ in range(hashers.AT_ONCE):
        hashers._threads.submit(may_end.wait)
    try:
        with pytest.raises(ServiceUnavailable) as refusal:
            hasher.encode("correct horse", hasher.salt())
        assert refusal.value.retry_after
    finally:
        may_end.set()
    monkeypatch.undo()

    assert hasher.encode("correct horse", hasher.salt())


def test_hashing_goes_last_and_nothing_else_does() -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    threads = [hashers._threads.submit(threading.get_native_id) for _ in range(hashers.AT_ONCE)]
    for thread in threads:
        assert os.getpriority(os.PRIO_PROCESS, thread.result()) > before
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_many_at_once_all_get_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashers, "WAIT_SECONDS", 60.0)  # however busy this machine is
    hasher = BoundedArgon2PasswordHasher()
    salts = [hasher.salt() for _ in range(hashers.AT_ONCE * 3)]

    with ThreadPoolExecutor(len(salts)) as threads:
        encoded = list(threads.map(lambda salt: hasher.encode("correct horse", salt), salts))

    assert len(set(encoded)) == len(salts)
