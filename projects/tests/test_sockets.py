"""WS /api/project/ws/{id}: the socket of a run, and who may open it."""

import json

from websockets.sync.client import connect

from events.tests.sockets import next_frame, refusal_of
from projects.tests.conftest import NewPrincipal
from projects.tests.principal import Principal, Shape, part


def url_of(person: Principal, run: Shape) -> str:
    """That of the run's socket with this person's token, from the first event on."""
    origin = person.web.url.replace("http", "ws")
    return f"{origin}/api/project/ws/{run['id']}?token={person.token}&after_seq=0"


def test_a_run_is_followed_and_replayed(principal: NewPrincipal) -> None:
    alice = principal()
    run = alice.start(part("a"), part("b", "a"))
    heard: list[Shape] = []
    with connect(url_of(alice, run)) as socket:
        while not heard or heard[-1]["type"] != "run.completed":
            heard.append(json.loads(next_frame(socket)))
    assert [event["seq"] for event in heard] == list(range(1, len(heard) + 1))
    path = f"/sessions/{run['id']}/events"
    assert alice.do("GET", f"{path}?after_seq=0&limit={len(heard)}") == heard
    assert alice.do("GET", f"{path}?after_seq=2&limit=3") == heard[2:5]


def test_a_run_of_somebody_else_is_4403(principal: NewPrincipal) -> None:
    alice, bob = principal(), principal(name="bob")
    run = alice.finished(part("a"))
    assert refusal_of(url_of(bob, run)) == 4403
