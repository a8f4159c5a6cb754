"""Feature flags and marketing content."""

from content.models.entries import Entry, Revision
from content.models.flags import FlagOverride, FlagRecord

__all__ = ["Entry", "FlagOverride", "FlagRecord", "Revision"]
