"""Bounded lists: newest first, a bare array, the next page in a `Link` header."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import F, Func, QuerySet, TextField, UUIDField, Value
from django.db.models.lookups import GreaterThan, LessThan
from drf_spectacular.utils import OpenApiParameter
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.utils.urls import remove_query_param, replace_query_param

from common.errors import ValidationFailed

MAX_LIMIT = 100
_VERSION = 7  # of the UUIDs that rows have

# The values of the fields that order a list.
Values = tuple[Any, ...]

# Between them in a link: no flag, number, time or id has one.
_SEPARATOR = "~"
# What a link names: a row, or a place between rows.
_QUERIES = ("before", "after", "place", "after_place")

# For `extend_schema` of a view that calls `link_to_next`.
NEXT_PAGE = OpenApiParameter(
    "Link",
    str,
    OpenApiParameter.HEADER,
    response=[200],
    description='`<...>; rel="next"`, where there is more.',
)
# For `extend_schema` of a view that pages.
PAGE_PARAMETERS = [
    OpenApiParameter(
        "limit",
        {"type": "integer", "minimum": 1, "default": MAX_LIMIT},
        description=f"At most so many rows, and never more than {MAX_LIMIT}.",
    ),
    OpenApiParameter("before", uuid.UUID, description="Rows older than the one of this id."),
    NEXT_PAGE,
]

# The same for a list that is paged both ways.
TWO_WAY_PAGE_PARAMETERS = [
    *PAGE_PARAMETERS[:-1],
    OpenApiParameter("after", uuid.UUID, description="Rows newer than the one of this id."),
    OpenApiParameter(
        "Link",
        str,
        OpenApiParameter.HEADER,
        response=[200],
        description='`<...>; rel="next"` leads to older rows, `<...>; rel="prev"` to newer ones, '
        "where there are some.",
    ),
]


def link_to_next(answer: Response, request: Request, **query: str | int) -> None:
    """Name the next page in `Link`: this request's URL with these parameters."""
    url = request.build_absolute_uri()
    for name, value in query.items():
        url = replace_query_param(url, name, value)
    answer["Link"] = f'<{url}>; rel="next"'


