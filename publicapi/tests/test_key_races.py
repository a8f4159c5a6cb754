"""`/api/keys` when several requests come at once: the running service, eight clients."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import httpx
import pytest

from accounts.models import ApiKey, User
from common.money import NUSD_PER_USD
from tests.personas import access_token_of, new_key, new_user
from tests.service import Web

AT_ONCE = 8

Request = Callable[[], httpx.Response]


@pytest.fixture
def alice(committed: None) -> User:
    return new_user("alice", plan="max")


@pytest.fixture
def session(web: Web, alice: User) -> Iterator[httpx.Client]:
    """Alice, signed in to the running service."""
    token = access_token_of(alice)
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=web.url, headers=headers, timeout=20) as session:
        session.get("/api/keys")
        yield session


def at_once(*requests: Request) -> list[int]:
    """The statuses of requests that are sent together."""
    barrier = Barrier(len(requests))

    def send(request: Request) -> int:
        barrier.wait()
        return request().status_code

    with ThreadPoolExecutor(len(requests)) as clients:
        return list(clients.map(send, requests))


def active_keys(user: User) -> int:
    return ApiKey.objects.owned_by(user).active().count()


def test_eight_creations_leave_five_active_keys(alice: User, session: httpx.Client) -> None:
    statuses = at_once(*[lambda: session.post("/api/keys", json={"name": "laptop"})] * AT_ONCE)
    assert sorted(statuses) == [201] * 5 + [409] * 3
    assert active_keys(alice) == 5


def test_a_revocation_beside_creations_makes_room_for_one(
    alice: User, session: httpx.Client
) -> None:
    oldest, *_ = [new_key(alice)[0] for _ in range(5)]
    create = [lambda: session.post("/api/keys", json={"name": "laptop"})] * (AT_ONCE - 1)

    revoked, *created = at_once(lambda: session.delete(f"/api/keys/{oldest.pk}"), *create)

    assert revoked == 204
    assert set(created) <= {201, 409}
    assert created.count(201) <= 1
    assert active_keys(alice) == 4 + created.count(201)


def test_changes_of_different_fields_all_stay(alice: User, session: httpx.Client) -> None:
    key, _ = new_key(alice)
    changes: list[dict[str, object]] = [
        {"name": "server"},
        {"monthly_spend_cap_usd": 7},
        {"allowed_models": ["gpt-6-luna"]},
    ]

    for _ in range(5):
        ApiKey.objects.filter(pk=key.pk).update(
            name="test", monthly_spend_cap=None, allowed_models=[]
        )
        statuses = at_once(*(_patch(session, key, change) for change in changes))

        assert statuses == [200] * 3
        key.refresh_from_db()
        assert (key.name, key.monthly_spend_cap, key.allowed_models) == (
            "server",
            7 * NUSD_PER_USD,
            ["gpt-6-luna"],
        )


def test_a_key_that_is_changed_while_it_is_revoked_stays_revoked(
    alice: User, session: httpx.Client
) -> None:
    key, _ = new_key(alice)
    changes = [_patch(session, key, {"name": f"name {n}"}) for n in range(AT_ONCE - 1)]

    revoked, *changed = at_once(lambda: session.delete(f"/api/keys/{key.pk}"), *changes)

    assert revoked == 204
    assert set(changed) <= {200, 409}
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert _patch(session, key, {"name": "again"})().status_code == 409


def _patch(session: httpx.Client, key: ApiKey, change: dict[str, object]) -> Request:
    return lambda: session.patch(f"/api/keys/{key.pk}", json=change)
