"""deploy/prometheus: Prometheus takes the rules, each alert fires for its reason and for nothing
else, and each has a runbook."""

import ast
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from django.conf import settings

from config.store_metrics import RECONCILIATIONS, SWEEPS
from devserver.paths import ROOT
from tests.documents import assert_same
from tests.prometheus import (
    FOLDER,
    PROMTOOL,
    RULES,
    alerts,
    expressions,
    metrics_in,
    needs_promtool,
)
from tests.test_metrics_docs import documented

RUNBOOKS = ROOT / "docs" / "operations" / "runbooks.md"
# Of an alert, as tests/alerts writes it.
NAME = re.compile(r"([A-Z][a-z]+){2,}")
ANNOTATIONS = {"summary", "description", "runbook_url"}


def promtool(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    assert PROMTOOL is not None
    command = [PROMTOOL, *arguments]
    return subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)


@needs_promtool
def test_prometheus_takes_the_rules() -> None:
    answer = promtool("check", "rules", RULES)
    assert answer.returncode == 0, answer.stdout + answer.stderr


@needs_promtool
def test_each_alert_fires_for_its_reason_and_not_just_below() -> None:
    answer = promtool("test", "rules", FOLDER / "alerts_test.yaml")
    assert answer.returncode == 0, answer.stdout + answer.stderr


@needs_promtool
def test_a_threshold_that_is_off_is_noticed(tmp_path: Path) -> None:
    text = RULES.read_text()
    assert text.count("> 900\n") == 1
    (tmp_path / "alerts.yaml").write_text(text.replace("> 900\n", "> 90000\n"))
    (tmp_path / "alerts_test.yaml").write_text((FOLDER / "alerts_test.yaml").read_text())
    answer = promtool("test", "rules", tmp_path / "alerts_test.yaml")
    assert answer.returncode != 0
    assert set(re.findall(r"alertname: ?(\w+)", answer.stdout + answer.stderr)) == {
        "ReconcileStale"
    }


def test_each_alert_has_a_series_that_makes_it_fire_and_one_that_does_not() -> None:
    cases = yaml.safe_load((FOLDER / "alerts_test.yaml").read_text())["tests"]
    stated = [
        (expected["alertname"], bool(expected["exp_alerts"]))
        for case in cases
        for expected in case["alert_rule_test"]
    ]
    assert_same(stated, [(name, fires) for name in alerts() for fires in (True, False)], "")


def test_each_alert_has_a_test_that_causes_it() -> None:
    """And no such test is of an alert that is gone."""
    files = (ROOT / "tests" / "alerts").glob("drill_*.py")
    expected = {name for file in files for name in caused_in(file.read_text())}
    assert_same(expected, alerts(), "tests/alerts")


def test_an_alert_that_may_fire_on_the_way_is_not_caused() -> None:
    text = """assert_fires(watched, ("CallsFail", "openai"), at_first=[("TargetDown", "web")])"""
    assert caused_in(text) == {"CallsFail"}


def caused_in(text: str) -> set[str]:
    """The alerts that a module of tests waits for: the tuples that begin with a name of one, but
    for those that may fire on the way (`at_first`)."""
    tree = ast.parse(text)
    may_fire = {
        node
        for keyword in ast.walk(tree)
        if isinstance(keyword, ast.keyword) and keyword.arg == "at_first"
        for node in ast.walk(keyword)
    }
    return {name for node in ast.walk(tree) if node not in may_fire for name in alert_of(node)}


def alert_of(node: ast.AST) -> list[str]:
    match node:
        case ast.Tuple(elts=[ast.Constant(value=str(name)), *_]) if NAME.fullmatch(name):
            return [name]
    return []


@pytest.mark.parametrize("name", alerts())
def test_an_alert_says_how_bad_it_is_and_what_to_do(name: str) -> None:
    alert = alerts()[name]
    assert alert["labels"].keys() == {"severity"}
    assert alert["labels"]["severity"] in {"critical", "warning"}
    assert re.fullmatch(r"\d+[mh]", alert["for"])
    assert alert["annotations"].keys() == ANNOTATIONS
    path, _, anchor = alert["annotations"]["runbook_url"].partition("#")
    assert (ROOT / path, anchor) == (RUNBOOKS, name.lower())


def test_each_alert_has_a_runbook_that_says_three_things_and_each_runbook_an_alert() -> None:
    _, *sections = re.split(r"^## (?=\w+$)", RUNBOOKS.read_text(), flags=re.MULTILINE)
    assert_same([each.partition("\n")[0] for each in sections], alerts(), str(RUNBOOKS))
    for each in sections:
        assert re.findall(r"^- \*\*(.+?)\*\*: ", each, re.MULTILINE) == ["It means", "Look", "Do"]


def test_the_rules_ask_for_metrics_that_exist() -> None:
    names = {name for expression in expressions() for name in metrics_in(expression)}
    assert names - documented() == set()
    assert len(names) > 20


def test_each_sweep_has_an_alert() -> None:
    text = " ".join(expressions())
    for sweep in RECONCILIATIONS:
        assert f'sweep="{sweep}"' in text
    (others,) = re.findall(r'sweep!~"([^"]+)"', text)
    assert {sweep for sweep in SWEEPS if re.fullmatch(others, sweep)} == RECONCILIATIONS
    assert settings.CELERY_BEAT_SCHEDULE["reconcile"]["schedule"] * 3 == 900
