"""Replay: pages of a stream over HTTP, exactly what is in the log."""

import json
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.http import HttpResponse
from rest_framework.test import APIClient

from common.ids import uuid7
from conftest import Persona
from events import services
from events.models import Event
from events.replay import MAX_BYTES, MAX_EVENTS
from events.tests.streams import append, new_stream
from events.types import NewEvent, model_actor

pytestmark = pytest.mark.urls("events.tests.urls")

BEYOND_BIGINT = 2**63


def get(client: APIClient, stream_id: UUID, **query: Any) -> HttpResponse:
    response: HttpResponse = client.get(f"/sessions/{stream_id}/events", query)
    return response


def replay(client: APIClient, stream_id: UUID, **query: Any) -> list[dict[str, Any]]:
    response = get(client, stream_id, **query)
    assert response.status_code == 200
    events: list[dict[str, Any]] = json.loads(response.content)
    return events


def test_an_event_says_what_happened(alice: Persona) -> None:
    stream_id = new_stream(alice.user)
    data = {"text": 'Grüße,\n"friend" \u2028 \U0001f600', "cost_usd": 0.25, "cards": [{"n": None}]}
    said = NewEvent("card.completed", data, actor=model_actor("kimi-k3"))
    with transaction.atomic():
        services.append(stream_id=stream_id, events=[NewEvent("card.queued", {}), said])
    first, second = replay(alice.client, stream_id)
    row = Event.objects.get(pk=(stream_id, 2))
    assert list(second) == ["seq", "type", "session_id", "created_at", "actor", "data"]
    assert second == {
        "seq": 2,
        "type": "card.completed",
        "session_id": str(stream_id),
        "created_at": row.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "actor": "model:kimi-k3",
        "data": data,
    }
    assert (first["seq"], first["actor"], first["data"]) == (1, "system", {})


def test_data_are_delivered_as_they_were_written(alice: Persona) -> None:
    stream_id = new_stream(alice.user)
    append(stream_id, "\u0001 and </script>")
    body = get(alice.client, stream_id).content
    assert body.endswith(b',"data":{"value":"\\u0001 and </script>"}}]')


def test_pages_lead_from_one_to_the_next_until_there_is_nothing_more(alice: Persona) -> None:
    stream_id = new_stream(alice.user, events=7)
    seen, after_seq = [], "0"
    while events := replay(alice.client, stream_id, after_seq=after_seq, limit=3):
        response = get(alice.client, stream_id, after_seq=after_seq, limit=3)
        after_seq = response["X-Next-Seq"]
        assert after_seq == str(events[-1]["seq"])
        seen.append([event["seq"] for event in events])
    assert seen == [[1, 2, 3], [4, 5, 6], [7]]
    assert get(alice.client, stream_id, after_seq=7)["X-Next-Seq"] == "7"


def test_replay_begins_at_the_beginning(alice: Persona) -> None:
    stream_id = new_stream(alice.user, events=2)
    assert replay(alice.client, stream_id) == replay(alice.client, stream_id, after_seq=0)
    assert len(replay(alice.client, stream_id)) == 2


def test_a_stream_without_events_is_an_empty_array(alice: Persona) -> None:
    response = get(alice.client, new_stream(alice.user))
    assert (response.status_code, response.content) == (200, b"[]")
    assert response["X-Next-Seq"] == "0"
    assert response["Content-Type"] == "application/json"


@pytest.mark.parametrize("after_seq", [3, 4_000_000_000_000, BEYOND_BIGINT - 1])
def test_beyond_the_head_there_is_nothing_and_the_place_stays(
    alice: Persona, after_seq: int
) -> None:
    response = get(alice.client, new_stream(alice.user, events=3), after_seq=after_seq)
    assert (response.content, response["X-Next-Seq"]) == (b"[]", str(after_seq))


def test_a_page_has_at_most_500_events_whatever_is_asked_for(alice: Persona) -> None:
    stream_id = new_stream(alice.user, events=MAX_EVENTS + 1)
    assert len(replay(alice.client, stream_id)) == MAX_EVENTS == 500
    assert len(replay(alice.client, stream_id, limit=10**30)) == 500
    assert len(replay(alice.client, stream_id, limit=499)) == 499


def test_a_page_has_at_most_1_mb_but_always_an_event(alice: Persona) -> None:
    stream_id = new_stream(alice.user)
    append(stream_id, "a" * 600_000, "b" * 300_000, "c" * 300_000, "d" * 2_000_000, "e")
    pages, after_seq = [], 0
    while events := replay(alice.client, stream_id, after_seq=after_seq):
        pages.append([event["data"]["value"][0] for event in events])
        after_seq = events[-1]["seq"]
    assert pages == [["a", "b"], ["c"], ["d"], ["e"]]
    assert MAX_BYTES == 1_000_000


@pytest.mark.parametrize("parameter", ["after_seq", "limit"])
@pytest.mark.parametrize(
    "value", ["-1", "", "ten", "1.5", "1e3", "+1", " 1", "\u0663", "0x10", "null", "9" * 5_000]
)
def test_what_is_no_number_is_refused(alice: Persona, parameter: str, value: str) -> None:
    response = get(alice.client, new_stream(alice.user, events=1), **{parameter: value})
    body = json.loads(response.content)
    assert response.status_code == 422
    assert [problem["loc"] for problem in body["errors"]] == [[parameter]]
    assert body["detail"].startswith(f"{parameter}: ")


def test_a_limit_of_zero_and_a_place_beyond_all_numbers_are_refused(alice: Persona) -> None:
    stream_id = new_stream(alice.user)
    assert get(alice.client, stream_id, limit=0).status_code == 422
    assert get(alice.client, stream_id, after_seq=BEYOND_BIGINT).status_code == 422


def test_others_streams_other_kinds_and_none_at_all_are_not_found(
    alice: Persona, bob: Persona
) -> None:
    of_another_kind = new_stream(alice.user, "project", events=1)
    for stream_id in (new_stream(bob.user, events=1), of_another_kind, uuid7()):
        response = get(alice.client, stream_id)
        assert response.status_code == 404
        assert json.loads(response.content).keys() == {"detail", "code"}


def test_only_who_is_signed_in_may_read(alice: Persona, visitor: APIClient) -> None:
    stream_id = new_stream(alice.user, events=1)
    assert get(visitor, stream_id).status_code == 401


def test_what_is_undone_leaves_no_gap(alice: Persona) -> None:
    stream_id = new_stream(alice.user, events=1)
    with transaction.atomic():
        append(stream_id, "never happened")
        transaction.set_rollback(True)
    append(stream_id, "happened")
    assert [event["seq"] for event in replay(alice.client, stream_id)] == [1, 2]
