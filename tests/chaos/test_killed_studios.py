"""The worker is killed before, in and after each step of the jobs of the studios: another one goes
on, the provider has one order, and there is one result, which is billed and told once."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from jobs.tests.queueing import wait_until
from local.ports import free_port
from operations.types import State
from simulator.process import RunningSimulator
from simulator.process import running as running_simulator
from tests.chaos.studios import (
    LONG_MS,
    MODELS,
    SLOW,
    Ordered,
    Scene,
    dying_worker,
    sweep,
    wait_for,
    wait_for_blocked,
    wait_for_results,
    wait_in_haste,
)
from tests.service import Web
from tests.worker import running_worker

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(scope="module")
def http(web: Web) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=web.url, timeout=30) as http:
        yield http


# --- Where the jobs are when the worker dies ------------------------------------------------------


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
# The moments of one death each, in the order in which their jobs are brought there.
DEATHS: tuple[tuple[Moment, ...], ...] = (
    (
        before_the_submission,
        in_the_submission,
        in_a_poll,
        in_the_download,
        after_the_submission,
        after_the_last_poll,
        in_the_storing,
        between_two_polls,
    ),
    (after_the_settlement, before_the_settlement, in_the_settlement),
    (in_the_inspection,),
)
MOMENTS = {moment.__name__: moment for death in DEATHS for moment in death}
# The moments in which nobody knows what the provider does, or has done. The pictures come with the
# answer to their order, and with nothing else.
LOST = {
    "image": {
        *(in_the_submission, in_the_inspection, in_the_storing),
        *(before_the_settlement, in_the_settlement),
    },
    "video": {in_the_submission, after_the_submission},
    "3d": {in_the_submission, after_the_submission},
}
NOT_OF_PICTURES = (
    *(after_the_submission, in_a_poll, after_the_last_poll),
    *(between_two_polls, in_the_download),
)


class Case(NamedTuple):
    moment: str
    kind: str

    @property
    def is_lost(self) -> bool:
        return MOMENTS[self.moment] in LOST[self.kind]


CASES = [
    Case(name, kind)
    for name, moment in MOMENTS.items()
    for kind in (SLOW if moment in NOT_OF_PICTURES else MODELS)
]


@pytest.fixture(scope="module")
def survivors(
    django_db_blocker: DjangoDbBlocker, http: httpx.Client, simulator: RunningSimulator
) -> dict[Case, Ordered]:
    """The jobs of all moments, after a worker has died in each of them and another one has gone
    on."""
    with django_db_blocker.unblock():
        deaths = [_survive(death, http, simulator) for death in DEATHS]
    return {case: each for death in deaths for case, each in death.items()}


def _survive(
    death: tuple[Moment, ...], http: httpx.Client, simulator: RunningSimulator
) -> dict[Case, Ordered]:
    """The jobs that a worker had when it was killed, ended."""
    with dying_worker(http, simulator) as scene:
        jobs = {
            Case(moment.__name__, each.kind): each for moment in death for each in moment(scene)
        }
    sweep()
    with running_worker(simulator):
        wait_in_haste(list(jobs.values()), Ordered.has_ended)
    return jobs


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind} {case.moment}")
def test_a_job_whose_worker_died_has_one_result_and_one_bill(
    survivors: dict[Case, Ordered], case: Case
) -> None:
    status = "failed" if case.is_lost else "completed"

    survivors[case].check_end(status, is_unreconciled=case.is_lost)


# --- Cancelling and deleting ----------------------------------------------------------------------


def at_the_provider(scene: Scene) -> list[Ordered]:
    """A clip that is made for ever, an asset that its provider cannot stop, a picture that is being
    made. The worker stands still: what their users ask for now, it does not hear."""
    clip = scene.order("video", polls=1000)
    asset = scene.order("3d", polls=2)
    picture = scene.order("image", ttft_ms=LONG_MS)
    wait_until(lambda: all(each.operation.provider_id for each in clip + asset), seconds=30)
    wait_until(lambda: picture[0].submissions)
    scene.worker.freeze()
    return clip + asset + picture


def test_a_cancellation_outlives_the_worker(
    http: httpx.Client, simulator: RunningSimulator
) -> None:
    with dying_worker(http, simulator) as scene:
        clip, asset, picture = at_the_provider(scene)
        for each in (clip, asset, picture):
            answer = each.person.send("POST", f"/api/jobs/{each.id}/cancel")
            assert answer.status_code == 202
    sweep()

    with running_worker(simulator):
        wait_in_haste([clip, asset, picture], Ordered.has_ended)
        clip.check_end("cancelled")
        asset.check_end("completed")
        picture.check_end("cancelled", is_unreconciled=True)

    assert clip.submissions == ["cancelled"]


PATHS = {"video": "/api/videos", "3d": "/api/assets-3d/assets", "image": "/api/images"}


def test_a_deletion_outlives_the_worker(http: httpx.Client, simulator: RunningSimulator) -> None:
    with dying_worker(http, simulator) as scene:
        clip, asset, picture = at_the_provider(scene)
        for each in (clip, asset, picture):
            answer = each.person.send("DELETE", f"{PATHS[each.kind]}/{each.id}")
            assert answer.status_code == 204
            assert each.person.send("GET", f"/api/jobs/{each.id}").status_code == 404
    sweep()

    with running_worker(simulator):
        for each in (clip, asset, picture):
            each.person.wait_until_erased(each.job)

    for each in (clip, asset, picture):
        assert each.person.events(each.job)[-1][0] == "job.deleted"
        assert each.told_ends() == []
        assert len(each.submissions) == 1
        # What the provider finishes all the same is billed.
        each.check_bill(is_billed=each is asset)
        each.check_files()
    assert clip.submissions == ["cancelled"]


# --- The worker and the providers -----------------------------------------------------------------


def test_thirty_jobs_in_flight_outlive_their_worker(
    http: httpx.Client, simulator: RunningSimulator
) -> None:
    with dying_worker(http, simulator) as scene:
        at_providers = [each for _ in range(10) for each in scene.order(*SLOW, polls=2)]
        wait_until(lambda: all(each.operation.provider_id for each in at_providers), seconds=30)
        scene.worker.freeze()
        waiting = [each for _ in range(10) for each in scene.order("image")]
    sweep()

    with running_worker(simulator):
        wait_in_haste(at_providers + waiting, Ordered.has_ended)

    for each in at_providers + waiting:
        each.check_end("completed")


def test_what_providers_have_forgotten_ends_unbilled_and_is_not_ordered_again(
    http: httpx.Client,
) -> None:
    """The worker and the providers are started anew, and the providers know nothing any more."""
    port = f"--port={free_port()}"
    with running_simulator(port) as simulator, dying_worker(http, simulator) as scene:
        forgotten = scene.order(*SLOW, polls=1000)
        wait_until(lambda: all(each.operation.provider_id for each in forgotten), seconds=30)
        forgotten += scene.order("image", ttft_ms=LONG_MS)
        wait_until(lambda: all(each.submissions for each in forgotten))
        scene.worker.freeze()
        waiting = scene.order(*MODELS)
    sweep()

    with running_simulator(port) as simulator, running_worker(simulator):
        wait_in_haste(forgotten + waiting, Ordered.has_ended)
        for each in forgotten:
            each.check_end("failed", is_unreconciled=True, submissions=0)
        for each in waiting:
            each.check_end("completed")
