"""docs/operations/tracing.md: what is asked before a rollout, and the settings of an example."""

import httpx

from simulator.process import RunningSimulator
from tests.collector import new_trace, running_collector
from tests.operations.blocks import attempt, run, variables
from tests.service import environment_of_a_process, running_web

SAMPLER = "OTEL_TRACES_SAMPLER"
# Requests without a trace of their client.
BEGUN_HERE = 40


def test_the_check_says_what_would_not_start(committed: None, simulator: RunningSimulator) -> None:
    environment = environment_of_a_process(simulator)
    good = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}
    assert "no issues" in run("tracing.md#check", environment | good)
    refused = attempt("tracing.md#check", environment | {"SENTRY_DSN": "nonsense"})
    assert refused.returncode == 1
    assert "SENTRY_DSN must be a DSN of Sentry" in refused.stdout


def test_the_settings_of_the_example_are_those_of_a_traced_process(
    committed: None, simulator: RunningSimulator
) -> None:
    with running_collector() as collector:
        words = {"COLLECTOR": collector.url, "NAME": "shop"}
        words |= {"parentbased_traceidratio": "parentbased_traceidratio", "0.1": "0.1"}
        example = variables("tracing.md#settings", **words)
        assert example[SAMPLER] == "parentbased_traceidratio"
        trace_id, header = new_trace()
        example["OTEL_EXPORTER_OTLP_HEADERS"] = "x-token=of-the-collector"
        with running_web(simulator, **{**collector.environment, **example}) as web:
            with httpx.Client(base_url=web.url) as http:
                assert http.get("/v1/models", headers=header).status_code == 200
                answers = [http.get("/v1/models").status_code for _ in range(BEGUN_HERE)]
            assert answers == [200] * BEGUN_HERE
        [span] = collector.spans(trace_id)
        assert (span.service, span.name) == ("shop", "GET /v1/models")
        assert "x-token: of-the-collector" in collector.heads[0]
        # A tenth of those that begin here is recorded.
        assert len(collector.spans()) - 1 < BEGUN_HERE / 2
