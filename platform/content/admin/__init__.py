"""Feature flags and marketing content in the operators' admin."""

from content.admin import entries, flags

__all__ = ["entries", "flags"]
