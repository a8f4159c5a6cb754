"""The operators' audit log: what was done to an account is found from its page."""

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, DELETION

from billing.models import ContractAllowance
from conftest import Persona
from tests.operators import Operator, new_operator
from tests.personas import new_key


@pytest.fixture
def operator(db: None) -> Operator:
    return new_operator()


def test_the_audit_log_of_an_account_is_all_that_was_done_to_what_is_its(
    operator: Operator, alice: Persona, bob: Persona
) -> None:
    for persona in (alice, bob):
        user, (key, _) = persona.user, new_key(persona.user)
        operator.post(f"accounts/user/{user.pk}/revoke_sessions/", reason="They asked")
        operator.post(f"accounts/apikey/{key.pk}/revoke_one/", reason="They asked")
        operator.post(
            f"billing/subscription/{user.pk}/change_plan/", plan="enterprise", reason="They asked"
        )
        contract = {"account": user.pk, "model": "gpt-6-luna", "granted": "5"}
        operator.post("billing/contractallowance/add/", **contract)
        agreed = ContractAllowance.objects.get(account=user)
        operator.post(f"billing/contractallowance/{agreed.pk}/delete/", post="yes")

    [link] = re.findall(
        r'href="(/admin/admin/logentry/[^"]+)"',
        operator.get(f"accounts/user/{alice.user.pk}/change/"),
    )
    found = operator.client.get(link).context["cl"].result_list
    assert [(entry.content_type.model, entry.action_flag) for entry in found] == [
        ("contractallowance", DELETION),
        ("contractallowance", ADDITION),
        ("subscription", CHANGE),
        ("apikey", CHANGE),
        ("user", CHANGE),
    ]
    assert bob.user.email not in operator.client.get(link).content.decode()
    by_address = operator.client.get(f"/admin/admin/logentry/?q={alice.user.email}")
    assert list(by_address.context["cl"].result_list) == list(found)


def test_the_last_day_of_a_range_is_in_it(operator: Operator, alice: Persona) -> None:
    """Of the entries of today: signed in, and ended sessions."""
    operator.post(f"accounts/user/{alice.user.pk}/revoke_sessions/", reason="They asked")
    today = datetime.now(UTC).date()

    def found(first: date, last: date) -> int:
        url = f"/admin/admin/logentry/?action_time_from={first}&action_time_to={last}"
        return len(operator.client.get(url).context["cl"].result_list)

    day = timedelta(days=1)
    assert found(today - day, today) == found(today, today + day) == 2
    assert found(today - day, today - day) == found(today + day, today + day) == 0
    assert found(today - day, date.max) == 2
