"""The feature flags: what operators can switch in the admin, without a deployment.

A flag is a constant of this module. Code reads it as `flags.PUBLIC_SHARING.is_on(user)`, and a test
fails for a flag that no code reads. docs/api/content.md says which value counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from content.selectors.flags import get_overrides
from content.types import FlagUser


@dataclass(frozen=True, slots=True)
class Flag:
    """`owner` is the app that reads the flag, which knows what it does."""

    name: str
    default: bool
    description: str
    owner: str

    def value_for(self, user: FlagUser) -> bool:
        """What the flag is for a user. Raises ServiceUnavailable, as `is_on` does, where the
        database is away and was never reached before."""
        raise NotImplementedError


class UserFlag(Flag):
    """A flag that may differ from user to user."""

    def is_on(self, user: FlagUser) -> bool:
        overrides = get_overrides(self.name)
        return overrides.for_user(user, self.name, default=self.default)

    def value_for(self, user: FlagUser) -> bool:
        return self.is_on(user)


class SiteFlag(Flag):
    """A flag that is the same for everyone, because it is read where nobody is signed in."""

    def is_on(self) -> bool:
        return get_overrides(self.name).for_everyone(default=self.default)

    def value_for(self, user: FlagUser) -> bool:
        return self.is_on()


SIGN_UP = SiteFlag(
    name="sign_up",
    default=True,
    description="New accounts can be made, with a password or with Google. Accounts that exist "
    "sign in all the same.",
    owner="accounts",
)
PUBLIC_SHARING = UserFlag(
    name="public_sharing",
    default=True,
    description="Conversations can be shared by a public link. Links that exist go on working; "
    "operators revoke them one by one.",
    owner="conversations",
)

_ALL = (SIGN_UP, PUBLIC_SHARING)
FLAGS: Mapping[str, Flag] = MappingProxyType({flag.name: flag for flag in _ALL})
