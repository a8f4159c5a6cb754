"""Somebody who owns one of everything, and whose requests name what is there."""

import time
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, cast

import requests
from django.db import transaction
from schemathesis import Response

from accounts.features import KEY_FEATURES
from accounts.models import User
from accounts.services.sessions import open_session
from accounts.types import SignedIn
from integrations.githosts.tests.hosted import Hosted
from integrations.githosts.types import HostKind
from server.tests.client import new_address
from simulator.process import RunningSimulator
from tests.audio import tone
from tests.generated.drawing import Case, Drawing, Operation
from tests.generated.errands import (
    BEFORE,
    BODIES,
    IDS,
    LINKS,
    MADE_BY,
    QUERIES,
    link_in,
    parameters_of,
)
from tests.generated.resources import Ids, Resources
from tests.personas import PASSWORD, new_key, new_user
from tests.service import Web

# Requests from one address; after these a network has used up its sign-ins.
FROM_AN_ADDRESS = 15


class Person:
    """Alice, with a repository and a drive. `note` is called with each request
    and its answer."""

    random: Random
    link: str
    user: User
    password: str
    hosted: Hosted
    file_id: str
    signed_in: SignedIn

    def __init__(
        self,
        web: Web,
        simulator: RunningSimulator,
        operations: Mapping[str, Operation],
        random: Random,
        note: Callable[..., None],
    ) -> None:
        self.web, self.simulator, self.random = web, simulator, random
        self._operations = operations
        self._drawing = Drawing(random)
        self._note = note
        self._http = requests.Session()
        self._sent = 0
        self._begin()

    def _begin(self) -> None:
        """Be somebody new, who owns nothing yet."""
        self.user = new_user("alice", plan="max", balance_usd=1000)
        User.objects.filter(pk=self.user.pk).update(email_verified=True, verified_by_holder=True)
        self.password = PASSWORD
        self.hosted = Hosted.create(self.simulator, HostKind.GITHUB)
        self.file_id = self.simulator.drive.add_file(self.hosted.login, "notes.txt", "Waves.\n")
        resources = {each.resource for each in self._operations.values()}
        owned = {path for path in resources if path and "{provider}" not in path}
        self._resources = Resources(owned, self.random)
        self.link = ""
        self._sign_in()
        self._make_key()

    def _sign_in(self) -> None:
        self.user.refresh_from_db()
        with transaction.atomic():
            self.signed_in = open_session(self.user)

    def _make_key(self) -> None:
        # Without a feature its fields may hold anything.
        self._key = new_key(self.user, features=KEY_FEATURES)[1]

    # --- Requests ---------------------------------------------------------------------------------

    def send(self, name: str, ids: Ids | None = None) -> Response:
        """A valid request of an operation, as far as the schema and what is known can tell."""
        operation = self._operations[name]
        if ids is None:
            ids = self._ids_for(operation)
        for before in BEFORE.get(name, []):
            self.send(before, {} if "}" not in before else ids)
        case = self._drawing.valid(operation)
        case.path_parameters = {**case.path_parameters, **ids}
        if operation.is_form:
            is_speech = operation.path.endswith("transcribe")
            file = tone(0.5) if is_speech else b"day,high\n1,04:12\n"
            case.body = cast(Any, {**cast(dict[str, Any], case.body), "file": file})
        for fields in (case.body, case.query):
            if isinstance(fields, dict):
                self._resources.name_in(fields, ids)
        if name in BODIES:
            case.body = BODIES[name](self, ids)
        if name in QUERIES:
            case.query = QUERIES[name](self)
        if operation.path in LINKS and (link := LINKS[operation.path](self)):
            case.path_parameters, case.query = parameters_of(link, operation)
        return self._call(operation, case, ids)

    def send_invalid(self, name: str) -> None:
        """A request that breaks the schema, of a resource that is there or of one that is none."""
        operation = self._operations[name]
        ids = self._ids_for(operation) if self.random.random() < 0.7 else {}
        case = self._drawing.invalid(operation)
        case.path_parameters = {**case.path_parameters, **ids}
        self._call(operation, case, ids)

    def send_without_credentials(self, name: str) -> None:
        """A valid request of nobody: without a token, or with one that is none."""
        operation = self._operations[name]
        self._call(operation, self._drawing.valid(operation), {}, is_signed_in=False)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer to a request that is not counted."""
        headers = {"Authorization": f"Bearer {self.signed_in.access_token}"}
        url = f"{self.web.url}{path}"
        return self._http.request(method, url, json=body, headers=headers, timeout=60).json()

    def wait(self, path: str, status: str) -> Any:
        """The answer to a GET, once it has that status, or after ten seconds."""
        for _ in range(100):
            if (answer := self.ask("GET", path)).get("status") == status:
                break
            time.sleep(0.1)
        return answer

    def _call(
        self, operation: Operation, case: Case, ids: Ids, *, is_signed_in: bool = True
    ) -> Response:
        if self._sent % FROM_AN_ADDRESS == 0:
            self._address = new_address()
        self._sent += 1
        headers = {"X-Forwarded-For": self._address}
        if is_signed_in:
            token = self._key if case.path.startswith("/v1") else self.signed_in.access_token
            headers["Authorization"] = f"Bearer {token}"
        elif self.random.random() < 0.5:
            headers["Authorization"] = "Bearer nobody's"
        response: Response = case.call(
            base_url=self.web.url, headers=headers, timeout=60, session=self._http
        )
        self._note(operation, case, response, is_signed_in=is_signed_in)
        if is_signed_in:
            self._learn(operation, ids, response)
        return response

    def _ids_for(self, operation: Operation) -> Ids:
        """The ids of a resource that is there, made where none is known."""
        path = operation.resource
        if operation.path in IDS:
            return IDS[operation.path](self)
        return self.own(path) if path else {}

    def own(self, path: str, ids: Ids | None = None) -> Ids:
        """The ids of a resource of this path, which agree with `ids`; empty where there is none and
        none could be made."""
        if not (found := self._resources.any_of(path, ids or {})):
            for maker in MADE_BY.get(path, [f"POST {path[: path.rindex('/')]}"]):
                if maker in self._operations:
                    self.send(maker)
        return found or self._resources.any_of(path, ids or {})

    def _learn(self, operation: Operation, ids: Ids, response: Response) -> None:
        is_good = response.status_code < 300
        if response.status_code == 404 or (operation.method == "DELETE" and is_good):
            self._resources.forget(operation.resource, ids)
        if response.status_code == 401 and operation.path.startswith("/v1"):
            self._make_key()
        elif response.status_code == 401 or operation.path.startswith("/api/auth"):
            self._sign_in()
        elif is_good and operation.name == "DELETE /api/users/me":
            self._begin()
        if is_good and "json" in response.headers.get("content-type", [""])[0]:
            self._resources.learn(operation.path, ids, response.json())
            self.link = link_in(response.text) or self.link
