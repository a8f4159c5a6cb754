"""Bounded lists: newest first, a bare array, the way on in a `Link` header."""

import uuid
from typing import Any

from django.db.models import QuerySet, UUIDField
from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param

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
    field is one, the way on names a `place` in that order instead of a row, which may be gone or
    have moved to the front when it is followed.
    Raises ValidationFailed for a `limit`, `before` or `place` that is not one; a larger limit is
    100.
    """

    next_url: str | None = None

    def __init__(self, order: str = "pk") -> None:
        self._order = order

    def paginate_queryset(
        self, queryset: QuerySet[Any], request: Request, view: Any = None
    ) -> list[Any]:
        limit = read_limit(request.query_params.get("limit"))
        if (place := request.query_params.get("place")) is not None and self._has_places(queryset):
            queryset = queryset.filter(**{f"{self._order}__lt": _id(place, "place")})
        elif (before := request.query_params.get("before")) is not None:
            beyond = self._place(queryset, _id(before, "before"))
            queryset = queryset.filter(**{f"{self._order}__lt": beyond})
        rows = list(queryset.order_by(f"-{self._order}")[: limit + 1])
        if len(rows) > limit:
            rows.pop()
            self.next_url = self._way_on(request, queryset, rows[-1])
        return rows

    def _way_on(self, request: Request, queryset: QuerySet[Any], last: Any) -> str:
        here = request.build_absolute_uri()
        if not self._has_places(queryset):
            return replace_query_param(here, "before", str(last.pk))
        return replace_query_param(
            remove_query_param(here, "before"), "place", str(getattr(last, self._order))
        )

    def _has_places(self, queryset: QuerySet[Any]) -> bool:
        if self._order == "pk":
            return False
        return isinstance(queryset.model._meta.get_field(self._order), UUIDField)

    def _place(self, queryset: QuerySet[Any], row_id: uuid.UUID) -> Any:
        """Where that row stands in the order."""
        if self._order == "pk":
            return row_id
        place = queryset.filter(pk=row_id).values_list(self._order, flat=True).first()
        if place is None:
            raise ValidationFailed.of("before", "There is no such row in this list.")
        return place

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


def _id(text: str, name: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise ValidationFailed.of(name, "This is not an id.") from None
