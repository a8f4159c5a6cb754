"""How the views of `/api` appear in the OpenAPI document."""

from collections import defaultdict
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import get_doc
from drf_spectacular.utils import Direction, OpenApiResponse

from common.errors import DomainError


class ApiSchema(AutoSchema):
    """An operation is named by its view, `extend_schema(operation_id="signIn")`; the first
    paragraph of its action's docstring is the summary, the rest the description."""

    def get_operation_id(self) -> str:
        """Is reached by views without a name only: clients have the names as those of their
        functions, and a name made of the path would change with it."""
        action = f"{type(self.view).__name__}.{getattr(self.view, 'action')}"  # noqa: B009
        raise ImproperlyConfigured(f"{action} has no operation_id.")

    def get_summary(self) -> str:
        summary, _, _ = self._action_doc().partition("\n\n")
        return " ".join(summary.split())

    def get_description(self) -> str:  # type: ignore[override]
        _, _, description = self._action_doc().partition("\n\n")
        return description

    def _get_serializer_name(
        self, serializer: Any, direction: Direction, bypass_extensions: bool = False
    ) -> str:
        """Such as `SpaceChanges` for the `SpaceInput` of a PATCH, which has no required fields."""
        name: str = super()._get_serializer_name(serializer, direction, bypass_extensions)
        if not name.startswith("Patched"):
            return name
        resource = name.removeprefix("Patched").removesuffix("Input").removesuffix("Changes")
        return f"{resource}Changes"

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
