"""Tables on the operators' pages beside the forms of the admin, with links between the records."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from msgspec import Struct

from admin_ui.ranks import may_view

_LINK = '<a class="text-primary-600 dark:text-primary-500" href="{}">{}</a>'


class Table(Struct, frozen=True):
    """A table as the theme draws it. Cells are texts, or safe HTML made by `link`; `note` stands
    above them."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""

    @property
    def data(self) -> dict[str, Any]:
        """What the theme's component reads."""
        return {"headers": self.headers, "rows": [list(row) for row in self.rows]}


def link(operator: Any, model: str, key: Any, text: object = None) -> str:
    """A link to the page of a record, such as of a `billing.charge`; its text alone where the
    operator may not see such records."""
    shown = str(key if text is None else text)
    if not may_view(operator, model):
        return shown
    path = reverse(f"admin:{model.replace('.', '_')}_change", args=(key,))
    return format_html(_LINK, path, shown)
