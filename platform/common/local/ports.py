"""TCP ports on 127.0.0.1."""

import secrets
import socket

LOOPBACK = "127.0.0.1"
# Below the range from which systems take the ports of outgoing connections.
_CANDIDATES = range(20_000, 32_000)


def is_free(port: int) -> bool:
    """Can a server listen on this port now? (A port that only lingers in TIME_WAIT counts.)"""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port on which nothing listens."""
    while not is_free(port := secrets.choice(_CANDIDATES)):
        pass
    return port
