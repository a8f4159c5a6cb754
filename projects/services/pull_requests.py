"""Opens the pull request of an apply."""

from typing import Final

import structlog
from msgspec import Struct

from integrations.githosts.types import GitHost, Repository
from integrations.safe_http.errors import HostError
from projects.models import Apply

log = structlog.get_logger(__name__)

# The code in the `error` of an order whose commit is written, and whose pull request is not open.
FAILED: Final = "pull_request_failed"


class PullRequest(Struct, frozen=True, kw_only=True):
    """Its URL, or why there is none."""

    url: str = ""
    problem: str = ""


def open_pull_request(host: GitHost, order: Apply, repository: Repository) -> PullRequest:
    """Open one for the branch of an order, or find the one that is open. That it fails changes
    nothing of the commit."""
    try:
        url = host.open_pull_request(
            repository.name,
            branch=order.branch,
            into=repository.default_branch,
            title=order.run.title,
            text=order.message,
        )
    except HostError as error:
        log.warning("apply.no_pull_request", apply_id=str(order.pk))
        return PullRequest(problem=str(error))
    return PullRequest(url=url)
