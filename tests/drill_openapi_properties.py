"""Any request that the OpenAPI document allows, and many that it does not, are answered as the
document says."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.db import transaction
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker
from schemathesis.checks import (
    ignored_auth,
    negative_data_rejection,
    not_a_server_error,
    positive_data_acceptance,
    response_schema_conformance,
)

from accounts.services.sessions import open_session
from apidocs.openapi.document import document
from common.errors import NotFound, Unauthenticated
from publicapi.tests.v1.customer import IN_PLAN
from publicapi.v1.errors import InternalError
from server.tests.client import new_address
from simulator.process import RunningSimulator
from tests.personas import new_key, new_user
from tests.service import Web, running_web

MODELS = {
    "/v1/chat/completions": IN_PLAN,
    "/v1/embeddings": "text-embedding-3-small",
    "/v1/images/generations": "gpt-image-2.5-flare",
}


# A schema does not say all that makes a request a good one, and a provider may be away.
NOT_PROMISED = [positive_data_acceptance, not_a_server_error]

schema = schemathesis.openapi.from_dict(document())
few_requests = settings(
    max_examples=5,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


# pytest 9.2 gives all tests of a function of Schemathesis the same id, unless a parameter is added.
with_and_without_credentials = pytest.mark.parametrize(
    "is_signed_in", [True, False], ids=["signed in", "without credentials"]
)


@with_and_without_credentials
@schema.include(path_regex="^/v1").parametrize()
@few_requests
def test_every_request_to_the_public_interface_is_answered_as_published(
    case: schemathesis.Case[Any], web: Web, committed: None, is_signed_in: bool
) -> None:
    _, key = new_key(new_user("alice", plan="max", balance_usd=5))
    if isinstance(case.body, dict):
        _make_callable(case.body, MODELS[case.path])
    headers = {"Authorization": f"Bearer {key}"} if is_signed_in else {}
    response = case.call(base_url=web.url, headers=headers, timeout=20)
    # Its reader of streams expects a schema of the event, not of what the event carries.
    streamed = response.headers.get("content-type", [""])[0].startswith("text/event")
    unread = [response_schema_conformance] if streamed else []
    case.validate_response(response, excluded_checks=[*NOT_PROMISED, *unread])
    assert response.status_code != InternalError.status


@pytest.fixture(scope="module")
def proxied_web(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Web]:
    """A web process that believes what address a request is from."""
    with django_db_blocker.unblock(), running_web(simulator, TRUSTED_PROXY_HOPS="1") as web:
        yield web


@with_and_without_credentials
@schema.include(path_regex="^/api").parametrize()
@few_requests
def test_every_request_to_the_application_interface_is_answered_as_published(
    case: schemathesis.Case[Any], proxied_web: Web, committed: None, is_signed_in: bool
) -> None:
    described = case.operation.definition.raw
    excluded = [*NOT_PROMISED, ignored_auth]
    known = {parameter["name"] for parameter in described.get("parameters", [])}
    if case.query and not case.query.keys() <= known:
        excluded.append(negative_data_rejection)  # what nobody knows is ignored
    # From an address of its own: it shall not count to the rate limit of another.
    headers = {"X-Forwarded-For": new_address()}
    if is_signed_in:
        with transaction.atomic():
            session = open_session(new_user("alice", plan="max", balance_usd=5))
        headers["Authorization"] = f"Bearer {session.access_token}"
    response = case.call(base_url=proxied_web.url, headers=headers, timeout=20)
    case.validate_response(response, excluded_checks=excluded)
    assert response.status_code != InternalError.status
    # An operation without `security` needs no token, as one with an empty alternative.
    if not is_signed_in and all(described.get("security", [{}])):
        # Or there is no such path, where an id is none.
        assert response.status_code in (Unauthenticated.status, NotFound.status)


def _make_callable(body: dict[str, Any], model: str) -> None:
    """Name a model that there is, and say something to it: what is made up gets no further."""
    if isinstance(body.get("model"), str):
        body["model"] = model
    messages = body.get("messages")
    if isinstance(messages, list) and messages:
        body["messages"] = [*messages, {"role": "user", "content": "Hello."}]
