"""What a run looks like after some of its events, drawn as docs/api/projects.md tells clients to.

Pure: nothing of the service is used here. The picture is what `GET /api/project/sessions/{id}`
answers.
"""

from typing import Any

Picture = dict[str, Any]

# Before the first event.
NOTHING: Picture = {
    "plan": None,
    "subtasks": [],
    "deliverables": [],
    "messages": [],
    "final_text": None,
}


def is_idle(picture: Picture) -> bool:
    """Does nothing run any more, by itself or to its end?"""
    return picture["status"] not in ("queued", "running") and picture["in_flight"] == 0


# Events that tell of something, and change nothing in the picture.
_TOLD = frozenset({"subtask.tool"})


def apply(picture: Picture, event: Picture) -> Picture:
    """The picture after the event. That of before is left as it is."""
    kind, data = event["type"], event["data"]
    changes = {} if kind in _TOLD else _changes(picture, kind, data)
    new = {**picture, **changes, "last_seq": event["seq"]}
    return {**new, "deliverables": _in_order(new["deliverables"], new["subtasks"])}


def _changes(picture: Picture, kind: str, data: Picture) -> Picture:
    match kind.partition(".")[0], kind:
        case "run", "run.phase":
            return {"phase": data["phase"]}
        case "run" | "usage", _:
            return {**data["session"]}
        case "plan", _:
            return {"plan": data["plan"], "subtasks": _ordered(picture["subtasks"], data["plan"])}
        case "subtask", "subtask.delta":
            return {"subtasks": [_with_text(each, data) for each in picture["subtasks"]]}
        case "subtask", "subtask.removed":
            return _without(picture, data["subtask_id"])
        case "subtask", _ if "subtask" in data:
            subtasks = _put(picture["subtasks"], data["subtask"])
            return {"subtasks": _ordered(subtasks, picture["plan"])}
        case "deliverable", _:
            return {"deliverables": _put(picture["deliverables"], data["deliverable"])}
        case "final", _:
            return {"final_text": _final_text(picture["final_text"], kind, data)}
        case "message" | "error", _:
            return {"messages": _messages(picture["messages"], kind, data)}
    return {}


def _without(picture: Picture, subtask_id: str) -> Picture:
    subtasks, deliverables = picture["subtasks"], picture["deliverables"]
    return {
        "subtasks": [each for each in subtasks if each["id"] != subtask_id],
        "deliverables": [each for each in deliverables if each["subtask_id"] != subtask_id],
    }


def _put(rows: list[Picture], row: Picture) -> list[Picture]:
    """With the row in the place of that with its id, or at the end."""
    there = next((each for each in rows if each["id"] == row["id"]), None)
    new = {**(there or {}), **row}
    if "attempts" in row:
        new["text"] = _text_of(there, row)
    return [new if each is there else each for each in rows] + ([] if there else [new])


def _text_of(before: Picture | None, subtask: Picture) -> str | None:
    """The text of the running attempt; it begins again with another attempt."""
    current = subtask["attempt"]
    running = [each for each in subtask["attempts"] if each["number"] == current]
    if not running or running[0]["status"] != "running":
        return None
    is_same = before is not None and before["attempt"] == current
    return (before["text"] or "") if before is not None and is_same else ""


def _with_text(subtask: Picture, delta: Picture) -> Picture:
    place = (subtask["id"], subtask["attempt"], len(subtask["text"] or ""))
    if subtask["text"] is None or place != (
        delta["subtask_id"],
        delta["attempt"],
        delta["offset"],
    ):
        return subtask
    return {**subtask, "text": subtask["text"] + delta["text"]}


def _final_text(text: str | None, kind: str, data: Picture) -> str | None:
    """When it is not written any more, the next event with a run has it."""
    if kind == "final.started":
        return ""
    is_next = kind == "final.delta" and text is not None and len(text) == data["offset"]
    return f"{text}{data['text']}" if is_next else text


def _in_order(deliverables: list[Picture], subtasks: list[Picture]) -> list[Picture]:
    """In the order of the subtasks, the final one last."""
    places = {each["id"]: place for place, each in enumerate(subtasks)}
    return sorted(deliverables, key=lambda each: places.get(each["subtask_id"], len(places)))


def _ordered(subtasks: list[Picture], plan: Picture | None) -> list[Picture]:
    keys = plan["subtasks"] if plan is not None else []
    return sorted(
        subtasks, key=lambda each: keys.index(each["key"]) if each["key"] in keys else len(keys)
    )


def _messages(messages: list[Picture], kind: str, data: Picture) -> list[Picture]:
    match kind:
        case "message.created":
            return [*messages, data["message"]]
        case "message.delivered":
            return _with(messages, data["numbers"], status="delivered")
        case "message.returned":
            numbers = [message["number"] for message in data["messages"]]
            return _with(messages, numbers, status="returned")
        case _:
            told = ("code", "message", "provider_message")
            error = {name: data[name] for name in told if name in data}
            return _with(messages, data["numbers"], error=error)


def _with(messages: list[Picture], numbers: list[int], **fields: Any) -> list[Picture]:
    return [
        {**each, **fields} if each["role"] == "user" and each["number"] in numbers else each
        for each in messages
    ]
