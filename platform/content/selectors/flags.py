"""What operators have set of the flags: one snapshot per process, at most a few seconds old."""

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType

from common.snapshots import Snapshot
from content.models import FlagOverride
from content.types import Overrides

_NONE = Overrides(None, None, MappingProxyType({}), MappingProxyType({}))


def get_overrides(flag: str) -> Overrides:
    """What is set of that flag. No query, or one where the snapshot is stale.

    Raises ServiceUnavailable where the database is away and was never reached before.
    """
    return _snapshot.get().get(flag, _NONE)


def reset() -> None:
    """Forget the snapshot. For tests, whose database changes under it."""
    _snapshot.reset()


def _load() -> Mapping[str, Overrides]:
    by_flag: defaultdict[str, list[FlagOverride]] = defaultdict(list)
    for row in FlagOverride.objects.select_related("flag"):
        by_flag[row.flag.name].append(row)
    return {flag: _overrides_of(rows) for flag, rows in by_flag.items()}


def _overrides_of(rows: list[FlagOverride]) -> Overrides:
    """The rows of one flag."""
    users = {row.user_id: row.is_on for row in rows if row.user_id is not None}
    plans = {row.plan_id: row.is_on for row in rows if row.plan_id is not None}
    rest = [row for row in rows if row.user_id is None and row.plan_id is None]
    return Overrides(
        everyone=next((row.is_on for row in rest if row.percent is None), None),
        percent=next((row.percent for row in rest if row.percent is not None), None),
        plans=MappingProxyType(plans),
        users=MappingProxyType(users),
    )


_snapshot = Snapshot(_load)
