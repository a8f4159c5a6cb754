"""Workers that are killed, and what the sweeps make of what they leave."""

from collections.abc import Callable

from billing.services import sweeps
from billing.tests import bank
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.worker import running_worker
from work.jobs.sweeps import end_lost_jobs


def kill_a_worker_when(
    simulator: RunningSimulator, moment: Callable[[], object], **environment: str
) -> None:
    """Let a worker work until that moment, which may soon be over, and sweep up what it leaves. It
    looks for jobs before it takes messages."""
    with running_worker(simulator, takes_messages=False, **environment) as doomed:
        wait_for(moment, seconds=45, pause=0.005)
        doomed.kill()
    sweep()


def sweep() -> None:
    """As if the time had passed in which nobody renewed a lease."""
    with bank.no_process_lives():
        for _ in range(2):
            sweeps.expire_lapsed_charges()
            end_lost_jobs()
