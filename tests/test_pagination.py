"""Lists in an order of several columns: pages bring each row once, in both directions."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from common.pagination import NewestFirst
from conversations.models import Conversation
from tests.personas import new_user

# A flag, a time that rows share, and what is unique.
ORDER = ("pinned", "created_at", "id")


@pytest.fixture
def conversations(db: None) -> QuerySet[Conversation]:
    alice, now = new_user("alice"), timezone.now()
    Conversation.objects.bulk_create(
        Conversation(
            account=alice, pinned=place % 3 == 0, created_at=now - timedelta(days=place // 4)
        )
        for place in range(11)
    )
    return Conversation.objects.filter(account=alice)


def read(conversations: QuerySet[Conversation], path: str) -> tuple[list[Any], dict[str, str]]:
    """The ids of a page, and where its links lead."""
    pages = NewestFirst(*ORDER, both_ways=True)
    rows = pages.paginate_queryset(conversations, Request(APIRequestFactory().get(path)))
    links = pages.get_paginated_response(None).headers.get("Link", "")
    found = (link.split("; rel=") for link in links.split(", ") if link)
    return [row.pk for row in rows], {rel.strip('"'): url.strip("<>") for url, rel in found}


@pytest.mark.parametrize("limit", [1, 2, 4, 11])
def test_every_row_comes_once_there_and_back(
    conversations: QuerySet[Conversation], limit: int
) -> None:
    ordered = list(
        conversations.order_by(*(f"-{name}" for name in ORDER)).values_list("pk", flat=True)
    )
    page, links = read(conversations, f"/?limit={limit}")
    there = [page]
    while "next" in links:
        page, links = read(conversations, links["next"])
        there.append(page)
    assert [each for page in there for each in page] == ordered

    before_last: list[Any] = []
    while "prev" in links:
        page, links = read(conversations, links["prev"])
        before_last = page + before_last
    assert before_last == ordered[: len(ordered) - len(there[-1])]
