"""Councils in the operators' admin."""

import pytest

from council.services import sessions
from tests.operators import Operator, new_operator
from tests.personas import new_user


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


def test_an_operator_sees_how_a_council_went_and_not_what_was_said(operator: Operator) -> None:
    alice = new_user("alice", plan="pro")
    session = sessions.start(user=alice, prompt="Is it measles?", models=["grok-4.7"])
    for path in ("council/session/", f"council/session/{session.pk}/change/"):
        page = operator.get(path)
        assert alice.email in page
        assert "measles" not in page
    assert "grok-4.7" in page


def test_a_council_is_found_by_the_address_of_its_user(operator: Operator) -> None:
    alice, bob = new_user("alice", plan="pro"), new_user("bob", plan="pro")
    for user in (alice, bob):
        sessions.start(user=user, prompt="Why?", models=["grok-4.7"])
    page = operator.get(f"council/session/?q={alice.email}")
    assert alice.email in page
    assert bob.email not in page
