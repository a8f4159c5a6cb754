"""The checks before a start: Django's checks, and a guard for servers that do not run them.

`manage.py` runs the checks. uvicorn and Celery do not, so `config.asgi` and `config.celery` call
`refuse_unsafe_start`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured
from django.http.request import split_domain_port

from config.transport_checks import transport_dangers
from observability.exporters import observability_dangers
from observability.metrics.server import port_of

MINIMUM_SECRET_LENGTH = 32
# A random secret of 32 hexadecimal digits has 14 different ones on average, and hardly ever 8.
MINIMUM_DIFFERENT_CHARACTERS = 8
# Labels of letters, digits and hyphens, at least two of them: no scheme, port, path or wildcard.
_HOST_NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+")
LONGEST_SESSION_DAYS = 3_650
# Usage reports, refunds and disputes look back so far.
LEAST_KEPT_MONTHS = 3
_SMTP = "django.core.mail.backends.smtp.EmailBackend"
# Words of examples, and a part of three or more characters three times in a row.
_PLACEHOLDER = re.compile(
    r"change.?me|password|example|insecure|placeholder|your.?(?:own|secret|key)|(.{3,})\1\1",
    re.IGNORECASE,
)
# The secrets of `dev` and `test` begin like this, and are public.
_PUBLIC_SECRETS = ("development-only", "test-only")


def refuse_unsafe_start() -> None:
    """Raises ImproperlyConfigured, with a sentence for every danger."""
    if found := list(production_dangers()):
        raise ImproperlyConfigured("Refusing to start in production. " + " ".join(found))
    if found := [*metrics_dangers(), *observability_dangers()]:
        raise ImproperlyConfigured("Refusing to start. " + " ".join(found))


def production_dangers() -> Iterator[str]:
    """A sentence for each setting that is unsafe in production: invented answers, free money, open
    or locked access, lost files or mails."""
    if not settings.PRODUCTION:
        return
    if settings.DEBUG:
        yield "DEBUG is on: switch it off."
    if settings.DEMO_SEEDS:
        yield "Demo accounts are on: remove DEMO."
    if settings.SIMULATED_PROVIDERS or settings.SIMULATOR_URL:
        yield "Providers are simulated: remove SIMULATED_PROVIDERS and SIMULATOR_URL."
    if settings.SELF_SERVICE_TOPUP:
        yield "Accounts may credit themselves: remove SELF_SERVICE_TOPUP."
    yield from _secret_dangers()
    if not settings.GOOGLE_JWKS_URL.startswith("https://"):
        yield "GOOGLE_JWKS_URL must begin with https: keys from there open accounts."
    if not _is_https(settings.GOOGLE_AUTHORIZE_URL):
        yield "GOOGLE_AUTHORIZE_URL must begin with https: people enter their passwords there."
    yield from _network_dangers()
    yield from transport_dangers()
    yield from _mail_dangers()
    if not 1 <= settings.SESSION_LIFETIME_DAYS <= LONGEST_SESSION_DAYS:
        yield f"SESSION_LIFETIME_DAYS must be 1 to {LONGEST_SESSION_DAYS}: else nobody can sign in."
    yield from _circuit_dangers()
    yield from _file_dangers()


def _circuit_dangers() -> Iterator[str]:
    for name in (
        *("CIRCUIT_WINDOW_SECONDS", "CIRCUIT_FAILURES", "CIRCUIT_FAULTS", "CIRCUIT_OPEN_SECONDS"),
        "CIRCUIT_SILENT_SECONDS",
        *("PROBE_SECONDS", "PROBE_PAUSE_SECONDS", "CALLER_FAILURES", "CALLER_PAUSE_SECONDS"),
        *("FAILED_CALLS_SECONDS", "FAILED_CALLS", "FREE_FAILED_CALLS"),
    ):
        if getattr(settings, name) < 1:
            yield f"{name} must be 1 or more: else no call can be counted as it is meant."


def _file_dangers() -> Iterator[str]:
    folders = ("UPLOADS_DIR",) if settings.OUTPUTS_BUCKET else ("OUTPUTS_DIR", "UPLOADS_DIR")
    for name in folders:
        if not Path(getattr(settings, name)).is_absolute():
            yield f"{name} must be an absolute path, the same for web and worker."
    yield from _retention_dangers()


def _retention_dangers() -> Iterator[str]:
    if settings.CHARGES_KEPT_MONTHS < 0 or 0 < settings.CHARGES_KEPT_MONTHS < LEAST_KEPT_MONTHS:
        yield f"CHARGES_KEPT_MONTHS must be {LEAST_KEPT_MONTHS} or more, or 0 for ever."
    for name in ("JOBS_KEPT_DAYS", "USER_EVENTS_KEPT_DAYS"):
        if getattr(settings, name) < 1:
            yield f"{name} must be a number of days, 1 or more."
    if settings.STUDIO_RETENTION_DAYS < 0:
        yield "STUDIO_RETENTION_DAYS must be a number of days, or 0 for ever."


def _secret_dangers() -> Iterator[str]:
    for name, value, is_current in _secrets():
        if len(value) < MINIMUM_SECRET_LENGTH or value.startswith(_PUBLIC_SECRETS):
            yield f"{name} must be a secret of at least {MINIMUM_SECRET_LENGTH} characters."
        elif is_current and _PLACEHOLDER.search(value):
            yield f"{name} must be random: this is a text that stands for a secret, or repeats one."
        elif len(set(value)) < MINIMUM_DIFFERENT_CHARACTERS:
            yield (
                f"{name} must be random: it has fewer than {MINIMUM_DIFFERENT_CHARACTERS} "
                "different characters."
            )
    yield from _shared_secrets()


def _secrets() -> Iterator[tuple[str, str, bool]]:
    """All our own secrets, each with the name of its setting, and whether it is used for what is
    new: an earlier one has to be kept until it is rotated away."""
    yield "SECRET_KEY", settings.SECRET_KEY, True
    yield "API_KEY_PEPPER", settings.API_KEY_PEPPER, True
    for number, value in enumerate(settings.ENCRYPTION_KEYS):
        yield "ENCRYPTION_KEYS", value, number == 0
    for name in ("SECRET_KEY_FALLBACKS", "API_KEY_PEPPER_FALLBACKS"):
        yield from ((name, value, False) for value in getattr(settings, name))


def _shared_secrets() -> Iterator[str]:
    """Sentences about values that stand in two places. Only SECRET_KEY and its fallbacks may also
    be among ENCRYPTION_KEYS, whose place they take where there are none."""
    for kind in ("SECRET_KEY", "API_KEY_PEPPER"):
        name = f"{kind}_FALLBACKS"
        earlier = getattr(settings, name)
        if getattr(settings, kind) in earlier or len(set(earlier)) < len(earlier):
            yield f"{name} must be other secrets than {kind}, each once."
    if len(set(settings.ENCRYPTION_KEYS)) < len(settings.ENCRYPTION_KEYS):
        yield "ENCRYPTION_KEYS must be different secrets."
    peppers = {settings.API_KEY_PEPPER, *settings.API_KEY_PEPPER_FALLBACKS} - {""}
    if peppers & {settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS}:
        yield "API_KEY_PEPPER must not be the SECRET_KEY: one that leaks must not open both."
    if peppers & set(settings.ENCRYPTION_KEYS):
        yield "API_KEY_PEPPER must not be among ENCRYPTION_KEYS: one that leaks must not open both."


def _network_dangers() -> Iterator[str]:
    if not settings.ALLOWED_HOSTS or any(_is_wildcard(host) for host in settings.ALLOWED_HOSTS):
        yield "ALLOWED_HOSTS must name your hosts: with * a request may claim to be for any host."
    for name in ("PUBLIC_BASE_URL", "WEB_APP_URL"):
        if not _is_https(getattr(settings, name)):
            yield f"{name} must begin with https: its links carry tokens."
    if not all(_is_https(origin) for origin in settings.CORS_ALLOWED_ORIGINS):
        yield "CORS_ALLOWED_ORIGINS must begin with https: pages there hold tokens."
    pages = settings.CONNECTOR_PAGES
    if not pages or not all(_is_https(page) for page in pages):
        yield "CONNECTOR_PAGES must begin with https: codes of consents go there."
    if settings.API_HOST and not _HOST_NAME.fullmatch(settings.API_HOST):
        yield "API_HOST must be a host name and nothing else, like api.example.com."
    elif settings.API_HOST and _public_host() == settings.API_HOST:
        yield "API_HOST must not be the host of PUBLIC_BASE_URL: links to files lie there."
    if settings.SECURE_PROXY_SSL_HEADER and settings.TRUSTED_PROXY_HOPS < 1:
        yield "TRUSTED_PROXY_HOPS must count your proxies: with 0 all clients share one limit."


def _mail_dangers() -> Iterator[str]:
    if settings.EMAIL_BACKEND != _SMTP or not settings.EMAIL_HOST:
        yield "EMAIL_URL must name an SMTP server: mails carry tokens, which do not belong in logs."
    elif not (settings.EMAIL_USE_TLS or settings.EMAIL_USE_SSL):
        yield "EMAIL_URL must begin with smtp+tls or smtp+ssl: mails carry tokens."
    if "@" not in settings.DEFAULT_FROM_EMAIL:
        yield "DEFAULT_FROM_EMAIL must be the address that mails come from."


def metrics_dangers() -> Iterator[str]:
    """A sentence for each setting that would publish the metrics, or show none."""
    try:
        port = port_of(settings.METRICS_PORT)
    except ValueError as error:
        yield str(error)
        return
    if port is None:
        return
    if port == _public_port():
        yield "METRICS_PORT must not be the port of PUBLIC_BASE_URL: metrics are never public."
    if not settings.METRICS_HOST:
        yield "METRICS_HOST must be an address of this machine, like 127.0.0.1."


def _public_port() -> int | None:
    """The port of PUBLIC_BASE_URL; None where it names none that is one."""
    parts = urlsplit(settings.PUBLIC_BASE_URL)
    with suppress(ValueError):
        return parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return None


def _is_wildcard(host: str) -> bool:
    """Does Django accept any host for this entry? (".com" and the like accept nearly any.)"""
    return not host.strip(". ") or "*" in host or (host.startswith(".") and "." not in host[1:])


def _is_https(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and bool(parts.hostname)


def _public_host() -> str:
    """The host of PUBLIC_BASE_URL, in the form of `server.asgi.domain_of`."""
    host, _ = split_domain_port(urlsplit(settings.PUBLIC_BASE_URL).netloc)
    return host


def shadows(source_root: Path) -> list[Path]:
    """Modules that would shadow Python's own module `platform`."""
    return [
        path
        for name in ("__init__.py", "conftest.py", "tests")
        if (path := source_root / name).exists()
    ]


@register()
def settings_are_safe(
    app_configs: Sequence[AppConfig] | None, **_: object
) -> Sequence[CheckMessage]:
    dangers = {
        "config.E001": (
            f"{path} must not exist: see platform/README.md."
            for path in shadows(settings.BASE_DIR / "platform")
        ),
        "config.E002": production_dangers(),
        "config.E003": metrics_dangers(),
        "config.E004": observability_dangers(),
    }
    return [Error(danger, id=kind) for kind, found in dangers.items() for danger in found]
