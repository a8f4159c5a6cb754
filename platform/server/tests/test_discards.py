"""The rest of refused bodies is read one piece after the other."""

import asyncio
from functools import partial

from server.discards import PAUSE_SECONDS, DiscardPacer


async def test_pieces_are_read_in_the_order_in_which_they_were_asked_for() -> None:
    discards, read = DiscardPacer(), list[str]()
    for name in "abc":
        discards.schedule_read("alice", partial(read.append, name))
    assert read == []
    await discards.wait_for_turn("alice")
    assert read == ["a", "b", "c"]


async def test_senders_take_turns() -> None:
    discards, read = DiscardPacer(), list[str]()
    for number in range(3):
        discards.schedule_read("alice", partial(read.append, f"alice {number}"))
    for number in range(2):
        discards.schedule_read("bob", partial(read.append, f"bob {number}"))
    await discards.wait_for_turn("charlie")
    assert read == ["alice 0", "bob 0"]
    await discards.wait_for_turn("charlie")
    assert read == ["alice 0", "bob 0", "alice 1", "bob 1"]
    await discards.wait_for_turn("charlie")
    assert read[4:] == ["alice 2"]


async def test_a_pause_lies_between_two_of_them() -> None:
    discards, loop = DiscardPacer(), asyncio.get_running_loop()
    began = loop.time()
    await asyncio.gather(*(discards.wait_for_turn("alice") for _ in range(50)))
    # The clock of the loop may be a millisecond behind.
    assert loop.time() - began >= 49 * (PAUSE_SECONDS - 0.001)


async def test_one_that_leaves_keeps_back_nobody() -> None:
    discards = DiscardPacer()
    leaving = asyncio.ensure_future(discards.wait_for_turn("alice"))
    await asyncio.sleep(0)
    leaving.cancel()
    await discards.wait_for_turn("alice")
