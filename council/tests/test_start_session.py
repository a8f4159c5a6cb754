"""POST /api/council/sessions: start a council."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from ai.catalog.selectors import get_catalog
from billing.tests.bank import BALANCE_ONLY, IN_PLAN
from council.models import Generation, Session
from council.tests.council_client import (
    QUESTION,
    SESSIONS,
    UNDERWAY,
    CouncilClient,
    new_council_client,
)
from council.types import MAX_PROMPT, MAX_SYSTEM, MAX_TITLE
from events.tests.streams import session_streams
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def test_each_model_gets_a_card_and_begins(alice: CouncilClient) -> None:
    answer = alice.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN, BALANCE_ONLY, IN_PLAN])

    assert answer.status_code == 201
    session = answer.json()
    assert [card["model"] for card in session["cards"]] == [IN_PLAN, BALANCE_ONLY, IN_PLAN]
    assert {card["status"] for card in session["cards"]} <= set(UNDERWAY)
    assert (session["status"], session["activity"]) == ("running", "answering")
    assert session["prompt"] == QUESTION
    assert session["title"] == "How deep is the sea?"
    assert session["last_seq"] >= 4
    calls = Generation.objects.filter(session=session["id"]).values_list("id", flat=True)
    assert Job.objects.filter(pk__in=calls, account=alice.user).count() == 3


def test_a_session_and_its_cards_have_these_fields(alice: CouncilClient) -> None:
    body = {"title": "The sea", "system": "Be brief."}
    session = alice.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN], **body).json()

    assert set(session) == {
        "id",
        "title",
        "prompt",
        "system",
        "status",
        "activity",
        "round",
        "rounds",
        "last_seq",
        "cost_usd",
        "cards",
        "created_at",
    }
    assert (session["title"], session["system"]) == ("The sea", "Be brief.")
    [card] = session["cards"]
    assert set(card) == {
        "id",
        "kind",
        "prompt",
        "model",
        "status",
        "current_version",
        "source",
        "content",
        "finish_reason",
        "usage",
        "cost_usd",
        "error",
        "details",
        "created_at",
    }
    assert (card["kind"], card["current_version"], card["source"]) == ("answer", 1, "initial")
    assert (card["content"], card["usage"], card["cost_usd"], card["error"]) == ("", None, 0, None)


def test_a_legacy_alias_stands_for_its_model(alice: CouncilClient) -> None:
    aliases = get_catalog().aliases
    alias = next(name for name, model in aliases.items() if model == IN_PLAN)

    [card] = alice.post(SESSIONS, prompt=QUESTION, models=[alias]).json()["cards"]

    assert card["model"] == IN_PLAN


@pytest.mark.parametrize(
    ("models", "place"),
    [
        (["no-such-model"], ["models", 0]),
        ([IN_PLAN, "text-embedding-3-small"], ["models", 1]),
        (["gpt-image-2.5-flare"], ["models", 0]),
        ([IN_PLAN, 7], ["models", 1]),
        ([None], ["models", 0]),
        (["x" * 100_000], ["models", 0]),
        ([], ["models"]),
        ([IN_PLAN] * 9, ["models"]),
        (["x"] * 100_000, ["models"]),
        (IN_PLAN, ["models"]),
        ({IN_PLAN: 1}, ["models"]),
        (None, ["models"]),
    ],
)
def test_models_that_cannot_answer_are_422_and_named(
    alice: CouncilClient, models: Any, place: list[str | int]
) -> None:
    answer = alice.post(SESSIONS, prompt=QUESTION, models=models)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == place
    assert len(answer.content) < 1_000


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("prompt", ""),
        ("prompt", " \n\t"),
        ("prompt", "\u200b\ufeff\u200d"),
        ("prompt", None),
        ("prompt", 5),
        ("prompt", "x" * (MAX_PROMPT + 1)),
        ("title", "x" * (MAX_TITLE + 1)),
        ("title", ["x"]),
        ("system", "x" * (MAX_SYSTEM + 1)),
    ],
)
def test_texts_that_are_none_or_too_long_are_422(
    alice: CouncilClient, field: str, value: Any
) -> None:
    body = {"prompt": QUESTION, "models": [IN_PLAN], field: value}

    answer = alice.post(SESSIONS, **body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == [field]
    assert not Session.objects.filter(account=alice.user).exists()


def test_the_longest_texts_are_taken(alice: CouncilClient) -> None:
    body = {"prompt": "\u6c34" * MAX_PROMPT, "title": "t" * MAX_TITLE, "system": "s" * MAX_SYSTEM}

    answer = alice.post(SESSIONS, models=[IN_PLAN], **body)

    assert answer.status_code == 201, answer.content[:200]
    assert answer.json()["prompt"] == body["prompt"]


@pytest.mark.parametrize(
    "body", ['{"prompt": "a\\u0000b", "models": ["gpt-6-luna"]}', "{", "\xff", ""]
)
def test_what_cannot_be_stored_or_is_no_json_is_400(alice: CouncilClient, body: str) -> None:
    answer = alice.client.post(SESSIONS, body.encode("latin-1"), content_type="application/json")

    assert answer.status_code == (400 if body else 422)


def test_without_a_token_it_is_401(visitor: APIClient) -> None:
    body = {"prompt": QUESTION, "models": [IN_PLAN]}

    assert visitor.post(SESSIONS, body, format="json").status_code == 401


def test_on_the_free_plan_it_needs_another_plan() -> None:
    bob = new_council_client("bob", plan="free")

    answer = bob.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN])

    assert answer.status_code == 402
    detail = answer.json()["detail"]
    assert (detail["code"], detail["feature"], detail["plan"]) == (
        "plan_required",
        "council",
        "free",
    )
    assert not session_streams(bob.user).exists()


REFUSALS = {"upload_ids": "A council takes no files.", "space_id": "A council is in no space."}
SOME_ID = "0198c0de-0000-7000-8000-000000000000"


@pytest.mark.parametrize("path", [SESSIONS, f"{SESSIONS}/estimate"])
@pytest.mark.parametrize(
    ("field", "value"),
    [("upload_ids", [SOME_ID]), ("upload_ids", "x"), ("space_id", SOME_ID), ("space_id", 1)],
)
def test_files_and_spaces_are_refused_instead_of_ignored(path: str, field: str, value: Any) -> None:
    alice = new_council_client()
    body: dict[str, Any] = {"prompt": QUESTION, "models": [IN_PLAN], field: value}
    answer = alice.post(path, **body)
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["loc"] == [field]
    assert error["msg"].startswith(REFUSALS[field])


def test_no_files_and_no_space_may_be_said() -> None:
    alice = new_council_client()
    answer = alice.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN], upload_ids=[], space_id=None)
    assert answer.status_code == 201
