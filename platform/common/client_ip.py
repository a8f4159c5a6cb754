"""Whose address a request comes from: what rate limits and lockouts count by.

Anybody can send `X-Forwarded-For`. Only its last entries are true, as many as there are proxies of
ours in front, because each of them appends the address that it saw.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

from common.asgi import Scope

# A subscriber is given at least this much of IPv6, and could use another address for each request.
IPV6_PREFIX = 64
# What one holder of several addresses may well have.
NETWORK_PREFIXES = {4: 24, 6: 48}


def client_ip(scope: Scope) -> str:
    """The client of an ASGI request: an IPv4 address, or the /64 of an IPv6 address.

    Empty where there is none, as on a Unix socket without a proxy that names the client.
    """
    peer, _ = scope.get("client") or ("", 0)
    headers = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return _client(peer, b",".join(headers).decode("latin-1"))


def client_ip_of(request: HttpRequest) -> str:
    """The same of a Django request."""
    return _client(request.META.get("REMOTE_ADDR", ""), request.headers.get("X-Forwarded-For", ""))


def _client(peer: str, forwarded: str) -> str:
    hops: int = settings.TRUSTED_PROXY_HOPS
    if hops > 0:
        entries = forwarded.rsplit(",", hops)[-hops:]
        if len(entries) == hops and (client := _grouped(entries[0].strip())):
            return client
    return _grouped(peer)


def _grouped(address: str) -> str:
    """The address as it is counted; empty where it is none."""
    try:
        ip = ip_address(address)
    except ValueError:
        return ""
    if isinstance(ip, IPv4Address):
        return str(ip)
    if ip.ipv4_mapped:
        return str(ip.ipv4_mapped)
    network = IPv6Address(int(ip) >> (128 - IPV6_PREFIX) << (128 - IPV6_PREFIX))
    return f"{network}/{IPV6_PREFIX}"


def network_of(client: str) -> str:
    """The network of a client as `client_ip` tells it: the /24 of an IPv4 address, the /48 of an
    IPv6 one; empty where there is none."""
    try:
        address = ip_address(client.partition("/")[0])
    except ValueError:
        return ""
    prefix = NETWORK_PREFIXES[address.version]
    return str(ip_network((address, prefix), strict=False))
