"""The worker is killed before, in and after each step of the jobs of the studios: another one goes
on, the provider has one order, and there is one result, which is billed and told once."""

from collections.abc import Iterator
from typing import NamedTuple

import httpx
import pytest
from pytest_django import DjangoDbBlocker

from simulator.process import RunningSimulator
from tests.chaos.killing import sweep
from tests.chaos.studio_moments import (
    DEATHS,
    Moment,
    after_the_last_poll,
    after_the_submission,
    before_the_settlement,
    between_two_polls,
    in_a_poll,
    in_the_download,
    in_the_inspection,
    in_the_settlement,
    in_the_storing,
    in_the_submission,
)
from tests.chaos.studios import (
    LONG_MS,
    MODELS,
    SLOW,
    Ordered,
    Scene,
    dying_worker,
    wait_in_haste,
)
from tests.service import Web
from tests.worker import running_worker
from work.jobs.tests.queueing import wait_until

pytestmark = pytest.mark.usefixtures("committed")


@pytest.fixture(scope="module")
def http(web: Web) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=web.url, timeout=30) as http:
        yield http


# --- Each step ------------------------------------------------------------------------------------


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
    made. The worker is frozen, and takes no notice of what their users ask for now."""
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


def test_a_deletion_outlives_the_worker(http: httpx.Client, simulator: RunningSimulator) -> None:
    with dying_worker(http, simulator) as scene:
        clip, asset, picture = at_the_provider(scene)
        for each in (clip, asset, picture):
            assert each.person.delete(each.job).status_code == 409
            assert each.person.delete(each.job, confirm=True).status_code == 202
    sweep()

    with running_worker(simulator):
        wait_in_haste([clip, asset, picture], Ordered.has_ended)

    for each in (clip, asset, picture):
        assert each.person.events(each.job)[-1][0] == "job.deleted"
        assert each.told_ends() == []
        assert each.person.job(each.job)["status"] == "cancelled"
        assert len(each.submissions) == 1
        # What the provider finishes all the same is billed.
        each.check_bill(is_billed=each is asset)
        each.check_files()
    assert clip.submissions == ["cancelled"]
