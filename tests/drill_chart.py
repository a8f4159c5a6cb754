"""The Helm chart: Kubernetes takes what it renders, and all of it follows from the same values."""

import pytest
import yaml

from common.shutdown import DEFAULT_DRAIN_SECONDS, GRACE_SECONDS
from tests.chart import (
    EVERYTHING,
    FOLDER,
    VALUES,
    Refused,
    Resource,
    invalid,
    of_kind,
    pods,
    render,
)
from tests.compose import WORKERS, services
from tests.prometheus import RULES
from tests.tools import needs_tools, run
from work.jobs.models import Job

pytestmark = needs_tools


@pytest.fixture(scope="module")
def resources() -> list[Resource]:
    return render(VALUES)


@pytest.fixture(scope="module")
def everything() -> list[Resource]:
    return render(EVERYTHING)


def test_helm_finds_nothing_to_say() -> None:
    lint = (
        "import json, sys, helm_python;"
        f"print(json.dumps(helm_python.lint({FOLDER!r}, values=json.load(sys.stdin)), default=str))"
    )
    answer = run("python", "-c", lint, stdin="{}")
    assert answer.returncode == 0, answer.stderr
    assert "ERROR" not in answer.stdout, answer.stdout


def test_kubernetes_takes_all_that_is_rendered(
    resources: list[Resource], everything: list[Resource]
) -> None:
    assert invalid(resources) == ""
    assert invalid(everything) == ""
    broken = [{**resources[0], "spec": {"made": "up"}}]
    assert invalid(broken) != ""


@pytest.mark.parametrize("drain", [DEFAULT_DRAIN_SECONDS, 90])
def test_one_value_rules_how_each_process_ends(drain: int) -> None:
    found = render({**VALUES, "drainSeconds": drain})
    assert of_kind(found, "ConfigMap")["config"]["data"]["DRAIN_SECONDS"] == str(drain)
    waits = {pod["terminationGracePeriodSeconds"] for pod in pods(found).values()}
    assert waits == {drain + GRACE_SECONDS}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"config": {**VALUES["config"], "DRAIN_SECONDS": "90"}}, "set drainSeconds"),
        ({"drainSeconds": 5, "noticeSeconds": 5}, "noticeSeconds must be less than drainSeconds"),
        ({"existingSecret": ""}, "existingSecret"),
        ({"storage": {"uploadsClaim": "uploads"}}, "Set storage.outputsClaim"),
        (
            {"config": {**VALUES["config"], "PUBLIC_BASE_URL": "http://app.example.com"}},
            "PUBLIC_BASE_URL",
        ),
    ],
)
def test_values_that_cannot_be_meant_are_refused(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        render({**VALUES, **values})


def test_no_container_has_rights(resources: list[Resource]) -> None:
    for name, pod in pods(resources).items():
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert "memory" in container["resources"]["limits"]


def test_each_process_does_what_it_does_under_compose(resources: list[Resource]) -> None:
    found = pods(resources)
    assert found.keys() == {"web", *WORKERS, "beat", "migrate"}
    for name in (*WORKERS, "beat", "migrate"):
        (container,) = found[name]["containers"]
        assert container["command"] == services()[name]["command"], name
    assert "command" not in found["web"]["containers"][0]
    assert set(WORKERS) == {f"worker-{queue}" for queue in Job.Queue.values}


def test_the_migration_runs_before_the_new_processes(resources: list[Resource]) -> None:
    hooks = {
        each["kind"]: int(each["metadata"]["annotations"]["helm.sh/hook-weight"])
        for each in resources
        if "helm.sh/hook" in each["metadata"].get("annotations", {})
    }
    assert hooks.keys() == {"ConfigMap", "ServiceAccount", "Job"}
    assert hooks["Job"] > max(hooks["ConfigMap"], hooks["ServiceAccount"])


def test_a_web_process_is_sent_requests_only_while_it_is_ready(resources: list[Resource]) -> None:
    (web,) = pods(resources)["web"]["containers"]
    assert web["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}
    assert web["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "http"}
    assert of_kind(resources, "ConfigMap")["config"]["data"]["NOTICE_SECONDS"] == "5"
    budgets = of_kind(resources, "PodDisruptionBudget")
    assert budgets.keys() == {"web", *WORKERS}
    spread = pods(resources)["web"]["topologySpreadConstraints"]
    assert {each["topologyKey"] for each in spread} == {
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
    }


def test_the_metrics_are_for_prometheus_alone(everything: list[Resource]) -> None:
    (policy,) = (each for each in everything if each["kind"] == "NetworkPolicy")
    reach = {
        rule["ports"][0]["port"]: rule["from"][0]["namespaceSelector"]["matchLabels"]
        for rule in policy["spec"]["ingress"]
    }
    assert reach == {
        "http": {"kubernetes.io/metadata.name": "ingress-nginx"},
        "metrics": {"kubernetes.io/metadata.name": "monitoring"},
    }
    public = of_kind(everything, "Service")["web"]
    assert [port["name"] for port in public["spec"]["ports"]] == ["http"]


def test_the_ingress_passes_the_web_app_on_where_there_is_one() -> None:
    """Who comes that way is told nothing by probes (tests/test_security_headers.py)."""
    without = {"config": {**VALUES["config"], "WEB_APP": "off"}}
    assert paths_of(render(EVERYTHING)) == {"/"}
    paths = paths_of(render({**EVERYTHING, **without}))
    assert paths == {"/api", "/v1", "/files", "/admin", "/static"}


def paths_of(resources: list[Resource]) -> set[str]:
    """The paths that the ingress passes on."""
    (ingress,) = (each for each in resources if each["kind"] == "Ingress")
    return {path["path"] for path in ingress["spec"]["rules"][0]["http"]["paths"]}


def test_the_alerts_are_those_that_are_shipped(
    resources: list[Resource], everything: list[Resource]
) -> None:
    (rule,) = of_kind(everything, "PrometheusRule").values()
    assert rule["spec"] == yaml.safe_load(RULES.read_text())
    assert of_kind(resources, "PrometheusRule") == {}
    (monitor,) = of_kind(everything, "ServiceMonitor").values()
    metrics = of_kind(everything, "Service")["metrics"]
    # The name of the job in the rules.
    assert metrics["metadata"]["labels"][monitor["spec"]["jobLabel"]] == "platform"


def test_it_scales_by_open_calls_and_by_how_long_jobs_wait(everything: list[Resource]) -> None:
    scalers = of_kind(everything, "HorizontalPodAutoscaler")
    assert scalers.keys() == {"web", *WORKERS}
    (of_web,) = scalers["web"]["spec"]["metrics"]
    assert of_web["pods"]["metric"] == {"name": "platform_open_calls"}
    (of_media,) = scalers["worker-media"]["spec"]["metrics"]
    assert of_media["external"]["metric"] == {
        "name": "platform_oldest_queued_job_age_seconds",
        "selector": {"matchLabels": {"queue": "media"}},
    }
    assert all(
        "replicas" not in each["spec"]
        for name, each in of_kind(everything, "Deployment").items()
        if name != "beat"
    )


def test_connections_are_counted_for_all_that_may_run_during_a_rollout(
    resources: list[Resource],
    everything: list[Resource],
) -> None:
    data = of_kind(resources, "ConfigMap")["config"]["data"]
    assert (data["WEB_PROCESSES"], data["WORKER_PROCESSES"]) == ("3", "7")
    data = of_kind(everything, "ConfigMap")["config"]["data"]
    assert (data["WEB_PROCESSES"], data["WORKER_PROCESSES"]) == ("9", "21")
