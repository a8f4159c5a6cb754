"""What a model is given: instructions, the branch that is answered, its files and the message."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from pytest_django import DjangoAssertNumQueries

from accounts.models import ModelPreference, User
from accounts.selectors.preferences import get_preference
from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model
from ai.inference.bounds import DEFAULT_OUTPUT_TOKENS
from billing.types import FREE_CONTEXT_TOKENS
from conversations.context import MAX_CHARACTERS, Context
from conversations.errors import MessageTooLong, ReplyRunning
from conversations.models import Attachment, Conversation, Message, Space
from conversations.selectors.context import attached_to, context_for
from conversations.tests.rows import ASSISTANT, add, talk
from media.files.models import Upload
from media.files.types import storage_path
from tests.personas import new_user

Given = Callable[..., Context]


@pytest.fixture
def alice(db: None) -> User:
    return new_user("alice", plan="max")


@pytest.fixture
def model(db: None) -> Model:
    model = get_catalog().find("gpt-6-luna")
    assert model is not None
    return model


@pytest.fixture
def given(alice: User, model: Model) -> Given:
    """The context of a message in a conversation, after its leaf unless `parent_id` is named."""

    def given(conversation: Conversation, content: str = "And now?", **options: object) -> Context:
        wanted = {
            "conversation": conversation,
            "model": model,
            "parent_id": conversation.leaf_id,
            "content": content,
            "uploads": [],
            "instructions": get_preference(alice, model.id).instructions,
            "output_bound": DEFAULT_OUTPUT_TOKENS,
            "is_free": False,
            **options,
        }
        return context_for(**wanted)  # type: ignore[arg-type]

    return given


def _said(context: Context) -> list[str]:
    return [message.text for message in context.messages]


def _upload(
    user: User, data: bytes, name: str = "notes.txt", media_type: str = "text/plain"
) -> Upload:
    upload = Upload.objects.create(
        account=user,
        name=name,
        media_type=media_type,
        is_text=media_type.startswith("text/"),
        size=len(data),
    )
    storages["uploads"].save(storage_path(str(upload.pk)), ContentFile(data))
    return upload


def _lose(upload: Upload) -> None:
    storages["uploads"].delete(storage_path(str(upload.pk)))


def test_the_branch_that_is_answered_is_given_and_no_other(alice: User, given: Given) -> None:
    conversation = talk(alice, "One?", "One.", "Two?", "Two.")
    leaf_id = conversation.leaf_id
    question = conversation.messages.get(content="Two?")
    add(conversation, "Two again.", role=ASSISTANT, parent=question)

    context = given(conversation, parent_id=leaf_id)

    assert _said(context) == ["One?", "One.", "Two?", "Two.", "And now?"]
    assert [m.role for m in context.messages] == ["user", "assistant"] * 2 + ["user"]
    assert context.report["messages"] == 5
    assert context.report["omitted"] == 0


def test_a_new_root_has_nothing_before_it(alice: User, given: Given) -> None:
    assert _said(given(talk(alice, "One?", "One."), parent_id=None)) == ["And now?"]


def test_replies_without_words_are_left_out(alice: User, given: Given) -> None:
    conversation = talk(alice, "One?")
    add(conversation, "", role=ASSISTANT, status=Message.Status.FAILED)
    add(conversation, "Two?")
    add(conversation, "Tw", role=ASSISTANT, status=Message.Status.CANCELLED)
    add(conversation, "Three?")
    add(conversation, "Thr", role=ASSISTANT, status=Message.Status.FAILED)

    context = given(conversation)

    assert _said(context) == ["One?\n\nTwo?", "Tw", "Three?", "Thr", "And now?"]
    assert context.report["messages"] == 6
    assert context.report["omitted"] == 0


@pytest.mark.parametrize(
    "error",
    [
        {"code": "content_blocked"},
        {"code": "invalid_body"},
        {"code": "input_too_long"},
        {"code": "no_text", "finish_reason": "content_filter"},
    ],
)
def test_a_message_that_was_refused_is_left_out(
    alice: User, given: Given, error: dict[str, str]
) -> None:
    conversation = talk(alice, "One?", "One.", "Forbidden!")
    failed = {"role": ASSISTANT, "status": Message.Status.FAILED, "error": error}
    add(conversation, "", **failed)  # type: ignore[arg-type]

    context = given(conversation)

    assert _said(context) == ["One?", "One.", "And now?"]
    assert (context.report["messages"], context.report["omitted"]) == (3, 1)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ({"code": "upstream_error"}, ""),
        ({"code": "content_blocked"}, "Fo"),
        ({"code": "no_text", "finish_reason": "stop"}, ""),
    ],
)
def test_a_message_whose_reply_failed_in_another_way_is_given(
    alice: User, given: Given, error: dict[str, str], text: str
) -> None:
    conversation = talk(alice, "One?", "One.", "Two?")
    failed = {"role": ASSISTANT, "status": Message.Status.FAILED, "error": error}
    add(conversation, text, **failed)  # type: ignore[arg-type]

    assert "Two?" in "".join(_said(given(conversation)))


def test_all_instructions_are_given(alice: User, model: Model, given: Given) -> None:
    space = Space.objects.create(account=alice, name="Sea", instructions="Say ahoy.")
    conversation = talk(alice, space=space, system="Be brief.")
    preferences = ModelPreference.objects
    preferences.create(account=alice, model=model.id, instructions="In Dutch.")
    preferences.create(account=alice, model="gpt-6.1-sol", instructions="In Greek.")
    preferences.create(account=new_user("bob"), model=model.id, instructions="In Latin.")

    system, _ = given(conversation).messages

    assert system.role == "system"
    assert [word in system.text for word in ("brief", "ahoy", "Dutch")] == [True] * 3
    assert [word in system.text for word in ("Greek", "Latin")] == [False] * 2


def test_files_go_with_their_messages(alice: User, given: Given) -> None:
    conversation = talk(alice, "Read this.", "Done.")
    first, second = (
        _upload(alice, b"\xef\xbb\xbfWide."),
        _upload(alice, b"Tief.", "t.md", "text/markdown"),
    )
    message = conversation.messages.get(role=Message.Role.USER)
    Attachment.objects.create(message=message, upload=first)

    context = given(conversation, uploads=[second])

    one, _, two = _said(context)
    assert re.match(r"Read this\.\n\n<attachment .*>\nWide\.\n</attachment>$", one)
    assert re.match(r"And now\?\n\n<attachment .*>\nTief\.\n</attachment>$", two)
    attachments = context.report["attachments"]
    assert [(file["name"], file["characters"]) for file in attachments] == [
        ("notes.txt", 5),
        ("t.md", 5),
    ]
    assert attached_to(message) == [first]


def test_a_file_without_words_is_all_that_is_said(alice: User, given: Given) -> None:
    conversation = talk(alice, "", "Done.")
    message = conversation.messages.get(role=Message.Role.USER)
    Attachment.objects.create(message=message, upload=_upload(alice, b"Wide."))

    context = given(conversation, "", uploads=[_upload(alice, b"Tief.")])

    one, _, two = _said(context)
    assert re.match(r"<attachment .*>\nWide\.\n</attachment>$", one)
    assert re.match(r"<attachment .*>\nTief\.\n</attachment>$", two)
    assert (context.report["messages"], context.report["omitted"]) == (3, 0)


def test_files_that_are_no_text_are_named(alice: User, given: Given) -> None:
    picture = _upload(alice, b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "cat.png", "image/png")
    context = given(talk(alice), uploads=[picture])
    assert 'name="cat.png" type="image/png"' in _said(context)[0]
    assert context.report["attachments"][0]["characters"] is None


def test_a_file_that_has_gone_does_not_end_the_conversation(alice: User, given: Given) -> None:
    file = _upload(alice, b"Gone.")
    _lose(file)
    context = given(talk(alice), uploads=[file])
    assert "not readable here" in _said(context)[0]


def test_the_oldest_are_left_out_where_the_window_is_full(
    alice: User, model: Model, given: Given
) -> None:
    conversation = talk(alice, *(f"{number} {'x' * 3_000}" for number in range(8)))
    small = replace(model, context_window=DEFAULT_OUTPUT_TOKENS * 2)

    context = given(conversation, model=small)

    assert [text[:1] for text in _said(context)] == ["2", "3", "4", "5", "6", "7", "A"]
    assert context.report["messages"] == 7
    assert context.report["omitted"] == 2
    assert context.report["input_tokens"] <= DEFAULT_OUTPUT_TOKENS - model.prompt_overhead_tokens


def test_a_long_message_leaves_less_room_for_the_others(
    alice: User, model: Model, given: Given
) -> None:
    conversation = talk(alice, *["x" * 3_000] * 4)
    small = replace(model, context_window=DEFAULT_OUTPUT_TOKENS * 2)

    context = given(conversation, "y" * 15_000, model=small)

    assert context.report["messages"] == 3
    assert context.report["omitted"] == 2


def test_files_of_messages_that_are_left_out_are_not_read(alice: User, given: Given) -> None:
    conversation = talk(alice, "Read this.", "Done.", "One?", "One.")
    large = _upload(alice, b"x" * 4 * (MAX_CHARACTERS + 1))
    first = conversation.messages.order_by("id")[0]
    Attachment.objects.create(message=first, upload=large)
    _lose(large)  # Whoever opened it would find nothing, and go on with that.

    context = given(conversation)

    assert _said(context) == ["One?", "One.", "And now?"]
    assert context.report["omitted"] == 2
    assert context.report["attachments"] == []


def test_instructions_are_never_left_out(alice: User, model: Model, given: Given) -> None:
    conversation = talk(alice, *["x" * 3_000] * 4, system="Be brief. " * 1_600)
    small = replace(model, context_window=DEFAULT_OUTPUT_TOKENS * 2)

    context = given(conversation, model=small)

    assert [message.role for message in context.messages] == ["system", "user", "assistant", "user"]
    assert context.report["omitted"] == 2


def test_no_more_is_sent_than_v1_would_take(alice: User, model: Model, given: Given) -> None:
    conversation = talk(alice, *["x" * 99_000] * 6)
    vast = replace(model, context_window=10_000_000)

    context = given(conversation, model=vast)

    assert sum(map(len, _said(context))) <= MAX_CHARACTERS
    assert context.report["messages"] == 5


def test_the_free_plan_has_a_smaller_window(alice: User, given: Given) -> None:
    conversation = talk(alice, *["x" * 6_000] * 8)

    context = given(conversation, is_free=True, output_bound=1_024)

    assert context.report["messages"] == 3
    assert context.report["omitted"] == 6
    assert context.report["input_tokens"] < FREE_CONTEXT_TOKENS - 1_024
    assert given(conversation).report["omitted"] == 0


def test_a_message_that_does_not_fit_alone_is_refused(alice: User, given: Given) -> None:
    conversation = talk(alice)
    with pytest.raises(MessageTooLong) as refused:
        given(conversation, "x" * 30_000, is_free=True, output_bound=1_024)
    assert refused.value.extra["unit"] == "tokens"
    assert "other plans allow more" in refused.value.text
    assert given(conversation, "x" * 30_000).report["messages"] == 1


def test_a_file_that_cannot_fit_is_refused_unread(alice: User, given: Given) -> None:
    large = _upload(alice, b"x" * 4 * (MAX_CHARACTERS + 4), "large.txt")
    _lose(large)
    with pytest.raises(MessageTooLong) as refused:
        given(talk(alice), uploads=[_upload(alice, b"Small."), large])
    assert refused.value.extra["largest_file"] == "large.txt"


def test_a_long_conversation_takes_as_many_queries_as_a_short_one(
    alice: User, given: Given, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    conversation = talk(alice, *["Well?", "Well."] * 40)
    with django_assert_num_queries(2):  # preference, branch
        given(conversation)


def test_nobody_is_answered_without_the_reply_that_is_being_written(
    alice: User, given: Given
) -> None:
    """It may have ended by the time that the answer is begun."""
    sea = talk(alice, "How deep?")
    running = add(sea, "", role=ASSISTANT, status=Message.Status.RUNNING)
    with pytest.raises(ReplyRunning):
        given(sea)
    given(sea, parent_id=running.parent_id)
    running.status = Message.Status.COMPLETED
    running.save()
    given(sea)
