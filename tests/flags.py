"""Feature flags in tests: set for everyone while a block runs."""

from collections.abc import Iterator
from contextlib import contextmanager

from content.flags import Flag
from content.models import FlagRecord
from content.selectors import flags as selectors
from content.services import flags


@contextmanager
def switched(flag: Flag, *, on: bool) -> Iterator[None]:
    """The flag is on or off for everyone in this process, at once."""
    record = FlagRecord.objects.get(name=flag.name)
    flags.set_for_everyone(flag=record, is_on=on)
    selectors.reset()
    try:
        yield
    finally:
        flags.set_for_everyone(flag=record, is_on=None)
        selectors.reset()
