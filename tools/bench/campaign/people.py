"""Who acts in a life: people on plan Max with an API key, and their balances."""

from dataclasses import dataclass
from uuid import UUID

from accounts.models import User
from bench.campaign.schedule import PEOPLE, POOR
from billing.services import balance
from common.ids import uuid7
from common.money import NUSD_PER_CENT
from tests.personas import access_token_of, new_key, new_user

_CENTS, _FEW_CENTS = 100_000, 2


@dataclass(frozen=True)
class Person:
    user_id: UUID
    email: str
    key: str
    token: str
    balance: int  # nano-USD at the beginning


def new_people() -> list[Person]:
    """One for each number of the schedule."""
    return [_person(number) for number in range(PEOPLE)]


def _person(number: int) -> Person:
    user: User = new_user(f"person-{number}", plan="max")
    amount = (_FEW_CENTS if number == POOR else _CENTS) * NUSD_PER_CENT
    balance.topup(operation_id=uuid7(), account=user, amount=amount)
    return Person(user.pk, user.email, new_key(user)[1], access_token_of(user), amount)
