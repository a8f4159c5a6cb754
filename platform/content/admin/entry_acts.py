"""What operators can do to an entry, beside editing it."""

from typing import Any
from uuid import UUID

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget

from admin_ui.acts import Act
from content.models import Entry, Revision
from content.services import entries


class Restore(Act):
    title = "Restore a revision"
    explanation = (
        "The entry gets the text of that revision, as a new one: none is lost. When it is public "
        "stays as it is."
    )
    fields_in_order = ("revision", "reason")
    record: Entry

    revision: forms.ModelChoiceField[Revision] = forms.ModelChoiceField(
        queryset=None, widget=UnfoldAdminSelectWidget
    )

    def __init__(self, record: Entry, data: Any = None, *, author_id: UUID | None) -> None:
        super().__init__(record, data)
        self.author_id = author_id
        self.fields["revision"].queryset = record.revisions.order_by("-pk")  # type: ignore[attr-defined]

    def carry_out(self) -> str:
        revision: Revision = self.cleaned_data["revision"]
        done = entries.restore(entry=self.record, revision=revision, author_id=self.author_id)
        moment = f"{revision.created_at:%Y-%m-%d %H:%M:%S}"
        return f"Restored the text of {moment} UTC." if done else ""
