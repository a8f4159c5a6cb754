"""What other apps hear of connectors."""

from django.dispatch import Signal

# Sent with `connector` in the transaction in which its status has changed, or in which its user has
# disconnected it.
connector_changed = Signal()
