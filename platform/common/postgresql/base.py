"""The backend itself, where Django looks for it (`DATABASES["default"]["ENGINE"]`)."""

from typing import Any

from django.db.backends.postgresql import base

from common.outages import OUTAGE


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own; its pool has one timeout for all times."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection of the pool, if there is one, or else a new one."""
        pool = self.pool  # type: ignore[attr-defined]
        if pool:
            pool.timeout = OUTAGE.patience
        return super().get_new_connection(conn_params)
