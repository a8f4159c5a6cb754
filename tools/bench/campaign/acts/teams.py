"""Teams: a space is shared, and another member goes on in it. Whoever asks pays."""

import httpx

from bench.campaign.acts.replies import PATH, message
from bench.campaign.asking import Asker

_SPACES = "/api/spaces"


def share(asker: Asker) -> None:
    """Share a space with the team, and let a colleague write into a conversation of it."""
    note = asker.note
    space = asker.ask("POST", _SPACES, {"name": note.marker})
    assert space.status_code == 201, space.text
    path = f"{_SPACES}/{space.json()['id']}"
    shared = asker.ask("PATCH", path, {"shared": "write"})
    if shared.status_code != 200:
        note.seen["refusal"] = shared.json()["code"]
        return
    body = {"model": "gpt-6-luna", "space_id": space.json()["id"]}
    created = asker.ask("POST", PATH, body)
    assert created.status_code == 201, created.text
    note.seen["conversation"] = created.json()["id"]
    answer = _send(asker)
    if answer.is_success:
        note.seen["shared"] = True
    else:
        note.seen["refusal"] = answer.json()["code"]


def send_again(asker: Asker) -> None:
    _send(asker)


def _send(asker: Asker) -> httpx.Response:
    """The colleague's message, answered in one JSON."""
    path = f"{PATH}/{asker.note.seen['conversation']}/messages"
    body = {**message(asker), "stream": False}
    return asker.ask("POST", path, body, name=asker.note.name, key=asker.person.colleague)
