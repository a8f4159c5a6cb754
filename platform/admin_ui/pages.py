"""Lists and forms of the operators' admin: quick on millions of rows, exact in the audit log."""

import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, ClassVar

from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import BadRequest, ValidationError
from django.core.paginator import Paginator
from django.db import models
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.forms.utils import to_current_timezone
from django.http import HttpRequest
from django.utils.functional import cached_property

from admin_ui.money import UsdFields
from admin_ui.theme import ChangeList, ModelAdmin
from common.ids import as_uuid

MAX_COUNT = 10_000
# Searches compare prefixes of addresses, and return at most this many accounts.
MAX_ACCOUNTS = 100
# Of several accounts that are found together, the newest rows of each.
ROWS_OF_EACH = 100


class BoundedPaginator(Paginator[Any]):
    """Counts and pages no further than MAX_COUNT rows; search and filters find the others."""

    @cached_property
    def count(self) -> int:
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment]
        return rows.order_by()[:MAX_COUNT].count()


class FilteredList(ChangeList):
    """Only the list's own filters narrow it: a filter by any other field would let an operator read
    a password's hash, one prefix at a time."""

    def get_filters(self, request: HttpRequest) -> Any:
        """Raises DisallowedModelAdminLookup for parameters that no filter has used."""
        found = super().get_filters(request)
        if rest := found[2]:
            raise DisallowedModelAdminLookup(f"Filtering by {', '.join(rest)} is not allowed.")
        return found

    def get_results(self, request: HttpRequest) -> None:
        """The total is not counted, so the title shows none."""
        super().get_results(request)
        self.full_result_count = self.result_count


