"""Bounded lists: newest first, a bare array, the way on in a `Link` header."""

import uuid
from typing import Any

from django.db.models import QuerySet, UUIDField
from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from common.errors import ValidationFailed

MAX_LIMIT = 100

# For `extend_schema` of a view that pages.
PAGE_PARAMETERS = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "default": MAX_LIMIT},
        description=f"At most so many rows, and never more than {MAX_LIMIT}.",
    ),
    OpenApiParameter("before", uuid.UUID, description="Rows older than the one of this id."),
    OpenApiParameter(
        "Link",
        str,
        OpenApiParameter.HEADER,
        response=[200],
        description='`<...>; rel="next"`, where there is more.',
    ),
]


class NewestFirst(BasePagination):
    """Pages of rows: `limit` (1 to 100) of those older than the one whose id is `before`.

    `order` is a field that grows with time; a primary key does if it is a UUIDv7. Where another
    field is one, `before` may also be its value, and the way on names that: the row may be gone or
    have moved to the front when it is followed.
    Raises ValidationFailed for a `limit` or `before` that is not one; a larger limit is 100.
    """

    next_url: str | None = None

    def __init__(self, order: str = "pk") -> None:
        self._order = order

    def paginate_queryset(
        self, queryset: QuerySet[Any], request: Request, view: Any = None
    ) -> list[Any]:
        limit = read_limit(request.query_params.get("limit"))
        if (before := request.query_params.get("before")) is not None:
            queryset = queryset.filter(**{f"{self._order}__lt": self._place(queryset, _id(before))})
        rows = list(queryset.order_by(f"-{self._order}")[: limit + 1])
        if len(rows) > limit:
            rows.pop()
            place = getattr(rows[-1], self._order)
            last = place if isinstance(place, uuid.UUID) else rows[-1].pk
            here = request.build_absolute_uri()
            self.next_url = replace_query_param(here, "before", str(last))
        return rows

    def _place(self, queryset: QuerySet[Any], row_id: uuid.UUID) -> Any:
        """Where that row stands in the order."""
        if self._order == "pk":
            return row_id
        place = queryset.filter(pk=row_id).values_list(self._order, flat=True).first()
        if place is not None:
            return place
        if isinstance(queryset.model._meta.get_field(self._order), UUIDField):
            return row_id
        raise ValidationFailed.of("before", "There is no such row in this list.")

    def get_paginated_response(self, data: Any) -> Response:
        headers = {"Link": f'<{self.next_url}>; rel="next"'} if self.next_url else {}
        return Response(data, headers=headers)


def read_limit(text: str | None) -> int:
    """The `limit` of a query. Raises ValidationFailed."""
    try:
        limit = int(text) if text is not None else MAX_LIMIT
    except ValueError:
        limit = 0
    if limit < 1:
        raise ValidationFailed.of("limit", "A limit is a whole number from 1 to 100.")
    return min(limit, MAX_LIMIT)


def _id(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise ValidationFailed.of("before", "This is not an id.") from None
