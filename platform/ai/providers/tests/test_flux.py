"""Black Forest Labs' image wire: submitted once, asked after, fetched from its own hosts only."""

import asyncio
import time

import pytest
from msgspec.structs import replace

from ai.providers.config import ProviderConfig
from ai.providers.errors import RequestRefused, UpstreamError
from ai.providers.flux import Flux
from ai.providers.types import Deadlines, ImageQuality, ImageSize
from common.http import UpstreamClient
from common.tests.upstream import Answer, Call, Upstream
from tests.stopwatch import Stopwatch

from .media import AMPLE, PNG, answer, data_of, failure_of, image_request

PENDING = answer({"id": "1", "status": "Pending", "result": None, "progress": 0.1})
SAMPLE = Answer([PNG], content_type="application/octet-stream")


class Lab:
    """Answers as the real one does. `submitted`, `asked` and `fetched` are what each kind of call
    gets in turn; the last of them is repeated."""

    def __init__(self, upstream: Upstream) -> None:
        self.origin = upstream.url.removesuffix("/v1")
        self.submitted: list[Answer] = [answer(self.task())]
        self.asked: list[Answer] = [self.ready()]
        self.fetched: list[Answer] = [SAMPLE]
        self._upstream = upstream
        upstream.answer = self._next

    def task(self, polling_url: str | None = None) -> dict[str, object]:
        url = polling_url or f"{self.origin}/regional/get_result?id=1"
        return {"id": "1", "polling_url": url, "cost": 3.0}

    def ready(self, sample: str | None = None) -> Answer:
        return status("Ready", {"sample": sample or f"{self.origin}/samples/1.png", "seed": 1})

    def foreign(self, url: str) -> str:
        """That URL made up to resemble ours."""
        return url.format(origin=self.origin, port=self.origin.rsplit(":", 1)[1])

    def calls(self, path: str) -> list[Call]:
        return [call for call in self._upstream.calls if call.path.startswith(path)]

    def _next(self, call: Call) -> Answer:
        answers = {"/v1/": self.submitted, "/reg": self.asked, "/sam": self.fetched}[call.path[:4]]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def status(word: str, result: object = None) -> Answer:
    return answer({"id": "1", "status": word, "result": result})


@pytest.fixture
def lab(upstream: Upstream) -> Lab:
    return Lab(upstream)


@pytest.fixture
def wire(upstream: Upstream, client: UpstreamClient) -> Flux:
    return Flux(ProviderConfig("bfl", None, upstream.url, "key-of-the-platform"), client)


async def test_a_picture_is_submitted_asked_after_and_fetched(
    upstream: Upstream, lab: Lab, wire: Flux
) -> None:
    lab.asked = [PENDING, lab.ready()]
    started = time.monotonic()
    with Stopwatch() as watch:
        assert data_of(await wire.generate(image_request(), AMPLE)) == [PNG]
    assert time.monotonic() - started >= 1.0
    assert watch.seconds < 2.0
    submit, ask, again, fetch = upstream.calls
    assert (submit.method, submit.path) == ("POST", "/v1/some-model")
    assert (ask.method, ask.path) == ("GET", "/regional/get_result?id=1")
    assert again.path == ask.path
    assert (fetch.method, fetch.path) == ("GET", "/samples/1.png")
    assert [call.headers.get("x-key") for call in upstream.calls] == [
        *["key-of-the-platform"] * 3,
        None,
    ]


@pytest.mark.parametrize("size", ["1024x1024", "1536x1024", "1024x1536"])
@pytest.mark.parametrize(("quality", "megapixels"), [("low", 1), ("standard", 1), ("high", 2)])
async def test_a_picture_costs_what_is_listed(
    lab: Lab, wire: Flux, size: ImageSize, quality: ImageQuality, megapixels: int
) -> None:
    lab.submitted = [answer({}, 429)]
    await failure_of(wire, image_request(1, size, quality))
    (call,) = lab.calls("/v1/")
    width, height = call.json["width"], call.json["height"]
    assert call.json == {
        "prompt": "A lighthouse",
        "width": width,
        "height": height,
        "output_format": "png",
    }
    assert width % 16 == height % 16 == 0
    assert 0.9 * megapixels * 2**20 < width * height <= megapixels * 2**20
    asked_width, asked_height = (int(side) for side in size.split("x"))
    assert width / height == pytest.approx(asked_width / asked_height, rel=0.01)


async def test_each_picture_is_a_task_of_its_own_and_what_was_made_is_delivered(
    lab: Lab, wire: Flux
) -> None:
    lab.submitted = [answer({}, 429), answer(lab.task())]
    lab.asked = [status("Content Moderated"), lab.ready()]
    assert data_of(await wire.generate(image_request(4), AMPLE)) == [PNG, PNG]
    assert len(lab.calls("/v1/")) == 4


