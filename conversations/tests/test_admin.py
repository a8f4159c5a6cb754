"""Conversations in the operators' admin."""

from uuid import UUID

import pytest
from django.urls import reverse

from billing.tests.bank import hold, live_owner, settle
from common.money import NUSD_PER_USD
from conversations.models import Conversation, Message, Share
from conversations.selectors.sharing import share_token, share_url
from conversations.services import sharing
from conversations.tests.rows import ASSISTANT, add, talk
from conversations.tests.sharers import new_shared_row, put_together
from tests.operators import Operator, audit_of, new_operator
from tests.personas import new_user

LIST = "conversations/conversation/"


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


def page(conversation: Conversation) -> str:
    return f"{LIST}{conversation.pk}/change/"


def shared(conversation: Conversation) -> Share:
    share, _ = sharing.share(user=conversation.account, conversation_id=conversation.pk)
    return share


def test_an_operator_sees_how_a_conversation_went_and_not_what_was_said(
    operator: Operator,
) -> None:
    alice = new_user("alice")
    conversation = talk(alice, "What ails me?", "A cold.", title="Ailing", system="You are a vet.")
    reply = add(
        conversation,
        "Rest",
        role=ASSISTANT,
        reasoning="They cough.",
        status="failed",
        error={"code": "interrupted", "message": "It broke off."},
    )

    for path in (LIST, page(conversation)):
        shown = operator.get(path)
        assert alice.email in shown
        assert "failed" in shown
        for secret in ("ails me", "cold", "Ailing", "vet", "Rest", "cough"):
            assert secret not in shown
    assert "gpt-6-luna" in shown
    assert "interrupted" in shown
    assert reverse("admin:billing_charge_change", args=(reply.pk,)) in shown


def test_what_was_paid_is_that_of_its_replies(committed: None) -> None:
    operator, alice = new_operator(), new_user("alice", plan="pro", balance_usd=50)
    conversation = talk(alice, "Hello")
    owner = live_owner()
    for dollars in (1, 2):
        _, charge = hold(alice, dollars * NUSD_PER_USD, owner=owner)
        settle(charge, dollars * NUSD_PER_USD)
        add(conversation, "Hi", role=ASSISTANT, id=charge)
    _, elsewhere = hold(alice, NUSD_PER_USD, owner=owner)
    settle(elsewhere, NUSD_PER_USD)

    # What no plan has costs twice its price.
    assert "$6.00" in operator.get(page(conversation))


def test_only_replies_are_listed_as_calls(operator: Operator) -> None:
    conversation = talk(new_user("alice"), "Hello", "Hi")
    question, reply = Message.objects.order_by("role").values_list("pk", flat=True)[::-1]

    shown = operator.get(page(conversation))

    assert str(reply) in shown
    assert str(question) not in shown


def test_an_operator_sees_how_far_a_conversation_is_open_and_who_has_asked(
    operator: Operator,
) -> None:
    alice, bob = new_user("alice"), new_user("bob")
    put_together(alice, bob)
    _, conversation = new_shared_row(alice, "write", "Hello")
    add(conversation, "Hi", role=ASSISTANT, author_id=bob.pk)
    shown = operator.get(page(conversation))
    assert "Write" in shown
    assert reverse("admin:accounts_user_change", args=(bob.pk,)) in shown

    own = talk(alice, "Hello", "Hi")
    shown = operator.get(page(own))
    assert "Write" not in shown
    assert reverse("admin:accounts_user_change", args=(alice.pk,)) in shown


def test_a_conversation_is_found_by_its_user_its_id_and_its_link(operator: Operator) -> None:
    alice, bob = new_user("alice"), new_user("bob")
    conversation, other = talk(alice, "Hello"), talk(bob, "Hello")
    share = shared(conversation)

    for term in (alice.email, alice.pk, conversation.pk, share_url(share), share_token(share)):
        assert found(operator, term) == [conversation.pk], term
    assert found(operator, "https://web.example.com/shared/none") == []
    assert found(operator, "") == [other.pk, conversation.pk]


def test_shared_ones_are_found_by_a_filter(operator: Operator) -> None:
    alice = new_user("alice")
    read_by_a_link, not_shared = talk(alice, "Hello"), talk(alice, "Hello")
    shared(read_by_a_link)

    assert found(operator, "", shared="yes") == [read_by_a_link.pk]
    assert found(operator, "", shared="no") == [not_shared.pk]
    assert len(found(operator, "", shared="perhaps")) == 2


def test_an_operator_revokes_a_link_and_says_why(operator: Operator) -> None:
    alice = new_user("alice")
    conversation = talk(alice, "Hello")
    shared(conversation)
    act = f"{LIST}{conversation.pk}/revoke_link/"
    assert act in operator.get(page(conversation))
    operator.get(act)
    assert Share.objects.exists()

    answer = operator.post(act, reason="Phishing")

    assert answer.status_code == 302
    assert not Share.objects.exists()
    assert audit_of(conversation) == [
        f"Link revoked; it was of a conversation of {alice}. Reason: Phishing"
    ]
    assert act not in operator.get(page(conversation))
    operator.post(act, reason="Again")
    assert len(audit_of(conversation)) == 1


def test_without_a_reason_a_link_stays(operator: Operator) -> None:
    conversation = talk(new_user("alice"), "Hello")
    shared(conversation)

    operator.post(f"{LIST}{conversation.pk}/revoke_link/", reason="")

    assert Share.objects.exists()


@pytest.mark.django_db
def test_who_only_may_look_revokes_nothing() -> None:
    onlooker = new_operator("conversations.view_conversation")
    conversation = talk(new_user("alice"), "Hello")
    shared(conversation)

    act = f"{LIST}{conversation.pk}/revoke_link/"
    assert act not in onlooker.get(page(conversation))
    assert onlooker.post(act, reason="No").status_code == 403
    assert Share.objects.exists()


@pytest.mark.django_db
def test_an_operator_may_be_given_that_and_nothing_more() -> None:
    moderator = new_operator("conversations.view_conversation", "conversations.change_conversation")
    conversation = talk(new_user("alice"), "Hello")
    shared(conversation)

    moderator.post(page(conversation), messages_count=7)
    moderator.post(f"{LIST}{conversation.pk}/revoke_link/", reason="Phishing")

    conversation.refresh_from_db()
    assert conversation.messages_count == 1
    assert not Share.objects.exists()


def found(operator: Operator, term: object, **filters: str) -> list[UUID]:
    response = operator.client.get(f"/admin/{LIST}", {"q": str(term), **filters})
    return [row.pk for row in response.context["cl"].result_list]
