"""Which addresses may be called.

A network address that is not public leads into the operator's own network, to the machine itself or
to the metadata service of a cloud: it is refused, unless OUTBOUND_ALLOWED lists it. Everything is
decided about the numeric addresses that are connected to, never about names.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from django.conf import settings

Address = IPv4Address | IPv6Address

# Of IPv6, only global unicast (RFC 4291) is public. Outside lie the ranges that contain IPv4
# addresses: mapped (RFC 4291) and translated ones (RFC 6052). 6to4 (RFC 3056) lies within.
_UNICAST = IPv6Network("2000::/3")
_6TO4 = IPv6Network("2002::/16")
# For protocols between networks (RFC 6890); parts of it are global for Python.
_PROTOCOLS = IPv4Network("192.0.0.0/24")

# 10.1.0.0/16, 10.1.2.3:8080, [fd00::]/8, [::1]:8080
_ENTRY = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+))(/\d+)?(?::(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class AllowedNetwork:
    """A network of the operator's that may be called; on that port alone where there is one."""

    network: IPv4Network | IPv6Network
    port: int | None

    @classmethod
    def parse(cls, entry: str) -> "AllowedNetwork":
        """Raises ValueError."""
        found = _ENTRY.fullmatch(entry.strip())
        if found is None:
            raise ValueError(
                f"{entry!r} is not an address or network like 10.1.0.0/16 or [::1]:80."
            )
        v6, v4, prefix, port = found.groups()
        network = ipaddress.ip_network(f"{v6 or v4}{prefix or ''}")
        return cls(network, int(port) if port else None)

    def contains(self, address: Address, port: int) -> bool:
        return address in self.network and self.port in (None, port)


def is_public(address: Address) -> bool:
    """Is it an address of the Internet, and of one host?"""
    if address.is_multicast or not address.is_global:
        return False
    if isinstance(address, IPv4Address):
        return address not in _PROTOCOLS
    return address in _UNICAST and address not in _6TO4


def is_listed(address: Address, port: int) -> bool:
    """Does OUTBOUND_ALLOWED list it?"""
    networks = allowed_networks(tuple(settings.OUTBOUND_ALLOWED))
    return any(network.contains(address, port) for network in networks)


@cache
def allowed_networks(entries: Sequence[str]) -> tuple[AllowedNetwork, ...]:
    """The entries of OUTBOUND_ALLOWED. Raises ValueError."""
    return tuple(AllowedNetwork.parse(entry) for entry in entries)


def may_be_called(addresses: Iterable[Address], port: int, *, in_clear: bool) -> bool:
    """May a host with these addresses be called? `in_clear`: without TLS, which is for listed
    networks alone. A name of which one address is refused is refused whole."""
    found = list(addresses)
    return bool(found) and all(
        is_listed(address, port) or (is_public(address) and not in_clear) for address in found
    )
