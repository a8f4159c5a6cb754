"""A burst of requests begins a few at a time, the clients' addresses in turn."""

import asyncio
from collections.abc import Iterator

import pytest

from server.asgi import Message, Receive, Scope, Send
from server.fair_admission import AT_ONCE, FairAdmission

ALICE, BOB, CHARLIE = "192.0.2.1", "192.0.2.2", "192.0.2.3"


class Requests:
    """Requests to an application that answers at once; `begun` are the clients of those that have
    begun, in that order."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._application = FairAdmission(self._begin)

    def send(self, client: str, count: int = 1) -> None:
        scope = {"type": "http", "headers": [], "client": (client, 1)}
        self.tasks += [
            asyncio.ensure_future(self._application(scope, _nothing, _nowhere))
            for _ in range(count)
        ]

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.begun.append(scope["client"][0])


async def _nothing() -> Message:
    return {}


async def _nowhere(message: Message) -> None:
    pass


@pytest.fixture
def requests() -> Iterator[Requests]:
    requests = Requests()
    yield requests
    assert all(task.done() for task in requests.tasks)


async def test_all_of_a_burst_begin(requests: Requests) -> None:
    requests.send(ALICE, 10 * AT_ONCE + 1)
    await asyncio.gather(*requests.tasks)
    assert requests.begun == [ALICE] * (10 * AT_ONCE + 1)


async def test_a_few_begin_in_each_pass_of_the_loop(requests: Requests) -> None:
    requests.send(ALICE, 10 * AT_ONCE)
    begun = 0
    while begun < 10 * AT_ONCE:
        await asyncio.sleep(0)
        assert len(requests.begun) - begun <= AT_ONCE
        begun = len(requests.begun)


async def test_a_request_after_a_burst_begins_before_the_end_of_the_burst(
    requests: Requests,
) -> None:
    requests.send(ALICE, 100 * AT_ONCE)
    await asyncio.sleep(0)
    requests.send(BOB)
    requests.send(CHARLIE, 2)
    await asyncio.gather(*requests.tasks)
    assert requests.begun.index(BOB) < 4 * AT_ONCE
    assert [place for place, client in enumerate(requests.begun) if client == CHARLIE][1] < (
        4 * AT_ONCE
    )


async def test_one_that_is_cancelled_while_it_waits_keeps_back_nobody(requests: Requests) -> None:
    requests.send(ALICE, 3 * AT_ONCE)
    requests.send(BOB)
    await asyncio.sleep(0)
    for task in requests.tasks[AT_ONCE : 2 * AT_ONCE]:
        task.cancel()
    await asyncio.gather(*requests.tasks, return_exceptions=True)
    assert sorted(requests.begun) == [ALICE] * (2 * AT_ONCE) + [BOB]


async def test_each_event_loop_has_its_own(requests: Requests) -> None:
    """A loop that has ended in the middle of a burst keeps back nobody in the next one."""

    def end_early() -> None:
        async def send() -> None:
            requests.send(ALICE, 3 * AT_ONCE)
            await asyncio.sleep(0)

        asyncio.run(send())

    await asyncio.to_thread(end_early)
    requests.send(BOB)
    await asyncio.gather(requests.tasks[-1])
    assert requests.begun[-1] == BOB
