"""A process that could trace or report nothing does not start."""

import sys

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from config.checks import refuse_unsafe_start
from devserver.parts import web_command
from devserver.ports import free_port
from simulator.process import RunningSimulator
from tests.service import run_to_its_end

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
WITHOUT_THE_PACKAGES = """
import sys
sys.modules[sys.argv[1]] = None
import config.asgi
"""

# A process whose door to providers does not open.
BROKEN = """
import sys
import django
import config.celery
django.setup()
from ai.provider_health import services
def fail():
    raise RuntimeError("It does not start.")
services.get_started = fail
"""
BROKEN_WEB = """
import uvicorn
import config.asgi
uvicorn.run(config.asgi.application, port=int(sys.argv[1]))
"""
BROKEN_WORKER = """
from celery.bin.celery import main
sys.argv = ["celery", "-A", "config", "worker", "--pool=threads"]
sys.exit(main())
"""


def found() -> list[str]:
    return [each.msg for each in run_checks() if each.id == "config.E004"]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (ENDPOINT, "collector:4318", f"{ENDPOINT} must begin with http:// or https://."),
        ("SENTRY_DSN", "https://sentry.example.com/7", "SENTRY_DSN must be a DSN of Sentry"),
        (ENDPOINT, "http://[collector:4318", f"{ENDPOINT} must begin with http:// or https://."),
        (ENDPOINT, "http://collector:otlp", f"{ENDPOINT} must begin with http:// or https://."),
        ("SENTRY_DSN", "nonsense", "SENTRY_DSN must be a DSN of Sentry"),
        ("SENTRY_DSN", "https://key@host/abc", "SENTRY_DSN must be a DSN of Sentry"),
        ("SENTRY_DSN", "https://key@host:x/7", "SENTRY_DSN must be a DSN of Sentry"),
    ],
)
def test_a_wrong_address_is_found_by_the_checks(
    settings: Settings, name: str, value: str, sentence: str
) -> None:
    setattr(settings, name, value)
    [problem] = found()
    assert problem.startswith(sentence)
    with pytest.raises(ImproperlyConfigured, match="Refusing to start"):
        refuse_unsafe_start()


def test_another_protocol_is_found_by_the_checks(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = "http://collector:4318"
    assert found() == []
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    assert found() == ["OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, or be removed."]


@pytest.mark.usefixtures("committed")
@pytest.mark.parametrize(
    ("name", "value", "package", "sentence"),
    [
        (ENDPOINT, "http://collector:4318", "opentelemetry.sdk", "the SDK of OpenTelemetry"),
        (ENDPOINT, "http://collector:4318", "opentelemetry", "the SDK of OpenTelemetry"),
        ("SENTRY_DSN", "https://public@sentry.example.com/7", "sentry_sdk", "the SDK of Sentry"),
    ],
)
def test_without_the_packages_a_process_refuses_to_start(
    simulator: RunningSimulator, name: str, value: str, package: str, sentence: str
) -> None:
    program = (sys.executable, "-c", WITHOUT_THE_PACKAGES, package)
    done = run_to_its_end(simulator, *program, **{name: value})
    assert done.returncode == 1
    assert done.stderr.strip().endswith(
        f"Refusing to start. {name} needs {sentence}. Install requirements-observability.txt, or "
        "remove the variable."
    )


@pytest.mark.usefixtures("committed")
@pytest.mark.parametrize(
    ("name", "value"),
    [("OTEL_BSP_MAX_QUEUE_SIZE", "256"), ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "x")],
)
@pytest.mark.parametrize("process", ["web", "worker"])
def test_a_process_ends_where_the_sdk_refuses_a_value(
    simulator: RunningSimulator, process: str, name: str, value: str
) -> None:
    worker = (sys.executable, "-m", "celery", "-A", "config", "worker", "--pool=threads")
    values = {ENDPOINT: "http://collector:4318", name: value}
    done = run_to_its_end(
        simulator, *(web_command(free_port()) if process == "web" else worker), **values
    )
    assert done.returncode > 0
    sentence = "The SDK of OpenTelemetry does not start with these variables (OTEL_...): "
    assert sentence in done.stderr + done.stdout


@pytest.mark.usefixtures("committed")
@pytest.mark.parametrize("process", [BROKEN_WEB, BROKEN_WORKER], ids=["web", "worker"])
def test_a_process_ends_where_its_start_fails_otherwise(
    simulator: RunningSimulator, process: str
) -> None:
    done = run_to_its_end(simulator, sys.executable, "-c", BROKEN + process, str(free_port()))
    assert done.returncode > 0
    assert "RuntimeError: It does not start." in done.stderr


@pytest.mark.usefixtures("committed")
def test_without_the_settings_a_process_imports_neither_library(
    simulator: RunningSimulator,
) -> None:
    program = (
        "import sys, config.asgi\n"
        # The client of Redis imports the rest of OpenTelemetry where it is installed.
        "sdks = {'opentelemetry.exporter', 'sentry_sdk', 'observability.tracing.otel'}\n"
        "print(sorted(sdks & set(sys.modules)))"
    )
    done = run_to_its_end(simulator, sys.executable, "-c", program)
    assert done.stdout.strip() == "[]"
