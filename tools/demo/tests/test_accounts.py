"""`manage.py create_demo`: what `make run` seeds, and the file with the credentials."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import Settings

from accounts import keys
from accounts.models import ApiKey, User
from accounts.services.api_keys import create_key, revoke_key
from accounts.services.sessions import sign_in
from billing.models import LedgerEntry, Subscription, Wallet
from common.money import NUSD_PER_USD

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def demo_seeds(settings: Settings) -> None:
    settings.DEMO_SEEDS = True
    settings.PUBLIC_BASE_URL = "http://127.0.0.1:8000"
    settings.SIMULATOR_URL = "http://127.0.0.1:9000"


def create_demo(path: Path) -> dict[str, Any]:
    """Without the history, which `test_history.py` is about."""
    call_command("create_demo", "--no-history", write=path, stdout=StringIO())
    written: dict[str, Any] = json.loads(path.read_text())
    return written


def demo_user() -> User:
    return User.objects.get(email="demo@example.com")


def active_keys() -> list[ApiKey]:
    return list(ApiKey.objects.filter(account=demo_user(), revoked_at=None).order_by("created_at"))


def test_it_writes_all_that_is_needed_to_begin(tmp_path: Path) -> None:
    demo = create_demo(tmp_path / "demo.json")
    assert list(demo) == [
        "base_url",
        "email",
        "password",
        "api_key",
        "agent_api_key",
        "admin_email",
        "admin_password",
        "simulator_url",
    ]
    assert demo["base_url"] == "http://127.0.0.1:8000"
    assert demo["simulator_url"] == "http://127.0.0.1:9000"
    assert not sign_in(email=demo["email"], password=demo["password"]).user.is_staff
    operator = sign_in(email=demo["admin_email"], password=demo["admin_password"]).user
    assert operator.is_staff
    assert operator.is_superuser
    plain, agents = active_keys()
    assert bytes(plain.digest) == keys.digest(demo["api_key"])
    assert bytes(agents.digest) == keys.digest(demo["agent_api_key"])


def test_the_account_is_on_max_with_fifty_dollars(tmp_path: Path) -> None:
    create_demo(tmp_path / "demo.json")
    assert Subscription.objects.get(account=demo_user()).plan_id == "max"
    assert Wallet.objects.get(account=demo_user()).balance == 50 * NUSD_PER_USD


def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    path.write_text("{}")
    path.chmod(0o644)
    create_demo(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["demo.json"]


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    first = create_demo(path)
    assert create_demo(path) == first
    assert len(active_keys()) == 2
    assert LedgerEntry.objects.filter(account=demo_user()).count() == 1
    assert Wallet.objects.get(account=demo_user()).balance == 50 * NUSD_PER_USD


def test_without_its_file_the_credentials_are_new(tmp_path: Path) -> None:
    first = create_demo(tmp_path / "first.json")
    second = create_demo(tmp_path / "second.json")
    assert first["password"] != second["password"]
    assert first["admin_password"] != second["admin_password"]
    assert first["api_key"] != second["api_key"]
    sign_in(email=second["email"], password=second["password"])
    sign_in(email=second["admin_email"], password=second["admin_password"])


def test_a_reset_password_ends_the_tokens_issued_before(tmp_path: Path) -> None:
    create_demo(tmp_path / "first.json")
    before = demo_user().token_version
    create_demo(tmp_path / "second.json")
    assert demo_user().token_version == before + 1


def test_a_file_of_another_database_is_replaced_by_what_works_here(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    demo = create_demo(path)
    path.write_text(json.dumps({**demo, "api_key": keys.generate()}))
    assert create_demo(path)["password"] == demo["password"]
    assert len(active_keys()) == 3


def test_a_file_that_cannot_be_understood_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    path.write_text('{"email": 1')
    assert create_demo(path)["email"] == "demo@example.com"


def test_a_revoked_key_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    first = create_demo(path)
    revoke_key(user=demo_user(), key_id=active_keys()[0].pk)
    second = create_demo(path)
    assert second["api_key"] != first["api_key"]
    assert second["agent_api_key"] == first["agent_api_key"]
    assert [bytes(key.digest) for key in active_keys()] == [
        keys.digest(second["agent_api_key"]),
        keys.digest(second["api_key"]),
    ]


def test_at_most_three_keys_are_active_and_the_oldest_go(tmp_path: Path) -> None:
    made = [create_demo(tmp_path / f"{n}.json") for n in range(5)]
    raw = [demo[name] for demo in made for name in ("api_key", "agent_api_key")]
    assert [bytes(key.digest) for key in active_keys()] == [keys.digest(key) for key in raw[-3:]]


def test_five_keys_of_the_users_own_do_not_stand_in_its_way(tmp_path: Path) -> None:
    create_demo(tmp_path / "first.json")
    for name in ("three", "four", "five"):
        create_key(user=demo_user(), name=name)
    create_demo(tmp_path / "second.json")
    assert [key.name for key in active_keys()] == ["five", "Demo", "Agents"]


def test_one_key_has_no_feature_and_the_other_has_all(tmp_path: Path, settings: Settings) -> None:
    settings.DEFAULT_KEY_FEATURES = ["vision"]
    create_demo(tmp_path / "demo.json")
    plain, agents = active_keys()
    assert plain.features == []
    assert agents.features == ["tools", "structured_outputs", "vision"]


def test_a_file_of_an_earlier_version_keeps_its_key(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    first = create_demo(path)
    revoke_key(user=demo_user(), key_id=active_keys()[1].pk)
    path.write_text(json.dumps({name: text for name, text in first.items() if name[:5] != "agent"}))
    for name in ("three", "four"):
        create_key(user=demo_user(), name=name)
    second = create_demo(path)
    assert {**second, "agent_api_key": first["agent_api_key"]} == first
    assert [key.name for key in active_keys()] == ["Demo", "four", "Agents"]


def test_without_a_path_the_credentials_are_printed() -> None:
    printed = StringIO()
    call_command("create_demo", "--no-history", stdout=printed)
    demo = json.loads(printed.getvalue())
    sign_in(email=demo["email"], password=demo["password"])


def test_it_refuses_where_demo_accounts_are_off(tmp_path: Path, settings: Settings) -> None:
    settings.DEMO_SEEDS = False
    with pytest.raises(CommandError, match="DEMO=1"):
        create_demo(tmp_path / "demo.json")
    assert not User.objects.filter(email="demo@example.com").exists()


def test_a_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "demo.json"
    with pytest.raises(CommandError, match=r"demo\.json cannot be used: No such file"):
        create_demo(path)
