"""An operator has an account's data deleted: nothing that tells who it was stays in any table, and
the books balance."""

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.storage import storages
from django.db import connection
from django.utils import timezone

from accounts.errors import AccountDeleted, InvalidCredentials
from accounts.models import ApiKey, User
from accounts.services import sessions, users
from billing.models import Charge, LedgerEntry
from billing.tests import bank
from common.ownership import Cascade, Delete, Keep, entries
from content.models import Entry
from conversations.models import Conversation
from integrations.connectors.models import Connector
from integrations.connectors.services.connectors import sweep as sweep_connectors
from privacy import erasing
from privacy.models import Deletion
from privacy.rows import rows_of
from privacy.services import deletions
from privacy.tasks import delete_data
from privacy.tests.exporting import archive_of, rows_in
from tests.filling import Filler
from tests.operators import audit_of, new_operator
from tests.personas import PASSWORD, new_key, new_user
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("committed")

MARKER, SECRET = "zq4x", "wj7k"
REASON = "Requested by letter 17"


@pytest.fixture
def filled(committed: None) -> Iterator[Callable[[str, str], User]]:
    """Makes users with a row of everything. Their rows break the invariants, because no product has
    written them, and are erased after the test; so are the entries that they refer to, which belong
    to nobody and would be the content of tests that follow."""
    users = []

    def fill(name: str, marker: str) -> User:
        user = new_user(name, plan="max", balance_usd=20)
        user.name, user.signup_network = f"{name} {marker}", "10.1.2"
        user.avatar_url = f"https://example.com/{marker}"
        user.save()
        users.append(user)
        Filler(user, marker=marker, secret=SECRET).fill()
        return user

    yield fill
    for user in users:
        deletion, _ = Deletion.objects.get_or_create(account=user)
        erasing.erase(deletion, seconds=60)
        erasing.erase_user(user)
        deletion.delete()
    Entry.objects.all().delete()


@pytest.fixture
def alice(filled: Callable[[str, str], User]) -> User:
    return filled("alice", MARKER)


def everywhere(words: list[str]) -> list[str]:
    """The columns of all tables that contain one of the words."""
    found: list[str] = []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " JOIN information_schema.tables USING (table_schema, table_name)"
            " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        )
        for table, column in cursor.fetchall():
            cursor.execute(
                f'SELECT count(*) FROM "{table}" WHERE "{column}"::text ~ %s',  # noqa: S608
                ("|".join(map(re.escape, words)),),
            )
            if cursor.fetchone()[0]:
                found.append(f"{table}.{column}")
    return sorted(found)


def request(user: User) -> Deletion:
    """Requested, some minutes ago, and the provider of the connector is given up."""
    long_ago = timezone.now() - timedelta(days=4)
    Connector.objects.filter(account=user).update(disconnected_at=long_ago)
    sweep_connectors()
    deletions.request(user=user)
    deletion = Deletion.objects.get(pk=user.pk)
    deletion.requested_at = timezone.now() - timedelta(minutes=5)
    deletion.save()
    return deletion


def has_ended(deletion: Deletion) -> bool:
    deletion.refresh_from_db()
    return deletion.ended_at is not None


def test_an_export_has_a_row_of_every_model_and_no_secret(
    alice: User, filled: Callable[[str, str], User]
) -> None:
    bob = filled("bob", "bb8y")
    archive = archive_of(alice)
    for entry in entries():
        if entry.columns and not isinstance(entry.on_deletion, Keep):
            rows = rows_in(archive, entry.name)
            assert rows, entry.name
            assert all([*row] == entry.columns for row in rows), entry.name
    text = b"".join(archive.read(name) for name in archive.namelist()).decode()
    assert f"alice {MARKER}" in text
    assert alice.email in text
    assert SECRET not in text
    assert "bb8y" not in text
    assert bob.email not in text
    assert str(bob.pk) not in text
    manifest = json.loads(archive.read("manifest.json"))
    assert (manifest["files"], manifest["missing_files"]) == (2, [])


