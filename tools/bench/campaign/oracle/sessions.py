"""Snapshots, logs, replays and sockets tell the same, on every web process."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import httpx
from django.db import connection

from bench.campaign.notes import Note
from bench.campaign.people import Person
from council.tests.owner import COUNCIL
from projects.tests.principal import RUN
from tests.follow import Product, cut

PRODUCTS = {"session": COUNCIL, "run": RUN}
_GAPS = """
SELECT s.id, s.kind, s.purged_seq, s.last_seq, count(e.seq), min(e.seq), max(e.seq)
FROM events_stream s LEFT JOIN events_event e ON e.stream_id = s.id AND e.seq > s.purged_seq
WHERE s.account_id NOT IN (SELECT account_id FROM userdata_deletion)
GROUP BY s.id HAVING count(e.seq) <> s.last_seq - s.purged_seq
                  OR coalesce(max(e.seq), s.purged_seq) <> s.last_seq
"""
_FRAMES = "SELECT frame FROM events_after(%s, 0, 1000000, 1000000000)"


class Reader:
    """Reads from every web process."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._clients = [httpx.Client(base_url=url, timeout=20) for url in urls]

    def get(self, person: Person, path: str, **query: Any) -> list[httpx.Response]:
        headers = {"Authorization": f"Bearer {person.token}"}
        return [client.get(path, headers=headers, params=query or None) for client in self._clients]

    def replay(self, person: Person, path: str) -> list[str]:
        """All events of a session, from one process and then from the other."""
        frames: list[str] = []
        for turn in range(10_000):
            client = self._clients[turn % len(self._clients)]
            headers = {"Authorization": f"Bearer {person.token}"}
            after = json.loads(frames[-1])["seq"] if frames else 0
            answer = client.get(
                f"{path}/events", headers=headers, params={"after_seq": after, "limit": 200}
            )
            page = cut(answer.text)
            if not page:
                break
            frames += page
        return frames


def check_gaps() -> list[str]:
    """Streams whose numbers have gaps."""
    with connection.cursor() as cursor:
        cursor.execute(_GAPS)
        return [f"a stream with gaps: {row}" for row in cursor.fetchall()]


def check_followed(note: Note, person: Person, reader: Reader) -> list[str]:
    """A council or a run, from all sides."""
    wrong = []
    for name, product in PRODUCTS.items():
        if name in note.seen:
            wrong += _session(note, person, reader, product, str(note.seen[name]))
    return [f"{note}: {each}" for each in wrong]


def _session(
    note: Note, person: Person, reader: Reader, product: Product, session_id: str
) -> list[str]:
    path = f"{product.path}/sessions/{session_id}"
    answers = reader.get(person, path)
    if {answer.status_code for answer in answers} != {200}:
        return [f"{path} answers {[answer.status_code for answer in answers]}"]
    wrong = []
    shown = [answer.json() for answer in answers]
    if any(each != shown[0] for each in shown):
        wrong.append("the web processes show different snapshots")
    log = _log(session_id)
    if [json.loads(frame)["seq"] for frame in log] != list(range(1, shown[0]["last_seq"] + 1)):
        wrong.append("the log has gaps")
    if reader.replay(person, path) != log:
        wrong.append("the replay is not the log")
    if note.frames.get(session_id, []) != log[: len(note.frames.get(session_id, []))]:
        wrong.append("the sockets brought something else than the log")
    drawn = product.draw(product.nothing, log)
    if drawn != shown[0]:
        wrong.append(f"the events do not make the snapshot: {_difference(drawn, shown[0])}")
    seen = note.seen.get("picture")
    if seen is not None and product.draw(seen, log) != shown[0]:
        wrong.append(f"what was seen has changed: {_difference(seen, shown[0])}")
    return wrong


def _log(session_id: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(_FRAMES, (UUID(session_id),))
        return [frame for (frame,) in cursor.fetchall()]


def _difference(drawn: dict[str, Any], shown: dict[str, Any]) -> dict[str, Any]:
    return {
        name: (drawn.get(name), shown.get(name))
        for name in {*drawn, *shown}
        if drawn.get(name) != shown.get(name)
    }


def check_replies(note: Note, person: Person, reader: Reader) -> list[str]:
    """What was read of replies is what is stored. A process that has died may have told a little
    more than it had stored; what was seen to finish stays as it was."""
    if "conversation" not in note.seen:
        return []
    answers = reader.get(person, f"/api/conversations/{note.seen['conversation']}")
    if {answer.status_code for answer in answers} != {200}:
        return [f"{note}: its conversation answers {[each.status_code for each in answers]}"]
    if answers[0].json() != answers[-1].json():
        return [f"{note}: the web processes show different conversations"]
    messages = {each["id"]: each for each in answers[0].json()["messages"]}
    wrong = [
        f"{note}: reply {each}: {what}"
        for each, read in note.seen.get("replies", {}).items()
        for what in wrong_of_a_reply(messages.get(each), read)
    ]
    asked = [each for each in messages.values() if each["role"] == "user"]
    if len(asked) > 1:
        wrong.append(f"{note}: one named message is there {len(asked)} times")
    return wrong


def wrong_of_a_reply(message: dict[str, Any] | None, read: dict[str, Any]) -> list[str]:
    """What is wrong with a reply that was `read`, as it is stored."""
    if message is None:
        return ["is gone"]
    stored, finish = message["content"], read["finish"]
    if finish is None:
        is_same = stored.startswith(read["text"]) or read["text"].startswith(stored)
        return [] if is_same else [f"{read['text']!r} was read, {stored!r} is stored"]
    wrong = []
    code = (message["error"] or {}).get("code")
    # The log is a quarter of a second behind a process that has died.
    if stored != read["text"] and not (code == "interrupted" and read["text"].startswith(stored)):
        wrong.append(f"{read['text']!r} was read to its end, {stored!r} is stored")
    seen = finish["messageMetadata"]
    if seen["status"] != message["status"] and not (code == "interrupted" and _is_unpaid(seen)):
        wrong.append(f"has ended as {seen}, is {message['status']}")
    return wrong


def _is_unpaid(metadata: dict[str, Any]) -> bool:
    """Did the end come before its settlement (ai/inference/runner.py, SETTLE_TIMEOUT)? What is then
    never paid, because the charge has lapsed, becomes an interrupted reply."""
    usage = metadata["usage"] or {}
    return metadata["status"] == "completed" and usage.get("paid_by_plan_usd") is None
