"""Apps register their kinds of mail with the outbox."""

from collections.abc import Iterator

import pytest
from django.core.mail import EmailMultiAlternatives

from accounts.models import OutgoingEmail
from accounts.services import email_kinds, emails
from accounts.services.account_emails import AccountEmail
from accounts.services.email_kinds import EmailKind
from accounts.services.emails import request_email
from accounts.tests.mailbox import delivered, token_in
from common.ids import uuid7
from tests.operators import new_operator

DORA = "dora@example.com"


class Bell:
    """A kind of another app, which notes what it is asked to write. It uses templates of ours."""

    def __init__(self) -> None:
        self.asked: list[OutgoingEmail] = []
        self.is_silent = False
        self.kind = EmailKind("bell", "Ring", "/bell", "accounts/emails/verify_email", self.compose)

    def compose(self, kind: EmailKind, email: OutgoingEmail) -> EmailMultiAlternatives | None:
        self.asked.append(email)
        if self.is_silent:
            return None
        return email_kinds.render(kind, email.address, token=f"ring{len(self.asked)}", hours=1)


@pytest.fixture
def bell(db: None) -> Iterator[Bell]:
    bell = Bell()
    email_kinds.register(bell.kind)
    yield bell
    del email_kinds._kinds[bell.kind.name]


def test_its_app_writes_the_mail(bell: Bell) -> None:
    about = uuid7()
    assert request_email(kind="bell", address=DORA, about=about)
    [message] = delivered(DORA)
    assert message.subject.startswith("Ring - ")
    assert "/bell?token=ring1" in str(message.body)
    [email] = bell.asked
    assert (email.address, email.about) == (DORA, about)


def test_each_attempt_is_written_anew(bell: Bell) -> None:
    request_email(kind="bell", address=DORA)
    assert token_in(delivered(DORA)[0]) == "ring1"
    emails.send_again(email=OutgoingEmail.objects.get(kind="bell"))
    assert token_in(delivered(DORA)[0]) == "ring2"


def test_what_its_app_does_not_write_is_dropped(bell: Bell) -> None:
    bell.is_silent = True
    request_email(kind="bell", address=DORA)
    assert delivered(DORA) == []
    assert OutgoingEmail.objects.get(kind="bell").outcome == "dropped"


def test_the_limit_of_an_address_is_that_of_a_row(bell: Bell) -> None:
    one, other = uuid7(), uuid7()
    assert [request_email(kind="bell", address=DORA, about=one) for _ in range(4)] == [
        *(True, True, True, False)
    ]
    assert request_email(kind="bell", address=DORA, about=other)
    assert request_email(kind="bell", address=DORA)


def test_the_kinds_of_all_apps_are_registered_and_each_has_its_texts(db: None) -> None:
    assert {*AccountEmail, "team_invitation"} <= set(email_kinds.kind_names())
    for name in email_kinds.kind_names():
        kind = email_kinds.get_kind(name)
        message = email_kinds.render(kind, DORA, token="secret", hours=1, days=1)
        assert kind.subject in message.subject
        [(html, _)] = message.alternatives
        for text in (str(message.body), str(html)):
            assert f"{kind.page}?token=secret" in text
            assert DORA in text


def test_operators_filter_mails_by_the_kinds_of_all_apps(bell: Bell) -> None:
    for kind, address in (("bell", DORA), ("reset_password", "emil@example.com")):
        request_email(kind=kind, address=address)
    operator = new_operator()
    shown = operator.get("accounts/outgoingemail/?kind=bell")
    assert DORA in shown
    assert "emil@example.com" not in shown
    assert "emil@example.com" in operator.get("accounts/outgoingemail/?kind=no_kind")
