"""The backend itself, where Django looks for it (`DATABASES["default"]["ENGINE"]`)."""

from typing import Any

from django.db.backends.postgresql import base

from common.outages import OUTAGE
from common.watched_connections import check


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own; its pool has one timeout for all times, and a check that cannot be chosen."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection of the pool, if there is one, or else a new one."""
        pool = self.pool  # type: ignore[attr-defined]
        if not pool:
            with OUTAGE.watched():
                return super().get_new_connection(conn_params)
        pool.timeout, pool._check = OUTAGE.patience, check
        connection = super().get_new_connection(conn_params)
        OUTAGE.served()
        return connection
