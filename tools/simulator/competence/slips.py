"""What clumsy authors do wrong, decided by a seed, the step and how often it was asked before."""

import random
from dataclasses import dataclass

import msgspec

from simulator.steering import Clumsiness, Mistake, Steering, Step

_OF_ALL = ("cut", "refusal", "unavailable", "broken")
_OF_WORK = ("missing_file", "wrong_path", "fence", "stale_edit", "bad_arguments")
# How likely the later calls of a step go wrong, of the first; those after them never do.
_LATER = (1.0, 0.4)
# A provider that is away answers so many requests with an error, at least and at most.
_AWAY = (1, 5)
# Turns of an author that calls functions, in one of which something goes wrong.
_LATEST_TURN = 3
_BROKEN_AFTER = 60  # words at most


@dataclass(frozen=True, slots=True)
class Slip:
    """What goes wrong in one call. `place` in it is a share from 0 to 1."""

    mistake: Mistake
    place: float
    choice: int


def slip_in_turn(
    clumsy: Clumsiness, step: Step, subtask: str, before: int, turn: int
) -> Slip | None:
    """The slip of a turn of an author that calls functions, from 0 on, in an answer that was
    preceded by so many. Wrong files are those of any turn, everything else is of one."""
    slip = _decided(clumsy, step, subtask, before)
    if slip is None or (slip.mistake in _OF_WORK and slip.mistake != "bad_arguments"):
        return slip
    first = slip.choice % _LATEST_TURN
    last = first + (_requests_away(slip) - 1 if slip.mistake == "unavailable" else 0)
    return slip if first <= turn <= last else None


def slip_of(clumsy: Clumsiness, step: Step, subtask: str, before: int) -> Slip | None:
    """The slip of a call that was preceded by so many for the same step and subtask."""
    first = _decided(clumsy, step, subtask, 0)
    if first is not None and first.mistake == "unavailable":
        return first if before < _requests_away(first) else None
    return _decided(clumsy, step, subtask, before)


def _decided(clumsy: Clumsiness, step: Step, subtask: str, before: int) -> Slip | None:
    if before >= len(_LATER):
        return None
    chance = random.Random(f"{clumsy.seed} {step} {subtask} {before}")  # noqa: S311 - no secret
    fitting = [mistake for mistake in clumsy.mistakes if _fits(mistake, step)]
    if not fitting or chance.random() >= clumsy.share * _LATER[before]:
        return None
    return Slip(chance.choice(fitting), chance.random(), chance.randrange(1_000))


def _requests_away(slip: Slip) -> int:
    least, most = _AWAY
    return least + slip.choice % (most - least + 1)


def with_fault(steering: Steering, slip: Slip) -> Steering:
    """The steering of a call whose provider fails."""
    if slip.mistake == "unavailable":
        return msgspec.structs.replace(steering, status=503)
    if slip.mistake == "broken":
        after = round(slip.place * _BROKEN_AFTER)
        return msgspec.structs.replace(steering, fail="after", after_tokens=after)
    return steering


def _fits(mistake: Mistake, step: Step) -> bool:
    return (
        mistake in _OF_ALL
        or (step == "work" and mistake in _OF_WORK)
        or (step == "plan" and mistake == "bad_plan")
    )
