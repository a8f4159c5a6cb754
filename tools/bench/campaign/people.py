"""Who acts in a life: people on plan Max with an API key, and their balances."""

from dataclasses import dataclass, replace
from uuid import UUID

from accounts.models import User
from bench.campaign.schedule import PEOPLE, POOR, RICH
from billing.services import balance
from common.ids import uuid7
from common.money import NUSD_PER_CENT
from teams.models import Member, Role, Team
from tests.operators import new_operator
from tests.personas import access_token_of, new_key, new_user

_CENTS, _FEW_CENTS = 100_000, 2


@dataclass(frozen=True)
class Person:
    user_id: UUID
    email: str
    key: str
    token: str
    balance: int  # nano-USD at the beginning
    # The token of another member of the same team; "" without a team.
    colleague: str = ""


def new_people() -> list[Person]:
    """One for each number of the schedule. The rich ones are a team."""
    people = [_person(number) for number in range(PEOPLE)]
    team = Team.objects.create(name="Crew")
    for number, person in enumerate(people[:RICH]):
        role = Role.ADMIN if number else Role.OWNER
        Member.objects.create(account_id=person.user_id, team=team, role=role)
        people[number] = replace(person, colleague=people[(number + 1) % RICH].token)
    return people


def new_operator_session() -> str:
    """The id of the session in which an operator is signed in to the admin."""
    return str(new_operator().client.cookies["sessionid"].value)


def _person(number: int) -> Person:
    user: User = new_user(f"person-{number}", plan="max")
    amount = (_FEW_CENTS if number == POOR else _CENTS) * NUSD_PER_CENT
    balance.topup(operation_id=uuid7(), account=user, amount=amount)
    return Person(user.pk, user.email, new_key(user)[1], access_token_of(user), amount)