class Page(UsdFields, ModelAdmin[Any]):
    """The common base of all pages."""

    paginator = BoundedPaginator
    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 0
    list_filter_submit = True

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        """The record; None also for an id that is malformed."""
        if "\0" in str(object_id):
            return None
        return super().get_object(request, object_id, from_field)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return FilteredList

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """The initial values from the query, without malformed ids and times."""
        initial: dict[str, Any] = super().get_changeform_initial_data(request)
        for field in self.opts.concrete_fields:
            if field.name in initial and isinstance(field, models.ForeignKey | models.DateField):
                try:
                    value = field.to_python(initial[field.name])
                    if isinstance(value, datetime):
                        to_current_timezone(value)  # as the form does
                    initial[field.name] = value
                except (ValidationError, OverflowError):
                    del initial[field.name]
        return initial

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        """Raises BadRequest for selected rows whose ids are malformed."""
        _refuse_what_is_no_id(request, ACTION_CHECKBOX_NAME, self.model)
        return super().response_action(request, queryset)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Raises BadRequest for malformed ids in fields that look them up."""
        for name in self.get_autocomplete_fields(request):
            related = self.opts.get_field(name).related_model
            _refuse_what_is_no_id(request, name, related)  # type: ignore[arg-type]
        return super().changeform_view(request, *args, **kwargs)

    def construct_change_message(  # type: ignore[override] # a text is allowed too
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> str:
        """For the audit log: every changed field with its old value and the new one."""
        changes = [_change(form, add=add)]
        for formset in formsets or ():
            changes += [f"{row}: added" for row in formset.new_objects]
            changes += [
                f"{row}: {_changed_fields(formset, row)}" for row, _ in formset.changed_objects
            ]
            changes += [f"{row}: deleted" for row in formset.deleted_objects]
        return "; ".join(filter(None, changes)) or "Nothing changed."


def _refuse_what_is_no_id(request: HttpRequest, name: str, model: type[Model]) -> None:
    try:
        for sent in filter(None, request.POST.getlist(name)):
            model._meta.pk.to_python(sent)
    except ValidationError:
        raise BadRequest(f"An id in {name} is none.") from None


def _changed_fields(formset: Any, row: Model) -> str:
    form = next(form for form in formset.initial_forms if form.instance is row)
    return _change(form, add=False)


def _change(form: ModelForm[Any], *, add: bool) -> str:
    return ", ".join(
        f"{form[name].label}: {_shown(form, name, form.cleaned_data[name])}"
        if add
        else f"{form[name].label}: {_shown(form, name, form[name].initial)}"
        f" → {_shown(form, name, form.cleaned_data[name])}"
        for name in form.changed_data
        if name in form.cleaned_data
    )


def _shown(form: ModelForm[Any], name: str, value: Any) -> str:
    if isinstance(value, Model):
        return str(value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(sorted(map(str, value))) or "none"
    return str(form.fields[name].prepare_value(value))


class ReadOnly(Page):
    """A page that cannot be edited."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class OfAnAccount(Page):
    """Rows that belong to an account: found by its address or id, or by the row's own id.

    `account_order` is the order of an index that begins with the account, if there is one.
    """

    account_order: ClassVar[tuple[str, ...]] = ()
    search_fields: ClassVar[tuple[str, ...]] = ("account__email",)
    search_help_text = "An account's address (or its beginning) or id, or the id of a row"
    list_select_related: ClassVar[tuple[str, ...]] = ("account",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        for found in self._readings(queryset, term):
            # Not `exists`, which drops the order, and with it the index.
            if found[:1]:
                return found, False
        return queryset.none(), False

    def search(self, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        """Other searches that `term` may mean."""
        return queryset.none()

    def of_accounts(self, queryset: QuerySet[Any], accounts: list[uuid.UUID]) -> QuerySet[Any]:
        """The rows of these accounts.

        Their ids are found first: asked for the newest rows of an account that has few, the server
        might read the whole table in the order of the ids.
        """
        rows = self.model._default_manager.filter(account__in=accounts)
        ids = rows.order_by(*self.account_order).values("pk")[:MAX_COUNT]
        return queryset.filter(pk__in=ids)

    def _readings(self, queryset: QuerySet[Any], term: str) -> Iterator[QuerySet[Any]]:
        """The possible meanings of `term`, the likeliest first."""
        if wanted := as_uuid(term):
            if isinstance(self.opts.pk, models.UUIDField):
                yield queryset.filter(pk=wanted)
            yield self.of_accounts(queryset, [wanted])
        elif accounts := self._accounts(term):
            yield self.of_accounts(queryset, accounts)
        yield self.search(queryset, term)

    def _accounts(self, address: str) -> list[uuid.UUID]:
        users = self.opts.get_field("account").related_model._default_manager  # type: ignore[union-attr]
        rows = users.filter(email__startswith=address.lower()).values_list("pk", flat=True)
        return list(rows[:MAX_ACCOUNTS])


class NewestOnly(OfAnAccount):
    """A list of a table that grows for ever. Only the newest rows are looked through, of an account
    or of all: what a filter asks for may be rare, and the server would read the table to its
    beginning. Older rows are found by their ids.

    `account_order` is one column. Where it is none, an account is looked for among the newest rows
    of all.
    """

    newest: ClassVar[int] = 50_000
    account_order: ClassVar[tuple[str, ...]] = ("-pk",)
    list_before_template = "admin_ui/list_note.html"
    ordering = ("-pk",)
    sortable_by = ()

    @property
    def note(self) -> str:
        whose = "of an account or of all" if self.account_order else "of all accounts"
        return (
            f"The newest {self.newest:,} rows {whose} are looked through. Older ones are found by "
            "their ids."
        )

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term.strip():
            return self._newest(queryset, self.model._default_manager.all(), "-pk"), False
        return super().get_search_results(request, queryset, search_term)

    def of_accounts(self, queryset: QuerySet[Any], accounts: list[uuid.UUID]) -> QuerySet[Any]:
        """The newest rows of one account, or the few newest of each of several."""
        rows = self.model._default_manager.all()
        if not self.account_order:
            return self._newest(queryset.filter(account__in=accounts), rows, "-pk")
        if len(accounts) == 1:
            [order], [account] = self.account_order, accounts
            newest = self._newest(queryset, rows.filter(account=account), order)
            return newest.filter(account=account).order_by(order)
        of_each = [
            rows.filter(account=account).order_by(*self.account_order).values("pk")[:ROWS_OF_EACH]
            for account in accounts
        ]
        return queryset.filter(pk__in=of_each[0].union(*of_each[1:], all=True))

    def _newest(self, queryset: QuerySet[Any], rows: QuerySet[Any], order: str) -> QuerySet[Any]:
        """Those of the queryset that are among the newest of `rows`, in the order of an index."""
        column = order.removeprefix("-")
        too_old = rows.order_by(order).values_list(column, flat=True)[self.newest :].first()
        return queryset if too_old is None else queryset.filter(**{f"{column}__gt": too_old})