def test_nothing_that_tells_who_it_was_stays(alice: User) -> None:
    address, operator = alice.email, new_operator()
    operator.post(f"accounts/user/{alice.pk}/revoke_sessions/", reason=f"Mail from {address}")
    assert LogEntry.objects.filter(object_repr=address).exists()
    words = [MARKER, SECRET, address]
    assert everywhere(words)

    deletion = request(alice)
    deletions.go_on_with_all()

    assert has_ended(deletion), deletion.waits_for
    assert everywhere(words) == []
    for entry in entries():
        if isinstance(entry.on_deletion, Delete | Cascade) and entry.name != "events.stream":
            assert not rows_of(entry, alice).exists(), entry.name
    alice.refresh_from_db()
    assert (alice.status, alice.name, alice.has_usable_password()) == ("deleted", "", False)
    assert audit_of(alice)[0] == "Sessions revoked. Reason: Mail from (deleted)"


def test_the_address_is_taken_out_of_the_audit_log_wherever_it_stands() -> None:
    ann = new_user("ann")
    address = ann.email
    operator = new_operator()
    reasons = [
        f"{address.upper()} wrote",
        f"Mail from <{address}>.",
        f"Two lines\n{address}",
        f"«{address}», by letter—{address}",
    ]
    for reason in reasons:
        operator.post(f"accounts/user/{ann.pk}/revoke_sessions/", reason=reason)
    assert len(audit_of(ann)) == len(reasons)

    request(ann)
    deletions.go_on_with_all()

    said = audit_of(ann)
    assert said[0] == "Sessions revoked. Reason: «(deleted)», by letter—(deleted)"
    assert not [text for text in said if address in text.lower()]


def test_longer_addresses_in_the_audit_log_are_those_of_others() -> None:
    ann = new_user("ann")
    others = [f"jo{ann.email}", f"jo.{ann.email}", f"jo-{ann.email}", f"{ann.email}.au"]
    joann, operator = User.objects.create_user(others[0], PASSWORD), new_operator()
    path = f"accounts/user/{joann.pk}/revoke_sessions/"
    for other in others:
        operator.post(path, reason=f"Mail of {other}")

    deletion = request(ann)
    deletions.go_on_with_all()

    assert has_ended(deletion)
    said = [f"Sessions revoked. Reason: Mail of {other}" for other in reversed(others)]
    assert audit_of(joann) == said
    entries_of_joann = LogEntry.objects.filter(object_id=joann.pk)
    assert set(entries_of_joann.values_list("object_repr", flat=True)) == {joann.email}


def test_the_bytes_of_files_are_deleted(alice: User) -> None:
    stored = [
        entry.file({name: getattr(row, name) for name in entry.columns})
        for entry in entries()
        if entry.file is not None
        for row in rows_of(entry, alice)
    ]
    assert [storages[file.storage].exists(file.path) for file in stored if file] == [True, True]
    request(alice)
    deletions.go_on_with_all()
    assert [storages[file.storage].exists(file.path) for file in stored if file] == [False, False]


def test_what_belongs_to_others_stays(alice: User, filled: Callable[[str, str], User]) -> None:
    filled("bob", "bb8y")
    before = everywhere(["bb8y"])
    deletion = request(alice)
    deletions.go_on_with_all()
    assert has_ended(deletion)
    assert everywhere(["bb8y"]) == before


def test_the_books_stay_and_balance(alice: User) -> None:
    """The fixture checks the invariants."""
    new_key(alice)
    owner = bank.live_owner()
    _, charge = bank.hold(alice, 2, owner=owner)
    bank.settle(charge, 1)
    entries_before = list(LedgerEntry.objects.filter(account=alice).values())
    request(alice)
    deletions.go_on_with_all()
    assert Charge.objects.get(pk=charge).status == "settled"
    assert list(LedgerEntry.objects.filter(account=alice).values()) == entries_before
    assert set(ApiKey.objects.filter(account=alice).values_list("name", "hint")) == {("", "")}


def test_it_waits_while_something_is_held(alice: User) -> None:
    _, charge = bank.hold(alice, 2, owner=bank.live_owner())
    deletion = request(alice)
    deletions.go_on_with_all()
    assert not has_ended(deletion)
    assert deletion.waits_for == "charges that are held"
    assert everywhere([MARKER])
    bank.release(charge)
    deletions.go_on_with_all()
    assert has_ended(deletion)


