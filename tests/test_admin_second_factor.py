"""The second factor of operators: setting it up, signing in with it, losing it."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts import totp
from accounts.models import SecondFactor, SignInFailures, User
from accounts.services import second_factor
from accounts.tests.mailbox import delivered
from tests.operators import Operator, audit_of, new_operator
from tests.personas import PASSWORD

PAGE = "second-factor/"
REFUSED = "Please enter the correct address and password"
NOT_A_CODE = "This is not a code of your app"
HERE = "192.0.2.1"


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


@pytest.fixture
def required(settings: Settings) -> None:
    """As in production."""
    settings.OPERATORS_NEED_SECOND_FACTOR = True


class App:
    """An authenticator app."""

    def __init__(self, secret: bytes) -> None:
        self.secret = secret

    def code(self, *, later: int = 0) -> str:
        """Of now, or of so many steps later."""
        return totp.code_at(self.secret, time.time() + later * totp.STEP_SECONDS)


def set_up(user: User) -> tuple[App, list[str]]:
    """An app that showed a code long ago, and the recovery codes."""
    app = App(totp.new_secret())
    sealed = totp.seal(app.secret, user.pk)
    codes = second_factor.enrol(operator=user, sealed=sealed, code=app.code())
    SecondFactor.objects.filter(operator=user).update(last_step=0)
    return app, codes


def sign_in(
    user: User, code: str = "", password: str = PASSWORD, ip: str = HERE
) -> tuple[Client, str]:
    """A new visit, and what the page says: nothing where it lets one in."""
    client = Client(REMOTE_ADDR=ip)
    form = {"username": user.email, "password": password, "code": code}
    response = client.post("/admin/login/", form)
    return client, "" if response.status_code == 302 else response.content.decode()


def shown(page: str, element: str) -> str:
    found = re.search(rf'id="{element}"[^>]*>(.*?)</(?:p|div|ul)>', page, re.DOTALL)
    assert found is not None
    return found[1]


def sealed_in(page: str) -> str:
    found = re.search(r'name="sealed" value="([^"]+)"', page)
    assert found is not None
    return found[1]


# --- Setting it up --------------------------------------------------------------------------------


@pytest.mark.usefixtures("required")
@pytest.mark.parametrize("path", ["", "accounts/user/", "password_change/", "jsi18n/"])
def test_before_any_page_an_operator_sets_it_up(operator: Operator, path: str) -> None:
    response = operator.client.get(f"/admin/{path}")
    assert (response.status_code, response["Location"]) == (302, "/admin/second-factor/")
    assert "Set yours up before you go on" in operator.get(PAGE)


@pytest.mark.usefixtures("required")
def test_one_may_leave_instead(operator: Operator) -> None:
    operator.post("logout/")
    assert "/admin/login/" in operator.client.get("/admin/")["Location"]


def test_where_it_is_not_required_pages_open_without(operator: Operator) -> None:
    page = operator.get("")
    assert "Set yours up" not in page
    assert 'href="/admin/second-factor/"' in page
    assert "qr-code" in operator.get(PAGE)


def test_a_stranger_does_not_see_the_page(client: Client) -> None:
    assert "/admin/login/" in client.get(f"/admin/{PAGE}")["Location"]


@pytest.mark.usefixtures("required")
def test_an_operator_scans_a_code_and_goes_on(operator: Operator) -> None:
    other = Client()
    other.force_login(operator.user)
    page = operator.get(PAGE)
    assert "<svg" in shown(page, "qr-code")
    app = App(totp.unseal(sealed_in(page), operator.user.pk))
    assert shown(page, "secret") == totp.written(app.secret)

    form = {"act": "set_up", "sealed": sealed_in(page)}
    wrong = operator.post(PAGE, **form, code="000000x").content.decode()
    assert NOT_A_CODE in wrong
    assert shown(wrong, "secret") == totp.written(app.secret)

    right = operator.post(PAGE, **form, code=app.code()).content.decode()
    codes = re.findall(r"<li>([A-Z2-7-]{19})</li>", right)
    assert len(codes) == 10
    operator.get("")
    assert other.get("/admin/").status_code == 302
    assert audit_of(operator.user)[0] == "Set up a second factor."
    for later in (operator.get(PAGE), operator.get(f"accounts/user/{operator.user.pk}/change/")):
        assert codes[0] not in later
        assert totp.written(app.secret) not in later


def test_nothing_of_it_is_stored_in_plain_text(operator: Operator) -> None:
    app, codes = set_up(operator.user)
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(f)::text FROM accounts_secondfactor f")
        [(stored,)] = cursor.fetchall()
    plain = [totp.written(app.secret), app.secret.hex(), *codes]
    assert not [each for each in plain if each.replace("-", "") in stored]


def test_a_secret_of_somebody_else_or_none_is_not_set_up(operator: Operator) -> None:
    app = App(totp.new_secret())
    colleague = new_operator().user
    for sealed in (totp.seal(app.secret, colleague.pk), "", "nonsense", "x" * 5_000):
        page = operator.post(PAGE, act="set_up", sealed=sealed, code=app.code())
        assert page.status_code == 200
    assert not SecondFactor.objects.exists()


def test_a_second_app_is_not_set_up_beside_the_first(operator: Operator) -> None:
    page = operator.get(PAGE)
    app = App(totp.unseal(sealed_in(page), operator.user.pk))
    form = {"act": "set_up", "sealed": sealed_in(page)}
    operator.post(PAGE, **form, code=app.code())
    again = operator.post(PAGE, **form, code=app.code()).content.decode()
    assert "A second factor is set up already" in again
    assert SecondFactor.objects.count() == 1


@pytest.mark.parametrize("act", ["", "erase"])
def test_an_act_that_is_none_is_refused(operator: Operator, act: str) -> None:
    assert operator.post(PAGE, act=act, code="123456").status_code == 400


# --- Signing in -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("required")
def test_a_code_lets_an_operator_in(operator: Operator) -> None:
    app, _ = set_up(operator.user)
    client, problem = sign_in(operator.user, app.code())
    assert problem == ""
    assert client.get("/admin/").status_code == 200


@pytest.mark.parametrize("code", ["", "12345", "000000x", "\u0660" * 6, "x" * 100])
def test_without_a_code_the_password_is_worth_nothing(operator: Operator, code: str) -> None:
    set_up(operator.user)
    client, problem = sign_in(operator.user, code)
    assert problem
    assert client.get("/admin/").status_code == 302
    assert f"Signed in from {HERE}." not in audit_of(operator.user)


def test_a_wrong_code_is_told_as_a_wrong_password_is(operator: Operator) -> None:
    app, _ = set_up(operator.user)
    pages = [
        sign_in(operator.user, "000000x")[1],
        sign_in(operator.user, app.code(), password="wrong")[1],
    ]
    assert [REFUSED in page for page in pages] == [True, True]
    assert sign_in(operator.user, app.code())[1] == ""  # a wrong password uses no code up


def test_a_code_lets_in_once_and_none_before_it_does_afterwards(operator: Operator) -> None:
    app, _ = set_up(operator.user)
    now, next_one = app.code(), app.code(later=1)
    assert sign_in(operator.user, next_one)[1] == ""
    assert REFUSED in sign_in(operator.user, next_one)[1]
    assert REFUSED in sign_in(operator.user, now)[1]


def test_a_recovery_code_lets_in_once_however_it_is_typed(operator: Operator) -> None:
    _, codes = set_up(operator.user)
    assert sign_in(operator.user, codes[3].lower().replace("-", " "))[1] == ""
    assert REFUSED in sign_in(operator.user, codes[3])[1]
    assert sign_in(operator.user, codes[4])[1] == ""
    assert SecondFactor.objects.get().recovery_codes == [
        totp.recovery_digest(code) for code in codes if code not in codes[3:5]
    ]


@pytest.mark.usefixtures("committed")
@pytest.mark.parametrize("kind", ["of the app", "recovery code"])
def test_a_code_that_is_sent_four_times_at_once_lets_in_once(kind: str) -> None:
    user = new_operator().user
    app, codes = set_up(user)
    code = app.code() if kind == "of the app" else codes[0]

    def attempt(_: int) -> bool:
        try:
            return second_factor.verify(operator=user, code=code)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(attempt, range(4))) == 1
    second_factor.reset(operator=user)


def test_guesses_of_codes_lock_the_account_for_every_client(operator: Operator) -> None:
    app, _ = set_up(operator.user)
    for number in range(5):
        assert REFUSED in sign_in(operator.user, "000000x", ip=f"192.0.2.{100 + number}")[1]
    assert "Too many attempts failed" in sign_in(operator.user, app.code())[1]
    SignInFailures.objects.update(last_at=F("last_at") - timedelta(seconds=30))
    assert sign_in(operator.user, app.code())[1] == ""


def test_wrong_codes_are_not_told_to_the_operator_as_wrong_passwords(operator: Operator) -> None:
    set_up(operator.user)
    for _ in range(5):
        sign_in(operator.user, "000000x")
    subjects = [mail.subject.split(" - ")[0] for mail in delivered(operator.user.email)]
    assert subjects == ["Somebody knows your password"]


def test_a_secret_that_was_shown_long_ago_is_not_set_up(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App(totp.new_secret())
    sealed = totp.seal(app.secret, operator.user.pk)
    later = time.time() + second_factor.ENROLMENT_TIME.total_seconds() + 1
    monkeypatch.setattr(time, "time", lambda: later)
    page = operator.post(PAGE, act="set_up", sealed=sealed, code=app.code()).content.decode()
    assert "This page is too old" in page
    assert shown(page, "secret") != totp.written(app.secret)
    assert not SecondFactor.objects.exists()


def test_who_knows_the_password_cannot_have_guesses_of_codes_forgotten(
    operator: Operator,
) -> None:
    """By giving it where no code is asked for, and by coming from everywhere."""
    app, _ = set_up(operator.user)
    body = {"email": operator.user.email, "password": PASSWORD}
    for number in range(5):
        address = f"192.0.2.{100 + number}"
        assert REFUSED in sign_in(operator.user, "000000x", ip=address)[1]
        login = APIClient().post("/api/auth/login", body, format="json", REMOTE_ADDR=address)
        assert login.status_code == 200
    assert "Too many attempts failed" in sign_in(operator.user, app.code(), ip="192.0.2.200")[1]


@pytest.mark.parametrize("path", ["accounts/user/", PAGE])
def test_a_visit_from_before_it_was_set_up_signs_in_anew(operator: Operator, path: str) -> None:
    set_up(operator.user)
    operator.user.refresh_from_db()
    before = Client()
    before.force_login(operator.user)
    response = before.get(f"/admin/{path}")
    assert (response.status_code, response["Location"].split("?")[0]) == (302, "/admin/login/")
    assert before.get("/admin/").status_code == 302


def test_a_secret_key_that_was_changed_lets_nobody_in_without_a_reset(
    operator: Operator, settings: Settings
) -> None:
    app, codes = set_up(operator.user)
    settings.SECRET_KEY = "another secret of more than 32 characters"
    for code in (app.code(), codes[0]):
        assert REFUSED in sign_in(operator.user, code)[1]
    second_factor.reset(operator=operator.user)
    assert sign_in(operator.user)[1] == ""


def test_a_secret_key_that_is_being_changed_lets_in_with_codes_from_before(
    operator: Operator, settings: Settings
) -> None:
    app, codes = set_up(operator.user)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another secret of more than 32 characters"
    for code in (app.code(), codes[0]):
        assert sign_in(operator.user, code)[1] == ""
    assert REFUSED in sign_in(operator.user, codes[0])[1]


def test_the_application_interface_asks_operators_for_no_code(operator: Operator) -> None:
    set_up(operator.user)
    body = {"email": operator.user.email, "password": PASSWORD}
    assert APIClient().post("/api/auth/login", body, format="json").status_code == 200


# --- Losing it ------------------------------------------------------------------------------------


def entered(user: User, code: str) -> Any:
    """A visit that has shown a code, as an `Operator`."""
    client, problem = sign_in(user, code)
    assert problem == ""
    return Operator(user, client)


def test_new_recovery_codes_replace_the_old_ones(operator: Operator) -> None:
    app, old = set_up(operator.user)
    visit = entered(operator.user, old[0])
    assert "You have 9 recovery codes left" in " ".join(visit.get(PAGE).split())
    assert NOT_A_CODE in visit.post(PAGE, act="renew", code="000000x").content.decode()
    page = visit.post(PAGE, act="renew", code=app.code()).content.decode()
    new = re.findall(r"<li>([A-Z2-7-]{19})</li>", page)
    assert REFUSED in sign_in(operator.user, old[1])[1]
    assert sign_in(operator.user, new[0])[1] == ""
    assert "Made new recovery codes." in audit_of(operator.user)


@pytest.mark.usefixtures("required")
def test_another_app_can_be_set_up_by_a_code_of_the_first(operator: Operator) -> None:
    app, codes = set_up(operator.user)
    visit, other = entered(operator.user, codes[0]), entered(operator.user, codes[1])
    assert visit.post(PAGE, act="remove", code=app.code())["Location"] == "/admin/second-factor/"
    assert "qr-code" in visit.get(PAGE)
    assert visit.client.get("/admin/").status_code == 302
    assert "/admin/login/" in other.client.get("/admin/")["Location"]
    assert audit_of(operator.user)[0] == "Removed their second factor."


def test_codes_cannot_be_guessed_in_a_stolen_visit(operator: Operator) -> None:
    app, codes = set_up(operator.user)
    visit = entered(operator.user, codes[0])
    for _ in range(5):
        visit.post(PAGE, act="remove", code="000000x")
    page = visit.post(PAGE, act="remove", code=app.code()).content.decode()
    assert "Too many attempts failed" in page
    assert SecondFactor.objects.filter(operator=operator.user).exists()


def test_a_colleague_resets_it_and_it_is_in_the_audit_log(operator: Operator) -> None:
    colleague = new_operator().user
    _, codes = set_up(colleague)
    visit = entered(colleague, codes[0])
    page = f"accounts/user/{colleague.pk}"
    assert "Reset second factor" in operator.get(f"{page}/change/")
    answer = operator.post(f"{page}/reset_second_factor/", reason="A new phone")
    assert answer.status_code == 302
    assert audit_of(colleague)[0] == "Second factor reset. Reason: A new phone"
    assert visit.client.get("/admin/").status_code == 302
    assert sign_in(colleague)[1] == ""
    assert "Reset second factor" not in operator.get(f"{page}/change/")


def test_not_everybody_resets_it(operator: Operator) -> None:
    colleague = new_operator().user
    set_up(colleague)
    supporter = new_operator("accounts.change_user", "accounts.view_user")
    _, codes = set_up(operator.user)
    for visit, user in (
        (supporter, colleague),
        (entered(operator.user, codes[0]), operator.user),
    ):
        answer = visit.post(f"accounts/user/{user.pk}/reset_second_factor/", reason="A new phone")
        assert answer.status_code == 403
    assert SecondFactor.objects.count() == 2


def test_a_command_resets_it_for_the_last_operator(operator: Operator, capsys: Any) -> None:
    set_up(operator.user)
    call_command("reset_second_factor", operator.user.email.upper())
    assert "signs in with the password alone" in capsys.readouterr().out
    assert sign_in(operator.user)[1] == ""
    assert "Second factor reset by command." in audit_of(operator.user)
    with pytest.raises(CommandError, match="has no second factor"):
        call_command("reset_second_factor", operator.user.email)
    with pytest.raises(CommandError, match="no operator"):
        call_command("reset_second_factor", "nobody@example.com")
