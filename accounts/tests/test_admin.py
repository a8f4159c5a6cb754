"""What operators do to accounts and keys, and what they cannot."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts import keys
from accounts.models import ApiKey, User, UserSession
from accounts.services import users
from conftest import Persona
from tests.operators import Operator, audit_of, new_operator
from tests.personas import new_key

SUPPORT = ("accounts.change_user", "accounts.change_apikey")
REASON = {"reason": "He asked for it"}


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


@pytest.fixture
def support(db: None) -> Operator:
    """Staff, but no superuser."""
    return new_operator(*SUPPORT)


def page_of(user: User) -> str:
    return f"accounts/user/{user.pk}/change/"


def test_an_account_is_suspended_and_reactivated_with_a_reason(
    support: Operator, alice: Persona
) -> None:
    url = f"accounts/user/{alice.user.pk}/"
    assert "Suspend" in support.get(f"{url}change/")
    assert support.post(f"{url}suspend/", **REASON).status_code == 302
    assert alice.client.get("/api/auth/me").status_code == 403

    assert "Reactivate" in support.get(f"{url}change/")
    assert support.post(f"{url}reactivate/", **REASON).status_code == 302
    alice.user.refresh_from_db()
    assert alice.user.status == "active"
    assert audit_of(alice.user) == [
        "Reactivated; it was suspended. Reason: He asked for it",
        "Suspended. Reason: He asked for it",
    ]


def test_suspending_twice_is_one_act(support: Operator, alice: Persona) -> None:
    for _ in range(2):
        support.post(f"accounts/user/{alice.user.pk}/suspend/", **REASON)
    assert len(audit_of(alice.user)) == 1


def test_nothing_happens_without_a_reason_or_by_a_link(support: Operator, alice: Persona) -> None:
    url = f"accounts/user/{alice.user.pk}/suspend/"
    support.get(url)
    assert "This field is required." in support.post(url, reason="").content.decode()
    alice.user.refresh_from_db()
    assert alice.user.status == "active"


def test_nothing_happens_by_a_form_from_elsewhere(support: Operator, alice: Persona) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(support.user)
    url = f"/admin/accounts/user/{alice.user.pk}/suspend/"
    assert client.post(url, REASON).status_code == 403


def test_sessions_are_revoked(support: Operator, alice: Persona) -> None:
    url = f"accounts/user/{alice.user.pk}/revoke_sessions/"
    assert support.post(url, **REASON).status_code == 302
    assert alice.client.get("/api/auth/me").status_code == 401


def test_a_deactivated_account_is_not_suspended(support: Operator, alice: Persona) -> None:
    users.deactivate(user=alice.user)
    response = support.post(f"accounts/user/{alice.user.pk}/suspend/", **REASON)
    assert response.status_code == 200
    alice.user.refresh_from_db()
    assert alice.user.status == "deactivated"


def test_operators_cannot_lock_themselves_out(operator: Operator) -> None:
    page = operator.get(page_of(operator.user))
    assert "Revoke sessions" not in page
    for act in ("suspend", "reactivate", "revoke_sessions"):
        assert (
            operator.post(f"accounts/user/{operator.user.pk}/{act}/", **REASON).status_code == 403
        )
    verified = operator.user.email_verified
    flipped = {} if verified else {"email_verified": "on"}
    operator.post(page_of(operator.user), name="Me", is_staff="", is_superuser="", **flipped)
    operator.user.refresh_from_db()
    assert operator.user.is_superuser
    assert operator.user.email_verified == verified


def test_staff_cannot_make_themselves_or_others_operators(
    support: Operator, alice: Persona
) -> None:
    ranks = {"is_staff": "on", "is_superuser": "on"}
    for user in (support.user, alice.user):
        response = support.post(page_of(user), name="New name", **ranks, **no_identities())
        assert response.status_code == 302
        user.refresh_from_db()
        assert user.name == "New name"
        assert not user.is_superuser
    assert not alice.user.is_staff


def test_staff_cannot_touch_other_operators(support: Operator, operator: Operator) -> None:
    assert "Suspend" not in support.get(page_of(operator.user))
    assert support.post(page_of(operator.user), name="X").status_code == 403
    url = f"accounts/user/{operator.user.pk}/suspend/"
    assert support.post(url, **REASON).status_code == 403


def test_keys_of_operators_are_left_alone_among_others(
    support: Operator, operator: Operator, alice: Persona
) -> None:
    theirs = {user: new_key(user)[0] for user in (support.user, operator.user, alice.user)}
    chosen = {"action": "revoke", "_selected_action": [str(key.pk) for key in theirs.values()]}
    assert support.post("accounts/apikey/", **chosen).status_code == 302
    revoked = ApiKey.objects.exclude(revoked_at=None)
    assert [key.account for key in revoked] == [alice.user]


def test_a_superuser_makes_operators_and_the_log_says_so(
    operator: Operator, alice: Persona
) -> None:
    group = support_group()
    values = {"name": "Alice", "is_staff": "on", "groups": [group.pk], **no_identities()}
    assert operator.post(page_of(alice.user), **values).status_code == 302
    alice.user.refresh_from_db()
    assert alice.user.is_staff
    assert alice.user.has_perm("accounts.change_user")
    assert "Groups: none → Support" in audit_of(alice.user)[0]


def test_only_superusers_see_and_make_groups(support: Operator, operator: Operator) -> None:
    assert operator.is_allowed("auth/group/add/")
    assert not support.is_allowed("auth/group/")
    assert not support.is_allowed("auth/group/add/")


def test_a_change_writes_nothing_but_what_was_changed(support: Operator, alice: Persona) -> None:
    """The rest may be changing at the same time: a password, a status."""
    values = {"name": "Alice", "email_verified": "on", **no_identities()}
    with CaptureQueriesContext(connection) as queries:
        assert support.post(page_of(alice.user), **values).status_code == 302
    [update] = [q["sql"] for q in queries if q["sql"].startswith('UPDATE "accounts_user"')]
    assert update.startswith('UPDATE "accounts_user" SET "email_verified" = true WHERE')
    assert audit_of(alice.user) == ["Email verified: False → True"]


def test_accounts_are_neither_added_nor_deleted(operator: Operator, alice: Persona) -> None:
    assert not operator.is_allowed("accounts/user/add/")
    assert not operator.is_allowed(f"accounts/user/{alice.user.pk}/delete/")


def test_password_hashes_and_digests_are_not_shown(operator: Operator, alice: Persona) -> None:
    key, raw = new_key(alice.user)
    alice.user.refresh_from_db()
    for path in (
        "accounts/user/",
        page_of(alice.user),
        "accounts/apikey/",
        f"accounts/apikey/{key.pk}/change/",
    ):
        page = operator.get(path)
        assert alice.user.password not in page
        assert raw not in page
        assert keys.digest(raw).hex() not in page
        assert "digest" not in page.lower()


def test_keys_are_revoked_in_numbers_or_one_by_one(support: Operator, alice: Persona) -> None:
    (one, _), (another, _) = new_key(alice.user), new_key(alice.user)
    chosen = {"action": "revoke", "_selected_action": [str(one.pk)]}
    assert support.post("accounts/apikey/", **chosen).status_code == 302
    assert support.post(f"accounts/apikey/{another.pk}/revoke_one/", **REASON).status_code == 302
    assert not ApiKey.objects.owned_by(alice.user).active().exists()
    whose = f"it was a key of {alice.user.email}."
    assert audit_of(one) == [f"Revoked with others; {whose}"]
    assert audit_of(another) == [f"Revoked; {whose} Reason: He asked for it"]


def test_an_operator_sees_and_ends_a_session(operator: Operator, alice: Persona) -> None:
    [session] = alice.user.sessions.all()
    UserSession.objects.update(client="Firefox on Linux", client_ip="192.0.2.7")
    page = operator.get(f"accounts/usersession/?q={alice.user.pk}")
    assert "Firefox on Linux" in page
    assert "192.0.2.7" in page
    assert str(session.current) not in operator.get(f"accounts/usersession/{session.pk}/change/")
    answer = operator.post(f"accounts/usersession/{session.pk}/end/", **REASON)
    assert answer["Location"] == "/admin/accounts/usersession/"
    assert alice.client.get("/api/auth/me").status_code == 401
    assert audit_of(session) == ["Ended. Reason: He asked for it"]
    assert "Ended. Reason" in operator.get(f"admin/logentry/?q={alice.user.pk}")


def test_an_operator_does_not_end_the_sessions_of_colleagues(alice: Persona) -> None:
    supporter = new_operator("accounts.change_usersession", "accounts.view_usersession")
    colleague = UserSession.objects.create(account=new_operator().user)
    assert supporter.post(f"accounts/usersession/{colleague.pk}/end/", **REASON).status_code == 403
    [of_alice] = alice.user.sessions.all()
    assert supporter.post(f"accounts/usersession/{of_alice.pk}/end/", **REASON).status_code == 302


def test_last_seen_is_the_newest_token_or_visit(operator: Operator, alice: Persona) -> None:
    UserSession.objects.filter(account=alice.user).delete()
    assert seen(operator, alice.user) is None
    for day in (3, 5, 4):
        moment = datetime(2026, 10, day, tzinfo=UTC)
        UserSession.objects.create(account=alice.user, rotated_at=moment)
    assert seen(operator, alice.user) == datetime(2026, 10, 5, tzinfo=UTC)
    assert "2026-10-05 00:00:00" in operator.get("accounts/user/?q=alice@")
    assert "2026-10-05 00:00:00" in operator.get(page_of(alice.user))
    User.objects.filter(pk=alice.user.pk).update(last_login=datetime(2026, 10, 6, tzinfo=UTC))
    assert seen(operator, alice.user) == datetime(2026, 10, 6, tzinfo=UTC)


def seen(operator: Operator, user: User) -> datetime | None:
    """What the list shows."""
    page = operator.client.get(f"/admin/accounts/user/?q={user.pk}").context["cl"]
    shown: datetime | None = page.model_admin.seen_at(page.result_list[0])
    return shown


def test_addresses_are_written_as_they_are(operator: Operator, alice: Persona) -> None:
    page = operator.get(page_of(alice.user))
    address = alice.user.email
    assert address in page
    assert address.capitalize() not in page
    assert "Users" in page


def test_a_list_tells_one_number_of_rows(operator: Operator, alice: Persona) -> None:
    for query in ("", "?q=alice@"):
        page = operator.get(f"accounts/user/{query}")
        assert "Show all" not in page
        assert " results" not in page


def test_staff_without_the_permission_see_no_accounts(alice: Persona) -> None:
    viewer = new_operator("billing.view_charge")
    assert not viewer.is_allowed("accounts/user/")
    assert not viewer.is_allowed(page_of(alice.user))
    url = f"accounts/user/{alice.user.pk}/suspend/"
    assert viewer.post(url, **REASON).status_code == 403


def test_a_viewer_looks_and_changes_nothing(alice: Persona) -> None:
    viewer = new_operator("accounts.view_user", "accounts.view_apikey")
    key, _ = new_key(alice.user)
    assert "Suspend" not in viewer.get(page_of(alice.user))
    assert viewer.post(page_of(alice.user), name="X").status_code == 403
    assert viewer.post(f"accounts/apikey/{key.pk}/revoke_one/", **REASON).status_code == 403


@pytest.mark.parametrize("term", ["alice@", "ALICE", "id"])
def test_an_account_is_found_by_address_name_and_id(
    operator: Operator, alice: Persona, bob: Persona, term: str
) -> None:
    page = operator.get(f"accounts/user/?q={alice.user.pk if term == 'id' else term}")
    assert alice.user.email in page
    assert bob.user.email not in page


def test_accounts_are_filtered_by_plan_and_status(
    operator: Operator, alice: Persona, bob: Persona
) -> None:
    users.suspend(user=bob.user)
    page = operator.get(
        "accounts/user/?status__exact=suspended&subscription__plan__key__exact=free"
    )
    assert bob.user.email in page
    assert alice.user.email not in page


def test_others_are_asked_to_sign_in(client: Client, alice: Persona) -> None:
    assert client.get("/admin/accounts/user/").status_code == 302
    client.force_login(alice.user)
    assert client.get("/admin/accounts/user/").status_code == 302


def no_identities() -> dict[str, int]:
    """The part of the form that lists linked identities, of which there are none."""
    return {"identities-TOTAL_FORMS": 0, "identities-INITIAL_FORMS": 0}


def support_group() -> Group:
    group = Group.objects.create(name="Support")
    group.permissions.add(Permission.objects.get(codename="change_user"))
    return group
