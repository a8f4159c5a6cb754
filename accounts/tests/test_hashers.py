"""Hashing passwords, bounded."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from accounts import hashers
from accounts.hashers import BoundedArgon2PasswordHasher
from common.errors import ServiceUnavailable
from server.hash_turns import Lane
from server.sign_in_queue import hashing_lane


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
        hashers._threads[Lane.FIRST].submit(may_end.wait)
    try:
        with pytest.raises(ServiceUnavailable) as refusal:
            hasher.encode("correct horse", hasher.salt())
        assert refusal.value.retry_after
    finally:
        may_end.set()
    monkeypatch.undo()

    assert hasher.encode("correct horse", hasher.salt())


def test_hashing_goes_last_of_guesses_after_all_others_and_nothing_else_does() -> None:
    before = priority(threading.get_native_id())
    first, last = (
        {
            priority(thread.result())
            for thread in [
                hashers._threads[lane].submit(threading.get_native_id)
                for _ in range(hashers.AT_ONCE)
            ]
        }
        for lane in Lane
    )
    assert before < min(first)
    assert max(first) < min(last)
    assert priority(threading.get_native_id()) == before


def priority(thread: int) -> tuple[bool, int]:
    """The greater, the later."""
    is_idle = os.sched_getscheduler(thread) == os.SCHED_IDLE
    return is_idle, os.getpriority(os.PRIO_PROCESS, thread)


def test_a_hash_of_one_lane_does_not_wait_for_those_of_the_other() -> None:
    hasher, may_end = BoundedArgon2PasswordHasher(), threading.Event()
    guesses = [hashers._threads[Lane.LAST].submit(may_end.wait) for _ in range(50)]
    try:
        assert hasher.encode("correct horse", hasher.salt())
        assert not any(each.done() for each in guesses)
    finally:
        may_end.set()


def test_the_lane_is_that_of_the_request() -> None:
    hasher, may_end = BoundedArgon2PasswordHasher(), threading.Event()
    hashing = [hashers._threads[Lane.FIRST].submit(may_end.wait) for _ in range(hashers.AT_ONCE)]
    token = hashing_lane.set(Lane.LAST)
    try:
        assert hasher.encode("correct horse", hasher.salt())
        assert not any(each.done() for each in hashing)
    finally:
        hashing_lane.reset(token)
        may_end.set()


def test_many_at_once_all_get_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashers, "WAIT_SECONDS", 60.0)  # however busy this machine is
    hasher = BoundedArgon2PasswordHasher()
    salts = [hasher.salt() for _ in range(hashers.AT_ONCE * 3)]

    with ThreadPoolExecutor(len(salts)) as threads:
        encoded = list(threads.map(lambda salt: hasher.encode("correct horse", salt), salts))

    assert len(set(encoded)) == len(salts)
