"""An account that shows many pictures at once, or expensive ones, stalls nobody else's requests."""

import asyncio
import base64
import io
import json
import statistics
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psutil
from PIL import Image

from common.errors import ServiceUnavailable
from media.probe.tests.samples import picture
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.v1.chat import MAX_BODY_WITH_PICTURES
from publicapi.v1.errors import InvalidBody
from publicapi.v1.pictures import MAX_PICTURES, PictureUrl, load_pictures

REQUESTS = 100


def requested(data: bytes, count: int = MAX_PICTURES) -> list[PictureUrl]:
    """A request with this picture, so often."""
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return [PictureUrl(url, "auto", "messages[0].content[0]")] * count


def dense() -> bytes:
    """A picture of 5 million pixels and 300 kB: with 20 of these the body of a request is full."""
    file = io.BytesIO()
    Image.effect_noise((200, 200), 90).resize((2_500, 2_000)).save(file, "JPEG", quality=20)
    return file.getvalue()


def slow() -> bytes:
    """A JPEG of 25 million pixels and less than 1 MB, whose last scan is repeated until it
    takes minutes to decode."""
    file = io.BytesIO()
    Image.new("RGB", (5_000, 5_000), "teal").save(file, "JPEG", progressive=True, quality=50)
    data = file.getvalue()
    scan = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + scan * 10_000 + data[-2:]


async def longest_pause(until: asyncio.Event) -> float:
    """The longest time, in seconds, that the event loop did nothing else."""
    longest, before = 0.0, time.perf_counter()
    while not until.is_set():
        await asyncio.sleep(0.005)
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
    return longest


async def test_a_hundred_requests_of_one_account_stall_nobody() -> None:
    alice, bob, done = uuid4(), uuid4(), asyncio.Event()
    counts: Counter[str] = Counter()
    large = requested(dense())

    async def show() -> None:
        try:
            await load_pictures(large, alice)
            counts["shown"] += 1
        except ServiceUnavailable:
            counts["refused"] += 1

    process = psutil.Process()
    before = process.memory_info().rss
    pause = asyncio.create_task(longest_pause(done))
    hers = [asyncio.create_task(show()) for _ in range(REQUESTS)]
    await asyncio.sleep(0.5)
    waits = []
    for _ in range(5):
        began = time.perf_counter()
        await load_pictures(requested(picture("PNG"), 1), bob)
        waits.append(time.perf_counter() - began)
    await asyncio.gather(*hers)
    done.set()
    longest = await pause
    grown = process.memory_info().rss - before
    print(f"{counts}, pause {longest:.3f} s, bob {max(waits):.2f} s, grown {grown:,}")  # noqa: T201

    assert counts.total() == REQUESTS
    assert counts["shown"] >= 1
    assert longest < 0.25
    assert max(waits) < 5
    assert grown < 300_000_000


async def test_a_picture_that_takes_minutes_is_refused_in_seconds_and_delays_no_other() -> None:
    data = slow()
    began = time.perf_counter()
    hers = [asyncio.create_task(load_pictures(requested(data, 1), uuid4())) for _ in range(2)]
    await asyncio.sleep(0.5)
    await load_pictures(requested(picture("PNG"), 1), uuid4())
    waited = time.perf_counter() - began
    outcomes = await asyncio.gather(*hers, return_exceptions=True)
    print(f"bob {waited:.2f} s, alice {time.perf_counter() - began:.2f} s")  # noqa: T201

    # On a busy machine the time is over before the processor's.
    assert {type(each) for each in outcomes} <= {InvalidBody, ServiceUnavailable}
    assert waited < 15


def test_full_requests_of_one_account_delay_the_calls_of_others_little(
    customer: NewCustomer,
) -> None:
    alice, bob = customer(features=("vision",)), customer(name="bob")
    noise = io.BytesIO()
    Image.effect_noise((890, 890), 90).save(noise, "PNG")
    parts = [
        {"type": "image_url", "image_url": {"url": each.url}}
        for each in requested(noise.getvalue())
    ]
    body = json.dumps(alice.body(messages=[{"role": "user", "content": parts}])).encode()
    # Noise has another length each time: full, and never fuller than a body may be.
    assert 0.9 * MAX_BODY_WITH_PICTURES < len(body) < 0.99 * MAX_BODY_WITH_PICTURES
    before = psutil.Process(alice.web.process.pid).memory_info().rss
    with ThreadPoolExecutor(20) as threads:
        hers = [threads.submit(alice.post, content=body) for _ in range(20)]
        waits = []
        while not all(each.done() for each in hers):
            began = time.perf_counter()
            assert bob.chat().status_code == 200
            waits.append(time.perf_counter() - began)
            time.sleep(0.3)
    statuses = Counter(each.result().status_code for each in hers)
    grown = psutil.Process(alice.web.process.pid).memory_info().rss - before
    middle, longest = statistics.median(waits), max(waits)
    print(f"{statuses}, bob {middle:.2f} s, at most {longest:.2f} s, grown {grown:,}")  # noqa: T201

    refused = {each.result().text for each in hers if each.result().status_code not in (200, 503)}
    assert refused == set()
    assert statuses[200] >= 1
    assert longest < 8
