"""What is read for a reply before it is begun."""

from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import ModelPreference, User
from ai.catalog.selectors import get_catalog
from billing.tests.bank import live_owner
from conversations.models import Space
from conversations.selectors.conversations import get_conversation
from conversations.services import sending, spaces
from conversations.services.preparation import prepare_message
from conversations.tests.rows import talk
from conversations.tests.speaker import FREE_MODEL
from tests.personas import new_user


@pytest.fixture
def alice(db: None) -> User:
    return new_user("alice", plan="max")


def statements(made: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in made if "SAVEPOINT" not in query["sql"]]


def test_a_space_that_is_deleted_meanwhile_has_been_read(alice: User) -> None:
    space = Space.objects.create(account=alice, name="Sea", instructions="Say ahoy.")
    conversation = get_conversation(alice, talk(alice, space=space).pk)
    spaces.delete(user=alice, space_id=space.pk)
    prepared = prepare_message(alice, conversation, content="Hi")
    assert "Say ahoy." in prepared.context.messages[0].text


def test_how_the_user_wants_the_model_is_read_once(alice: User) -> None:
    ModelPreference.objects.create(
        account=alice, model=FREE_MODEL, instructions="In Dutch.", reasoning_effort="high"
    )
    conversation = get_conversation(alice, talk(alice).pk)
    with CaptureQueriesContext(connection) as asked:
        prepared = prepare_message(alice, conversation, content="Hi", model=FREE_MODEL)
    table = ModelPreference._meta.db_table
    assert sum(table in query["sql"] for query in asked) == 1
    assert "In Dutch." in prepared.context.messages[0].text
    assert prepared.effort == ("high" if prepared.model.reasoning else None)


@pytest.mark.usefixtures("providers")
def test_a_message_takes_three_statements_before_its_transaction_and_eight_in_it(
    alice: User,
) -> None:
    owner = live_owner()
    get_catalog()  # which is kept for a while
    assert alice.plan == "max"  # which comes with the user of each request
    talked = talk(alice, "Hi", "Hi.")
    with CaptureQueriesContext(connection) as before:
        prepared = prepare_message(alice, get_conversation(alice, talked.pk), content="How deep?")
    with CaptureQueriesContext(connection) as within:
        sending.start(prepared=prepared, request_key=None, owner_id=owner, request_id="req_test")

    # The conversation, how the user wants the models, what was said.
    assert len(statements(before)) == 3
    # The wallet, the conversation, other jobs, what can be paid, the hold; messages, job, stream.
    assert len(statements(within)) == 8


def test_what_the_message_says_comes_before_what_the_user_generally_wants(alice: User) -> None:
    ModelPreference.objects.create(account=alice, model=FREE_MODEL, reasoning_effort="high")
    conversation = get_conversation(alice, talk(alice).pk)
    prepared = partial(prepare_message, alice, conversation, content="Hi", model=FREE_MODEL)
    assert prepared(reasoning_effort="low").effort == "low"
    assert prepared().effort == "high"
