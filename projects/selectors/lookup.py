"""The rows of runs by their ids, for their owner."""

from uuid import UUID

from accounts.models import User
from common.errors import NotFound
from projects.models import Deliverable, Run


def get_run(user: User, run_id: UUID) -> Run:
    """The user's run. Raises NotFound."""
    run = Run.objects.filter(account=user, pk=run_id).first()
    if run is None:
        raise NotFound
    return run


def get_deliverable(user: User, deliverable_id: UUID) -> Deliverable:
    """A deliverable of one of the user's runs. Raises NotFound."""
    owned = Deliverable.objects.filter(run__account=user)
    deliverable = owned.filter(pk=deliverable_id).first()
    if deliverable is None:
        raise NotFound
    return deliverable
