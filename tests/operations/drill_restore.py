"""docs/operations/backup.md: a service is backed up while it works, lost, and restored on an empty
machine by the commands that stand there."""

import io
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import httpx
import pytest
from PIL import Image
from websockets.sync.client import connect

from simulator.process import RunningSimulator
from tests.hanging_up import sent
from tests.operations.blocks import run
from tests.operations.machines import SECRETS, Machine, Person, machine
from tests.service import Web

# The first test waits for the whole drill.
pytestmark = pytest.mark.timeout(600)

_HELD = "SELECT id FROM billing_charge WHERE status = 'held'"
BALANCE = 10  # USD
CHAT, PICTURES = "kimi-k3", "gpt-image-2.5-flare"


@dataclass
class Lost:
    """What the customers and the operator of the lost machine remember."""

    alice: Person
    bob: Person
    picture: str = ""
    conversation: str = ""
    connector: str = ""
    answer: dict[str, Any] = field(default_factory=dict)
    balance: float = 0
    refreshed: str = ""
    later_key: str = ""
    moment: str = ""
    said: dict[str, str] = field(default_factory=dict)


@dataclass
class Restored:
    lost: Lost
    web: Web
    machine: Machine


@pytest.fixture(scope="module")
def backup(
    tmp_path_factory: pytest.TempPathFactory, simulator: RunningSimulator
) -> tuple[Path, Lost]:
    """The backup of a service that is gone, and what people remember."""
    folder = tmp_path_factory.mktemp("lost")
    for each in (folder.parent, folder):
        each.chmod(0o711)  # PostgreSQL may run as another user
    (folder / "wal").mkdir(mode=0o777)
    lost = Lost(Person("alice@example.com"), Person("bob@example.com"))
    with machine(folder / "machine", simulator) as first, ExitStack() as stack:
        first.install()
        environment = first.environment | {
            "BACKUP": str(folder / "backup"),
            "WAL_ARCHIVE": str(folder / "wal"),
        }
        run("backup.md#wal-archive", environment)
        first.restart_database()
        web, worker = stack.enter_context(first.running())
        live(lost, web, first)
        (folder / "backup").mkdir()
        run("backup.md#base-backup", environment)
        held = hold_a_call(lost.alice, web, first, stack)
        run("backup.md#backup", environment)
        lost.said["verify"] = run("backup.md#verify", environment)
        assert first.rows(_HELD) == [(held,)]
        live_on(lost, web, first)
        # Everything dies at once.
        worker.kill()
        web.kill()
        first.die()
    return folder, lost


@pytest.fixture(scope="module")
def restored(
    backup: tuple[Path, Lost], tmp_path_factory: pytest.TempPathFactory, simulator: RunningSimulator
) -> Iterator[Restored]:
    """The service on an empty machine, by the commands of the document."""
    folder, lost = backup
    empty = tmp_path_factory.mktemp("empty")
    empty.chmod(0o711)
    with machine(empty / "machine", simulator) as second:
        environment = second.environment | {"BACKUP": str(folder / "backup")}
        as_administrator = environment | second.add_administrator()
        for block in ("backup.md#restore-database", "backup.md#restore-files"):
            lost.said[block] = run(block, as_administrator)
        forget_the_grace(second)
        strange = Path(environment["OUTPUTS_DIR"], "aa", "of-no-row.png")
        strange.parent.mkdir(exist_ok=True)
        strange.write_bytes(b"made between the dump and the copy")
        lost.said["check"] = run("backup.md#restore-check", environment)
        assert not strange.exists()
        with second.running() as (web, _):
            lost.said["before sign-out"] = str(status_of(lost.alice, web))
            lost.said["refreshed later"] = str(lost_refresh(lost, web))
        run("backup.md#restore-sessions", environment)
        with second.running() as (web, _):
            lost.said["after sign-out"] = str(status_of(lost.bob, web))
            yield Restored(lost, web, second)


# --- Before the loss ----------------------------------------------------------------------------


