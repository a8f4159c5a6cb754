"""The checks of what leaves this machine: in production it is encrypted, and stores ask for a
password, but for hosts on a network that PRIVATE_NETWORK says to be the operator's alone."""

import ipaddress
from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings

from integrations.safe_http.addresses import AllowedNetwork, allowed_networks

# The largest private networks are 10.0.0.0/8 and fc00::/7.
_SHORTEST_PREFIX = {4: 8, 6: 7}
# What a cloud tells a machine of itself, credentials included, is in the first.
_NEVER_CALLED = [ipaddress.ip_network(network) for network in ("169.254.0.0/16", "fe80::/10")]
_ENCRYPTED = frozenset({"require", "verify-ca", "verify-full"})
_OR_PRIVATE = (
    "unless PRIVATE_NETWORK=1 says that nobody else can read your network, and its host is a "
    "private address, or a name without a dot or of .internal, .local or the like"
)
_PRIVATE_NAMES = (".internal", ".local", ".lan", ".svc", ".home.arpa")


def transport_dangers() -> Iterator[str]:
    """A sentence for each setting by which others could read along, or reach what they must not."""
    yield from _outbound_dangers()
    if settings.TRUSTED_PROXY_HOPS < 0:
        yield "TRUSTED_PROXY_HOPS must be a number of proxies, 0 or more."
    for name, url in _addresses():
        if urlsplit(url).scheme == "http" and not _is_closed(urlsplit(url).hostname or ""):
            yield f"{name} must begin with https: keys and texts go there, {_OR_PRIVATE}."
    yield from _store_dangers()
    is_open = _is_every_address(settings.METRICS_HOST) and not settings.PRIVATE_NETWORK
    if settings.METRICS_PORT and is_open:
        yield "METRICS_HOST must be one address, unless PRIVATE_NETWORK=1: metrics are not public."


def _outbound_dangers() -> Iterator[str]:
    for text, entry in zip(
        settings.OUTBOUND_ALLOWED, allowed_networks(tuple(settings.OUTBOUND_ALLOWED)), strict=True
    ):
        if entry.network.prefixlen < _SHORTEST_PREFIX[entry.network.version]:
            yield f"OUTBOUND_ALLOWED must list your own networks: {text} is larger than any."
        elif _is_never_called(entry):
            yield f"OUTBOUND_ALLOWED must not have {text}: a cloud shows its credentials there."


def _is_never_called(entry: AllowedNetwork) -> bool:
    return any(
        entry.network.version == never.version and entry.network.overlaps(never)
        for never in _NEVER_CALLED
    )


def _addresses() -> Iterator[tuple[str, str]]:
    """The addresses to which keys or users' texts go, each with the name of its setting."""
    for name, provider in settings.PROVIDERS.items():
        kind = {"local": "LOCAL_MODEL_URL", "local_speech": "LOCAL_SPEECH_URL"}.get(name)
        yield kind or f"{name.upper()}_BASE_URL", provider.base_url
    for service in settings.CONNECTORS.values():
        yield f"{service.provider.upper()}_URL", service.base_url
    yield "OUTPUTS_BUCKET_ENDPOINT", settings.OUTPUTS_BUCKET_ENDPOINT
    yield "SENTRY_DSN", settings.SENTRY_DSN
    yield "OTEL_EXPORTER_OTLP_ENDPOINT", settings.OTEL_EXPORTER_OTLP_ENDPOINT


def _store_dangers() -> Iterator[str]:
    database = settings.DATABASES["default"]
    if not _is_closed(database["OPTIONS"].get("host") or database["HOST"]):
        if not database["PASSWORD"]:
            yield f"DATABASE_URL must have a password, {_OR_PRIVATE}."
        if database["OPTIONS"].get("sslmode") not in _ENCRYPTED:
            yield f"DATABASE_URL must have sslmode=verify-full, or require, {_OR_PRIVATE}."
    redis = urlsplit(settings.REDIS_URL)
    if "ssl_cert_reqs=" in redis.query and "ssl_cert_reqs=required" not in redis.query:
        yield "REDIS_URL must have no ssl_cert_reqs but required: anybody could be the server."
    if redis.scheme != "unix" and not _is_closed(redis.hostname or ""):
        if not redis.password:
            yield f"REDIS_URL must have a password, {_OR_PRIVATE}."
        if redis.scheme != "rediss":
            yield f"REDIS_URL must begin with rediss, {_OR_PRIVATE}."


def _is_closed(host: str) -> bool:
    """Can nobody else read what goes to this host?"""
    return _is_this_machine(host) or (settings.PRIVATE_NETWORK and _is_private(host))


def _is_private(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(_PRIVATE_NAMES)


def _is_this_machine(host: str) -> bool:
    """Is it a loopback address, a socket in the file system, or nothing (a default)?"""
    if not host or host.startswith("/") or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_every_address(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False
