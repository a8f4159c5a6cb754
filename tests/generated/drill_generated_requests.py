"""Requests that are drawn from the OpenAPI document, half of them such as a client would send, the
others not, are answered as the document says: by a service whose user owns what they name.

REQUESTS=200000 in the environment sends that many:
`REQUESTS=200000 make drills ARGS="tests/generated --dist load -rP"` prints how they are answered.
"""

import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from pytest_django import DjangoDbBlocker
from schemathesis import Response
from schemathesis.checks import (
    ignored_auth,
    negative_data_rejection,
    not_a_server_error,
    positive_data_acceptance,
    response_schema_conformance,
)
from schemathesis.core.failures import FailureGroup

from common.errors import NotFound, PayloadTooLarge, TooManyRequests, Unauthenticated
from devserver.configuration import simulated_connectors
from simulator.process import RunningSimulator
from tests.generated.drawing import Case, Operation, operations
from tests.generated.person import Person
from tests.service import Web, running_web
from tests.worker import running_worker

OF_A_LIFE = 3_000
LIVES = max(1, int(os.environ.get("REQUESTS", OF_A_LIFE)) // OF_A_LIFE)
VALID, INVALID, NOBODYS = 16, 5, 1  # of each 22 requests
# A provider may be away; a service that is not may not fail.
AWAY = (502, 503)
# Without credentials; there may be no such path, where an id is none.
REFUSED = (Unauthenticated.status, NotFound.status, TooManyRequests.status)
# What is never answered with 2xx.
REDIRECTED = {"GET /api/connectors/{provider}/callback"}
# Texts are as long as they are without white space around them, names without what does not show.
MEASURED_LATER = "`maxLength`"
UNSHOWN = re.compile(r"^\s|\s$|[\x00-\x08\x0b-\x1f\x7f-\x9f]|[^\S\n]{2}")
# More requests of an operation that none in a life has answered well, by chance.
MORE_TRIES = 30
# A schema does not say all that makes a request a good one.
NOT_PROMISED = [positive_data_acceptance, not_a_server_error, ignored_auth]


@pytest.fixture(scope="module")
def web(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, simulator: RunningSimulator
) -> Iterator[Web]:
    """A web process that believes what address a request is from, and a worker."""
    environment: dict[str, Any] = {
        **simulated_connectors(simulator.url),
        "DJANGO_SETTINGS_MODULE": "tests.generated.settings",
        "TRUSTED_PROXY_HOPS": "1",
        "SELF_SERVICE_TOPUP": "1",
    }
    with (
        django_db_blocker.unblock(),
        running_web(simulator, **environment) as web,
        running_worker(simulator, **environment),
    ):
        yield web


class Answers:
    """How requests were answered, and what was wrong with that."""

    def __init__(self) -> None:
        self.statuses: dict[str, Counter[int]] = defaultdict(Counter)
        self.wrong: Counter[str] = Counter()

    def note(
        self, operation: Operation, case: Case, response: Response, *, is_signed_in: bool
    ) -> None:
        """Check an answer, and count it."""
        status = response.status_code
        self.statuses[operation.name][status] += 1
        excluded = [*NOT_PROMISED]
        if status == PayloadTooLarge.status or not operation.refuses(case):
            excluded.append(negative_data_rejection)
        if response.headers.get("content-type", [""])[0].startswith("text/event"):
            # Its reader of streams expects a schema of the event, not of what the event carries.
            excluded.append(response_schema_conformance)
        body = str(response.request.body)[:2_000]
        asked = f"{response.request.method} {response.request.url} {body}: {status}"
        try:
            case.validate_response(response, excluded_checks=excluded)
        except FailureGroup as failures:
            found = [str(failure) for failure in failures.exceptions]
            is_measured_later = has_unshown(case.body)
            if reasons := [
                reason for reason in found if not (is_measured_later and MEASURED_LATER in reason)
            ]:
                self.wrong[f"{asked}, {reasons}"] += 1
        if status >= 500 and status not in AWAY:
            self.wrong[f"{asked}, {response.text}"] += 1
        if not is_signed_in and operation.needs_credentials and status not in REFUSED:
            self.wrong[f"{asked} without credentials"] += 1

    @property
    def total(self) -> int:
        return sum(sum(statuses.values()) for statuses in self.statuses.values())

    @property
    def good(self) -> int:
        return sum(
            times
            for statuses in self.statuses.values()
            for status, times in statuses.items()
            if status < 300
        )

    @property
    def never_good(self) -> set[str]:
        return {name for name, statuses in self.statuses.items() if min(statuses) >= 300}

    def __str__(self) -> str:
        lines = [f"{self.total} requests, {self.good} of them answered 2xx"]
        for name, statuses in sorted(self.statuses.items()):
            lines.append(f"{name}: {dict(sorted(statuses.items()))}")
        return "\n  ".join(lines)


def has_unshown(body: Any) -> bool:
    """Has it a text with something that does not count towards its length?"""
    if isinstance(body, dict):
        return any(map(has_unshown, body.values()))
    if isinstance(body, list):
        return any(map(has_unshown, body))
    return isinstance(body, str) and UNSHOWN.search(body) is not None


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("life", range(LIVES))
def test_generated_requests_are_answered_as_the_document_says(
    life: int, committed: None, web: Web, simulator: RunningSimulator
) -> None:
    random, answers = Random(life), Answers()  # noqa: S311 - not a secret
    known = {each.name: each for each in operations()}
    alice = Person(web, simulator, known, random, answers.note)
    kinds = [alice.send] * VALID + [alice.send_invalid] * INVALID
    kinds += [alice.send_without_credentials] * NOBODYS
    while answers.total < OF_A_LIFE:
        for name in random.sample(list(known), len(known)):
            # One request a round would end all that she owns.
            if name != "DELETE /api/users/me" or random.random() < 0.2:
                random.choice(kinds)(name)
    for name in sorted(answers.never_good - REDIRECTED):
        for _ in range(MORE_TRIES):
            if name in answers.never_good:
                alice.send(name)

    sys.stdout.write(f"{answers}\nnever 2xx: {answers.never_good}\n")
    assert not answers.wrong, "\n".join(answers.wrong)
    assert answers.good >= answers.total / 2
    assert answers.never_good <= REDIRECTED
