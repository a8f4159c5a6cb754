"""The names that a list takes in its query; others are refused, because a filter that is spelled
wrongly would otherwise bring rows that nobody has asked for."""

from functools import cache
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from common.errors import ValidationFailed

# What links to further pages name, beside what the interface describes.
_IN_LINKS = {"before": "place", "after": "after_place"}


def check_query(request: Request, view: ViewSet) -> None:
    """Refuse a name in the query of a list that it does not take. What is no list, and therefore
    has no `limit`, takes any name. Raises ValidationFailed."""
    viewset: Any = type(view)
    names = _names_of(viewset, view.action)
    unknown = [name for name in request.query_params if name not in names]
    if unknown and "limit" in names:
        listed = ", ".join(sorted(names - {*_IN_LINKS.values()}))
        raise ValidationFailed.of(unknown[0], f"This list takes only these names: {listed}.")


@cache
def _names_of(viewset: type[ViewSet], action: str) -> frozenset[str]:
    """The names in the query that the interface describes, and those in links."""
    describe = getattr(getattr(viewset, action), "kwargs", {}).get("schema")
    if describe is None:
        return frozenset()
    schema = describe()
    schema.view, schema.method = viewset(request=None, kwargs={}), "GET"
    names = {name for each in schema.get_override_parameters() for name in _names_in(each)}
    return frozenset(names | {_IN_LINKS[name] for name in names & _IN_LINKS.keys()})


def _names_in(parameter: Any) -> list[str]:
    """Of one parameter, or of the serializer of several."""
    if isinstance(parameter, OpenApiParameter):
        return [parameter.name] if parameter.location == OpenApiParameter.QUERY else []
    return list(parameter().fields)
