"""Requests that are drawn from the OpenAPI document."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation

from apidocs.openapi.document import document

Case = schemathesis.Case[Any]
# What is drawn of an operation at once. A life uses some twelve valid cases of each, and four
# others: what is left at its end was drawn for nothing, and drawing is most of what a client does.
BATCH = 4
# Fields of bodies for which the document's examples have values that are there.
EXAMPLE_FIELDS = frozenset(
    {"model", "models", "model_key", "planner_model", "reviewer_model", "allowed_models"}
    | {"provider", "repo", "branch", "base_url", "action", "version", "output", "files", "role"}
    | {"rounds", "seconds", "size", "quality", "n", "resolution", "aspect_ratio", "add"}
    | {"change", "remove", "order", "timezone", "locale", "avatar_url", "target"}
)


@dataclass(frozen=True)
class Operation:
    """One operation of the document."""

    method: str
    path: str
    drawn: Any
    described: Mapping[str, Any]
    components: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def resource(self) -> str:
        """The path up to its last parameter; empty where it has none."""
        return self.path[: self.path.rfind("}") + 1]

    @property
    def needs_credentials(self) -> bool:
        return all(self.described.get("security", [{}]))

    @property
    def is_form(self) -> bool:
        return "multipart/form-data" in self._content

    @cached_property
    def examples(self) -> list[Any]:
        """The bodies that the document shows for it."""
        shown = [each for form in self._content.values() for each in form["examples"].values()]
        names = [each["$ref"].rpartition("/")[-1] for each in shown]
        return [self.components["examples"][name]["value"] for name in names]

    def refuses(self, case: Case) -> bool:
        """Must it refuse the case, if that breaks the schema? Paths and credentials are good ones,
        a form has texts alone, what is no list takes any name in its query, and a name whose value
        is nothing is not sent, or counts as not sent."""
        if any(value in (None, [], {}, "") for value in (case.query or {}).values()):
            return False
        known = {each["name"] for each in self.described.get("parameters", [])}
        takes_query = "limit" in known or (case.query or {}).keys() <= known
        places = (ParameterLocation.BODY, ParameterLocation.QUERY)
        is_broken = case.meta is not None and any(map(case.meta.is_negative_at, places))
        return is_broken and takes_query and not self.is_form

    def draw(self, mode: GenerationMode, random: Random) -> list[Case]:
        """Up to BATCH cases; none where there are none of that mode."""
        cases: list[Case] = []

        @seed(random.getrandbits(32))
        @given(self.drawn.as_strategy(generation_mode=mode))
        @settings(
            max_examples=BATCH,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def collect(case: Case) -> None:
            cases.append(case)

        try:
            collect()
        except Unsatisfiable:
            return []
        random.shuffle(cases)
        return cases

    @property
    def _content(self) -> Mapping[str, Any]:
        content: Mapping[str, Any] = self.described.get("requestBody", {}).get("content", {})
        return content


class Drawing:
    """Draws cases of operations, in an order that `random` rules."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._left: dict[tuple[str, GenerationMode], list[Case]] = {}

    def valid(self, operation: Operation) -> Case:
        """A case that the schema allows; half of the bodies are those of the document's examples,
        the others have the examples' values where a schema cannot tell which there are."""
        case = self._next(operation, GenerationMode.POSITIVE)
        if operation.examples and isinstance(case.body, dict):
            shown = self._random.choice(operation.examples)
            known = {name: value for name, value in shown.items() if name in EXAMPLE_FIELDS}
            unknown = EXAMPLE_FIELDS - shown.keys()
            drawn = {name: value for name, value in case.body.items() if name not in unknown}
            case.body = self._random.choice([{**shown}, {**drawn, **known}])
        return case

    def invalid(self, operation: Operation) -> Case:
        """A case that breaks the schema somewhere, where one can."""
        return self._next(operation, GenerationMode.NEGATIVE)

    def _next(self, operation: Operation, mode: GenerationMode) -> Case:
        left = self._left.setdefault((operation.name, mode), [])
        if not left:
            left += operation.draw(mode, self._random)
        return left.pop() if left else self._next(operation, GenerationMode.POSITIVE)


def operations() -> list[Operation]:
    """All operations of the document."""
    described = document()
    found: Iterable[Any] = schemathesis.openapi.from_dict(described).get_all_operations()
    return [
        Operation(
            each.method.upper(),
            each.path,
            each,
            described["paths"][each.path][each.method],
            described["components"],
        )
        for each in (result.ok() for result in found)
    ]
