"""deploy/grafana: the dashboard asks for metrics that exist, as Prometheus takes it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from devserver.paths import ROOT
from tests.prometheus import PROMTOOL, metrics_in, needs_promtool
from tests.test_metrics_docs import documented

DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy/grafana/platform.json").read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]


def expressions(panel: dict[str, Any]) -> list[str]:
    return [target["expr"] for target in panel["targets"]]


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_shows_metrics_that_exist(panel: dict[str, Any]) -> None:
    for expression in expressions(panel):
        names = metrics_in(expression)
        assert names
        assert names <= documented()


def test_every_metric_has_a_panel() -> None:
    texts = [text for panel in PANELS for text in expressions(panel)]
    assert {name for text in texts for name in metrics_in(text)} == documented()


@needs_promtool
def test_prometheus_takes_the_expressions(tmp_path: Path) -> None:
    texts = [text for panel in PANELS for text in expressions(panel)]
    rules = [
        {"record": f"panel:{number}", "expr": text.replace("$__rate_interval", "1m")}
        for number, text in enumerate(texts)
    ]
    (tmp_path / "rules.yaml").write_text(
        yaml.safe_dump({"groups": [{"name": "a", "rules": rules}]})
    )
    command = [str(PROMTOOL), "check", "rules", str(tmp_path / "rules.yaml")]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_the_panels_are_told_apart_and_do_not_overlap() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    places = [
        (x, y)
        for panel in PANELS
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(places)) == len(places)
    assert max(x for x, _ in places) < 24
