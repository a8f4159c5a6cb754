"""docs/operations/first-operator.md: the first operator, their second factor, and its loss."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts import totp
from accounts.models import SecondFactor, User
from common.ids import uuid7
from simulator.process import RunningSimulator
from tests.operations.blocks import attempt, run
from tests.operators import audit_of
from tests.personas import new_user
from tests.service import environment_of_a_process

PAGE = "/admin/second-factor/"


@pytest.fixture
def environment(
    committed: None, settings: Settings, simulator: RunningSimulator
) -> Iterator[dict[str, str]]:
    """A service that requires a second factor, as production does, and has no operator."""
    settings.OPERATORS_NEED_SECOND_FACTOR = True
    User.objects.filter(is_superuser=True).update(is_superuser=False)
    address = f"operator-{uuid7().hex}@example.com"
    yield environment_of_a_process(simulator) | {"OPERATOR": address}
    SecondFactor.objects.filter(operator__email=address).delete()


def sign_in(address: str, password: str, code: str = "") -> Client:
    visit = Client()
    form = {"username": address, "password": password, "code": code}
    response = visit.post("/admin/login/", form)
    assert response.status_code == 302, "the sign-in is refused"
    return visit


def set_up(visit: Client, user: User) -> tuple[bytes, list[str]]:
    """The secret of the app, and the recovery codes."""
    page = visit.get(PAGE).content.decode()
    [sealed] = re.findall(r'name="sealed" value="([^"]+)"', page)
    secret = totp.unseal(sealed, user.pk)
    form = {"act": "set_up", "sealed": sealed, "code": totp.code_at(secret, time.time())}
    answer: Any = visit.post(PAGE, form)
    return secret, re.findall(r"<li>([A-Z2-7-]{19})</li>", answer.content.decode())


def test_the_first_operator_comes_in_with_a_second_factor(environment: dict[str, str]) -> None:
    address = environment["OPERATOR"]
    said = run("first-operator.md#create", environment)
    password = said.strip().rpartition("Password: ")[2]
    user = User.objects.get(email=address)

    visit = sign_in(address, password)
    assert visit.get("/admin/accounts/user/")["Location"] == PAGE
    secret, recovery_codes = set_up(visit, user)
    assert len(recovery_codes) == 10
    assert visit.get("/admin/accounts/user/").status_code == 200

    next_code = totp.code_at(secret, time.time() + totp.STEP_SECONDS)
    assert sign_in(address, password, next_code).get("/admin/").status_code == 200
    assert sign_in(address, password, recovery_codes[0]).get("/admin/").status_code == 200
    with pytest.raises(AssertionError, match="refused"):
        sign_in(address, password)

    run("first-operator.md#reset", environment)
    assert visit.get("/admin/").status_code == 302
    assert audit_of(user)[0] == "Second factor reset by command."
    again = sign_in(address, password)
    assert again.get("/admin/accounts/user/")["Location"] == PAGE
    set_up(again, user)
    assert again.get("/admin/accounts/user/").status_code == 200


def test_a_second_one_is_not_made(environment: dict[str, str]) -> None:
    run("first-operator.md#create", environment)
    another = f"operator-{uuid7().hex}@example.com"
    done = attempt("first-operator.md#create", environment | {"OPERATOR": another})
    assert done.returncode != 0
    assert "Password:" not in done.stdout
    assert not User.objects.filter(email=another).exists()


def test_an_address_that_has_an_account_is_refused(environment: dict[str, str]) -> None:
    alice = new_user("alice")
    done = attempt("first-operator.md#create", environment | {"OPERATOR": alice.email})
    assert done.returncode != 0
    assert "already" in done.stdout
    assert "Password:" not in done.stdout
