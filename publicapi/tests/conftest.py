"""Alice with a plan that includes the API."""

import pytest

from billing.services.balance import change_plan
from conftest import Persona


@pytest.fixture
def alice_on_max(alice: Persona) -> Persona:
    change_plan(account=alice.user, plan="max")
    return alice