def test_it_waits_for_requests_that_were_under_way(alice: User) -> None:
    deletion = request(alice)
    Deletion.objects.filter(pk=alice.pk).update(requested_at=timezone.now())
    deletions.go_on_with_all()
    assert not has_ended(deletion)
    assert deletion.waits_for == "requests that were under way"


def test_jobs_are_cancelled(alice: User) -> None:
    job = Job.objects.create(kind="userdata.export", queue="default", account=alice)
    deletion = request(alice)
    deletions.go_on_with_all()
    job.refresh_from_db()
    assert job.status == "cancelled"
    assert has_ended(deletion)


def test_a_deletion_that_was_interrupted_goes_on(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    deletion = request(alice)
    rounds = 0
    while not has_ended(deletion):
        monkeypatch.setattr(deletions, "SECONDS", 0.02 * (rounds + 1))
        deletions.go_on_with_all()
        rounds += 1
        assert rounds < 100
    assert rounds > 1
    assert everywhere([MARKER, SECRET]) == []


def at_once(act: Callable[[], object]) -> list[object]:
    """What it returns to each of two threads, which begin together."""
    together = Barrier(2)

    def alone() -> object:
        try:
            together.wait(timeout=20)
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        return [each.result() for each in [pool.submit(alone) for _ in range(2)]]


def test_it_is_requested_and_carried_out_once_although_twice_at_once(alice: User) -> None:
    asked = at_once(lambda: deletions.request(user=User.objects.get(pk=alice.pk)))
    assert sorted(map(bool, asked)) == [False, True]
    deletion = request(alice)
    at_once(delete_data)
    assert has_ended(deletion), deletion.waits_for
    assert everywhere([MARKER, SECRET, alice.email]) == []


def test_what_is_written_as_it_ends_is_left_to_the_next_sweep(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    deletion, erase = request(alice), erasing.erase

    def erase_before_a_late_write(deletion: Deletion, *, seconds: float) -> None:
        erase(deletion, seconds=seconds)
        Conversation.objects.create(account=alice, title=MARKER)

    with monkeypatch.context() as late:
        late.setattr(erasing, "erase", erase_before_a_late_write)
        deletions.go_on_with_all()
    assert not has_ended(deletion)
    deletions.go_on_with_all()
    assert has_ended(deletion)
    assert everywhere([MARKER, SECRET]) == []


def test_the_address_can_sign_up_again(alice: User) -> None:
    address = alice.email
    deletion = request(alice)
    with pytest.raises(InvalidCredentials):
        sessions.sign_in(email=address, password=PASSWORD)
    deletions.go_on_with_all()
    assert has_ended(deletion)
    again = sessions.sign_up(email=address, password=PASSWORD)
    assert again.user.pk != alice.pk


def test_an_account_whose_data_is_deleted_is_not_opened_again(alice: User) -> None:
    request(alice)
    for act in (users.reactivate, users.suspend):
        with pytest.raises(AccountDeleted):
            act(user=alice)


def test_an_operator_confirms_the_address_and_gives_a_reason(alice: User) -> None:
    operator, path = new_operator(), f"accounts/user/{alice.pk}/delete_data/"
    wrong = operator.post(path, address="bob@example.com", reason=REASON)
    assert "not the address of this account" in wrong.content.decode()
    telling = operator.post(path, address=alice.email, reason=f"{alice.email} wrote")
    assert "Do not name the address" in telling.content.decode()
    assert not Deletion.objects.filter(account=alice).exists()

    assert operator.post(path, address=alice.email, reason=REASON).status_code == 302
    assert operator.post(path, address=alice.email, reason=REASON).status_code == 302
    alice.refresh_from_db()
    assert alice.status == "deleted"
    assert audit_of(alice) == [f"Deletion of the data requested. Reason: {REASON}"]
    request(alice)


def test_who_may_only_change_accounts_does_not_delete_their_data(alice: User) -> None:
    operator = new_operator("accounts.change_user", "accounts.view_user")
    answer = operator.post(
        f"accounts/user/{alice.pk}/delete_data/", address=alice.email, reason=REASON
    )
    assert answer.status_code == 403


def test_the_data_of_an_operator_is_not_deleted() -> None:
    operator, colleague = new_operator(), new_operator().user
    page = operator.post(
        f"accounts/user/{colleague.pk}/delete_data/", address=colleague.email, reason=REASON
    )
    assert "Take away its rank" in page.content.decode()
