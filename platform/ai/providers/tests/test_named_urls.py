"""Where a provider may send us: to itself, and nowhere else."""

import pytest

from ai.providers.named_urls import NamedUrls

REAL = NamedUrls("https://api.bfl.ai/v1", "bfl.ai")
SIMULATED = NamedUrls("http://127.0.0.1:8001/bfl/v1", "bfl.ai")


@pytest.mark.parametrize(
    "url",
    [
        "https://api.bfl.ai/v1/get_result?id=1",
        "https://api.us1.bfl.ai/v1/get_result?id=1",
        "https://delivery-eu1.bfl.ai/results/a%20b/sample.png?se=2026-11-21T10%3A00%3A00Z&sig=a+b%3D",
        "https://bfl.ai/a",
    ],
)
def test_the_provider_s_own_hosts_are_followed(url: str) -> None:
    assert REAL.may_be_followed(url)
    assert SIMULATED.may_be_followed(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/v1/get_result",
        "//api.bfl.ai/v1",
        "http://api.bfl.ai/v1/get_result",  # the key would be readable on the way
        "ftp://api.bfl.ai/a",
        "file:///etc/passwd",
        "https://bfl.ai.evil.com/a",
        "https://evil.com/bfl.ai/",
        "https://evil.com/?x=.bfl.ai/",
        "https://evil.com#.bfl.ai/",
        "https://evilbfl.ai/a",
        "https://.bfl.ai/a",
        "https://api.bfl.ai@evil.com/a",
        "https://user:word@api.bfl.ai/a",
        "https://evil.com\\.bfl.ai/a",
        "https://evil.com\\@api.bfl.ai/a",
        "https://api.bfl.ai\\@evil.com/a",
        "https://api.bfl.ai:8443/a",
        "https://api.bfl.ai:443/a",
        "https://api.bfl.ai.:443/a",
        "https://api.bfl.ai./a",
        "https://127.0.0.1/a",
        "https://169.254.169.254/latest/meta-data",
        "https://2130706433/a",
        "https://[::1]/a",
        "https://[::ffff:127.0.0.1]/a",
        "https://localhost/a",
        "https://api.bfl.ai",
        "https://api.bfl.ai?x=/",
        "https://api.bfl.ai/a b",
        "https://api.bfl.ai/a\r\nX-Injected: 1",
        "https://api.bfl.ai/a\t",
        "\nhttps://api.bfl.ai/a",
        "https://api.bfl.ai/é",
        "https://evil.com\N{FULLWIDTH FULL STOP}bfl.ai/a",
        "https://api.bfl.ai/" + "a" * 5_000,
    ],
)
def test_no_other_place_is(url: str) -> None:
    assert not REAL.may_be_followed(url)
    assert not SIMULATED.may_be_followed(url)


def test_the_configured_origin_is_followed_whatever_it_is() -> None:
    assert SIMULATED.may_be_followed("http://127.0.0.1:8001/samples/1.png")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8002/samples/1.png",
        "http://127.0.0.1:80011/samples/1.png",
        "http://127.0.0.1/samples/1.png",
        "https://127.0.0.1:8001/samples/1.png",
        "http://127.0.0.1:8001@evil.com/samples/1.png",
        "http://127.0.0.1:8001",
        "http://localhost:8001/samples/1.png",
        "http://127.0.0.1:8001/a\\b",
    ],
)
def test_an_origin_that_only_resembles_it_is_not(url: str) -> None:
    assert not SIMULATED.may_be_followed(url)
    assert not REAL.may_be_followed("http://127.0.0.1:8001/samples/1.png")


def test_a_provider_may_have_several_domains() -> None:
    urls = NamedUrls("https://api.lumalabs.ai/v1", "lumalabs.ai", "cdn-luma.com")
    assert urls.may_be_followed("https://api.lumalabs.ai/a")
    assert urls.may_be_followed("https://storage.cdn-luma.com/a.mp4")
    assert not urls.may_be_followed("https://cdn-luma.com.evil.com/a.mp4")


def test_a_provider_without_a_domain_has_its_origin_alone() -> None:
    urls = NamedUrls("https://api.bfl.ai/v1")
    assert urls.may_be_followed("https://api.bfl.ai/a")
    assert not urls.may_be_followed("https://eu.bfl.ai/a")
