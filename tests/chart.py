"""deploy/helm/platform, rendered by Helm itself (helm-python-sdk), without a cluster."""

import json
from typing import Any

import yaml

from tests.tools import run

FOLDER = "deploy/helm/platform"
RELEASE = "demo"
KUBERNETES = "1.31"

_RENDER = f"""
import json, sys
import helm_python
with helm_python.Chart.load({FOLDER!r}) as chart:
    try:
        values = json.load(sys.stdin)
        chart.validate_schema(values)
        rendered = chart.render(values, name={RELEASE!r}, namespace="prod")
    except helm_python.HelmError as error:
        sys.exit(str(error))
json.dump(rendered, sys.stdout)
"""
# Of the Prometheus operator, and no kinds of Kubernetes itself.
_OPERATORS = ("PrometheusRule", "ServiceMonitor")
_VALIDATE = f"""
import json, sys
import kubernetes_validate
for resource in json.load(sys.stdin):
    try:
        kubernetes_validate.validate(resource, {KUBERNETES!r}, strict=True)
    except kubernetes_validate.ValidationError as error:
        sys.exit(f"{{resource['kind']}} {{resource['metadata']['name']}}: {{error.message}}")
"""

Resource = dict[str, Any]

# What has to be set.
VALUES: dict[str, Any] = {
    "image": {"repository": "registry.example.com/platform", "tag": "1.0.0"},
    "existingSecret": "platform",
    "config": {
        "ALLOWED_HOSTS": "app.example.com",
        "PUBLIC_BASE_URL": "https://app.example.com",
        "DEFAULT_FROM_EMAIL": "noreply@example.com",
    },
    "storage": {"outputsClaim": "outputs", "uploadsClaim": "uploads"},
}
_SCALES = {"autoscaling": {"enabled": True}}
EVERYTHING: dict[str, Any] = {
    **VALUES,
    "web": _SCALES,
    "workers": {"interactive": _SCALES, "media": _SCALES, "default": _SCALES},
    "metrics": {"serviceMonitor": {"enabled": True}, "prometheusRule": {"enabled": True}},
    "ingress": {"enabled": True, "hosts": ["app.example.com"], "tlsSecret": "tls"},
}


class Refused(Exception):
    """What Helm says of values that it does not take."""


def render(values: dict[str, Any]) -> list[Resource]:
    """The resources of the chart with these values. Raises Refused."""
    answer = run("python", "-c", _RENDER, stdin=json.dumps(values))
    if answer.returncode:
        raise Refused(answer.stderr)
    texts = json.loads(answer.stdout).values()
    return [each for text in texts for each in yaml.safe_load_all(text) if each]


def invalid(resources: list[Resource]) -> str:
    """What Kubernetes would not take of them; nothing where it takes all."""
    ours = [each for each in resources if each["kind"] not in _OPERATORS]
    return run("python", "-c", _VALIDATE, stdin=json.dumps(ours)).stderr


def of_kind(resources: list[Resource], kind: str) -> dict[str, Resource]:
    """Those of a kind, by name without that of the release."""
    return {
        each["metadata"]["name"].removeprefix(f"{RELEASE}-"): each
        for each in resources
        if each["kind"] == kind
    }


def pods(resources: list[Resource]) -> dict[str, Resource]:
    """The pods of deployments and jobs, by name."""
    return {
        name: each["spec"]["template"]["spec"]
        for kind in ("Deployment", "Job")
        for name, each in of_kind(resources, kind).items()
    }
