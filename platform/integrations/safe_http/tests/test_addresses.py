"""Which addresses outbound calls may reach."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from integrations.safe_http.addresses import AllowedNetwork, is_listed, is_public, may_be_called

INSIDE = [
    "0.0.0.0",  # noqa: S104
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.8",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "2001:0:7f00:1::",
    "2002:7f00:1::",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_inside_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "140.82.121.4", "2606:50c0:8000::153"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.ip_addresses(v=4))
def test_no_form_of_an_address_inside_is_public(address: object) -> None:
    plain = ip_address(str(address))
    number = int(plain)
    forms = [
        ip_address(f"::ffff:{plain}"),
        ip_address(number | 0x64FF9B << 96),
        ip_address(0x2002 << 112 | number << 80),
    ]
    assert not any(is_public(form) for form in forms)


def test_the_operator_lists_addresses_networks_and_ports(settings: Settings) -> None:
    settings.OUTBOUND_ALLOWED = ["10.1.0.0/16", "127.0.0.1:8080", "[fd00::]/8", "[::1]:443"]
    listed = [("10.1.2.3", 443), ("127.0.0.1", 8080), ("fd12::1", 1), ("::1", 443)]
    others = [("10.2.0.1", 443), ("127.0.0.1", 6379), ("127.0.0.2", 8080), ("::1", 80)]
    assert all(is_listed(ip_address(address), port) for address, port in listed)
    assert not any(is_listed(ip_address(address), port) for address, port in others)


@pytest.mark.parametrize(
    "entry", ["", "localhost", "10.0.0.1/8", "10.0.0.0/33", "::1", "[::1", "10.0.0.1:", "*"]
)
def test_a_list_with_an_unclear_entry_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match=r"address|network|host bits"):
        AllowedNetwork.parse(entry)


def test_a_name_with_one_address_inside_is_refused_whole() -> None:
    outside, inside = ip_address("8.8.8.8"), ip_address("10.0.0.1")
    assert may_be_called([outside], 443, in_clear=False)
    assert not may_be_called([outside, inside], 443, in_clear=False)
    assert not may_be_called([], 443, in_clear=False)


def test_public_addresses_are_called_with_tls_alone() -> None:
    assert not may_be_called([ip_address("8.8.8.8")], 80, in_clear=True)
