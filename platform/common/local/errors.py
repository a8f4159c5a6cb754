"""What ends a local command."""


class LocalError(Exception):
    """One sentence for the person at the terminal: what is wrong, and what to do about it."""
