"""What has changed in a list of the code since the list was last applied."""

from ai.catalog.models import Seeded


class SeedChanges:
    """The changes of one list. Whoever applies the list asks for each row, and saves the changes at
    the end, in the same transaction."""

    def __init__(self, name: str) -> None:
        self._name = name
        rows = Seeded.objects.filter(key__startswith=f"{name} ").values_list("key", "value")
        self._said = dict(rows)
        self._new: dict[str, str] = {}

    def include(self, key: str, value: str) -> bool:
        """Is the row new in the list, or another one than before? An unchanged row belongs to the
        operators, who may have changed or removed it."""
        name = f"{self._name} {key}"
        if self._said.get(name) == value:
            return False
        self._new[name] = value
        return True

    def save(self) -> None:
        Seeded.objects.bulk_create(
            [Seeded(key=key, value=value) for key, value in self._new.items()],
            update_conflicts=True,
            unique_fields=["key"],
            update_fields=["value"],
        )
