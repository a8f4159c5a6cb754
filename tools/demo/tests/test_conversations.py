"""`manage.py create_demo_conversations`: the conversations that `make run` seeds."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django import Settings

from accounts.models import User
from billing.services.reconciliation import find_violations
from conversations.models import Conversation, Message
from demo.conversations import SPACE, TALKS
from tests.personas import new_user
from work.jobs.models import Job


@pytest.fixture
def alice(db: None, providers: None, settings: Settings) -> User:
    settings.DEMO_SEEDS = True
    return new_user("alice", plan="max", balance_usd=50)


def create_demo_conversations(email: str) -> str:
    said = StringIO()
    call_command("create_demo_conversations", email, stdout=said)
    return said.getvalue()


def test_conversations_are_answered_and_paid_once(alice: User) -> None:
    said = f"Wrote {len(TALKS)} conversations of {alice.email}.\n"
    assert create_demo_conversations(alice.email) == said
    assert create_demo_conversations(alice.email) == ""
    titles = (
        Conversation.objects.filter(account=alice).order_by("id").values_list("title", flat=True)
    )
    assert list(titles) == [talk.title for talk in TALKS]
    assert not Message.objects.exclude(status="completed").exists()
    assert not Job.objects.filter(account=alice, ended_at=None).exists()
    assert find_violations() == []


def test_one_is_in_a_space_and_has_an_answer_in_two_versions(alice: User) -> None:
    create_demo_conversations(alice.email)
    [talk] = Conversation.objects.filter(account=alice, space__name=SPACE)
    question = Message.objects.get(conversation=talk, role="user")
    assert Message.objects.filter(parent=question).count() == 2


def test_an_account_that_is_not_there_and_a_service_without_demos_get_none(
    alice: User, settings: Settings
) -> None:
    with pytest.raises(CommandError, match="No account has the address"):
        create_demo_conversations("nobody@example.com")
    settings.DEMO_SEEDS = False
    with pytest.raises(CommandError, match="Demo conversations are off here"):
        create_demo_conversations(alice.email)
