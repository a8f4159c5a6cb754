"""The machine-readable description of all that is streamed, as an AsyncAPI 3.0 document: the
events of the sockets, and what is sent while a reply is written.

The types of events come from the apps' declarations (`events.declarations`), their schemas are
those of the OpenAPI document.
"""

import json
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from apidocs.asyncapi.channels import (
    ANSWER,
    ANSWER_NAME,
    PING,
    PING_NAME,
    REPLIES,
    SECURITY_SCHEMES,
    SOCKETS,
    Replies,
    Socket,
)
from apidocs.asyncapi.schemas import (
    EVENT,
    FRAMES_KIND,
    REFERENCE,
    all_types,
    component_name,
    needed_schemas,
    schemas,
)
from apidocs.examples.messages import event_example, part_example
from apidocs.examples.story import Like
from apidocs.examples.values import Values
from events.declarations import EventType

_DESCRIPTION = """\
Everything that is streamed. Councils, project runs and users each have a stream of events, which
are numbered from 1 without gaps (`seq`). A socket delivers them from the moment it opens, or after
`after_seq`; `GET .../events` of the OpenAPI document replays the same events in pages. New types
and new fields may come at any time: pass over what you do not know.

A reply is streamed over HTTP, as server-sent events: the UI message stream, version 1, of Vercel's
AI SDK. Each has an `id`, which is how many code points have come up to its end, and one JSON as
`data`, which is described here; `data: [DONE]` is the last. Requests and refusals are described in
the OpenAPI document."""


@cache
def document(base_url: str) -> dict[str, Any]:
    """The whole document of the service at this address."""
    base = urlsplit(base_url)
    is_secure = base.scheme == "https"
    described = settings.SPECTACULAR_SETTINGS
    sockets = {name: _socket(name, socket) for name, socket in SOCKETS.items()}
    parts = _message_names(FRAMES_KIND)
    replies = {name: _channel(each, "http", parts) for name, each in REPLIES.items()}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": described["TITLE"],
            "version": described["VERSION"],
            "description": _DESCRIPTION,
        },
        "defaultContentType": "application/json",
        "servers": {
            "sockets": {
                "host": base.netloc,
                "protocol": "wss" if is_secure else "ws",
                "security": [_ref("securitySchemes", name) for name in SECURITY_SCHEMES],
            },
            "http": {
                "host": base.netloc,
                "protocol": base.scheme,
                "security": [_ref("securitySchemes", "accessToken")],
            },
        },
        "channels": sockets | replies,
        "operations": _operations(),
        "components": {
            "securitySchemes": SECURITY_SCHEMES,
            "messages": _messages(),
            "schemas": needed_schemas({EVENT, *_data_names()}),
        },
    }


def asyncapi_json(request: HttpRequest) -> HttpResponse:
    """`/asyncapi.json`, which production does not serve."""
    return HttpResponse(
        json.dumps(document(settings.PUBLIC_BASE_URL)), content_type="application/json"
    )


# --- Channels and operations ----------------------------------------------------------------------


def _socket(name: str, socket: Socket) -> dict[str, Any]:
    sent = [PING_NAME, ANSWER_NAME, *_message_names(name)]
    return _channel(socket, "sockets", sent) | {
        "bindings": {"ws": {"method": "GET", "query": socket.query, "bindingVersion": "0.1.0"}},
        "x-close-codes": {str(code): why for code, why in sorted(socket.close_codes.items())},
    }


def _channel(described: Socket | Replies, server: str, sent: list[str]) -> dict[str, Any]:
    return {
        "address": described.address,
        "title": described.title,
        "description": described.description,
        "servers": [{"$ref": f"#/servers/{server}"}],
        "parameters": described.parameters,
        "messages": {each: _ref("messages", each) for each in sent},
    }


def _operations() -> dict[str, Any]:
    """The service sends; all that it receives on sockets are answers to its pings."""
    operations: dict[str, Any] = {}
    for name, socket in SOCKETS.items():
        channel = {"$ref": f"#/channels/{name}"}
        answer = {"$ref": f"#/channels/{name}/messages/{ANSWER_NAME}"}
        sent = [PING_NAME, *_message_names(name)]
        operations[f"send{name.capitalize()}Events"] = {
            "action": "send",
            "channel": channel,
            "summary": socket.title,
            "messages": [{"$ref": f"#/channels/{name}/messages/{each}"} for each in sent],
        }
        operations[f"receive{name.capitalize()}Answers"] = {
            "action": "receive",
            "channel": channel,
            "summary": "Whatever a client answers to a ping. It is ignored.",
            "messages": [answer],
        }
    for name, replies in REPLIES.items():
        operations[f"send{name[0].upper()}{name[1:]}"] = {
            "action": "send",
            "channel": {"$ref": f"#/channels/{name}"},
            "summary": replies.title,
            "bindings": {"http": {"method": replies.method, "bindingVersion": "0.3.0"}},
        }
    return operations


def _message_names(kind: str) -> list[str]:
    return [f"{kind}.{each.name}" for each in all_types()[kind]]


# --- Messages -------------------------------------------------------------------------------------


def _messages() -> dict[str, Any]:
    found = {PING_NAME: PING, ANSWER_NAME: ANSWER}
    for kind in SOCKETS:
        found |= {f"{kind}.{each.name}": _event(kind, each) for each in all_types()[kind]}
    for each in all_types()[FRAMES_KIND]:
        found[f"{FRAMES_KIND}.{each.name}"] = _frame(each)
    return found


def _event(kind: str, event_type: EventType) -> dict[str, Any]:
    """The message of a type: the envelope of all events with the data of this one."""
    own = {"type": {"const": event_type.name}, "data": _data_ref(kind, event_type)}
    payload = {"allOf": [_ref("schemas", EVENT), {"type": "object", "properties": own}]}
    data = _data_example(kind, event_type)
    example = event_example(Values(schemas()), kind, event_type.name, data)
    return _message(event_type, payload, example)


def _frame(frame: EventType) -> dict[str, Any]:
    """The message of a part of a reply: its type stands beside its data."""
    own = {"type": "object", "properties": {"type": {"const": frame.name}}, "required": ["type"]}
    payload = {"allOf": [own, _data_ref(FRAMES_KIND, frame)]}
    data = _data_example(FRAMES_KIND, frame)
    return _message(frame, payload, part_example(Values(schemas()), frame.name, data))


def _message(event_type: EventType, payload: dict[str, Any], example: Any) -> dict[str, Any]:
    return {
        "name": event_type.name,
        "summary": event_type.when,
        "payload": payload,
        "examples": [{"payload": example}],
    }


def _data_example(kind: str, event_type: EventType) -> Like:
    return Like(component_name(kind, event_type.name), **event_type.example)


def _data_names() -> list[str]:
    kinds = [*SOCKETS, FRAMES_KIND]
    return [component_name(kind, each.name) for kind in kinds for each in all_types()[kind]]


def _data_ref(kind: str, event_type: EventType) -> dict[str, str]:
    return {"$ref": f"{REFERENCE}{component_name(kind, event_type.name)}"}


def _ref(part: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{part}/{name}"}