def live(lost: Lost, web: Web, machine: Machine) -> None:
    """Alice spends, makes, uploads and connects things; bob is there."""
    alice, bob = lost.alice, lost.bob
    begin(alice, web)
    begin(bob, web)
    lost.answer = alice.post(
        web, "/v1/chat/completions", question(), headers={"Idempotency-Key": "before"}
    )
    order = {"model": PICTURES, "prompt": "A lighthouse at dusk."}
    job = alice.post(web, "/api/images", order)
    wait_for(lambda: alice.get(web, f"/api/jobs/{job['id']}")["status"] == "completed")
    lost.picture = job["id"]
    form = {"file": ("letter.txt", b"Dear service", "text/plain")}
    letter = alice.send(web, "POST", "/api/uploads", files=form).json()["id"]
    lost.conversation = alice.post(web, "/api/conversations", {})["id"]
    message = {"content": "Answer it.", "upload_ids": [letter], "stream": False}
    alice.post(web, f"/api/conversations/{lost.conversation}/messages", message)
    lost.connector = connected(alice, web, machine.simulator)


def begin(person: Person, web: Web) -> None:
    """Sign up, with a balance and a key."""
    person.sign_up(web)
    person.post(web, "/api/billing/topup", {"amount_usd": BALANCE})
    person.post(web, "/api/billing/upgrade", {"plan": "max"})
    person.key = person.post(web, "/api/keys", {"name": "laptop"})["key"]


def connected(alice: Person, web: Web, simulator: RunningSimulator) -> str:
    """The id of a connector to a drive."""
    url = alice.get(web, "/api/connectors/google_drive/authorize")["authorize_url"]
    callback = simulator.oauth.consent(url, login="alice-of-the-drill")
    page = urlsplit(httpx.get(callback, follow_redirects=False).headers["Location"])
    brought = {name: values[0] for name, values in parse_qs(page.query).items()}
    body = {"state": brought["state"], "code": brought["code"]}
    connector_id: str = alice.post(web, "/api/connectors", body)["id"]
    alice.get(web, f"/api/connectors/{connector_id}/files")
    return connector_id


def hold_a_call(alice: Person, web: Web, machine: Machine, stack: ExitStack) -> UUID:
    """The id of the charge of a call that goes on, and has a checkpoint."""
    http = stack.enter_context(httpx.Client(base_url=web.url))
    body = question(tokens=400, delay_ms=200) | {"stream": True, "max_tokens": 500}
    headers = {"Authorization": f"Bearer {alice.key}"}
    request = http.build_request("POST", "/v1/chat/completions", json=body, headers=headers)
    stack.enter_context(sent(request))
    wait_for(lambda: machine.rows(f"{_HELD} AND cost > 0"))
    [(charge_id,)] = machine.rows(_HELD)
    return charge_id  # type: ignore[no-any-return]


def live_on(lost: Lost, web: Web, machine: Machine) -> None:
    """After the dump: bob calls, both spend, alice refreshes her tokens and makes a key."""
    lost.balance = lost.bob.get(web, "/api/billing/balance")["balance_usd"]
    lost.bob.post(web, "/v1/chat/completions", question(), headers={"Idempotency-Key": "after"})
    lost.bob.post(web, "/api/billing/topup", {"amount_usd": 5})
    lost.refreshed = lost.alice.refresh(web).json()["refresh_token"]
    lost.later_key = lost.alice.post(web, "/api/keys", {"name": "later"})["key"]
    [(lost.moment,)] = machine.rows("SELECT clock_timestamp()::text")
    # What should be undone, and a segment of the WAL that has it.
    machine.rows("UPDATE accounts_user SET name = 'A mistake' RETURNING 1")
    machine.administer("SELECT pg_switch_wal()")
    archived = "SELECT 1 FROM pg_stat_archiver WHERE last_archived_time > %s::timestamptz"
    wait_for(lambda: machine.rows(archived, lost.moment))


def question(**steering: Any) -> dict[str, Any]:
    words = f"How deep is the sea?\n@sim {json.dumps({'tokens': 20, **steering})}"
    return {"model": CHAT, "messages": [{"role": "user", "content": words}]}


# --- Helpers ------------------------------------------------------------------------------------


