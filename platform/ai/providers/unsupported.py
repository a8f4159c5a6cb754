"""Refuses what a provider's interface has no field for, instead of silently leaving it out."""

from ai.providers.errors import RequestRefused


def refuse(**given: object) -> None:
    """Raises RequestRefused where one of these is given: it is neither empty, nor None or False.
    Their names are for the customer."""
    for name, value in given.items():
        if value not in (None, "", ()) and value is not False:
            raise RequestRefused(f"This model does not take: {name.replace('_', ' ')}.")
