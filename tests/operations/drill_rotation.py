"""docs/operations/rotation.md: the settings and commands of each step, in real processes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import redis as redis_client
from django.conf import settings
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from accounts.models import ApiKey, User
from common.encryption import decrypt, encrypt
from conversations.selectors.sharing import share_token
from conversations.services import sharing
from conversations.tests.rows import talk
from devserver import postgres, redis
from devserver.ports import free_port
from devserver.processes import Process
from integrations.workspaces.models import TOKEN_PURPOSE, Workspace
from media.files.selectors.links import signed_url
from simulator.process import RunningSimulator
from tests.operations.blocks import run, variables
from tests.personas import PASSWORD, new_key, new_user
from tests.service import Web, database_url, environment_of_a_process, running_web

NEW = "a-newer-secret-of-more-than-32-characters"
THIRD = "a-third-secret-of-more-than-32-characters"
NewWeb = Callable[..., Web]


@pytest.fixture
def start(
    committed: None, simulator: RunningSimulator, django_db_blocker: DjangoDbBlocker
) -> Iterator[NewWeb]:
    """Starts web processes with the settings of a block; they run side by side."""
    with ExitStack() as stack:

        def web(block: str = "", old: str = "") -> Web:
            changes = variables(block, OLD=old, NEW=NEW, THIRD=THIRD) if block else {}
            return stack.enter_context(running_web(simulator, **changes))

        yield web


def models(web: Web, key: str) -> int:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.get(f"{web.url}/v1/models", headers=headers).status_code


def me(web: Web, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{web.url}/api/auth/me", headers=headers).status_code


def signed_in(web: Web, email: str) -> dict[str, Any]:
    answer = httpx.post(f"{web.url}/api/auth/login", json={"email": email, "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def refreshed(web: Web, tokens: dict[str, Any]) -> httpx.Response:
    return httpx.post(
        f"{web.url}/api/auth/refresh", json={"refresh_token": tokens["refresh_token"]}
    )


def test_a_new_secret_is_good_enough_for_production() -> None:
    made = run("rotation.md#new-secret").strip()
    assert len(made) >= 50
    assert len(set(made)) >= 8


# --- API_KEY_PEPPER -----------------------------------------------------------------------------


def test_a_pepper_is_changed_without_a_refused_call(
    start: NewWeb, simulator: RunningSimulator
) -> None:
    old = settings.API_KEY_PEPPER
    alice = new_user("alice", plan="max")
    (used, used_raw), (idle, idle_raw) = new_key(alice), new_key(alice)
    before = bytes(used.digest)
    known, newest = start("rotation.md#pepper-1", old), start("rotation.md#pepper-2", old)

    assert models(known, used_raw) == 200
    used.refresh_from_db()
    assert bytes(used.digest) == before, "the pepper is in use before every process knows it"

    assert models(newest, used_raw) == 200
    used.refresh_from_db()
    assert bytes(used.digest) != before
    assert used.pepper != idle.pepper
    for web in (known, newest):
        assert models(web, used_raw) == 200

    ApiKey.objects.filter(pk=idle.pk).update(last_used_at=timezone.now() - timedelta(days=90))
    idle.refresh_from_db()
    environment = environment_of_a_process(simulator) | variables(
        "rotation.md#pepper-2", OLD=old, NEW=NEW
    )
    said = run("rotation.md#pepper-count", environment)
    [line] = [line for line in said.splitlines() if str(idle.pk) in line]
    assert f"…{idle_raw[-4:]} of account {alice.pk}: last used {idle.last_used_at:%Y-%m-%d}" in line
    assert str(used.pk) not in said
    assert idle_raw not in said

    last = start("rotation.md#pepper-3", old)
    assert models(last, used_raw) == 200
    assert models(last, idle_raw) == 401


def test_a_process_that_does_not_know_the_new_pepper_would_refuse_keys(start: NewWeb) -> None:
    """Why the first of the three restarts is there."""
    _, raw = new_key(new_user("alice", plan="max"))
    unaware, newest = start(), start("rotation.md#pepper-2", settings.API_KEY_PEPPER)
    assert models(unaware, raw) == 200
    assert models(newest, raw) == 200
    assert models(unaware, raw) == 401


def test_a_key_that_is_locked_just_now_is_stored_anew_at_its_next_use(start: NewWeb) -> None:
    key, raw = new_key(new_user("alice", plan="max"))
    newest = start("rotation.md#pepper-2", settings.API_KEY_PEPPER)
    stored = key.pepper
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT 1 FROM accounts_apikey WHERE id = %s FOR UPDATE", [key.pk])
        assert models(newest, raw) == 200
        key.refresh_from_db()
        assert key.pepper == stored
    assert models(newest, raw) == 200
    key.refresh_from_db()
    assert key.pepper != stored


def test_a_revoked_key_is_not_stored_anew(start: NewWeb) -> None:
    key, raw = new_key(new_user("alice", plan="max"))
    ApiKey.objects.filter(pk=key.pk).update(revoked_at=timezone.now())
    assert models(start("rotation.md#pepper-2", settings.API_KEY_PEPPER), raw) == 401
    stored = key.pepper
    key.refresh_from_db()
    assert key.pepper == stored


# --- SECRET_KEY ---------------------------------------------------------------------------------


def test_a_secret_key_is_changed_and_nobody_is_signed_out(start: NewWeb) -> None:
    old = settings.SECRET_KEY
    alice = new_user("alice")
    shared = share_of(alice)
    unaware, known = start(), start("rotation.md#secret-key-1", old)
    tokens = signed_in(unaware, alice.email)
    assert me(known, tokens["access_token"]) == 200

    newest = start("rotation.md#secret-key-2", old)
    assert me(newest, tokens["access_token"]) == 200
    assert httpx.get(f"{newest.url}/api/conversations/shared/{shared}").status_code == 200
    renewed = refreshed(newest, tokens)
    assert renewed.status_code == 200
    assert me(known, renewed.json()["access_token"]) == 200
    assert me(unaware, renewed.json()["access_token"]) == 401

    last = start("rotation.md#secret-key-3", old)
    assert me(last, renewed.json()["access_token"]) == 200
    assert refreshed(last, renewed.json()).status_code == 200
    assert me(last, tokens["access_token"]) == 401
    assert httpx.get(f"{last.url}/api/conversations/shared/{shared}").status_code == 404


def test_a_secret_key_that_leaked_ends_everything_at_once(start: NewWeb) -> None:
    alice = new_user("alice", plan="max")
    _, raw = new_key(alice)
    shared, file = share_of(alice), signed_url("0.png").partition("/files/")[2]
    tokens = signed_in(start(), alice.email)
    web = start("rotation.md#secret-key-leaked", settings.SECRET_KEY)
    assert me(web, tokens["access_token"]) == 401
    assert refreshed(web, tokens).status_code == 401
    assert httpx.get(f"{web.url}/api/conversations/shared/{shared}").status_code == 404
    assert httpx.get(f"{web.url}/files/{file}").status_code == 403
    assert models(web, raw) == 200
    assert me(web, signed_in(web, alice.email)["access_token"]) == 200


def share_of(user: User) -> str:
    """The token of a link to a conversation."""
    share, _ = sharing.share(user=user, conversation_id=talk(user, "Hello").pk)
    return share_token(share)


# --- ENCRYPTION_KEYS ----------------------------------------------------------------------------


def test_stored_secrets_are_read_at_every_step(
    committed: None, simulator: RunningSimulator, settings: Any
) -> None:
    old = "an-older-secret-of-more-than-32-characters"
    settings.ENCRYPTION_KEYS = [old]
    alice = new_user("alice")
    sealed = encrypt(b"a token", purpose=TOKEN_PURPOSE, owner=alice.pk)
    workspace = Workspace.objects.create(
        account=alice, provider="github", login="alice", name="site", token=sealed
    )
    for step in ("rotation.md#encryption-1", "rotation.md#encryption-2"):
        settings.ENCRYPTION_KEYS = keys_of(step, old)
        assert token_of(workspace) == b"a token"
    said = run(
        "rotation.md#encryption-reencrypt",
        environment_of_a_process(simulator) | variables(step, OLD=old, NEW=NEW),
    )
    assert said.startswith("Encrypted under the newest key: ")
    settings.ENCRYPTION_KEYS = keys_of("rotation.md#encryption-3", old)
    workspace.refresh_from_db()
    assert token_of(workspace) == b"a token"


def test_without_encryption_keys_the_fallbacks_read(committed: None, settings: Any) -> None:
    alice = new_user("alice")
    sealed = encrypt(b"a token", purpose=TOKEN_PURPOSE, owner=alice.pk)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = NEW
    assert decrypt(sealed, purpose=TOKEN_PURPOSE, owner=alice.pk) == b"a token"


def keys_of(step: str, old: str) -> list[str]:
    return variables(step, OLD=old, NEW=NEW)["ENCRYPTION_KEYS"].split(",")


def token_of(workspace: Workspace) -> bytes:
    return decrypt(workspace.token, purpose=TOKEN_PURPOSE, owner=workspace.account_id)


# --- Stores -------------------------------------------------------------------------------------


def test_the_password_of_the_database_is_changed_beside_open_connections(tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    data, port, admin = tmp_path / "postgres", free_port(), "adminpassword"
    postgres.initialise(data)
    postgres.protect(data, admin)
    server = Process(postgres.service(data, port, durable=False, password=admin))
    server.wait_until_ready(timeout=30)
    try:
        with psycopg.connect(postgres.url(port, "postgres", admin), autocommit=True) as superuser:
            superuser.execute("CREATE ROLE platform LOGIN PASSWORD 'old'")
            superuser.execute("CREATE DATABASE platform OWNER platform")
        with psycopg.connect(_as("platform:old", port)) as earlier:
            earlier.execute("CREATE TABLE a (b int)")
            earlier.commit()
            url = postgres.url(port, "postgres", admin)
            run("rotation.md#database-add", {"ADMIN_DATABASE_URL": url, "NEW_PASSWORD": "it's new"})
            with psycopg.connect(_as("platform_next:it%27s%20new", port)) as later:
                later.execute("ALTER TABLE a ADD COLUMN c int")
            run("rotation.md#database-remove", {"ADMIN_DATABASE_URL": url})
            assert earlier.execute("SELECT c FROM a").fetchall() == []
        with pytest.raises(psycopg.OperationalError, match="not permitted to log in"):
            psycopg.connect(_as("platform:old", port))
        with psycopg.connect(_as("platform_next:it%27s%20new", port)) as later:
            assert later.execute("SELECT c FROM a").fetchall() == []
    finally:
        server.stop()


def _as(who: str, port: int) -> str:
    return f"postgres://{who}@127.0.0.1:{port}/platform"


def test_the_password_of_redis_is_changed_beside_open_connections(tmp_path: Path) -> None:
    port = free_port()
    server = Process(redis.service(tmp_path, port, durable=False, password="old"))
    server.wait_until_ready(timeout=10)
    try:
        with redis_client.Redis.from_url(redis.url(port, password="old")) as earlier:
            assert earlier.ping()
            run(
                "rotation.md#redis-add",
                {"REDIS_URL": redis.url(port, password="old"), "NEW_PASSWORD": "new"},
            )
            assert earlier.ping()
            with redis_client.Redis.from_url(redis.url(port, password="new")) as later:
                assert later.ping()
            run(
                "rotation.md#redis-remove",
                {"REDIS_URL": redis.url(port, password="new"), "OLD_PASSWORD": "old"},
            )
            with redis_client.Redis.from_url(redis.url(port, password="new")) as later:
                assert later.ping()
        with (
            redis_client.Redis.from_url(redis.url(port, password="old")) as earlier,
            pytest.raises(redis_client.AuthenticationError),
        ):
            earlier.ping()
    finally:
        server.stop()
