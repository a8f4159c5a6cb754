"""The client address of a request, which rate limits and lockouts count by.

Any client can send `X-Forwarded-For`. Only its last entries are true, as many as there are proxies
of ours, because each proxy appends the address that it saw.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

from server.asgi import Scope

# Providers assign a subscriber at least this much of IPv6, with a new address for each request.
IPV6_PREFIX = 64
# The usual size of a block of addresses with one holder.
NETWORK_PREFIXES = {4: 24, 6: 48}


def client_ip(scope: Scope) -> str:
    """The client of an ASGI request: an IPv4 address, or the /64 of an IPv6 address.

    Empty where there is none, as on a Unix socket without a proxy that names the client.
    """
    peer, _ = scope.get("client") or ("", 0)
    headers = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return _client(peer, b",".join(headers).decode("latin-1"))


def client_ip_of(request: HttpRequest) -> str:
    """The client of a Django request, in the form of `client_ip`."""
    return _client(request.META.get("REMOTE_ADDR", ""), request.headers.get("X-Forwarded-For", ""))


def _client(peer: str, forwarded: str) -> str:
    hops: int = settings.TRUSTED_PROXY_HOPS
    if hops > 0:
        entries = forwarded.rsplit(",", hops)[-hops:]
        if len(entries) == hops and (client := _grouped(entries[0].strip())):
            return client
    return _grouped(peer)


def _grouped(address: str) -> str:
    """The address or network that is counted; empty where the text is no address."""
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
    """The network of a client that `client_ip` returned: the /24 of an IPv4 address, the /48 of an
    IPv6 one; empty where there is none."""
    try:
        address = ip_address(client.partition("/")[0])
    except ValueError:
        return ""
    prefix = NETWORK_PREFIXES[address.version]
    return str(ip_network((address, prefix), strict=False))
