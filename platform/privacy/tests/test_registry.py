"""Each model whose rows belong to users says what an export and a deletion do with them."""

from collections.abc import Iterator
from typing import cast

from django.apps import apps
from django.db.models import CASCADE, EmailField, Field, ForeignKey, Model

from accounts.models import User
from common.encryption import EncryptedField
from common.ownership import Anonymise, Cascade, Delete, Owned, entries

HOW = "Say in data_ownership.py of its app whose its rows are (common/ownership.py)."
# Columns that name a user without being a foreign key.
NAMES_OF_OWNERS = {"account_id", "user_id", "owner_account_id", "address", "email"}
SECRETS = ("digest", "token", "secret", "password", "sealed", "verifier")

Models = list[type[Model]]


def all_models() -> Models:
    return list(apps.get_models(include_auto_created=True))


def registered() -> dict[type[Model], Owned]:
    return {entry.model: entry for entry in entries()}


def columns_of(model: type[Model]) -> list[Field]:  # type: ignore[type-arg]
    return list(model._meta.concrete_fields)


def links_of(model: type[Model]) -> Iterator[ForeignKey]:  # type: ignore[type-arg]
    """Its foreign keys, one-to-one keys among them."""
    return (field for field in columns_of(model) if isinstance(field, ForeignKey))


def unregistered(models: Models, known: dict[type[Model], Owned]) -> set[str]:
    """The models with an owner that are not known: those with a foreign key to the user, or to a
    model with an owner, and those with a column that names a user otherwise."""
    owned = {User, *known}
    found: set[type[Model]] = set()
    while True:
        more = {
            model
            for model in models
            if model not in owned and any(link.related_model in owned for link in links_of(model))
        }
        if not more:
            break
        owned |= more
        found |= more
    named = {
        model
        for model in models
        if model not in owned
        and any(
            field.attname in NAMES_OF_OWNERS or isinstance(field, EmailField)
            for field in columns_of(model)
        )
    }
    return {model._meta.label for model in found | named}


def is_direct(entry: Owned, link: ForeignKey) -> bool:  # type: ignore[type-arg]
    return link.name in entry.owners or (entry.model is User and "pk" in entry.owners)


def test_every_model_with_an_owner_is_registered() -> None:
    assert unregistered(all_models(), registered()) == set(), HOW


def test_a_model_that_is_not_registered_is_found() -> None:
    for model in registered():
        if model is User:
            continue
        known = {other: entry for other, entry in registered().items() if other is not model}
        assert model._meta.label in unregistered(all_models(), known) or (
            # Nothing but the entry says whose these are.
            not list(links_of(model)) and model._meta.label == "accounts.SignInFailures"
        )


def test_every_foreign_key_to_a_user_is_one_of_its_owners() -> None:
    """Whoever it names: rows of which a user is a second owner are exported to both."""
    for model, entry in registered().items():
        for link in links_of(model):
            if link.related_model is User:
                assert is_direct(entry, link), f"{model._meta.label}.{link.name}: {HOW}"


def test_an_entry_names_all_columns_of_its_model_once() -> None:
    for model, entry in registered().items():
        named = entry.exported.split() + entry.left_out.split()
        columns = {field.attname for field in columns_of(model)}
        assert len(named) == len(set(named)), entry.name
        assert set(named) == columns, entry.name


def test_owners_can_be_looked_up() -> None:
    for entry in entries():
        for owner in entry.owners:
            str(entry.model._base_manager.filter(**{owner: entry.key(User(email="a"))}).query)


def test_no_secret_is_exported() -> None:
    for entry in entries():
        for field in columns_of(entry.model):
            is_secret = isinstance(field, EncryptedField) or any(
                field.attname == word or field.attname.endswith(f"_{word}") for word in SECRETS
            )
            if is_secret and entry.name != "workspaces.checkout":  # its digest is a text
                assert field.attname not in entry.columns, f"{entry.name}.{field.attname}"


def test_what_is_anonymised_are_columns() -> None:
    for entry in entries():
        if isinstance(entry.on_deletion, Anonymise):
            columns = {field.attname for field in columns_of(entry.model)}
            assert set(entry.on_deletion.columns) <= columns, entry.name


def test_what_goes_with_another_row_has_a_foreign_key_that_cascades_to_it() -> None:
    for entry in entries():
        if isinstance(entry.on_deletion, Cascade):
            parents = [
                registered().get(cast("type[Model]", link.related_model))
                for link in links_of(entry.model)
                if link.remote_field.on_delete is CASCADE
            ]
            assert any(each and isinstance(each.on_deletion, Delete) for each in parents)
