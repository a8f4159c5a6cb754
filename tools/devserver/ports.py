"""TCP ports on 127.0.0.1."""

import http.client
import json
import secrets
import socket
from collections.abc import Collection, Sequence
from pathlib import Path

LOOPBACK = "127.0.0.1"
# Below the range from which systems take the ports of outgoing connections.
_CANDIDATES = range(20_000, 32_000)


def is_free(port: int) -> bool:
    """Can a server listen on this port now? (A port in TIME_WAIT counts as free.)"""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port(*, but: Collection[int] = ()) -> int:
    """A port on which nothing listens, other than `but`."""
    while (port := secrets.choice(_CANDIDATES)) in but or not is_free(port):
        pass
    return port


def noted_ports(path: Path) -> dict[str, int]:
    """The ports of the previous run, by name."""
    ports: dict[str, int] = json.loads(path.read_text()) if path.exists() else {}
    return ports


def choose_ports(path: Path, names: Sequence[str], *, but: int) -> dict[str, int]:
    """A port for each name, none of them in `but`: the noted one where it is free, else a new one.

    The choice is noted in `path`.
    """
    ports = {name: port for name, port in noted_ports(path).items() if port != but}
    for name in names:
        if name not in ports or not is_free(ports[name]):
            ports[name] = free_port(but={but, *ports.values()})
    path.write_text(json.dumps(ports))
    return ports


def answers(port: int, path: str) -> bool:
    """Does an HTTP server answer GET `path` with 200?"""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
