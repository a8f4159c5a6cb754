"""What is done for connectors without a request."""

from common import sweeps
from integrations.connectors.services import connectors


@sweeps.sweep("sweep-connectors")
def sweep() -> None:
    """Every ten minutes: revoke what could not be revoked before."""
    connectors.sweep()
