"""An invitation does not tell whether its address has an account: not by the answer, the work, the
mail or the time."""

import re
from collections.abc import Callable
from functools import partial
from math import comb
from time import perf_counter

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from accounts.tests.mailbox import delivered
from conftest import Persona
from teams.models import Invitation
from teams.tests.people import INVITES, add_owner, client_of, found, invite, verify
from tests.personas import new_user

PAIRS = 150
# The chance that the test fails although nothing differs.
ALPHA = 1e-4
STATUSES = ["unverified", "verified", "suspended", "deactivated"]


def account(status: str) -> User:
    user = new_user("somebody")
    if status == "verified":
        return verify(user)
    if status != "unverified":
        user.status = status
        user.save()
    return user


def unlike(text: str, address: str) -> str:
    """A text without what differs from one request to another."""
    text = text.replace(address, "ADDRESS")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}", "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.+]+Z?", "TIME", text)
    return re.sub(r"token=[\w-]+", "token=TOKEN", text)


@pytest.mark.parametrize("status", STATUSES)
def test_answers_and_mails_are_alike(alice: Persona, status: str) -> None:
    found(alice)
    known, unknown = account(status).email, f"nobody-{status}@example.com"
    answers = [invite(alice, address) for address in (known, unknown)]
    assert {answer.status_code for answer in answers} == {201}
    assert len({tuple(sorted(answer.headers)) for answer in answers}) == 1
    bodies = [
        unlike(answer.content.decode(), address)
        for answer, address in zip(answers, (known, unknown), strict=True)
    ]
    assert bodies[0] == bodies[1]
    mails = []
    for address in (known, unknown):
        [message] = delivered(address)
        parts = (str(message.subject), str(message.body), str(message.alternatives[0][0]))
        mails.append(unlike("\n".join(parts), address))
    assert mails[0] == mails[1]
    listed = alice.client.get(INVITES).json()
    assert {each["status"] for each in listed} == {"pending"}
    assert all(each["sent_at"] for each in listed)


def statements(alice: Persona, address: str) -> list[str]:
    """The statements of an invitation, without their values."""
    with CaptureQueriesContext(connection) as queries:
        invite(alice, address)
    return [re.sub(r"'[^']*'|\d+", "?", query["sql"]) for query in queries]


@pytest.mark.parametrize("status", STATUSES)
def test_the_work_is_the_same(alice: Persona, status: str) -> None:
    found(alice)
    known, unknown = account(status).email, f"nobody-{status}@example.com"
    first, second = (statements(alice, address) for address in (known, unknown))
    assert first == second
    assert not any(
        "accounts_user" in each and "email" in each.partition("WHERE")[2] for each in first
    )


def chance_of(more: int, of: int) -> float:
    """The chance that a fair coin falls at least as unevenly (a sign test, two-sided)."""
    least = min(more, of - more)
    return min(1.0, 2 * sum(comb(of, k) for k in range(least + 1)) / 2.0**of)


def test_the_sign_test_finds_what_differs() -> None:
    assert chance_of(75, 150) == 1.0
    assert chance_of(90, 150) > 0.01
    assert chance_of(110, 150) < ALPHA


Measure = Callable[[str], float]


def times_slower(known: list[str], of_known: Measure, of_unknown: Measure) -> int:
    """Of how many pairs, in alternate order, the known address was the slower one."""
    slower = 0
    for turn, address in enumerate(known):
        unknown = f"{turn:08}{address[8:]}"  # as long as the known one
        if turn % 2:
            one, other = of_known(address), of_unknown(unknown)
        else:
            other, one = of_unknown(unknown), of_known(address)
        slower += one > other
    return slower


@pytest.mark.usefixtures("committed")
def test_the_time_is_the_same() -> None:
    """Neither is the slower one more often than by chance; what differs by some statements is."""
    alice = new_user("alice")
    team = add_owner(alice)
    client = client_of(alice)
    known = [verify(new_user("somebody")).email for _ in range(PAIRS)]

    def measure(address: str, statements: int = 0) -> float:
        """The seconds of an invitation, which is rolled back."""
        with transaction.atomic():
            began = perf_counter()
            answer = client.post(INVITES, {"email": address}, format="json")
            for _ in range(statements):
                User.objects.filter(email=address).exists()
            took: float = perf_counter() - began
            transaction.set_rollback(True)
        assert answer.status_code == 201
        return took

    times_slower(known[:10], measure, measure)
    slower = times_slower(known, measure, measure)
    assert chance_of(slower, PAIRS) > ALPHA, f"the known one was slower {slower} times of {PAIRS}"
    slower = times_slower(known, partial(measure, statements=40), measure)
    assert chance_of(slower, PAIRS) < ALPHA, f"slower {slower} times of {PAIRS}"
    assert not Invitation.objects.filter(invited_by=alice).exists()
    # Tests of other files count the teams.
    team.delete()
