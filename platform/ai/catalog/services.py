"""Applies the price list to the catalog."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db import transaction
from django.utils import timezone

from ai.catalog import seeds
from ai.catalog.listing import ModelSeed, Price
from ai.catalog.models import CACHED_INPUT, AIModel, Alias, PriceVersion, RetiredModel
from ai.catalog.seed_changes import SeedChanges

_A_MOMENT = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class SeedReport:
    """The result of a run of `seed_catalog`, in rows."""

    models: int
    added: int
    updated: int
    prices_added: int


@transaction.atomic
def seed_catalog(*, local: bool) -> SeedReport:
    """Bring the catalog up to `ai.catalog.seeds`; `local` adds the models served on this machine.

    Safe to repeat. Models and names that are not in the list are left alone, and so is what
    operators change: `enabled`, names that lead elsewhere or are gone, prices. Prices are only ever
    added (see `_add_missing_prices`).
    """
    listed = seeds.hosted_models() + (seeds.LOCAL_MODELS if local else ())
    changes = SeedChanges("catalog")
    added = updated = prices_added = 0
    for seed in listed:
        is_new, is_changed = _save_model(seed)
        added += is_new
        updated += is_changed
        prices_added += _add_missing_prices(seed, changes)
        for name in seed.aliases:
            if changes.include(f"alias {name}", seed.id):
                Alias.objects.update_or_create(name=name, defaults={"model_id": seed.id})
    for name in seeds.RETIRED:
        if changes.include(f"retired {name}", ""):
            RetiredModel.objects.get_or_create(name=name)
    changes.save()
    return SeedReport(len(listed), added, updated, prices_added)


def _save_model(seed: ModelSeed) -> tuple[bool, bool]:
    """Whether the model was added, and whether it existed with other values."""
    fields = asdict(seed)
    del fields["id"], fields["prices"], fields["aliases"]
    fields["owned_by"] = seed.owned_by or seed.provider
    fields["upstream_model"] = seed.upstream_model or seed.id
    fields["streaming"] = seed.modality == "chat"
    model, is_new = AIModel.objects.get_or_create(id=seed.id, defaults=fields)
    changed = [name for name, value in fields.items() if getattr(model, name) != value]
    for name in changed:
        setattr(model, name, fields[name])
    if changed:
        model.save(update_fields=changed)
    return is_new, bool(changed)


def _add_missing_prices(seed: ModelSeed, changes: SeedChanges) -> int:
    """Add each price of the list that never came into force; returns how many.

    A price counts as applied once a version with its rates exists from its date on, so an
    operator's later version stays in force; one that an operator has withdrawn stays away. A
    missing price starts at its date, or now if the model has been sold at another price meanwhile:
    the past is not rewritten, so what a later price of the list has replaced by then is left out.
    Where a version starts at that moment already, which is never changed, the missing one follows
    it. Raises ValidationError for an error in the list.
    """
    fresh = [
        price
        for price in seed.prices
        if changes.include(
            f"price {seed.id} {price.since}", json.dumps(price.rates, sort_keys=True)
        )
    ]
    now = timezone.now()
    versions = list(PriceVersion.objects.filter(model_id=seed.id))
    listed = _not_replaced(seed.prices, now) if versions else seed.prices
    missing = [
        price
        for price in listed
        if price in fresh
        and not any(_is_applied(price, version) for version in versions)
        and not _is_overruled(price, versions, now)
    ]
    taken = {version.valid_from for version in versions}
    added = []
    for price in missing:
        since = _midnight(price.since)
        start = max(since, now) if versions else since
        while start in taken:
            start += _A_MOMENT
        taken.add(start)
        version = PriceVersion(model_id=seed.id, valid_from=start, **price.rates)
        version.full_clean()
        added.append(version)
    PriceVersion.objects.bulk_create(added)
    return len(added)


def _not_replaced(prices: tuple[Price, ...], now: datetime) -> tuple[Price, ...]:
    """The price of that moment and those after it."""
    begun = [price for price in prices if _midnight(price.since) <= now]
    return prices[max(0, len(begun) - 1) :]


def _is_applied(price: Price, version: PriceVersion, *, but: str = "") -> bool:
    """`but` is a rate that may be another."""
    return version.valid_from >= _midnight(price.since) and all(
        getattr(version, name) == rate for name, rate in price.rates.items() if name != but
    )


def _is_overruled(price: Price, versions: list[PriceVersion], now: datetime) -> bool:
    """Does the list only complete a price that an operator has replaced? Theirs stays in force."""
    begun = sorted((v for v in versions if v.valid_from <= now), key=lambda v: v.valid_from)
    completed = [_is_applied(price, version, but=CACHED_INPUT) for version in begun]
    return any(completed) and not completed[-1]


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