def wait_for(condition: Callable[[], Any], *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it has not come"
        time.sleep(0.2)


def forget_the_grace(machine: Machine) -> None:
    """Nobody waits here for the minute after a start of PostgreSQL."""
    machine.administer("ALTER DATABASE platform SET platform.startup_grace = '0 seconds'")


def status_of(person: Person, web: Web) -> int:
    return person.send(web, "GET", "/api/auth/me").status_code


def lost_refresh(lost: Lost, web: Web) -> int:
    """Whoever refreshed after the backup has a token that the database does not know."""
    later = Person(lost.alice.email, refresh_token=lost.refreshed)
    return later.refresh(web).status_code


# --- After the restore --------------------------------------------------------------------------


def test_a_backup_has_none_of_the_secrets(backup: tuple[Path, Lost]) -> None:
    folder, lost = backup
    held = b"".join(path.read_bytes() for path in (folder / "backup").rglob("*.tar"))
    for secret in (*SECRETS.values(), lost.alice.key):
        assert secret.encode() not in held


def test_everything_belongs_to_a_role_that_is_no_superuser(restored: Restored) -> None:
    [(role, is_superuser)] = restored.machine.rows(
        "SELECT rolname, rolsuper FROM pg_roles WHERE rolname = current_user"
    )
    assert (role, is_superuser) == ("platform", False)
    assert restored.machine.rows(
        "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"
    ) == [("platform",)]
    assert restored.lost.said["backup.md#restore-database"] == ""
    assert restored.machine.rows("SELECT 1 FROM pg_stats WHERE tablename = 'accounts_user' LIMIT 1")


def test_a_superuser_restores_into_a_database_that_is_there_as_in_compose(
    backup: tuple[Path, Lost], tmp_path: Path, simulator: RunningSimulator
) -> None:
    folder, lost = backup
    tmp_path.chmod(0o711)
    with machine(tmp_path / "machine", simulator, durable=False) as compose:
        compose.administer("CREATE ROLE platform SUPERUSER LOGIN")
        compose.administer("CREATE DATABASE platform OWNER platform")
        environment = compose.environment | {"BACKUP": str(folder / "backup")}
        assert run("backup.md#restore-database", environment) == ""
        assert compose.rows("SELECT 1 FROM accounts_user WHERE email = %s", lost.bob.email)


def test_the_checks_are_clean(restored: Restored) -> None:
    said = restored.lost.said["check"]
    assert "invariants hold" in said
    assert "0 of them missing or incomplete; 1 files without rows." in said
    assert said.endswith("Deleted: 1.\n")


def test_people_sign_in_with_their_passwords(restored: Restored) -> None:
    lost, web = restored.lost, restored.web
    assert lost.said["before sign-out"] == "200"
    assert lost.said["refreshed later"] == "401"
    assert lost.said["after sign-out"] == "401"
    lost.bob.sign_in(web)
    assert status_of(lost.bob, web) == 200


def test_a_picture_can_be_opened(restored: Restored) -> None:
    lost, web = restored.lost, restored.web
    lost.alice.sign_in(web)
    [output] = lost.alice.get(web, f"/api/jobs/{lost.picture}")["outputs"]
    answer = httpx.get(output["url"])
    assert answer.status_code == 200
    with Image.open(io.BytesIO(answer.content)) as picture:
        picture.load()
        assert min(picture.size) > 0


def test_a_conversation_and_its_upload_are_there(restored: Restored) -> None:
    lost, web = restored.lost, restored.web
    lost.alice.sign_in(web)
    answered, asked = lost.alice.get(web, f"/api/conversations/{lost.conversation}/messages")
    assert (answered["role"], answered["status"]) == ("assistant", "completed")
    assert httpx.get(asked["attachments"][0]["url"]).content == b"Dear service"


def test_keys_of_before_the_backup_work_and_later_ones_do_not(restored: Restored) -> None:
    lost, web = restored.lost, restored.web
    assert lost.alice.send(web, "GET", "/v1/models").status_code == 200
    later = Person(lost.alice.email, key=lost.later_key)
    assert later.send(web, "GET", "/v1/models").status_code == 401


def test_stored_secrets_are_read(restored: Restored) -> None:
    lost, web = restored.lost, restored.web
    lost.alice.sign_in(web)
    answer = lost.alice.send(web, "GET", f"/api/connectors/{lost.connector}/files")
    assert answer.status_code == 200, answer.text


def test_a_socket_goes_on_from_where_the_backup_was(restored: Restored) -> None:
    lost, web = restored.lost, restored.web
    lost.alice.sign_in(web)
    replay = lost.alice.get(web, "/api/events?after_seq=0")
    assert [event["seq"] for event in replay] == list(range(1, len(replay) + 1))
    last = replay[-1]["seq"]
    address = web.url.replace("http", "ws")
    url = f"{address}/api/ws?after_seq={last}&token={lost.alice.token}"
    with connect(url) as socket:
        made = lost.alice.post(web, "/api/conversations", {"title": "After the restore"})
        told = json.loads(socket.recv(timeout=10))
    assert told["seq"] == last + 1
    assert made["id"] in json.dumps(told)


def test_a_call_that_was_held_is_billed_once_at_its_checkpoint(restored: Restored) -> None:
    machine = restored.machine
    wait_for(lambda: not machine.rows(_HELD))
    [(charge_id, billed)] = machine.rows(
        "SELECT id, charge_balance FROM billing_charge WHERE status = 'expired'"
    )
    entries = machine.rows("SELECT delta FROM billing_ledgerentry WHERE id = %s", charge_id)
    assert billed > 0
    assert entries == [(-billed,)]
    said = run("backup.md#restore-after", machine.environment)
    assert said.splitlines()[0] == "0"
    assert "invariants hold" in said


def test_a_named_request_of_before_is_answered_again_and_billed_once(restored: Restored) -> None:
    lost, web = restored.lost, restored.web
    named = {"Idempotency-Key": "before"}
    before = restored.machine.rows("SELECT count(*) FROM billing_charge")
    again = lost.alice.post(web, "/v1/chat/completions", question(), headers=named)
    assert again == lost.answer
    assert restored.machine.rows("SELECT count(*) FROM billing_charge") == before


def test_what_came_after_the_backup_is_not_billed_and_a_top_up_of_then_is_gone(
    restored: Restored,
) -> None:
    lost, web = restored.lost, restored.web
    lost.bob.sign_in(web)
    assert lost.bob.get(web, "/api/billing/balance")["balance_usd"] == lost.balance


def test_the_restored_service_bills_new_customers(restored: Restored) -> None:
    charlie = Person("charlie@example.com")
    begin(charlie, restored.web)
    charlie.post(restored.web, "/v1/chat/completions", question())
    assert charlie.get(restored.web, "/api/billing/balance")["balance_usd"] < BALANCE


# --- Any moment ---------------------------------------------------------------------------------


def test_the_archive_brings_back_a_moment_after_the_backup(
    backup: tuple[Path, Lost], tmp_path: Path, simulator: RunningSimulator
) -> None:
    folder, lost = backup
    tmp_path.chmod(0o711)
    environment = {
        "BACKUP": str(folder / "backup"),
        "WAL_ARCHIVE": str(folder / "wal"),
        "PGDATA": str(tmp_path / "postgres"),
        "UNTIL": lost.moment,
    }
    run("backup.md#point-in-time", environment)
    with machine(tmp_path / "machine", simulator, data=tmp_path / "postgres") as third:
        run("backup.md#point-in-time-wait", third.environment)
        assert third.rows("SELECT 1 FROM accounts_user WHERE name = 'A mistake'") == []
        [(bob,)] = third.rows("SELECT id FROM accounts_user WHERE email = %s", lost.bob.email)
        [(topups,)] = third.rows(
            "SELECT count(*) FROM billing_ledgerentry WHERE kind = 'topup' AND account_id = %s", bob
        )
        assert topups == 2
        charges = third.rows("SELECT status FROM billing_charge WHERE account_id = %s", bob)
        assert charges == [("settled",)]
        assert "invariants hold" in run(
            "backup.md#restore-check",
            third.environment
            | {
                "OUTPUTS_DIR": str(folder / "machine" / "outputs"),
                "UPLOADS_DIR": str(folder / "machine" / "uploads"),
            },
        )
