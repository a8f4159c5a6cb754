"""Items that arrive together go together; none waits for company."""

import asyncio

import pytest

from common.batching import Batcher


class Recorder:
    """Doubles numbers, batch by batch; holds each batch back until it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.released = asyncio.Event()

    async def double(self, items: list[int]) -> list[int]:
        self.batches.append(items)
        await self.released.wait()
        if 13 in items:
            raise ValueError("unlucky")
        return [2 * item for item in items]


async def test_an_idle_batcher_sends_an_item_at_once_and_alone() -> None:
    recorder = Recorder()
    recorder.released.set()
    batcher = Batcher(recorder.double)

    assert await batcher.run(1) == 2
    assert await batcher.run(2) == 4

    assert recorder.batches == [[1], [2]]


async def test_what_arrives_while_a_batch_is_on_its_way_goes_together() -> None:
    recorder = Recorder()
    batcher = Batcher(recorder.double)
    first = asyncio.create_task(batcher.run(1))
    await asyncio.sleep(0.01)
    later = [asyncio.create_task(batcher.run(number)) for number in (2, 3, 4)]
    await asyncio.sleep(0.01)

    recorder.released.set()

    assert await first == 2
    assert await asyncio.gather(*later) == [4, 6, 8]
    assert recorder.batches == [[1], [2, 3, 4]]


async def test_what_is_ready_in_the_same_turn_of_the_loop_goes_together() -> None:
    recorder = Recorder()
    recorder.released.set()
    batcher = Batcher(recorder.double)

    await asyncio.gather(*(batcher.run(number) for number in (1, 2, 3)))

    assert recorder.batches == [[1, 2, 3]]


async def test_a_batch_has_a_largest_size() -> None:
    recorder = Recorder()
    recorder.released.set()
    batcher = Batcher(recorder.double, size=2)

    assert await asyncio.gather(*(batcher.run(number) for number in range(5))) == [0, 2, 4, 6, 8]

    assert [len(batch) for batch in recorder.batches] == [2, 2, 1]


async def test_a_failed_batch_fails_all_who_wait_behind_it_and_nobody_later() -> None:
    recorder = Recorder()
    recorder.released.set()
    batcher = Batcher(recorder.double, size=1)

    outcomes = await asyncio.gather(*map(batcher.run, (13, 1, 2)), return_exceptions=True)

    assert [type(outcome) for outcome in outcomes] == [ValueError] * 3
    assert recorder.batches == [[13]]
    assert await batcher.run(1) == 2


async def test_a_caller_that_gives_up_does_not_disturb_its_batch() -> None:
    recorder = Recorder()
    batcher = Batcher(recorder.double)
    gone = asyncio.create_task(batcher.run(1))
    patient = asyncio.create_task(batcher.run(2))
    await asyncio.sleep(0.01)
    gone.cancel()

    recorder.released.set()

    assert await patient == 4
    with pytest.raises(asyncio.CancelledError):
        await gone
