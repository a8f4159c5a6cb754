"""References from the tables that every call writes to."""

from typing import Any, TypeVar

from django.db import models

Set = TypeVar("Set")
Get = TypeVar("Get")


class Reference(models.ForeignKey[Set, Get]):
    """A foreign key that PostgreSQL neither checks nor has an index for: every call would pay for
    both. To migrations it is the foreign key that it stands for."""

    def __init__(self, to: type[models.Model] | str, **options: Any) -> None:
        bare = {
            "on_delete": models.DO_NOTHING,
            "db_constraint": False,
            "db_index": False,
            "related_name": "+",
        }
        super().__init__(to, **{**bare, **options})

    def deconstruct(self) -> Any:
        name, _, args, options = super().deconstruct()
        return name, "django.db.models.ForeignKey", args, options
