"""The way into the admin, and who is kept out."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import quote
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.test import Client
from django.utils import timezone

from accounts.models import KnownClient, SignInFailures, User
from accounts.services import lockout, users
from accounts.types import Client as Guesser
from tests.operators import Operator, audit_of, new_operator
from tests.personas import PASSWORD, new_user

HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"
WRONG = "Note that the password is case-sensitive."
LOCKED = "Too many attempts failed. Try again in 15 minutes."
LOCKED_FOR_STRANGERS = "Too many attempts failed. Try again in a minute."


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


def sign_in(
    address: str, password: str = PASSWORD, *, ip: str = HERE, client: Client | None = None
) -> str:
    """What the page says; empty where it lets one in."""
    form = {"username": address, "password": password}
    response = (client or Client()).post("/admin/login/", form, REMOTE_ADDR=ip)
    if response.status_code == 302:
        assert response["Location"] == "/admin/"
        return ""
    assert response.status_code == 200
    return response.content.decode()


def fail(address: str, times: int, *, ip: str = HERE) -> None:
    for _ in range(times):
        assert WRONG in sign_in(address, "wrong", ip=ip)


def fail_everywhere(address: str) -> None:
    """Ten times, from two clients."""
    fail(address, 5, ip="192.0.2.101")
    fail(address, 5, ip="192.0.2.102")


def test_an_operator_signs_in_and_out_and_both_are_in_the_audit_log(operator: Operator) -> None:
    client = Client()
    assert sign_in(operator.user.email.upper(), client=client) == ""
    assert client.get("/admin/").status_code == 200
    client.post("/admin/logout/")
    assert client.get("/admin/").status_code == 302
    assert audit_of(operator.user)[:2] == ["Signed out.", f"Signed in from {HERE}."]


def test_a_customer_is_told_what_a_wrong_password_is_told(operator: Operator) -> None:
    operator.user.is_staff = False
    operator.user.save()
    assert WRONG in sign_in(operator.user.email)


def test_a_suspended_operator_does_not_get_in(operator: Operator) -> None:
    users.suspend(user=operator.user)
    assert WRONG in sign_in(operator.user.email)


@pytest.mark.parametrize("known", [True, False])
def test_five_failures_lock_a_client_out_whether_the_address_is_known_or_not(
    operator: Operator, known: bool
) -> None:
    address = operator.user.email if known else "nobody@example.com"
    fail(address, 5)
    assert LOCKED in sign_in(address, "wrong")
    assert LOCKED in sign_in(f" {address.upper()} ", PASSWORD)


def test_who_is_locked_out_costs_no_hash(operator: Operator) -> None:
    fail(operator.user.email, 5)
    User.objects.filter(pk=operator.user.pk).update(password="a hash that nothing can read")
    assert LOCKED in sign_in(operator.user.email)


def test_another_client_still_gets_in(operator: Operator) -> None:
    fail(operator.user.email, 5)
    assert sign_in(operator.user.email, ip=ELSEWHERE) == ""


def test_what_a_locked_client_tries_does_not_lock_others_out(operator: Operator) -> None:
    fail(operator.user.email, 5)
    for _ in range(60):
        assert LOCKED in sign_in(operator.user.email)
    assert sign_in(operator.user.email, ip=ELSEWHERE) == ""


def test_ten_failures_from_several_clients_make_all_strangers_wait(operator: Operator) -> None:
    fail_everywhere(operator.user.email)
    assert LOCKED_FOR_STRANGERS in sign_in(operator.user.email, ip=ELSEWHERE)


def test_in_fifteen_minutes_strangers_make_fewer_than_twenty_guesses(operator: Operator) -> None:
    """However many clients they have."""
    pages = []
    for n in range(90):
        pages.append(sign_in(operator.user.email, "wrong", ip=f"203.0.113.{n}"))
        SignInFailures.objects.update(last_at=F("last_at") - timedelta(seconds=10))
    assert sum(WRONG in page for page in pages) < 20


def test_many_clients_do_not_keep_out_who_came_in_from_here_lately(operator: Operator) -> None:
    assert sign_in(operator.user.email, ip=HERE) == ""
    fail_everywhere(operator.user.email)
    assert LOCKED_FOR_STRANGERS in sign_in(operator.user.email, ip=ELSEWHERE)
    fail(operator.user.email, 4, ip=HERE)
    assert sign_in(operator.user.email, ip=HERE) == ""


def test_a_client_that_is_known_is_kept_out_for_its_own_failures(operator: Operator) -> None:
    assert sign_in(operator.user.email) == ""
    fail(operator.user.email, 5)
    assert LOCKED in sign_in(operator.user.email)


def test_a_client_is_known_to_its_own_operator_and_for_ninety_days(operator: Operator) -> None:
    colleague = new_operator().user
    assert sign_in(colleague.email, ip=HERE) == ""
    fail_everywhere(operator.user.email)
    assert LOCKED_FOR_STRANGERS in sign_in(operator.user.email, ip=HERE)
    fail_everywhere(colleague.email)
    KnownClient.objects.update(seen_at=timezone.now() - timedelta(days=89))
    assert sign_in(colleague.email, ip=HERE) == ""
    KnownClient.objects.update(seen_at=timezone.now() - timedelta(days=91))
    assert LOCKED_FOR_STRANGERS in sign_in(colleague.email, ip=HERE)


@pytest.mark.parametrize("separator", ["|", " from ", " "])
def test_nobody_fails_under_the_name_of_somebody_elses_client(
    operator: Operator, separator: str
) -> None:
    """The form refuses what is no address; elsewhere it counts for nobody."""
    typed = f"{operator.user.email}{separator}{HERE}"
    assert "Please correct the error" in sign_in(typed, "wrong", ip=ELSEWHERE)
    for _ in range(4):
        lockout.verify(lambda: False, address=typed, client=Guesser(ELSEWHERE))
    assert sign_in(operator.user.email, ip=HERE) == ""


def test_the_right_password_begins_anew(operator: Operator) -> None:
    fail(operator.user.email, 4)
    assert sign_in(operator.user.email) == ""
    fail(operator.user.email, 4)
    assert sign_in(operator.user.email) == ""


def test_after_fifteen_minutes_one_may_try_again(operator: Operator) -> None:
    fail(operator.user.email, 5)
    assert LOCKED in sign_in(operator.user.email)
    SignInFailures.objects.update(last_at=F("last_at") - timedelta(minutes=14))
    assert "Try again in a minute." in sign_in(operator.user.email)
    SignInFailures.objects.update(last_at=F("last_at") - timedelta(minutes=1))
    assert sign_in(operator.user.email) == ""


def test_an_operator_lets_somebody_try_again(operator: Operator) -> None:
    address = new_operator().user.email
    fail(address, 5)
    row = SignInFailures.objects.get(name=f"{address} from {HERE}")
    url = f"accounts/signinfailures/{quote(row.pk)}/delete/"
    assert operator.post(url, post="yes").status_code == 302
    assert sign_in(address) == ""


def test_only_superusers_let_another_operator_try_again(operator: Operator) -> None:
    support = new_operator("accounts.view_signinfailures", "accounts.delete_signinfailures")
    customer = new_user("alice").email
    for address, status in ((operator.user.email, 403), (customer, 302)):
        fail(address, 1)
        row = SignInFailures.objects.get(name=f"{address} from {HERE}")
        url = f"accounts/signinfailures/{quote(row.pk)}/delete/"
        assert support.post(url, post="yes").status_code == status
    many = {"action": "delete_selected", "post": "yes", "index": "0"}
    names = list(SignInFailures.objects.values_list("pk", flat=True))
    support.post("accounts/signinfailures/", **many, _selected_action=names)
    assert SignInFailures.objects.filter(name__startswith=operator.user.email).count() == 2


@pytest.mark.parametrize(
    ("address", "password"),
    [
        ("a" * 300 + "@example.com", "x"),
        ("x@example.com", "x" * 1_000_000),
        ("a\0b", "x"),
        ("", ""),
    ],
)
def test_what_cannot_be_an_address_or_a_password_is_refused_on_the_form(
    db: None, address: str, password: str
) -> None:
    assert "Please correct the error" in sign_in(address, password)
    assert not SignInFailures.objects.exists()


@pytest.mark.parametrize("address", ["İ" * 250, '"a"@example.com', "root@localhost"])
def test_an_address_that_no_new_account_could_have_is_tried_like_any_other(
    db: None, address: str
) -> None:
    assert "Please enter the correct" in sign_in(address, "x")
    assert SignInFailures.objects.exists()


def test_an_operator_of_old_keeps_an_address_that_is_not_plain(operator: Operator) -> None:
    User.objects.filter(pk=operator.user.pk).update(email="root@localhost")
    assert sign_in("root@localhost", PASSWORD) == ""


def test_a_form_from_elsewhere_is_refused(operator: Operator) -> None:
    form = {"username": operator.user.email, "password": PASSWORD}
    assert Client(enforce_csrf_checks=True).post("/admin/login/", form).status_code == 403


def test_a_visit_ends_with_the_sessions_of_its_user(operator: Operator) -> None:
    users.revoke_sessions(user=operator.user)
    assert operator.client.get("/admin/").status_code == 302


def test_a_visit_ends_with_a_suspension(operator: Operator) -> None:
    users.suspend(user=operator.user)
    assert operator.client.get("/admin/").status_code == 302


def test_an_operator_changes_their_password_and_stays_in_while_other_visits_end(
    operator: Operator,
) -> None:
    other = Client()
    other.force_login(operator.user)
    new = "another correct horse"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}

    assert operator.post("password_change/", **form).status_code == 302

    assert operator.client.get("/admin/").status_code == 200
    assert other.get("/admin/").status_code == 302
    assert sign_in(operator.user.email, new) == ""
    assert "Changed their password." in audit_of(operator.user)


@pytest.mark.parametrize(
    ("old", "new", "again", "problem"),
    [
        ("wrong", "another correct horse", "another correct horse", "This is not your password."),
        (PASSWORD, "1234", "1234", "too short"),
        (PASSWORD, "another correct horse", "something else", "two password fields didn"),
    ],
)
def test_a_password_that_cannot_be_is_refused_on_the_form(
    operator: Operator, old: str, new: str, again: str, problem: str
) -> None:
    form = {"old_password": old, "new_password1": new, "new_password2": again}
    page = operator.post("password_change/", **form)
    assert problem in page.content.decode()
    assert sign_in(operator.user.email) == ""


def test_old_passwords_cannot_be_guessed_in_a_stolen_visit(operator: Operator) -> None:
    new = "another correct horse"
    form = {"old_password": "wrong", "new_password1": new, "new_password2": new}
    for _ in range(5):
        operator.post("password_change/", **form)
    page = operator.post("password_change/", **{**form, "old_password": PASSWORD})
    assert LOCKED in page.content.decode()


@pytest.mark.parametrize(
    "change", ["UPDATE django_admin_log SET action_flag = 1", "DELETE FROM django_admin_log"]
)
def test_the_audit_log_cannot_be_altered(operator: Operator, change: str) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        connection.cursor().execute(change)
    assert LogEntry.objects.filter(user=operator.user).exists()
