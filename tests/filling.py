"""Rows of every registered model for a user, each with the user's marker in all of its texts.

Models with a row that the database or the books write themselves are left out.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import models
from django.db.models import Field, ForeignKey, Model

from accounts.models import User
from common.ids import uuid7
from common.ownership import Keep, entries
from content.models import Entry, Revision
from privacy import plan
from teams.models import Team

# What a value must be, where any value would not do.
VALUES: dict[str, Any] = {
    "events.stream.kind": "council",
    "files.storedfile.media_type": "image/png",
    "files.storedfile.expires_at": None,
    "files.storedfile.taken_down_at": None,
    "files.upload.taken_down_at": None,
    "files.upload.expires_at": None,
    "connectors.authorization.expires_at": datetime(2100, 1, 1, tzinfo=UTC),
    "jobs.job.status": "completed",
    # What a deletion leaves says nothing of the user.
    "accounts.apikey.pepper": "0a1b2c3d",
    "jobs.job.kind": "tests.kind",
    "jobs.job.provider": "luma",
    "operations.operation.provider": "luma",
    "operations.operation.provider_id": "4711",
    "admin.logentry.object_id": "4711",
    "operations.operation.state": "ended",
    "content.flagoverride.percent": None,
    "content.flagoverride.plan_id": None,
    "connectors.connector.disconnected_at": None,
    "studios.generation.status": "completed",
    "projects.run.status": "completed",
    "projects.run.phase": "",
    "council.turn.status": "completed",
    "council.generation.status": "completed",
    "userdata.export.status": "failed",
    "teams.invitation.role": "member",
    "teams.invitation.status": "pending",
    "teams.invitation.ended_at": None,
    "events.inbox.read_number": 0,
}
# Texts in which the address of the user stands.
ADDRESSES = (
    "accounts.outgoingemail.address",
    "admin.logentry.object_repr",
    "admin.logentry.change_message",
)


class Filler:
    """`rows` are those that were made, by model. `marker` is in the texts that belong to an export,
    `secret` in the others; both have four characters."""

    def __init__(self, user: User, *, marker: str, secret: str) -> None:
        self.user = user
        self.marker = marker
        self.secret = secret
        self.rows: dict[type[Model], Model] = {User: user}

    def fill(self) -> None:
        """Make a row of each model, those that others refer to first."""
        known = {entry.model: entry for entry in entries()}
        first = [
            model
            for model, entry in known.items()
            if not isinstance(entry.on_deletion, Keep) or entry.name == "jobs.job"
        ]
        while left := [model for model in first if model not in self.rows]:
            ready = [model for model in left if self._has_targets(model, left)]
            assert ready, left
            for model in ready:
                self.rows[model] = self._make(model, known[model].columns)
        self._store_bytes()

    def _has_targets(self, model: type[Model], left: list[type[Model]]) -> bool:
        required = plan.linked(model, plan.is_required) - {model}
        return not required & set(left)

    def _make(self, model: type[Model], exported: list[str]) -> Model:
        values = {}
        for field in model._meta.concrete_fields:
            if field.name == "pk" or isinstance(field, models.AutoField):
                continue
            text = self.marker if field.attname in exported else self.secret
            if model is Revision:
                text = "News"  # an operator's text for the site stays
            values[field.attname] = self._value(field, text)
        row = model(**values)
        row.save(force_insert=True)
        return row

    def _value(self, field: Field[Any, Any], text: str) -> Any:
        name = f"{field.model._meta.label_lower}.{field.attname}"
        if name in VALUES:
            return VALUES[name]
        if name in ADDRESSES:
            return self.user.email
        if name == "accounts.signinfailures.name":
            return f"{self.user.email} from {self.secret}"
        if isinstance(field, ForeignKey):
            return self._target(field)
        return _any_value(field, text, self.user)

    def _target(self, field: ForeignKey[Any, Any]) -> Any:
        model = field.related_model
        if model in self.rows:
            return self.rows[model].pk  # type: ignore[index]
        if field.null or model is field.model:
            return None
        return _stranger(model)

    def _store_bytes(self) -> None:
        """The files of the rows that have one."""
        for entry in entries():
            if entry.file is not None:
                row = self.rows[entry.model]
                stored = entry.file({name: getattr(row, name) for name in entry.columns})
                assert stored is not None
                storages[stored.storage].save(stored.path, ContentFile(self.marker.encode()))


def _stranger(model: Any) -> Any:
    """The key of a row that belongs to nobody."""
    if model is Group:
        return Group.objects.create(name=uuid4().hex).pk
    if model is Entry:
        slug = uuid4().hex
        return Entry.objects.create(kind="page", slug=slug, locale="en", title="Title").pk
    if model is Team:
        return Team.objects.create(name="Team").pk
    key = model._base_manager.order_by("pk").values_list("pk", flat=True).first()
    assert key is not None, model
    return key


# The more special fields come before those that they inherit from.
_ANY: list[tuple[type[Field[Any, Any]], Callable[[str], Any]]] = [
    (models.UUIDField, lambda text: uuid7()),
    (models.URLField, lambda text: f"https://example.com/{text}"),
    (models.CharField, lambda text: text),
    (models.TextField, lambda text: text),
    (models.JSONField, lambda text: {"text": text}),
    (ArrayField, lambda text: []),
    (models.BinaryField, lambda text: uuid4().bytes + uuid4().bytes),
    (models.BooleanField, lambda text: False),
    (models.DateTimeField, lambda text: datetime.now(UTC)),
    (models.DateField, lambda text: date(2026, 11, 1)),
    (models.FloatField, lambda text: 1.0),
    (models.IntegerField, lambda text: 1),
]


def _any_value(field: Field[Any, Any], text: str, user: User) -> Any:
    if field.attname == "account_id":
        return user.pk
    if isinstance(field, models.EmailField):
        return user.email
    if field.choices:
        return next(value for value, _ in field.flatchoices if value)
    return next(make(text) for kind, make in _ANY if isinstance(field, kind))
