"""Production refuses to start with anything that invents answers or gives away money."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from devserver.paths import ROOT
from tests.environment import inherited

SAFE = {
    "DJANGO_SETTINGS_MODULE": "config.settings.prod",
    "SECRET_KEY": "9c1f0a7be34d5268f7ab1c9d0e2f4a6b8c3d5e7f",
    "API_KEY_PEPPER": "53e8d1c07fb2a4690d8e6c1b3f5a7902d4e6f8a1",
    "ALLOWED_HOSTS": "app.example.com",
    "PUBLIC_BASE_URL": "https://app.example.com",
    "WEB_APP_URL": "https://app.example.com",
    "CORS_ALLOWED_ORIGINS": "https://app.example.com",
    "OUTPUTS_DIR": "/outputs",
    "UPLOADS_DIR": "/uploads",
    "OUTPUTS_BUCKET": "",
    "STUDIO_RETENTION_DAYS": "0",
    "CHARGES_KEPT_MONTHS": "3",
    "EMAIL_URL": "smtp+tls://user:password@mail.example.com:587",
    "DEFAULT_FROM_EMAIL": "noreply@example.com",
    "API_HOST": "api.example.com",
    # Empty, so that a developer's own .env plays no part.
    "BEHIND_TLS_PROXY": "",
    "SESSION_LIFETIME_DAYS": "90",
    "DEMO": "",
    "SELF_SERVICE_TOPUP": "",
    "SIMULATED_PROVIDERS": "",
    "SIMULATOR_URL": "",
    # As the service has it, whatever a developer's own .env says.
    "TRUSTED_PROXY_HOPS": "0",
    "OUTBOUND_ALLOWED": "",
    "PRIVATE_NETWORK": "",
    "METRICS_PORT": "",
    "SENTRY_DSN": "",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "",
    "LOCAL_MODEL_URL": "",
    "GOOGLE_JWKS_URL": "https://www.googleapis.com/oauth2/v3/certs",
}
# What may stand among the fallbacks, or the keys of stored secrets.
EARLIER = "b7d2f4a6908c1e3d5f7a9b0c2e4d6f8091a3b5c7"
GUARD = "import config; config.checks.refuse_unsafe_start()"
# The guard for one environment after another, each in a fork that reads the settings itself: only
# what `config` and its settings import is there already. One line of JSON for each: what it says.
GUARDS = """
import json, os, sys
import celery.app, django.http, structlog
import config, ai.providers.config
from django.conf import settings

for changes in json.load(sys.stdin):
    assert not settings.configured
    if os.fork():
        assert os.wait()[1] == 0
    else:
        os.environ.update(changes)
        said = None
        try:
            config.checks.refuse_unsafe_start()
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        print(json.dumps(said), flush=True)
        os._exit(0)
