"""Git's smart HTTP protocol (gitprotocol-http): the system's git program answers."""

import asyncio
import base64
import os
import shutil
import subprocess
import zlib
from collections.abc import Mapping

from simulator.githost.exchange import Answer, Refusal
from simulator.githost.hosts import Host, Hosts
from simulator.githost.repositories import Repository
from simulator.githost.tokens import Token

_SERVICES = ("git-upload-pack", "git-receive-pack")
_NOT_CACHED = {"cache-control": "no-cache"}


async def answer(
    hosts: Hosts,
    host: Host,
    name: str,
    rest: str,
    query: Mapping[str, str],
    headers: Mapping[str, str],
    body: bytes,
) -> Answer:
    """The answer to `rest`, the end of the path after `.git/`. Raises Refusal."""
    advertises = rest == "info/refs"
    service = query.get("service", "") if advertises else rest
    if service not in _SERVICES:
        raise Refusal(404, "Not Found")
    found = _allowed(hosts, host, name, service, headers)
    program = shutil.which("git")
    if program is None:
        raise Refusal(501, "Git is not installed on the machine of the simulator.")
    if headers.get("content-encoding") == "gzip":
        body = zlib.decompress(body, wbits=31)
    options = ["--stateless-rpc", *(["--advertise-refs"] if advertises else [])]
    done = await asyncio.to_thread(
        subprocess.run,
        [program, service.removeprefix("git-"), *options, str(found.folder)],
        input=body,
        stdout=subprocess.PIPE,
        env={**os.environ, "GIT_PROTOCOL": headers.get("git-protocol", "")},
        check=False,
    )
    kind = "advertisement" if advertises else "result"
    content_type = f"application/x-{service}-{kind}"
    prefix = _announced(service) if advertises else b""
    return Answer(content=prefix + done.stdout, content_type=content_type, headers={**_NOT_CACHED})


def _announced(service: str) -> bytes:
    """The first line of an advertisement, and the packet that ends it."""
    line = f"# service={service}\n".encode()
    return b"%04x%b0000" % (len(line) + 4, line)


def _allowed(
    hosts: Hosts, host: Host, name: str, service: str, headers: Mapping[str, str]
) -> Repository:
    token = _token(hosts, host, headers)
    found = host.repositories.find(name)
    is_public = found is not None and not found.settings.is_private
    if token is None and not (is_public and service == "git-upload-pack"):
        raise Refusal(401, "Authentication required", realm="Git")
    if found is None or (token is not None and not host.reaches(token, found)):
        raise Refusal(404, "Repository not found.")
    if token is not None and service == "git-receive-pack":
        host.check_writable(token, found)
    return found


def _token(hosts: Hosts, host: Host, headers: Mapping[str, str]) -> Token | None:
    """The token in the place of the password, or in that of the name."""
    scheme, _, encoded = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, _, password = base64.b64decode(encoded).decode().partition(":")
    except ValueError:
        return None
    return hosts.find_token(host, password) or hosts.find_token(host, user)
