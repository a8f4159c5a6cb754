"""Whether the owners of something live."""

from django.db.models import BooleanField, F, Func


def has_lapsed(owner: str) -> Func:
    """Has the owner in the column `owner` no lease, or one that has expired? For a queryset's
    filter; the column is not null."""
    return _ask("lease_lapsed", owner)


def is_given_up(owner: str) -> Func:
    """The same for sweeps: not before the owner had the time to renew a lease that has expired
    while nobody could renew any."""
    return _ask("lease_given_up", owner)


def _ask(function: str, owner: str) -> Func:
    now = Func(function="money_now")
    return Func(F(owner), now, function=function, output_field=BooleanField())
