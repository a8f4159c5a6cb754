"""Fixtures: no snapshot left by another test, an operator, entries."""

from collections.abc import Iterator

import pytest

from content.flags import PUBLIC_SHARING, SIGN_UP
from content.models import FlagRecord
from content.selectors import flags as selectors
from tests.operators import Operator, new_operator


@pytest.fixture(autouse=True)
def no_snapshot() -> Iterator[None]:
    selectors.reset()
    yield
    selectors.reset()


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


@pytest.fixture
def sharing(db: None) -> FlagRecord:
    """A flag that may differ from user to user."""
    return FlagRecord.objects.get(name=PUBLIC_SHARING.name)


@pytest.fixture
def sign_up(db: None) -> FlagRecord:
    """A flag that is the same for everyone."""
    return FlagRecord.objects.get(name=SIGN_UP.name)
