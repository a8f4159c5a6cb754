"""docs/operations/deploy.md and upgrade.md: their commands name what exists, and can be given."""

import json
import re
import shlex

import pytest
import yaml
from django.core.management import get_commands

from devserver.paths import ROOT
from tests.chart import VALUES, render
from tests.compose import services
from tests.tools import needs_tools, run

NAMES = ("deploy.md", "upgrade.md")


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / "docs" / "operations" / name).read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(program: str) -> list[list[str]]:
    """The commands of that program in both documents, as words."""
    lines = "".join(text for name in NAMES for text in blocks(name, "sh")).replace("\\\n", "")
    found = [shlex.split(line, comments=True) for line in lines.splitlines()]
    return [words for words in found if words[:1] == [program]]


def test_compose_is_called_with_its_file_and_with_services_that_it_has() -> None:
    found = commands("docker")
    assert len(found) == 4
    for words in found:
        assert words[1:6] == ["compose", "--env-file", ".env", "-f", "deploy/compose.yaml"]
        named = {word for word in words[7:] if not word.startswith("-") and word[0] != "$"}
        assert named <= services().keys()


def test_each_process_is_restarted_once() -> None:
    text = "".join(blocks("deploy.md", "sh"))
    loop = re.search(r"for process in (.*); do", text)
    assert loop
    assert loop[1].split() == [
        name
        for name, service in services().items()
        if service.get("image") == "platform" and name != "migrate"
    ]


def test_commands_of_manage_py_exist() -> None:
    for _, file, command, *_ in commands("python"):
        assert file == "manage.py"
        assert command in get_commands()


@needs_tools
def test_the_chart_takes_what_helm_is_called_with() -> None:
    (words,) = commands("helm")
    assert words[4] == "deploy/helm/platform"
    given = ",".join(words[at + 1] for at, word in enumerate(words) if word == "--set")
    parse = f"import json, helm_python; print(json.dumps(helm_python.parse_set_string({given!r})))"
    answer = run("python", "-c", parse)
    assert answer.returncode == 0, answer.stderr
    values = json.loads(answer.stdout)
    assert values.keys() == VALUES.keys()
    assert render(values)


def test_the_metrics_that_kubernetes_is_told_are_those_that_the_chart_scales_by() -> None:
    (text,) = blocks("deploy.md", "yaml")
    rules = yaml.safe_load(text)["rules"]
    told = {kind: rules[kind][0]["seriesQuery"].partition("{")[0] for kind in rules}
    templates = ROOT / "deploy" / "helm" / "platform" / "templates"
    assert f"name: {told['custom']}}}" in (templates / "web.yaml").read_text()
    assert f"name: {told['external']}\n" in (templates / "workers.yaml").read_text()


@pytest.mark.parametrize("target", ["deploy-tools", "former-release", "sbom"])
def test_targets_of_make_exist(target: str) -> None:
    assert re.search(rf"^{target}:.* ## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert any(
        f"`make {target}`" in (ROOT / "docs/operations" / name).read_text() for name in NAMES
    )
