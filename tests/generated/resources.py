"""The resources that a person is known to own, by their paths: `/api/spaces/{space_id}`."""

from collections import defaultdict
from collections.abc import Iterable
from random import Random
from typing import Any

Ids = dict[str, str]
# The last ones of each resource are remembered.
MOST = 20
_MESSAGE = "/api/conversations/{conversation_id}/messages/{message_id}"
_CARD = "/api/council/cards/{card_id}"
_SUBTASK = "/api/project/sessions/{session_id}/subtasks/{subtask_id}"
_MEMBER = "/api/teams/me/members/{member_id}"
_JOB = "/api/jobs/{job_id}"
# Answers that tell of other resources than those below their own path: the field that tells of them
# (empty for the answer itself), their path, and the field with the id of each.
_ALSO_TOLD = {
    "/api/council/sessions": [("cards", _CARD, "id")],
    "/api/council/sessions/{session_id}": [("cards", _CARD, "id")],
    "/api/project/sessions/{session_id}": [
        ("subtasks", _SUBTASK, "id"),
        ("deliverables", "/api/project/deliverables/{deliverable_id}", "id"),
    ],
    "/api/conversations/{conversation_id}": [("messages", _MESSAGE, "id")],
    "/api/conversations/{conversation_id}/share": [
        ("", "/api/conversations/shared/{share_token}", "share_token")
    ],
    "/api/assets-3d/generate": [
        ("", "/api/assets-3d/assets/{job_id}", "id"),
        ("", _JOB, "id"),
    ],
    "/api/images": [("", _JOB, "id")],
    "/api/videos": [("", _JOB, "id")],
    "/api/teams/me": [("members", _MEMBER, "id")],
}
# Fields of bodies and queries that name resources.
_NAMED_IN = {
    "space_id": "/api/spaces/{space_id}",
    "upload_ids": "/api/uploads/{upload_id}",
    "ids": "/api/conversations/{conversation_id}",
    "workspace_id": "/api/project/workspaces/{workspace_id}",
    "card_ids": _CARD,
    "subtask_id": _SUBTASK,
    "member_id": _MEMBER,
    "parent_id": _MESSAGE,
    "active_leaf_id": _MESSAGE,
}


class Resources:
    """What a person is known to own. `paths` are those of all resources."""

    def __init__(self, paths: Iterable[str], random: Random) -> None:
        self._below = {
            path[: path.rindex("/{")]: path for path in paths if "{provider}" not in path
        }
        self._random = random
        self._known: dict[str, list[Ids]] = defaultdict(list)

    def any_of(self, path: str, ids: Ids) -> Ids:
        """The ids of a resource, which agree with `ids`; empty where none is known."""
        known = [each for each in self._known[path] if ids.items() <= each.items()]
        return self._random.choice(known) if known else {}

    def forget(self, path: str, ids: Ids) -> None:
        """It has gone."""
        if ids in self._known[path]:
            self._known[path].remove(ids)

    def learn(self, path: str, ids: Ids, told: Any) -> None:
        """What an answer of this path, of the resource with these ids, tells."""
        rows = told if isinstance(told, list) else [told]
        if path in self._below:
            self._note(self._below[path], ids, rows, "id")
        for field, resource, name in _ALSO_TOLD.get(path, []):
            for row in rows:
                self._note(resource, ids, (row.get(field) or []) if field else [row], name)

    def name_in(self, fields: dict[str, Any], ids: Ids) -> None:
        """Have fields of a body or a query name resources, which agree with `ids`. Those of which
        none is known are left out."""
        for name in _NAMED_IN.keys() & fields.keys():
            path = _NAMED_IN[name]
            parameter = _parameter_of(path)
            above = {each: value for each, value in ids.items() if f"{{{each}}}" in path}
            found = self.any_of(path, above).get(parameter)
            if found is None:
                del fields[name]
            else:
                fields[name] = [found] if isinstance(fields[name], list) else found

    def _note(self, path: str, ids: Ids, rows: Iterable[Any], name: str) -> None:
        above = {each: value for each, value in ids.items() if f"{{{each}}}" in path}
        for row in rows:
            if isinstance(row, dict) and isinstance(row.get(name), str):
                known = {**above, _parameter_of(path): row[name]}
                if known not in self._known[path]:
                    self._known[path].append(known)
                    del self._known[path][:-MOST]


def _parameter_of(path: str) -> str:
    return path[path.rindex("{") + 1 : -1]
