"""Any request that the OpenAPI document of `/v1` allows, and many that it does not, are answered as
the document says."""

from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import (
    not_a_server_error,
    positive_data_acceptance,
    response_schema_conformance,
)

from config.openapi import document
from publicapi.tests.v1.customer import IN_PLAN
from publicapi.v1.errors import InternalError
from tests.personas import new_key, new_user
from tests.service import Web

MODELS = {
    "/v1/chat/completions": IN_PLAN,
    "/v1/embeddings": "text-embedding-3-small",
    "/v1/images/generations": "gpt-image-2.5-flare",
}


# A schema does not say all that makes a request a good one, and a provider may be away.
NOT_PROMISED = [positive_data_acceptance, not_a_server_error]

schema = schemathesis.openapi.from_dict(document()).include(path_regex="^/v1")


@schema.parametrize()
@settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_request_is_answered_as_published(
    case: schemathesis.Case[Any], web: Web, committed: None
) -> None:
    _, key = new_key(new_user("alice", plan="max", balance_usd=5))
    if isinstance(case.body, dict):
        _make_callable(case.body, MODELS[case.path])
    response = case.call(base_url=web.url, headers={"Authorization": f"Bearer {key}"}, timeout=20)
    # Its reader of streams expects a schema of the event, not of what the event carries.
    streamed = response.headers.get("content-type", [""])[0].startswith("text/event")
    unread = [response_schema_conformance] if streamed else []
    case.validate_response(response, excluded_checks=[*NOT_PROMISED, *unread])
    assert response.status_code != InternalError.status


def _make_callable(body: dict[str, Any], model: str) -> None:
    """Name a model that there is, and say something to it: what is made up gets no further."""
    if isinstance(body.get("model"), str):
        body["model"] = model
    messages = body.get("messages")
    if isinstance(messages, list) and messages:
        body["messages"] = [*messages, {"role": "user", "content": "Hello."}]