@pytest.mark.parametrize(
    ("told", "known"), [(42, 42), (None, 7), (-1, 7), (2**63, 7), ("42", 7), (True, 7), ({}, 7)]
)
async def test_the_seed_is_what_the_provider_tells_or_what_was_sent(
    lab: Lab, wire: Flux, told: object, known: int
) -> None:
    lab.asked = [status("Ready", {"sample": f"{lab.origin}/samples/1.png", "seed": told})]

    [picture] = await wire.generate(replace(image_request(), seed=7), AMPLE)

    assert picture.seed == known


@pytest.mark.parametrize("word", ["Request Moderated", "Content Moderated"])
async def test_what_moderation_withholds_is_blocked(lab: Lab, wire: Flux, word: str) -> None:
    lab.asked = [status(word)]
    failure = await failure_of(wire)
    assert isinstance(failure, RequestRefused)
    assert failure.blocked


async def test_a_task_that_fails_is_not_submitted_again(lab: Lab, wire: Flux) -> None:
    lab.asked = [
        status("Error"),
        status("Failed"),
        status("Ready"),
        answer({"status": "Task not found"}, 404),
    ]
    failure = await failure_of(wire, image_request(4))
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
    assert len(lab.calls("/v1/")) == 4


async def test_a_question_that_fails_is_asked_again(lab: Lab, wire: Flux) -> None:
    lab.asked = [answer({}, 503), Answer([b"{"], ending="broken"), lab.ready()]
    lab.fetched = [answer({}, 500), SAMPLE]
    assert data_of(await wire.generate(image_request(), AMPLE)) == [PNG]
    assert len(lab.calls("/v1/")) == 1


async def test_a_provider_that_keeps_failing_is_given_up(lab: Lab, wire: Flux) -> None:
    lab.asked = [answer({}, 503)]
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
    assert len(lab.calls("/regional")) == 3


@pytest.mark.parametrize(
    "fetched",
    [
        answer({}, 404),  # expired
        answer({}, 302),
        Answer([b"<html>"], content_type="image/png"),
        Answer([b"x" * 1_000_000] * 41, content_type="image/png"),
        Answer([PNG[:4]], ending="broken"),
    ],
)
async def test_a_picture_that_cannot_be_fetched_is_a_failure(
    lab: Lab, wire: Flux, fetched: Answer
) -> None:
    lab.fetched = [fetched]
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
    assert len(lab.calls("/v1/")) == 1


FOREIGN = ("http://localhost:{port}/samples/1.png", "{origin}@evil.com/samples/1.png")


@pytest.mark.parametrize("url", FOREIGN)
async def test_the_key_is_carried_to_no_other_place(
    upstream: Upstream, lab: Lab, wire: Flux, url: str
) -> None:
    lab.submitted = [answer(lab.task(lab.foreign(url)))]
    assert str(await failure_of(wire)) == "The provider named a place that is not its own."
    assert len(upstream.calls) == 1


@pytest.mark.parametrize("url", FOREIGN)
async def test_a_picture_is_fetched_from_no_other_place(lab: Lab, wire: Flux, url: str) -> None:
    lab.asked = [lab.ready(lab.foreign(url))]
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert str(failure) == "The provider named a place that is not its own."
    assert not failure.retryable
    assert not lab.calls("/samples")


@pytest.mark.parametrize(
    "submitted",
    [answer({"id": "1"}), answer({"polling_url": 7}), answer({"polling_url": None}), answer([])],
)
async def test_a_task_without_an_address_is_a_failure(
    lab: Lab, wire: Flux, submitted: Answer
) -> None:
    lab.submitted = [submitted]
    failure = await failure_of(wire)
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable


async def test_a_task_that_never_ends_is_left_in_time(lab: Lab, wire: Flux) -> None:
    lab.asked = [PENDING]
    with Stopwatch() as watch:
        failure = await failure_of(wire, deadlines=Deadlines(connect=2.0, total=1.2))
    assert isinstance(failure, UpstreamError)
    assert not failure.retryable
    assert watch.seconds < 1.7


async def test_what_is_ready_in_time_is_delivered_though_others_are_not(
    lab: Lab, wire: Flux
) -> None:
    lab.asked = [lab.ready(), PENDING]
    pictures = await wire.generate(image_request(2), Deadlines(connect=2.0, total=1.6))
    assert data_of(pictures) == [PNG]


async def test_who_gives_up_waiting_stops_the_asking(lab: Lab, wire: Flux) -> None:
    lab.asked = [PENDING]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.8):
            await wire.generate(image_request(2), AMPLE)
    asked = len(lab.calls("/regional"))
    await asyncio.sleep(0.7)
    assert len(lab.calls("/regional")) == asked
