"""The address that a request is counted by."""

import pytest
from django.test import RequestFactory, override_settings

from server.client_ip import client_ip, client_ip_of, network_of

PROXY = "10.0.0.1"
SPOOFED = "6.6.6.6"


def seen(peer: str | None, *forwarded: str, hops: int = 0) -> str:
    """What an ASGI request is counted by, and a Django request alike."""
    headers = [(b"x-forwarded-for", value.encode("latin-1")) for value in forwarded]
    scope = {"client": peer if peer is None else (peer, 4711), "headers": headers}
    environ = {"REMOTE_ADDR": peer or ""}
    if forwarded:
        environ["HTTP_X_FORWARDED_FOR"] = ",".join(forwarded)
    with override_settings(TRUSTED_PROXY_HOPS=hops):
        address = client_ip(scope)
        assert client_ip_of(RequestFactory().get("/", **environ)) == address  # type: ignore[arg-type]
    return address


def test_without_a_proxy_of_ours_nothing_but_the_peer_counts() -> None:
    assert seen("192.0.2.7", f"{SPOOFED}, 10.0.0.1") == "192.0.2.7"


def test_behind_a_proxy_the_entry_it_appended_counts() -> None:
    assert seen(PROXY, "192.0.2.7", hops=1) == "192.0.2.7"
    assert seen(PROXY, f"{SPOOFED}, 192.0.2.7", hops=1) == "192.0.2.7"


def test_behind_two_proxies_the_first_of_ours_knows_the_client() -> None:
    assert seen(PROXY, f"{SPOOFED}, 192.0.2.7, 10.0.0.2", hops=2) == "192.0.2.7"


def test_the_header_may_come_in_parts() -> None:
    assert seen(PROXY, SPOOFED, "192.0.2.7,10.0.0.2", hops=2) == "192.0.2.7"


@pytest.mark.parametrize(
    "forwarded",
    ["", ",", "unknown", "192.0.2.7:80", "192.0.2", "é", "192.0.2.7, nonsense", "9" * 10_000],
)
def test_where_the_proxy_says_nothing_of_use_its_own_address_counts(forwarded: str) -> None:
    assert seen(PROXY, forwarded, hops=1) == PROXY


def test_a_client_that_bypasses_a_proxy_is_counted_by_its_own_address() -> None:
    assert seen("192.0.2.7", hops=1) == "192.0.2.7"
    assert seen("192.0.2.7", SPOOFED, hops=2) == "192.0.2.7"


def test_all_addresses_of_one_ipv6_subscriber_count_as_one() -> None:
    assert seen("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64"
    assert seen("2001:db8:1:2::9") == "2001:db8:1:2::/64"
    assert seen("2001:db8:1:3::9") == "2001:db8:1:3::/64"
    assert seen("fe80::1%eth0") == "fe80::/64"


def test_an_ipv4_address_written_as_ipv6_is_the_same_address() -> None:
    assert seen("::ffff:192.0.2.7") == "192.0.2.7"


@pytest.mark.parametrize("peer", [None, "", "a socket"])
def test_a_unix_socket_has_no_address(peer: str | None) -> None:
    assert seen(peer) == ""
    assert seen(peer, "192.0.2.7", hops=1) == "192.0.2.7"


@pytest.mark.parametrize(
    ("client", "network"),
    [
        ("192.0.2.7", "192.0.2.0/24"),
        ("2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("", ""),
        ("no address", ""),
    ],
)
def test_the_network_of_a_client(client: str, network: str) -> None:
    assert network_of(client) == network
