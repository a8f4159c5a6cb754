"""The port of the metrics: it is a process's own, and never the public one."""

import sys
from pathlib import Path

import httpx
import psutil
import pytest
from django.core.checks import run_checks
from pytest_django import Settings

from devserver.parts import web_command
from devserver.ports import LOOPBACK, free_port
from simulator.process import RunningSimulator
from tests.scrape import scrape
from tests.service import Web, run_to_its_end, running_web

WEB_PORT = free_port()
CELERY = (sys.executable, "-m", "celery", "-A", "config")


def listening(web: Web) -> set[int]:
    """The ports on which the process takes connections."""
    found = psutil.Process(web.process.pid).net_connections("tcp")
    return {each.laddr.port for each in found if each.status == psutil.CONN_LISTEN}


@pytest.mark.usefixtures("committed")
def test_the_public_port_has_no_metrics_and_theirs_has_nothing_else(
    simulator: RunningSimulator,
) -> None:
    port = free_port()
    with running_web(simulator, METRICS_PORT=str(port)) as web:
        assert listening(web) == {web.port, port}
        assert scrape(port).value("platform_process_info", kind="web") == 1
        assert httpx.get(f"{web.url}/metrics").status_code == 404
        paths = ("/", "/livez", "/v1/models", "/api/auth/me", "/admin/")
        answers = [httpx.get(f"http://{LOOPBACK}:{port}{path}") for path in paths]
        assert [answer.status_code for answer in answers] == [404] * len(paths)
        # Another process cannot be seen in its place.
        for command in (web_command(WEB_PORT), (*CELERY, "worker", "--pool=threads")):
            done = run_to_its_end(simulator, *command, METRICS_PORT=str(port))
            assert done.returncode != 0, command
            sentence = f"Metrics cannot be served on {LOOPBACK}, port {port} "
            assert sentence in done.stderr + done.stdout, command


def test_without_the_setting_no_further_port_is_open(web: Web) -> None:
    assert listening(web) == {web.port}


@pytest.mark.parametrize(
    ("port", "sentence"),
    [
        ("many", "METRICS_PORT must be a number from 1 to 65535, not 'many'."),
        ("-9100", "METRICS_PORT must be a number from 1 to 65535, not '-9100'."),
        ("70000", "METRICS_PORT must be a number from 1 to 65535, not '70000'."),
        ("8123", "METRICS_PORT must not be the port of PUBLIC_BASE_URL"),
    ],
)
def test_a_wrong_port_is_found_by_the_checks(settings: Settings, port: str, sentence: str) -> None:
    settings.PUBLIC_BASE_URL = f"http://{LOOPBACK}:8123"
    settings.METRICS_PORT = port
    [error] = [found for found in run_checks() if found.id == "config.E003"]
    assert error.msg.startswith(sentence)


@pytest.mark.parametrize(("url", "port"), [("https://a.example", "443"), ("http://a", "80")])
def test_the_port_of_an_address_without_one_is_known(
    settings: Settings, url: str, port: str
) -> None:
    settings.PUBLIC_BASE_URL, settings.METRICS_PORT = url, port
    assert "config.E003" in [found.id for found in run_checks()]


@pytest.mark.parametrize("port", ["", "9100"])
def test_a_port_of_its_own_is_let_through(settings: Settings, port: str) -> None:
    settings.METRICS_PORT = port
    assert "config.E003" not in [found.id for found in run_checks()]


@pytest.mark.usefixtures("committed")
@pytest.mark.parametrize("process", ["web", "worker", "beat"])
def test_no_process_starts_with_a_wrong_port(
    simulator: RunningSimulator, tmp_path: Path, process: str
) -> None:
    commands = {
        "web": web_command(WEB_PORT),
        "worker": (*CELERY, "worker", "--pool=threads"),
        "beat": (*CELERY, "beat", f"--schedule={tmp_path / 'schedule'}"),
    }
    done = run_to_its_end(simulator, *commands[process], METRICS_PORT="many")
    assert done.returncode == 1
    assert done.stderr.strip().endswith("must be a number from 1 to 65535, not 'many'.")


@pytest.mark.usefixtures("committed")
def test_the_web_process_refuses_its_own_port(simulator: RunningSimulator) -> None:
    """Whatever PUBLIC_BASE_URL says: it may be that of a proxy."""
    done = run_to_its_end(simulator, *web_command(WEB_PORT), METRICS_PORT=str(WEB_PORT))
    assert done.returncode == 1
    assert done.stderr.startswith("METRICS_PORT must not be the port of the server")
