"""What a reader opens who follows one request through the code."""

from dataclasses import dataclass

Calls = list[tuple[str | None, str]]


@dataclass(frozen=True)
class Walk:
    """`files` in the order in which the request enters them; `climbs` are calls from one of them to
    one that was entered before it."""

    files: list[str]
    climbs: list[tuple[str, str]]


def walk_of(calls: Calls, simplest: Calls) -> Walk:
    """The walk of a request that made these calls.

    It leaves out the files of the `simplest` request of the same interface, which every request
    enters, and leaves: a file that calls no other one does what the name of its function says.
    """
    shared = {called for _, called in simplest}
    own = [(caller, called) for caller, called in calls if called not in shared]
    callers = {caller for caller, _ in own}
    files = list(dict.fromkeys(called for _, called in own if called in callers))
    place = {name: number for number, name in enumerate(files)}
    climbs = [
        (caller, called)
        for caller, called in own
        if caller in place and called in place and place[called] < place[caller]
    ]
    return Walk(files, climbs)
