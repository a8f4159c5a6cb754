"""The connections of outbound calls: to checked addresses alone, and until a deadline.

A name is resolved once for each connection, which goes to what was checked: a name that is resolved
differently a moment later (DNS rebinding) leads nowhere else.
"""

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotResolvedInTime
from contextvars import ContextVar
from typing import Any

import httpcore

from integrations.safe_http.addresses import Address, may_be_called
from integrations.safe_http.errors import AddressRefused

# When the call that runs in this thread has to be over, in seconds of the monotonic clock.
deadline: ContextVar[float] = ContextVar("deadline")

# Addresses of one host that are tried.
_MAX_TRIED = 3
# Seconds for one of them.
_CONNECT_SECONDS = 5.0
# `getaddrinfo` cannot be interrupted: it is left to a thread that nobody waits for any more. There
# are many, as a user can name hosts whose resolver is silent.
_resolvers = ThreadPoolExecutor(32, thread_name_prefix="resolve")


def seconds_left(late: type[httpcore.TimeoutException] = httpcore.ReadTimeout) -> float:
    """Raises `late` when the deadline has passed."""
    left = deadline.get() - time.monotonic()
    if left <= 0:
        raise late("The call took too long.")
    return left


def resolve(host: str, port: int) -> list[Address]:
    """The addresses of a host, without repetitions. Raises httpcore.ConnectError."""
    lookup = _resolvers.submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        found = lookup.result(timeout=seconds_left(httpcore.ConnectTimeout))
    except (OSError, UnicodeError, NotResolvedInTime) as error:
        raise httpcore.ConnectError(f"The name cannot be resolved: {host}") from error
    return list(dict.fromkeys(ipaddress.ip_address(entry[4][0]) for entry in found))


class CheckedNetwork(httpcore.NetworkBackend):
    """Opens connections to hosts that may be called. `in_clear`: without TLS."""

    def __init__(self, *, in_clear: bool) -> None:
        self._network = httpcore.SyncBackend()
        self._in_clear = in_clear

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Raises AddressRefused."""
        addresses = resolve(host, port)
        if not may_be_called(addresses, port, in_clear=self._in_clear):
            raise AddressRefused(f"{host} is not an address that can be called from here.")
        failure: Exception = httpcore.ConnectError(host)
        for address in addresses[:_MAX_TRIED]:
            try:
                seconds = min(_CONNECT_SECONDS, seconds_left(httpcore.ConnectTimeout))
                return _BoundedStream(self._network.connect_tcp(str(address), port, seconds))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def connect_unix_socket(self, *args: Any, **options: Any) -> httpcore.NetworkStream:
        """Raises AddressRefused."""
        raise AddressRefused("Sockets of this machine are never called.")


class _BoundedStream(httpcore.NetworkStream):
    """A connection of which each read and write ends at the deadline, however slowly bytes come."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, seconds_left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """In pieces as the host takes them: httpcore's own loop waits anew for each."""
        connection = self._stream.get_extra_info("socket")
        unsent = memoryview(buffer)
        try:
            while unsent:
                connection.settimeout(seconds_left())
                unsent = unsent[connection.send(unsent) :]
        except OSError as error:
            raise httpcore.WriteError(type(error).__name__) from error

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        seconds = seconds_left(httpcore.ConnectTimeout)
        return _BoundedStream(self._stream.start_tls(ssl_context, server_hostname, seconds))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
