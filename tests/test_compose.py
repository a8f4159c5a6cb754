"""deploy/compose.yaml: what runs, with which rights, and who is reached from where."""

import ipaddress
import subprocess

import pytest
import yaml
from msgspec.structs import fields
from pytest_django import Settings

from ai.inference.types import ChatCall
from common.connections import demand
from common.multipart import MAX_FORM_BYTES
from common.shutdown import LINGER_SECONDS
from devserver.parts import QUEUES, worker_command
from devserver.paths import ROOT
from publicapi.v1 import chat, embeddings, images
from server.graceful_accept import ACCEPT_SECONDS
from server.serve import KEEP_ALIVE_SECONDS
from tests.compose import PROCESSES, WEBS, WORKERS, compose, seconds, services
from tests.nginx import CONFIGURATION, directive
from tests.prometheus import PROMTOOL, needs_promtool
from work.jobs.models import Job

PUBLIC_LIMITS = (chat.MAX_BODY, embeddings.MAX_BODY, images.MAX_BODY)


def test_only_the_proxy_is_reached_from_outside() -> None:
    assert [name for name, service in services().items() if "ports" in service] == ["proxy"]
    assert services()["proxy"]["networks"] == ["outside"]
    assert compose()["networks"]["back"]["internal"] is True
    for store in ("postgres", "redis"):
        assert services()[store]["networks"] == ["back"]


@pytest.mark.parametrize("name", sorted(services()))
def test_no_container_writes_to_its_image_or_gains_rights(name: str) -> None:
    service = services()[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["pids_limit"] > 0
    assert "/tmp" in service["tmpfs"][0]  # noqa: S108 - a folder of the container
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory"}


@pytest.mark.parametrize("name", sorted(set(services()) - {"migrate"}))
def test_every_container_that_stays_is_checked(name: str) -> None:
    assert services()[name]["healthcheck"]["test"]
    assert services()[name]["restart"] == "unless-stopped"


def test_each_queue_has_a_worker_that_works_as_on_this_machine() -> None:
    commands = {name: services()[name]["command"] for name in WORKERS}
    for name, command in commands.items():
        queue = name.removeprefix("worker-")
        _, _, *here, _, _ = worker_command("alice", queues=queue)
        assert command == here
        assert services()[name]["healthcheck"]["test"][-1] == queue
        assert services()[name]["environment"]["MAX_OPEN_JOBS"]
    served = {command[command.index("--queues") + 1] for command in commands.values()}
    assert served == set(Job.Queue.values) == set(QUEUES.split(","))


def test_what_is_counted_is_what_runs(settings: Settings) -> None:
    counts = services()["migrate"]["environment"]
    assert counts["WEB_PROCESSES"] == str(len(WEBS))
    assert counts["WORKER_PROCESSES"] == str(len(WORKERS))
    settings.WEB_PROCESSES, settings.WORKER_PROCESSES = len(WEBS), len(WORKERS)
    (option,) = [word for word in services()["postgres"]["command"] if "max_connections" in word]
    superusers = 3
    assert demand().total <= int(option.partition("=")[2]) - superusers
    assert services()["migrate"]["command"] == ["python", "manage.py", "setup"]


def test_prometheus_reads_every_process() -> None:
    file = ROOT / "deploy" / "prometheus" / "prometheus.yaml"
    [job] = yaml.safe_load(file.read_text())["scrape_configs"]
    [found] = job["dns_sd_configs"]
    assert set(found["names"]) == set(PROCESSES)
    for name in PROCESSES:
        service = services()[name]
        assert service["environment"]["METRICS_PORT"] == str(found["port"])
        assert set(service["networks"]) & set(services()["prometheus"]["networks"])
    assert services()["prometheus"]["profiles"] == ["metrics"]


@needs_promtool
def test_prometheus_accepts_its_configuration_with_the_alerts() -> None:
    assert PROMTOOL is not None
    subprocess.run(
        [PROMTOOL, "check", "config", ROOT / "deploy" / "prometheus" / "prometheus.yaml"],
        check=True,
        capture_output=True,
    )


def test_a_process_that_is_made_anew_keeps_the_address_that_the_proxy_knows() -> None:
    network = ipaddress.ip_network(compose()["networks"]["outside"]["ipam"]["config"][0]["subnet"])
    known = dict(host.split("=") for host in services()["proxy"]["extra_hosts"])
    for name in WEBS:
        address = services()[name]["networks"]["outside"]["ipv4_address"]
        assert ipaddress.ip_address(address) in network
        assert known[name] == address
        assert CONFIGURATION.read_text().count(f"server {name}:8000 max_fails=0;") == 2


def test_the_service_trusts_the_one_proxy_that_is_there() -> None:
    for name in PROCESSES:
        environment = services()[name]["environment"]
        assert (environment["TRUSTED_PROXY_HOPS"], environment["BEHIND_TLS_PROXY"]) == ("1", "1")


def test_the_proxy_waits_longer_and_keeps_connections_shorter_than_the_service() -> None:
    kept = seconds(directive("upstream web {", "keepalive_timeout"))
    assert kept < LINGER_SECONDS < KEEP_ALIVE_SECONDS
    assert seconds(directive("http {", "proxy_connect_timeout")) > 1 + ACCEPT_SECONDS
    longest = {field.name: field.default for field in fields(ChatCall)}["total_seconds"]
    assert seconds(directive("http {", "proxy_read_timeout")) > longest


def test_it_is_the_service_that_refuses_a_body_in_its_own_words() -> None:
    size = directive("http {", "client_max_body_size")
    assert size.endswith("m")
    assert int(size[:-1]) * 1024 * 1024 > max(MAX_FORM_BYTES, *PUBLIC_LIMITS)
    chart = yaml.safe_load((ROOT / "deploy" / "helm" / "platform" / "values.yaml").read_text())
    assert chart["ingress"]["annotations"]["nginx.ingress.kubernetes.io/proxy-body-size"] == size