"""
UNSAFE = [
    ({"DEMO": "1"}, "DEMO"),
    ({"SIMULATED_PROVIDERS": "openai"}, "SIMULATED_PROVIDERS"),
    ({"SIMULATOR_URL": "http://127.0.0.1:1"}, "SIMULATOR_URL"),
    ({"SELF_SERVICE_TOPUP": "1"}, "SELF_SERVICE_TOPUP"),
    ({"CIRCUIT_WINDOW_SECONDS": "0"}, "CIRCUIT_WINDOW_SECONDS must be 1 or more"),
    ({"PROBE_PAUSE_SECONDS": "0"}, "PROBE_PAUSE_SECONDS must be 1 or more"),
    ({"FREE_FAILED_CALLS": "0"}, "FREE_FAILED_CALLS must be 1 or more"),
    ({"SECRET_KEY": "short"}, "SECRET_KEY"),
    ({"SECRET_KEY": "development-only-secret-key-of-more-than-32-bytes"}, "SECRET_KEY"),
    ({"API_KEY_PEPPER": ""}, "API_KEY_PEPPER"),
    ({"SECRET_KEY": "s" * 50}, "SECRET_KEY must be random"),
    ({"API_KEY_PEPPER": "abcdefg" * 8}, "API_KEY_PEPPER must be random"),
    ({"API_KEY_PEPPER": SAFE["SECRET_KEY"]}, "API_KEY_PEPPER must not be the SECRET_KEY"),
    ({"SECRET_KEY_FALLBACKS": "short"}, "SECRET_KEY_FALLBACKS must be a secret"),
    ({"SECRET_KEY_FALLBACKS": "s" * 50}, "SECRET_KEY_FALLBACKS must be random"),
    ({"SECRET_KEY_FALLBACKS": SAFE["SECRET_KEY"]}, "SECRET_KEY_FALLBACKS must be other secrets"),
    ({"SECRET_KEY_FALLBACKS": f"{EARLIER},{EARLIER}"}, "SECRET_KEY_FALLBACKS must be other"),
    ({"SECRET_KEY_FALLBACKS": SAFE["API_KEY_PEPPER"]}, "API_KEY_PEPPER must not be the SECRET_KEY"),
    ({"API_KEY_PEPPER_FALLBACKS": "test-only-pepper" * 3}, "API_KEY_PEPPER_FALLBACKS must be a"),
    ({"API_KEY_PEPPER_FALLBACKS": SAFE["API_KEY_PEPPER"]}, "API_KEY_PEPPER_FALLBACKS must be oth"),
    ({"API_KEY_PEPPER_FALLBACKS": SAFE["SECRET_KEY"]}, "API_KEY_PEPPER must not be the SECRET_KEY"),
    ({"ENCRYPTION_KEYS": SAFE["API_KEY_PEPPER"]}, "API_KEY_PEPPER must not be among ENCRYPTION"),
    ({"ENCRYPTION_KEYS": f"{EARLIER},{EARLIER}"}, "ENCRYPTION_KEYS must be different"),
    ({"CONNECTOR_PAGES": "http://web.example.com/connectors"}, "CONNECTOR_PAGES"),
    ({"CONNECTOR_PAGES": "/connectors"}, "CONNECTOR_PAGES"),
    ({"ALLOWED_HOSTS": "*"}, "ALLOWED_HOSTS"),
    ({"ALLOWED_HOSTS": "app.example.com,*"}, "ALLOWED_HOSTS"),
    ({"ALLOWED_HOSTS": "*.example.com"}, "ALLOWED_HOSTS"),
    ({"ALLOWED_HOSTS": "."}, "ALLOWED_HOSTS"),
    ({"ALLOWED_HOSTS": ".com"}, "ALLOWED_HOSTS"),
    ({"ALLOWED_HOSTS": ""}, "ALLOWED_HOSTS"),
    ({"PUBLIC_BASE_URL": "http://app.example.com"}, "PUBLIC_BASE_URL"),
    ({"PUBLIC_BASE_URL": "https://"}, "PUBLIC_BASE_URL"),
    ({"WEB_APP_URL": "http://app.example.com"}, "WEB_APP_URL"),
    ({"CORS_ALLOWED_ORIGINS": "http://app.example.com"}, "CORS_ALLOWED_ORIGINS"),
    ({"EMAIL_URL": "smtp://mail.example.com:25"}, "EMAIL_URL must begin with smtp+tls"),
    ({"GOOGLE_JWKS_URL": "http://127.0.0.1:1/identity/jwks"}, "GOOGLE_JWKS_URL"),
    ({"GOOGLE_JWKS_URL": ""}, "GOOGLE_JWKS_URL"),
    ({"GOOGLE_AUTHORIZE_URL": "http://127.0.0.1:1/identity/authorize"}, "GOOGLE_AUTHORIZE_URL"),
    ({"API_HOST": "https://api.example.com"}, "API_HOST"),
    ({"API_HOST": "api.example.com:443"}, "API_HOST"),
    ({"API_HOST": "*.example.com"}, "API_HOST"),
    ({"API_HOST": ".example.com"}, "API_HOST"),
    ({"API_HOST": "api.example.com."}, "API_HOST"),
    ({"API_HOST": "api.example.com,example.com"}, "API_HOST"),
    ({"API_HOST": "app.example.com"}, "API_HOST"),
    ({"API_HOST": "App.example.com"}, "API_HOST"),
    ({"PUBLIC_BASE_URL": "https://API.example.com.:443/"}, "API_HOST"),
    ({"BEHIND_TLS_PROXY": "1"}, "TRUSTED_PROXY_HOPS"),
    ({"BEHIND_TLS_PROXY": "1", "TRUSTED_PROXY_HOPS": "-1"}, "TRUSTED_PROXY_HOPS"),
    ({"EMAIL_URL": "consolemail://"}, "EMAIL_URL"),
    ({"EMAIL_URL": "filemail:///tmp"}, "EMAIL_URL"),
    ({"EMAIL_URL": "smtp://"}, "EMAIL_URL"),
    ({"DEFAULT_FROM_EMAIL": ""}, "DEFAULT_FROM_EMAIL"),
    ({"SESSION_LIFETIME_DAYS": "0"}, "SESSION_LIFETIME_DAYS"),
    ({"SESSION_LIFETIME_DAYS": "1000000000"}, "SESSION_LIFETIME_DAYS"),
    ({"OUTPUTS_DIR": ""}, "OUTPUTS_DIR"),
    ({"OUTPUTS_DIR": "outputs"}, "OUTPUTS_DIR"),
    ({"STUDIO_RETENTION_DAYS": "-1"}, "STUDIO_RETENTION_DAYS"),
    ({"CHARGES_KEPT_MONTHS": "-1"}, "CHARGES_KEPT_MONTHS"),
    ({"CHARGES_KEPT_MONTHS": "2"}, "CHARGES_KEPT_MONTHS"),
    ({"JOBS_KEPT_DAYS": "0"}, "JOBS_KEPT_DAYS"),
    ({"USER_EVENTS_KEPT_DAYS": "0"}, "USER_EVENTS_KEPT_DAYS"),
    ({"UPLOADS_DIR": "uploads"}, "UPLOADS_DIR"),
    ({"SECRET_KEY": "changeme-changeme-changeme-changeme!"}, "SECRET_KEY must be random"),
    ({"API_KEY_PEPPER": "put-your-own-secret-here-1234567890"}, "API_KEY_PEPPER must be random"),
    ({"ENCRYPTION_KEYS": "a1b2c3d4e5f6" * 3}, "ENCRYPTION_KEYS must be random"),
    ({"OUTBOUND_ALLOWED": "0.0.0.0/0"}, "OUTBOUND_ALLOWED must list your own networks"),
    ({"OUTBOUND_ALLOWED": "10.0.0.0/8,[::]/0"}, "OUTBOUND_ALLOWED must list your own networks"),
    ({"OUTBOUND_ALLOWED": "169.254.169.254"}, "OUTBOUND_ALLOWED must not have 169.254.169.254"),
    ({"OUTBOUND_ALLOWED": "168.0.0.0/8,169.0.0.0/8"}, "OUTBOUND_ALLOWED must not have 169.0.0.0/8"),
    ({"OUTBOUND_ALLOWED": "[fe80::1]:80"}, "OUTBOUND_ALLOWED must not have [fe80::1]:80"),
    ({"TRUSTED_PROXY_HOPS": "-1"}, "TRUSTED_PROXY_HOPS must be a number of proxies"),
    (
        {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://gateway.example.com"},
        "OPENAI_BASE_URL",
    ),
    ({"LOCAL_MODEL_URL": "http://vllm:8000/v1"}, "LOCAL_MODEL_URL must begin with https"),
    ({"GITLAB_URL": "http://gitlab.example.com"}, "GITLAB_URL must begin with https"),
    ({"GITHUB_URL": "http://10.0.0.5"}, "GITHUB_URL must begin with https"),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT must"),
    ({"SENTRY_DSN": "http://key@sentry.example.com/1"}, "SENTRY_DSN must begin with https"),
    ({"OUTPUTS_BUCKET_ENDPOINT": "http://minio:9000"}, "OUTPUTS_BUCKET_ENDPOINT must begin with"),
    ({"METRICS_PORT": "9100", "METRICS_HOST": "0.0.0.0"}, "METRICS_HOST must be one address"),  # noqa: S104
    ({"METRICS_PORT": "9100", "METRICS_HOST": "::"}, "METRICS_HOST must be one address"),
    ({"REDIS_URL": "rediss://cache.example.com:6380/0"}, "REDIS_URL must have a password"),
    ({"REDIS_URL": "redis://:word@cache.example.com:6379/0"}, "REDIS_URL must begin with rediss"),
    (
        {"DATABASE_URL": "postgres://me@db.example.com/db"},
        "DATABASE_URL must have a password",
    ),
    (
        {"DATABASE_URL": "postgres://me:word@10.0.0.5/platform"},
        "DATABASE_URL must have sslmode",
    ),
    ({"REDIS_URL": "rediss://:word@c.example.com/0?ssl_cert_reqs=none"}, "REDIS_URL must have no"),
    ({"PRIVATE_NETWORK": "1", "REDIS_URL": "redis://cache.example.com/0"}, "REDIS_URL must have a"),
    ({"PRIVATE_NETWORK": "1", "GITLAB_URL": "http://gitlab.example.com"}, "GITLAB_URL must begin"),
    (
        {"DATABASE_URL": "postgres://me:word@db.example.com/platform?sslmode=prefer"},
        "DATABASE_URL must have sslmode",
    ),
]
# What is only safe on a network of the operator's own.
IN_CLEAR = {
    "DATABASE_URL": "postgres://platform:word@postgres:5432/platform",
    "REDIS_URL": "redis://redis:6379/0",
    "LOCAL_MODEL_URL": "http://vllm:8000/v1",
    "METRICS_PORT": "9100",
    "METRICS_HOST": "0.0.0.0",  # noqa: S104
}
SAFE_CHANGES: list[dict[str, str]] = [
    {},
    {"SECRET_KEY_FALLBACKS": EARLIER},
    {"API_KEY_PEPPER_FALLBACKS": EARLIER},
    {"ENCRYPTION_KEYS": f"{EARLIER},{SAFE['SECRET_KEY']}"},
    {"BEHIND_TLS_PROXY": "1", "TRUSTED_PROXY_HOPS": "2"},
    {"TRUSTED_PROXY_HOPS": "1"},
    {**IN_CLEAR, "PRIVATE_NETWORK": "1"},
    {
        "PRIVATE_NETWORK": "1",
        "REDIS_URL": "redis://redis.prod.svc.cluster.local/0",
        "DATABASE_URL": "postgres://me@10.0.0.5/platform",
        "LOCAL_MODEL_URL": "http://vllm.internal:8000/v1",
    },
    {"SECRET_KEY_FALLBACKS": "changeme-changeme-changeme-changeme!"},
    {"OUTBOUND_ALLOWED": "10.0.0.0/8,[fd00::]/8,192.168.1.7:8080"},
    {"LOCAL_MODEL_URL": "http://127.0.0.1:8000/v1", "GITLAB_URL": "https://gitlab.example.com"},
    {"REDIS_URL": "unix:///run/redis.sock", "DATABASE_URL": "postgres:////run/pg/platform"},
    {
        "REDIS_URL": "rediss://:word@cache.example.com:6380/0",
        "DATABASE_URL": "postgres://me:word@db.example.com/platform?sslmode=require",
    },
]


def run(
    *command: str, stdin: str | None = None, **changes: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        input=stdin,
        env={**inherited(), **SAFE, **changes},
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture(scope="module")
def refusals() -> list[str | None]:
    """What the guard says to each of UNSAFE, and then to each of SAFE_CHANGES."""
    environments = [changes for changes, _ in UNSAFE] + SAFE_CHANGES
    done = run("-c", GUARDS, stdin=json.dumps(environments))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("number", "named"), [(n, named) for n, (_, named) in enumerate(UNSAFE)])
def test_an_unsafe_setting_is_refused_by_name(
    refusals: list[str | None], number: int, named: str
) -> None:
    said = refusals[number]
    assert said is not None, UNSAFE[number]
    assert said.startswith("ImproperlyConfigured: Refusing to start in production.")
    assert named in said


def test_a_process_ends_that_is_refused() -> None:
    done = run("-c", GUARD, DEMO="1")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "ImproperlyConfigured: Refusing to start in production." in last
    assert "DEMO" in last


@pytest.mark.parametrize("number", range(len(SAFE_CHANGES)))
def test_safe_settings_are_let_through(refusals: list[str | None], number: int) -> None:
    assert refusals[len(UNSAFE) + number] is None, SAFE_CHANGES[number]


def test_a_process_starts_that_is_let_through() -> None:
    done = run("-c", GUARD)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_without_its_settings_ends_in_one_sentence(tmp_path: Path) -> None:
    """Every program that reads them."""
    missing = ("SECRET_KEY", "OUTPUTS_DIR")
    environment = {name: value for name, value in SAFE.items() if name not in missing}
    programs = (
        ("manage.py", "check"),
        ("-m", "celery", "-A", "config", "worker"),
        ("-m", "celery", "-A", "config", "beat", f"--schedule={tmp_path / 'schedule'}"),
        ("-m", "server.serve", "--port", "0"),
    )
    for program in programs:
        done = subprocess.run(
            [sys.executable, *program],
            env={**inherited(), **environment},
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (1, ""), program
        assert done.stderr.startswith("Production needs SECRET_KEY, OUTPUTS_DIR: set each in")
        assert done.stderr.count("\n") == 1, program


def test_a_setting_of_another_form_ends_in_one_sentence() -> None:
    done = run("manage.py", "check", DATABASE_URL="postgres://me:secret@host:port/platform")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "DATABASE_URL must be of the form postgres://user:password@host:5432/name.\n"
    )


def test_operators_need_a_second_factor_whatever_the_environment_says() -> None:
    script = "from django.conf import settings; print(settings.OPERATORS_NEED_SECOND_FACTOR)"
    done = run("-c", script, OPERATORS_NEED_SECOND_FACTOR="0")
    assert done.stdout == "True\n"


def test_manage_py_refuses_too() -> None:
    done = run("manage.py", "check", DEMO="1")
    assert done.returncode == 1
    assert "(config.E002) Demo accounts are on" in done.stderr


@pytest.mark.parametrize("process", ["worker", "beat"])
def test_background_processes_refuse_too(process: str, tmp_path: Path) -> None:
    options = [f"--schedule={tmp_path / 'schedule'}"] if process == "beat" else []
    done = run("-m", "celery", "-A", "config", process, *options, DEMO="1")
    assert done.returncode == 1
    assert done.stderr.strip().endswith(
        "Refusing to start in production. Demo accounts are on: remove DEMO."
    )


def test_the_web_process_refuses_too() -> None:
    done = run("-m", "uvicorn", "config.asgi:application", "--port", "0", DEMO="1")
    assert done.returncode == 1
    assert "Refusing to start in production. Demo accounts are on: remove DEMO." in done.stderr
