"""deploy/compose.yaml, read as compose reads it."""

import os
import re
from collections.abc import Mapping
from typing import Any

import yaml

from devserver.paths import ROOT

FILE = ROOT / "deploy" / "compose.yaml"
WEBS = ("web-1", "web-2")
WORKERS = ("worker-interactive", "worker-media", "worker-default")
PROCESSES = (*WEBS, *WORKERS, "beat")
_VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


def compose(environ: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Its variables are those of `environ`, or their defaults."""

    def value(found: re.Match[str]) -> str:
        name, operator, default = found.groups()
        if text := environ.get(name):
            return text
        return default if operator == "-" else f"the {name}"

    content: dict[str, Any] = yaml.safe_load(_VARIABLE.sub(value, FILE.read_text()))
    return content


def services(environ: Mapping[str, str] = os.environ) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose(environ)["services"]
    return found


def seconds(duration: object) -> int:
    """Of a duration as Go reads it: the sum of its parts."""
    assert isinstance(duration, str)
    assert re.fullmatch(r"(\d+s)+", duration)
    return sum(int(part) for part in re.findall(r"(\d+)s", duration))
