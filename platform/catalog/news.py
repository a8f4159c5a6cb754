"""What a list in the code says that it did not say when it was last applied."""

from catalog.models import Seeded


class News:
    """The rows of one list. Whoever applies it asks for each row, and notes them all at the end, in
    one transaction."""

    def __init__(self, name: str) -> None:
        self._name = name
        rows = Seeded.objects.filter(key__startswith=f"{name} ").values_list("key", "value")
        self._said = dict(rows)
        self._new: dict[str, str] = {}

    def has(self, key: str, value: str) -> bool:
        """Is the row new in the list, or another one than before? What is no news is the operators'
        to change and to remove."""
        name = f"{self._name} {key}"
        if self._said.get(name) == value:
            return False
        self._new[name] = value
        return True

    def note(self) -> None:
        Seeded.objects.bulk_create(
            [Seeded(key=key, value=value) for key, value in self._new.items()],
            update_conflicts=True,
            unique_fields=["key"],
            update_fields=["value"],
        )
