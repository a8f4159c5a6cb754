"""How the views of `/api` appear in the OpenAPI document."""

import re
from collections import defaultdict
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import get_doc
from drf_spectacular.utils import OpenApiResponse

from common.errors import DomainError

_VERBS = {"GET": "get", "PUT": "replace", "PATCH": "update", "DELETE": "delete"}


class ApiSchema(AutoSchema):
    """An operation is named after its path and method; the first paragraph of its action's
    docstring is the summary, the rest the description."""

    def get_operation_id(self) -> str:
        """Such as `authLogin`, `listKeys`, `createKey` and `updateKey`."""
        path = re.sub(r"{\w+}", "", self.path.removeprefix("/api"))
        names: list[str] = re.findall(r"\w+", path)
        if self._is_create_operation() or self.path.endswith("}"):
            names[-1] = names[-1].removesuffix("s")
        if self._is_list_view():
            names.insert(0, "list")
        elif self._is_create_operation():
            names.insert(0, "create")
        elif self.method in _VERBS:
            names.insert(0, _VERBS[self.method])
        return names[0] + "".join(name.capitalize() for name in names[1:])

    def get_summary(self) -> str:
        summary, _, _ = self._action_doc().partition("\n\n")
        return " ".join(summary.split())

    def get_description(self) -> str:  # type: ignore[override]
        _, _, description = self._action_doc().partition("\n\n")
        return description

    def _action_doc(self) -> str:
        return str(get_doc(getattr(self.view, getattr(self.view, "action"))))  # noqa: B009


def error_responses(*errors: type[DomainError]) -> dict[int, OpenApiResponse]:
    """The error responses of a view, for `extend_schema(responses=...)`. Responses that any such
    view may give, 401 or 422 for example, are added elsewhere."""
    by_status: defaultdict[int, list[type[DomainError]]] = defaultdict(list)
    for error in errors:
        by_status[error.status].append(error)
    return {
        status: OpenApiResponse(envelope_schema(status), causes(same))
        for status, same in by_status.items()
    }


def causes(errors: list[type[DomainError]]) -> str:
    """A list of the sentences that explain one status."""
    return "\n".join(f"- {error.message}" for error in errors)


def envelope_schema(status: int) -> dict[str, Any]:
    """The schema of the body of an error."""
    names = {402: "PaymentRequired", 422: "ValidationFailed"}
    return {"$ref": f"#/components/schemas/{names.get(status, 'Refusal')}"}
