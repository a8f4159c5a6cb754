"""The shipped rules of Prometheus, its own programs, and a Prometheus that runs here."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from devserver.paths import ROOT
from devserver.ports import LOOPBACK, answers, free_port
from devserver.processes import Process
from devserver.service import Service

FOLDER = ROOT / "deploy" / "prometheus"
RULES = FOLDER / "alerts.yaml"
PROMTOOL = shutil.which("promtool")
PROGRAM = shutil.which("prometheus")
needs_promtool = pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
needs_prometheus = pytest.mark.skipif(PROGRAM is None, reason="prometheus is not installed")

Alert = dict[str, Any]


def alerts() -> dict[str, Alert]:
    """The shipped alerts by name."""
    groups = yaml.safe_load(RULES.read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    by_name = {rule["alert"]: rule for rule in rules}
    assert len(by_name) == len(rules)
    return by_name


def expressions() -> list[str]:
    """The expressions of all rules."""
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule["expr"] for group in groups for rule in group["rules"]]


def metrics_in(expression: str) -> set[str]:
    """The metrics of ours that an expression names; of a histogram without its suffix."""
    names = re.findall(r"\bplatform_\w+", expression)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


def hastened(text: str) -> str:
    """The rules with seconds in place of minutes and hours: an alert fires after two seconds, and
    looks back ten. The thresholds stay."""
    text = re.sub(r"(?<= for: )\d+[mh]$", "2s", text, flags=re.MULTILINE)
    return re.sub(r"\[\d+m\]", "[10s]", text)


@dataclass
class Prometheus:
    """One that runs."""

    port: int

    def firing(self) -> set[tuple[str, ...]]:
        """The alerts that fire: the name, and the values of the labels that tell them apart."""
        return {
            (labels["alertname"], *(labels[name] for name in _TELLING if name in labels))
            for labels in self._alerts("firing")
        }

    def is_up(self) -> bool:
        """Does it scrape all targets, and did it evaluate all rules?"""
        targets = self._get("targets")["activeTargets"]
        groups = self._get("rules")["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        return all(target["health"] == "up" for target in targets) and all(
            rule["health"] == "ok" for rule in rules
        )

    def _alerts(self, state: str) -> list[Mapping[str, str]]:
        found = self._get("alerts")["alerts"]
        return [alert["labels"] for alert in found if alert["state"] == state]

    def _get(self, path: str, **query: str) -> Any:
        url = f"http://{LOOPBACK}:{self.port}/api/v1/{path}"
        return httpx.get(url, params=query, timeout=10).raise_for_status().json()["data"]


_TELLING = ("provider", "queue", "sweep", "store", "kind", "instance", "limit", "pool")


@contextmanager
def running_prometheus(folder: Path, targets: Mapping[str, int]) -> Iterator[Prometheus]:
    """A Prometheus until the block ends, which scrapes these ports each second and has the shipped
    rules, hastened. The names of the targets are their `instance`."""
    (folder / "alerts.yaml").write_text(hastened(RULES.read_text()))
    scraped = [
        {"targets": [f"{LOOPBACK}:{port}"], "labels": {"instance": name}}
        for name, port in targets.items()
    ]
    configuration = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": ["alerts.yaml"],
        "scrape_configs": [{"job_name": "platform", "static_configs": scraped}],
    }
    (folder / "prometheus.yml").write_text(json.dumps(configuration))
    port = free_port(but=set(targets.values()))
    assert PROGRAM is not None
    command = (
        PROGRAM,
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={LOOPBACK}:{port}",
    )
    process = Process(
        Service(name="prometheus", command=command, is_ready=lambda: answers(port, "/-/ready")),
        log=folder / "prometheus.log",
    )
    try:
        process.wait_until_ready(timeout=30)
        yield Prometheus(port)
    finally:
        process.stop()
