"""The Dockerfile: what is built in the image that runs, and with which rights. No engine builds it
here; its own steps are tried where they are cheap."""

import json
import re
import subprocess
import sys
from pathlib import Path

from devserver import node
from devserver.paths import ROOT
from tests.environment import inherited
from tests.tools import needs_tools, run
from tests.web_app import copied, link_packages, needs_packages

TEXT = (ROOT / "Dockerfile").read_text().replace("\\\n", "")
WEB_APP, BUILD, FINAL = re.split(r"^FROM .*$", TEXT, flags=re.MULTILINE)[1:]


@needs_tools
def test_hadolint_finds_nothing() -> None:
    answer = run("hadolint", "--failure-threshold", "info", "Dockerfile")
    assert answer.returncode == 0, answer.stdout


def test_nothing_is_installed_or_compiled_in_the_image_that_runs() -> None:
    assert not re.search(r"apt-get|pip|gcc|build-essential|curl|wget|npm", FINAL)
    installs = re.findall(r"pip install [^&]*", BUILD)
    assert len(installs) == 2
    for install in installs:
        assert "--only-binary :all: --require-hashes --no-deps" in install
    assert "pip uninstall --yes pip setuptools" in BUILD


def test_it_runs_as_a_user_by_number_with_two_folders_to_write_to() -> None:
    assert re.findall(r"^USER (.*)$", FINAL, re.MULTILINE) == ["10001:10001"]
    assert "install --directory --owner=app /outputs /uploads" in FINAL
    chart = (ROOT / "deploy/helm/platform/templates/_helpers.tpl").read_text()
    assert {"runAsUser: 10001", "runAsGroup: 10001"} <= {line.strip() for line in chart.split("\n")}


def test_no_secret_of_the_build_stays_in_it() -> None:
    assert "SECRET" not in FINAL
    assert not re.search(r"^(ENV|ARG) .*(SECRET|PEPPER|PASSWORD)", TEXT, re.MULTILINE)
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".env", ".git", "var", "deploy/certificates"} <= set(ignored)


def test_the_static_files_are_collected_with_what_the_build_sets() -> None:
    line = re.search(
        r"^RUN (.*)/venv/bin/python (manage.py collectstatic .*)$", BUILD, re.MULTILINE
    )
    assert line
    set_there = dict(word.split("=") for word in line[1].split())
    ended = subprocess.run(
        [sys.executable, *line[2].split(), "--dry-run"],
        cwd=ROOT,
        env={**inherited(), **set_there, "PYTHONPATH": inherited()["PYTHONPATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "static files copied" in ended.stdout


def test_the_web_app_is_built_of_what_is_locked_and_served_where_it_is_put() -> None:
    assert "npm ci --omit=dev" in WEB_APP
    served = re.search(r"WEB_APP_DIR=(\S+)", FINAL)
    assert served
    assert f"COPY --from=web-app /web/build {served[1]}\n" in FINAL
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {"**/node_modules", "web/.svelte-kit", "web/build", "web/src/paraglide"} <= set(ignored)


@needs_packages
def test_the_web_app_is_built_without_the_packages_of_its_checks(tmp_path: Path) -> None:
    """Of the whole tree the stage has `web/` alone."""
    app = copied(tmp_path / "web")
    link_packages(app, tools=False)
    vite = re.search(r"^RUN node_modules/\.bin/vite build$", WEB_APP, re.MULTILINE)
    assert vite
    ended = subprocess.run(
        node.node("node_modules/vite/bin/vite.js", "build"),
        cwd=app.source,
        env=node.environment(app.source),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    built = {path.name for path in (app.source / "build").iterdir()}
    assert {"index.html", "routes.json", "_app"} <= built


@needs_tools
def test_the_bill_of_materials_names_what_is_locked(tmp_path: Path) -> None:
    bill = tmp_path / "sbom.json"
    written = run(
        *("cyclonedx-py", "requirements", "--output-reproducible", "--of", "JSON"),
        *("-o", bill, "requirements.txt"),
    )
    assert written.returncode == 0, written.stderr
    content = json.loads(bill.read_text())
    assert content["bomFormat"] == "CycloneDX"
    named = {(part["name"], part["version"]) for part in content["components"]}
    locked = re.findall(
        r"^([\w.-]+)==([\w.]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE
    )
    assert named == set(locked)