class NewestFirst(BasePagination):
    """Pages of rows: `limit` (1 to 100) of those older than the row whose id is `before`.

    `order` names fields that are compared one after the other, each from large to small; the last
    one is unique. A primary key that is a UUIDv7 grows with time and is its own place in the list.
    In an order of several fields that ends with a UUID, links name a `place`: the values of a row's
    fields. The row itself may be deleted or have moved to the front when the link is followed.
    `both_ways`: `after` takes the rows that are newer than one, and `prev` leads there. The rows of
    such a page are those nearest to the one that is named; the newest still comes first.
    No field of the order is null or free text.
    Raises ValidationFailed for a `limit`, `before`, `after` or place that is not one; a larger
    limit is 100.
    """

    def __init__(self, *order: str, both_ways: bool = False) -> None:
        self._order = order or ("pk",)
        self._both_ways = both_ways
        self._links: dict[str, str] = {}

    def paginate_queryset(
        self, queryset: QuerySet[Any], request: Request, view: Any = None
    ) -> list[Any]:
        limit = read_limit(request.query_params.get("limit"))
        if self._both_ways:
            place = self._read_place(queryset, request, "after_place", "after")
            if place is not None:
                return self._newer(queryset, request, place, limit)
        place = self._read_place(queryset, request, "place", "before")
        if place is not None:
            queryset = queryset.filter(LessThan(self._row(), self._row(place)))
        rows = list(queryset.order_by(*(f"-{name}" for name in self._order))[: limit + 1])
        if len(rows) > limit:
            rows.pop()
            self._link("next", request, queryset, rows[-1])
        if self._both_ways and place is not None and rows:
            self._link("prev", request, queryset, rows[0])
        return rows

    def _newer(
        self, queryset: QuerySet[Any], request: Request, place: Values, limit: int
    ) -> list[Any]:
        """The page of what is newer than a place."""
        if "before" in request.query_params:
            raise ValidationFailed.of("after", "Name a row with `before` or with `after`.")
        newer = queryset.filter(GreaterThan(self._row(), self._row(place)))
        rows = list(newer.order_by(*self._order)[: limit + 1])
        if len(rows) > limit:
            rows.pop()
            self._link("prev", request, queryset, rows[-1])
        if rows:
            self._link("next", request, queryset, rows[0])
        return rows[::-1]

    def _read_place(
        self, queryset: QuerySet[Any], request: Request, place: str, row: str
    ) -> Values | None:
        """The place that the query names, itself or by a row; None where it names none."""
        values = request.query_params.get(place)
        if values is not None and self._has_places(queryset):
            return self._parse(queryset, values, place)
        row_id = request.query_params.get(row)
        if row_id is None:
            return None
        return self._place_of(queryset, _id(row_id, row), row)

    def _place_of(self, queryset: QuerySet[Any], row_id: uuid.UUID, name: str) -> Values:
        """The place of that row in the order. Where the id is the order, the id of a deleted row
        works too; elsewhere an unknown id raises ValidationFailed."""
        if self._is_by_key and row_id.version == _VERSION:
            return (row_id,)
        place: Values | None = queryset.filter(pk=row_id).values_list(*self._order).first()
        if place is None:
            raise ValidationFailed.of(name, "There is no such row in this list.")
        return place

    def _parse(self, queryset: QuerySet[Any], text: str, name: str) -> Values:
        fields = self._fields(queryset)
        parts = text.split(_SEPARATOR)
        try:
            values = [each.to_python(part) for each, part in zip(fields, parts, strict=True)]
            return tuple(map(_in_utc, values))
        except (ValidationError, ValueError, OverflowError):
            raise ValidationFailed.of(name, "This is not a place in this list.") from None

    def _link(self, name: str, request: Request, queryset: QuerySet[Any], row: Any) -> None:
        """The link to the page `name` that begins beside this row."""
        here = request.build_absolute_uri()
        for each in _QUERIES:
            here = remove_query_param(here, each)
        is_back = name == "prev"
        key, value = ("after" if is_back else "before"), str(row.pk)
        if self._has_places(queryset):
            values = (each.value_to_string(row) for each in self._fields(queryset))
            key, value = ("after_place" if is_back else "place"), _SEPARATOR.join(values)
        self._links[name] = replace_query_param(here, key, value)

    def _row(self, values: Values | None = None) -> Func:
        """The fields of the order, or a place in it, as one value that can be compared."""
        if values is None:
            return _Row(*map(F, self._order))
        return _Row(*map(Value, values))

    def _fields(self, queryset: QuerySet[Any]) -> list[Any]:
        return [queryset.model._meta.get_field(name) for name in self._order]

    def _has_places(self, queryset: QuerySet[Any]) -> bool:
        return not self._is_by_key and isinstance(self._fields(queryset)[-1], UUIDField)

    @property
    def _is_by_key(self) -> bool:
        return self._order == ("pk",)

    def answer(
        self,
        request: Request,
        queryset: QuerySet[Any],
        serializer: type[Serializer[Any]],
        *,
        objects: Callable[[list[Any]], Sequence[Any]] = list,
        context: Mapping[str, Any] | None = None,
    ) -> Response:
        """The page that a request asks for, with links to those around it. `objects` turns its
        rows into what the serializer takes."""
        page = self.paginate_queryset(queryset, request)
        shown = serializer(objects(page), many=True, context=dict(context or {}))
        return self.get_paginated_response(shown.data)

    def get_paginated_response(self, data: Any) -> Response:
        links = ", ".join(f'<{url}>; rel="{name}"' for name, url in self._links.items())
        return Response(data, headers={"Link": links} if links else {})


class _Row(Func):
    """Several values as one: PostgreSQL compares the first ones, then the next ones."""

    function = "ROW"
    output_field = TextField()


def read_limit(text: str | None) -> int:
    """The `limit` of a query. Raises ValidationFailed."""
    try:
        limit = int(text) if text is not None else MAX_LIMIT
    except ValueError:
        limit = 0
    if limit < 1:
        raise ValidationFailed.of(
            "limit", f"A limit is a whole number, at least 1. More than {MAX_LIMIT} is {MAX_LIMIT}."
        )
    return min(limit, MAX_LIMIT)


def _in_utc(value: Any) -> Any:
    """A moment in UTC: PostgreSQL refuses some other offsets. Raises OverflowError."""
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def _id(text: str, name: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise ValidationFailed.of(name, "This is not an id.") from None
