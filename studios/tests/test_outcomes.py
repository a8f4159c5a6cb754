"""How jobs end at each provider: what is delivered is billed, and nothing else."""

from typing import Any, NamedTuple

import httpx
import pytest

from simulator.process import RunningSimulator
from studios.tests.artist import MODELS, Artist, Job, new_artist
from tests.worker import Worker

pytestmark = pytest.mark.usefixtures("committed")

SLOW = ("veo-3.1", "gen4.5", "ray-2", "meshy-6", "tripo-h3")


class Case(NamedTuple):
    """How the simulator is steered, and how the job ends."""

    steering: dict[str, Any]
    status: str
    code: str | None = None


# Of every model.
ALL = {
    "it succeeds": Case({}, "completed"),
    "the provider refuses the order": Case({"status": 400}, "failed", "invalid_body"),
    "moderation refuses the order": Case({"refusal": True}, "failed", "content_blocked"),
    "the order is turned away at first": Case({"status": 503, "times": 1}, "completed"),
    "the answer to the order is lost": Case({"drop": True}, "failed", "upstream_error"),
}
# Of those that work for minutes.
OPERATIONS = {
    "it waits and works": Case({"queue": 2, "polls": 2}, "completed"),
    "the provider fails": Case({"finish": "failed"}, "failed", "upstream_error"),
    "moderation stops the result": Case({"blocked": True}, "failed", "content_blocked"),
    "polls fail": Case({"status": 500, "at": ["poll"], "times": 2}, "completed"),
    "polls are cut off": Case({"drop": True, "at": ["poll"], "times": 1}, "completed"),
    "the link to the result has expired": Case({"result": "expired", "times": 1}, "completed"),
    "the result is empty": Case({"result": "empty"}, "failed", "upstream_error"),
    "the result is broken": Case({"result": "broken"}, "failed", "upstream_error"),
    "the result is of 2 GB": Case({"result": "huge"}, "failed", "upstream_error"),
    "the result is elsewhere": Case({"result": "redirect"}, "failed", "upstream_error"),
    "the copy is cut off": Case({"truncate": True, "at": ["file"], "times": 1}, "completed"),
    "the result is of another type": Case({"result": "other_type"}, "failed", "upstream_error"),
}
CASES = {
    **{f"{model}: {name}": (model, case) for model in MODELS for name, case in ALL.items()},
    **{f"{model}: {name}": (model, case) for model in SLOW for name, case in OPERATIONS.items()},
}


@pytest.fixture(scope="module")
def ordered(
    http: httpx.Client, worker: Worker, simulator: RunningSimulator
) -> dict[str, tuple[Artist, Job]]:
    """All of them at once: each waits for its provider, and none for another."""
    people = {name: new_artist(http, simulator) for name in CASES}
    return {
        name: (people[name], people[name].order(model, steering=case.steering))
        for name, (model, case) in CASES.items()
    }


@pytest.mark.parametrize("name", CASES)
def test_it_ends_once_and_is_billed_for_what_was_delivered(
    ordered: dict[str, tuple[Artist, Job]], name: str
) -> None:
    case, (alice, ordered_job) = CASES[name][1], ordered[name]

    job = alice.ended(ordered_job)

    is_completed = case.status == "completed"
    assert (job["status"], job["error"] and job["error"]["code"]) == (case.status, case.code)
    assert bool(job["outputs"]) == is_completed
    assert job["refunded"] is not is_completed
    assert job["hold_usd"] is None
    alice.check_money()
    assert (job["cost_usd"] > 0) == is_completed


@pytest.mark.parametrize(
    ("steering", "told"),
    [
        ({"bad_json": True}, "delivered nothing that can be used"),
        ({"no_picture": True}, "delivered nothing that can be used"),
        ({"drop": True}, "it has failed, or its answer was lost"),
        ({"status": 500}, "it has failed, or its answer was lost"),
    ],
    ids=str,
)
def test_an_answer_of_no_use_is_told_from_one_that_is_lost(
    http: httpx.Client,
    worker: Worker,
    simulator: RunningSimulator,
    steering: dict[str, Any],
    told: str,
) -> None:
    alice = new_artist(http, simulator)

    job = alice.made("gpt-image-2.5-flare", steering=steering)

    assert told in job["error"]["message"]
    alice.check_money()
