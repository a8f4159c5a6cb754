"""Errors that end a local command."""


class LocalError(Exception):
    """One sentence for the person at the terminal: what is wrong, and how to mend it."""
