"""The files of finished tasks, at addresses that are signed and expire."""

import asyncio
import hmac
import secrets
import struct
import time
from urllib.parse import urlencode

from simulator import ranges
from simulator.exchange import Arrival, Exchange
from simulator.media import tasks
from simulator.media.tasks import MediaTask
from simulator.provider import Problem, Refused
from simulator.ranges import Body

_SECRET = secrets.token_bytes(32)
_LIFETIME = 3600  # seconds
_TYPES = {"mp4": "video/mp4", "glb": "model/gltf-binary", "png": "image/png"}
_PAGE = b"<!doctype html><title>Not a result</title><p>The service is being maintained."
_EXPIRED = b"""<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"""
_NOWHERE = "http://127.0.0.1:1/"
# A signed URL is a credential by itself. Like object stores, this one refuses a second one.
_CREDENTIALS = ("authorization", "x-api-key")


def signed_url(arrival: Arrival, task: MediaTask, kind: str) -> str:
    """A signed address of a file: `kind` is mp4, glb or png."""
    path = f"/{task.exchange.call.provider}/_files/{task.id}.{kind}"
    expires = str(int(time.time()) + _LIFETIME)
    query = urlencode({"Expires": expires, "Signature": _signature(path, expires)})
    return f"{arrival.connection.origin}{path}?{query}"


async def serve_signed(arrival: Arrival) -> None:
    """A file at its signed address. Raises `Refused`."""
    connection, name = arrival.connection, arrival.path["name"]
    query = connection.query
    path = f"/{arrival.call.provider}/_files/{name}"
    signature = _signature(path, query.get("Expires", ""))
    if not hmac.compare_digest(signature, query.get("Signature", "")):
        raise Refused(Problem(403, "The signature does not match."))
    if any(header in connection.headers for header in _CREDENTIALS):
        raise Refused(Problem(400, "Only one mechanism of authentication is allowed."))
    if int(query["Expires"]) < time.time():
        await _refuse_expired(arrival)
        return
    task_id, _, kind = name.partition(".")
    await send_file(arrival, tasks.find_task(arrival, task_id), kind)


async def send_file(arrival: Arrival, task: MediaTask, kind: str) -> None:
    """Send a file of a task, or what is steered in its place. Raises `Refused`."""
    now, wrong = task.exchange_for(arrival, "file"), task.file_fault()
    await now.begin()
    if now.steering.missing or task.state != "succeeded":
        raise Refused(Problem(404))
    connection = arrival.connection
    if wrong == "redirect":
        await connection.start(302, {"location": _NOWHERE, "content-length": "0"})
        await connection.end()
    elif wrong == "expired":
        await _refuse_expired(arrival)
    else:
        file = await file_body(task, kind)
        if now.steering.fault is not None:
            await _fail(now, file)
        headers = {"content-type": _TYPES[kind], "etag": f'"{task.id}"'}
        if wrong == "other_type":
            headers["content-type"] = "text/html"
        if await ranges.send(connection, file, headers):
            task.exchange.call.files_emitted += 1


async def file_body(task: MediaTask, kind: str) -> Body:
    """A file of a task, wrong if it is steered so. Raises `Refused` if it has none of the kind."""
    data = await asyncio.to_thread(task.product.make_file, kind)
    if data is None:
        raise Refused(Problem(404))
    wrong = task.file_fault()
    if wrong == "empty":
        return Body(b"")
    if wrong == "broken":
        return Body(data[: len(data) // 2])
    if wrong == "other_type":
        return Body(_PAGE)
    return padded(data, kind, task.options.result_bytes) if wrong == "huge" else Body(data)


async def _refuse_expired(arrival: Arrival) -> None:
    await arrival.connection.send_body(403, _EXPIRED, {"content-type": "application/xml"})


def padded(data: bytes, kind: str, size: int) -> Body:
    """The file with zeros after it, `size` bytes in all. An MP4 stays valid: they are in a box that
    is free space (ISO 14496-12, 8.1.2)."""
    padding = max(8, size - len(data))
    if kind == "mp4":
        return Body(data + struct.pack(">I4s", padding, b"free"), padding - 8)
    return Body(data, padding)


async def _fail(now: Exchange, file: Body) -> None:
    """An error, or a connection that is cut in the middle of the file."""
    if now.steering.fault != "truncate":
        raise Refused(now.problem())
    connection = now.connection
    await connection.start(200, {"content-length": str(file.size)})
    await file.write(connection, 0, file.size // 2)
    await connection.pause(0.05)  # a reset discards data that the peer has not read yet
    await connection.reset()


def _signature(path: str, expires: str) -> str:
    return hmac.digest(_SECRET, f"{path}\n{expires}".encode(), "sha256").hex()
