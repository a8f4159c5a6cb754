"""The moments of jobs of the studios in which a worker dies: each takes new jobs to one step, and
leaves them there."""

from collections.abc import Callable

from ai.operations.types import State
from tests.chaos.studios import (
    MODELS,
    SLOW,
    Ordered,
    Scene,
    wait_for,
    wait_for_blocked,
    wait_for_results,
    wait_in_haste,
)
from work.jobs.tests.queueing import wait_until


def before_the_submission(scene: Scene) -> list[Ordered]:
    with scene.standstill():
        ordered = scene.order(*MODELS)
        holder = scene.lock("operations_operation", "job_id", [each.id for each in ordered])
    wait_for_blocked(holder, ordered)
    return ordered


def in_the_submission(scene: Scene) -> list[Ordered]:
    ordered = scene.order(*MODELS, hang=True, times=1)
    wait_for(ordered, State.SUBMITTING)
    wait_until(lambda: all(each.submissions for each in ordered))
    return ordered


def after_the_submission(scene: Scene) -> list[Ordered]:
    """The provider has answered; that is not saved."""
    ordered = scene.order(*SLOW, ttft_ms=2000)
    wait_for(ordered, State.SUBMITTING)
    holder = scene.lock("operations_operation", "job_id", [each.id for each in ordered])
    wait_for_blocked(holder, ordered)
    return ordered


def between_two_polls(scene: Scene) -> list[Ordered]:
    ordered = scene.order(*SLOW, polls=3)
    wait_until(lambda: all(each.waits() for each in ordered), seconds=30)
    return ordered


def in_a_poll(scene: Scene) -> list[Ordered]:
    ordered = scene.order(*SLOW, hang=True, times=1, at=["poll"])
    wait_for(ordered, State.RUNNING)
    return ordered


def after_the_last_poll(scene: Scene) -> list[Ordered]:
    """The provider has said that it is done; that is not saved."""
    ordered = scene.order(*SLOW)
    wait_until(lambda: all(each.waits() for each in ordered), seconds=30)
    holder = scene.lock("operations_operation", "job_id", [each.id for each in ordered])
    wait_in_haste(ordered, lambda each: each.is_in_step(State.RUNNING))
    wait_for_blocked(holder, ordered)
    return ordered


def in_the_download(scene: Scene) -> list[Ordered]:
    ordered = scene.order(*SLOW, hang=True, times=1, at=["file"])
    wait_for(ordered, State.FETCHING)
    return ordered


def in_the_inspection(scene: Scene) -> list[Ordered]:
    """Two results are inspected at a time: the picture waits for its turn."""
    ordered = scene.order(*SLOW)
    wait_in_haste(ordered, lambda _: scene.stop_inspectors() == len(ordered))
    pictures = scene.order("image")
    wait_until(lambda: [each.submissions for each in pictures] == [["completed"]])
    return ordered + pictures


def in_the_storing(scene: Scene) -> list[Ordered]:
    holder = scene.lock_inserts("files_storedfile")
    ordered = scene.order(*SLOW)
    wait_for(ordered, State.FETCHING)
    ordered += scene.order("image")
    wait_for_blocked(holder, ordered)
    return ordered


def before_the_settlement(scene: Scene) -> list[Ordered]:
    """The result is stored."""
    with scene.standstill():
        ordered = scene.order(*MODELS)
        accounts = [each.person.user.pk for each in ordered]
        holder = scene.lock("billing_wallet", "account_id", accounts)
    wait_for_results(ordered)
    wait_for_blocked(holder, ordered)
    return ordered


def in_the_settlement(scene: Scene) -> list[Ordered]:
    """The money has moved and the files are kept, in a transaction that is not committed."""
    holder = scene.lock_inserts("studios_generationoutput")
    ordered = scene.order(*MODELS)
    wait_for_results(ordered)
    wait_for_blocked(holder, ordered)
    return ordered


def after_the_settlement(scene: Scene) -> list[Ordered]:
    ordered = scene.order(*MODELS)
    wait_in_haste(ordered, Ordered.has_ended)
    return ordered


Moment = Callable[[Scene], list[Ordered]]
# In the order in which their jobs are brought there.
STEPS: tuple[Moment, ...] = (
    before_the_submission,
    in_the_submission,
    in_a_poll,
    in_the_download,
    after_the_submission,
    after_the_last_poll,
    in_the_storing,
    between_two_polls,
)
# The moments of one death each.
DEATHS: tuple[tuple[Moment, ...], ...] = (
    STEPS,
    (after_the_settlement, before_the_settlement, in_the_settlement),
    (in_the_inspection,),
)
