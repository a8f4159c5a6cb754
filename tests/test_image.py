"""The image runs what `make run` runs."""

import json
import re

import yaml

from common.local.parts import web_command, worker_command
from common.local.paths import ROOT
from common.local.ports import LOOPBACK


def test_a_web_container_serves_as_on_this_machine_but_to_all_addresses() -> None:
    command = re.search(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert command
    _, _, *here = web_command(8000)
    here[here.index(LOOPBACK)] = "0.0.0.0"  # noqa: S104 - it has a network of its own
    assert json.loads(command[1]) == here


def test_a_worker_container_works_as_on_this_machine_but_for_its_name() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    _, _, *here, option, name = worker_command("alice")
    assert (option, name) == ("--hostname", "alice")
    assert services["worker"]["command"] == [word for word in here if word != "--quiet"]
