"""Delivery: a socket gets what replay returns and what the log has, in order and once."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from django.db import connections
from rest_framework.test import APIClient

from accounts.models import User
from events.models import Event
from events.selectors import PAGE_EVENTS
from events.tests.sockets import next_frame, next_frames, next_seqs, open_socket, token_of
from events.tests.streams import append, new_stream
from simulator.process import RunningSimulator
from tests.personas import new_user
from tests.service import Web
from tests.stopwatch import Stopwatch

pytestmark = [pytest.mark.usefixtures("committed"), pytest.mark.urls("events.tests.urls")]


def replayed(account: User, stream_id: UUID, after_seq: int = 0) -> list[str]:
    """The texts of all events from there on, page by page, as replay delivers them."""
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {token_of(account)}")
    texts: list[str] = []
    while True:
        page = client.get(f"/sessions/{stream_id}/events", {"after_seq": after_seq})
        body, place = page.content.decode(), 1
        if body == "[]":
            return texts
        while place < len(body):
            _, end = json.JSONDecoder().raw_decode(body, place)
            texts.append(body[place:end])
            place = end + 1
        after_seq = int(page["X-Next-Seq"])


def test_what_is_committed_is_delivered_at_once(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with open_socket(web, alice, stream_id) as socket:
        with Stopwatch() as watch:
            append(stream_id, "hello")
            event = json.loads(next_frame(socket))
        assert watch.seconds < 1
    assert (event["seq"], event["data"]) == (1, {"value": "hello"})


def test_the_socket_delivers_exactly_what_replay_returns_and_the_log_has(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with open_socket(web, alice, stream_id) as socket:
        for number in range(10):
            append(stream_id, "Grüße \U0001f600 \u2028", [number, None, 0.1], {"a": {"b": "\t"}})
        frames = next_frames(socket, 30)
    assert frames == replayed(alice, stream_id)
    rows = Event.objects.filter(stream_id=stream_id).order_by("seq")
    assert [json.loads(frame)["data"] for frame in frames] == [json.loads(r.data) for r in rows]
    assert [json.loads(frame)["seq"] for frame in frames] == list(range(1, 31))


def test_a_socket_begins_where_the_stream_stands(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice, events=5)
    with open_socket(web, alice, stream_id) as socket:
        append(stream_id, "the sixth")
        assert next_seqs(socket, 1) == [6]


@pytest.mark.parametrize("after_seq", [0, 3, 2 * PAGE_EVENTS + 50])
def test_a_socket_goes_on_where_its_client_says(web: Web, after_seq: int) -> None:
    alice = new_user("alice")
    head = 2 * PAGE_EVENTS + 50
    stream_id = new_stream(alice, events=head)
    with open_socket(web, alice, stream_id, after_seq=after_seq) as socket:
        append(stream_id, "one more")
        count = head + 1 - after_seq
        assert next_seqs(socket, count) == list(range(after_seq + 1, head + 2))


def test_a_client_beyond_the_head_waits_for_what_comes_after_its_place(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice, events=1)
    with open_socket(web, alice, stream_id, after_seq=3) as socket:
        append(stream_id, "2", "3", "4")
        assert next_seqs(socket, 1) == [4]


def test_all_who_follow_a_stream_get_the_same(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with open_socket(web, alice, stream_id) as one, open_socket(web, alice, stream_id) as other:
        for number in range(20):
            append(stream_id, number)
        late = open_socket(web, alice, stream_id, after_seq=0)
        with late as third:
            frames = [next_frames(socket, 20) for socket in (one, other, third)]
    assert frames[0] == frames[1] == frames[2]


def test_streams_are_not_mixed_up(web: Web) -> None:
    alice, bob = new_user("alice"), new_user("bob")
    hers, his = new_stream(alice), new_stream(bob)
    with open_socket(web, alice, hers) as of_alice, open_socket(web, bob, his) as of_bob:
        append(hers, "alice's")
        append(his, "bob's")
        assert json.loads(next_frame(of_alice))["data"] == {"value": "alice's"}
        assert json.loads(next_frame(of_bob))["data"] == {"value": "bob's"}


def test_large_events_arrive_whole_and_in_order(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)
    sizes = [300_000, 10, 60_000, 100_000, 900_000, 1]
    with open_socket(web, alice, stream_id) as socket:
        append(stream_id, *("x" * size for size in sizes))
        frames = [json.loads(frame) for frame in next_frames(socket, len(sizes))]
    assert [len(frame["data"]["value"]) for frame in frames] == sizes


def test_what_many_write_at_once_arrives_without_gaps(web: Web) -> None:
    alice = new_user("alice")
    stream_id = new_stream(alice)

    def write(_: int) -> None:
        for number in range(25):
            append(stream_id, number)
        connections.close_all()

    with open_socket(web, alice, stream_id) as socket, ThreadPoolExecutor(4) as writers:
        done = [writers.submit(write, number) for number in range(4)]
        seqs = next_seqs(socket, 100)
    assert seqs == list(range(1, 101))
    for write_done in done:
        write_done.result()


def test_a_client_that_replays_opens_and_replays_again_misses_nothing(web: Web) -> None:
    """While another writes all the time."""
    alice = new_user("alice")
    stream_id = new_stream(alice)
    stop = threading.Event()

    def write() -> int:
        last = 0
        while not stop.is_set():
            last = append(stream_id, "on and on")
            time.sleep(0.005)
        connections.close_all()
        return last

    def replay() -> None:
        for text in replayed(alice, stream_id, last()):
            apply(text)

    def apply(text: str) -> None:
        applied[json.loads(text)["seq"]] = text

    def last() -> int:
        return max(applied, default=0)

    applied: dict[int, str] = {}
    with ThreadPoolExecutor(1) as writer:
        writing = writer.submit(write)
        for _ in range(10):
            replay()
            with open_socket(web, alice, stream_id) as socket:
                replay()
                for frame in next_frames(socket, 20):
                    apply(frame)
            assert list(applied) == list(range(1, last() + 1))
        stop.set()
        written = writing.result()
    replay()
    assert list(applied) == list(range(1, written + 1))
    assert list(applied.values()) == replayed(alice, stream_id)


def test_another_process_delivers_it_as_quickly(
    web: Web, quick_web: Web, simulator: RunningSimulator
) -> None:
    """The test is a third: none of the two has written what they deliver."""
    alice = new_user("alice")
    stream_id = new_stream(alice)
    with open_socket(web, alice, stream_id) as one, open_socket(quick_web, alice, stream_id) as two:
        with Stopwatch() as watch:
            append(stream_id, "hello")
            assert next_frame(one) == next_frame(two)
        assert watch.seconds < 1
