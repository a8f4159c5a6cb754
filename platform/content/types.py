"""Types of the content app, for other apps as well."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol
from uuid import UUID

# Users for whom one flag can be set by name. Every process keeps all of them in memory.
MAX_USERS = 1_000


class FlagUser(Protocol):
    """What a flag may depend on of a user: the id, and the key of the plan."""

    @property
    def pk(self) -> UUID: ...

    @property
    def plan(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Overrides:
    """What operators have set of one flag. `percent` is the share of users for whom it is on."""

    everyone: bool | None
    percent: int | None
    plans: Mapping[str, bool]
    users: Mapping[UUID, bool]

    def for_everyone(self, *, default: bool) -> bool:
        return default if self.everyone is None else self.everyone

    def for_user(self, user: FlagUser, flag: str, *, default: bool) -> bool:
        """The nearest one counts: user, plan, share, everyone, default."""
        if (of_user := self.users.get(user.pk)) is not None:
            return of_user
        if self.plans and (of_plan := self.plans.get(user.plan)) is not None:
            return of_plan
        if self.percent is not None and is_in_share(user.pk, flag, self.percent):
            return True
        return self.for_everyone(default=default)


def is_in_share(user_id: UUID, flag: str, percent: int) -> bool:
    """Is the user among that share of all users? Each flag has shares of its own. A larger share
    has all users of a smaller one."""
    digest = sha256(f"{flag}:{user_id}".encode()).digest()
    return int.from_bytes(digest[:8]) % 100 < percent
