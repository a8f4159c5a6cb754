"""The models on offer, their former names, and their prices."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from ai.catalog.params import Params
from ai.catalog.types import LOCAL_PROVIDER


class AIModel(models.Model):
    """A third-party model: `id` is the catalog key that callers send.

    Limits are in tokens. `max_output_tokens` includes reasoning. `prompt_overhead_tokens` is the
    most that the provider adds to a prompt; it is part of the hold's upper bound.
    `reasons_unasked`: the model reasons even where no effort is requested. `minimum_seconds` are
    billed for shorter audio. `params` is the JSON Schema of what it takes besides the prompt (see
    ai.catalog.params), empty where that is nothing.
    """

    class Modality(models.TextChoices):
        CHAT = "chat"
        IMAGE = "image"
        EMBEDDING = "embedding"
        SPEECH = "speech"
        VIDEO = "video"
        ASSET_3D = "3d", "3D"

    id = models.CharField(primary_key=True, max_length=100)
    display_name = models.CharField(max_length=100)
    modality = models.CharField(max_length=16, choices=Modality.choices)
    provider = models.CharField(max_length=50)
    upstream_model = models.CharField(max_length=100)
    owned_by = models.CharField(max_length=50)
    vision = models.BooleanField(default=False)
    tools = models.BooleanField(default=False)
    streaming = models.BooleanField(default=False)
    reasoning = models.BooleanField(default=False)
    reasons_unasked = models.BooleanField(default=False)
    context_window = models.PositiveIntegerField()
    max_output_tokens = models.PositiveIntegerField()
    prompt_overhead_tokens = models.PositiveIntegerField(default=64)
    minimum_seconds = models.PositiveSmallIntegerField(default=0)
    free = models.BooleanField(default=False)
    params = models.JSONField(default=dict, blank=True)
    enabled = models.BooleanField(default=True)
    released_on = models.DateField()

    class Meta:
        verbose_name = "model"
        ordering = ["id"]

    def __str__(self) -> str:
        return self.id


class Alias(models.Model):
    """A legacy name that resolves to a current model and is billed at that model's price."""

    name = models.CharField(primary_key=True, max_length=100)
    model = models.ForeignKey(AIModel, on_delete=models.CASCADE, related_name="aliases")

    class Meta:
        verbose_name_plural = "aliases"

    def __str__(self) -> str:
        return f"{self.name} -> {self.model_id}"


class RetiredModel(models.Model):
    """A former name without a successor."""

    name = models.CharField(primary_key=True, max_length=100)

    def __str__(self) -> str:
        return self.name


class Seeded(models.Model):
    """A row of a list in the code (`key` names it), as it was when the list was last applied. So a
    change of the list is told from a change by an operator, which stays."""

    key = models.CharField(primary_key=True, max_length=300)
    value = models.CharField(max_length=1000)

    def __str__(self) -> str:
        return self.key


TOKEN_PRICE = ("input", "output", "token_fee")
IMAGE_PRICE = ("image_low", "image_standard", "image_high", "image_fee")
SPEECH_PRICE = ("speech_hour", "speech_fee")
UNIT_PRICE = ("unit_rates", "unit_fee")
_NEEDED = (*TOKEN_PRICE, *IMAGE_PRICE, *SPEECH_PRICE, *UNIT_PRICE)
# The one rate that a price may be without.
CACHED_INPUT = "cached_input"
RATES = ("input", CACHED_INPUT, *(name for name in _NEEDED if name != "input"))
_DEARER_CACHE = "Cached input cannot cost more than other input, and only tokens have such a price."

# No provider charges more; a higher rate is a typing error. US dollars per 1,000,000 tokens, per
# picture, per hour of audio, and per second of video or 3D asset.
MAX_TOKEN_USD = 10_000
MAX_IMAGE_USD = 100
MAX_SPEECH_USD = 100
MAX_UNIT_USD = 100
_PER_MILLION = (MaxValueValidator(MAX_TOKEN_USD * 10**6),)
_PER_PICTURE = (MaxValueValidator(MAX_IMAGE_USD * 10**9),)
_PER_HOUR = (MaxValueValidator(MAX_SPEECH_USD * 10**9),)
_PER_UNIT = (MaxValueValidator(MAX_UNIT_USD * 10**9),)
# Clocks differ a little from the database's: a price may begin this long in the past, and cannot be
# withdrawn this shortly before it begins (the database checks the same).
_A_WHILE = timedelta(minutes=1)


class UnitRatesField(models.JSONField):
    """Whole nano-USD by variant. None is NULL, also where Django checks a constraint: for that its
    own field makes it the JSON value null."""

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> Any:
        if value is None:
            return None
        return super().get_db_prep_value(value, connection, prepared)

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs


# Is it an object of at least one rate, each a whole number that is not negative?
_ARE_RATES = models.Func(
    models.F("unit_rates"),
    template='jsonb_path_match(%(expressions)s, \'strict $.type() == "object" && exists($.*)'
    ' && !exists($.* ? (@.type() != "number" || @ < 0 || @ != @.floor()))\')',
    output_field=models.BooleanField(),
)


def _only(given: tuple[str, ...]) -> models.Q:
    """All of `given` are set and not negative, and no other rate is set that some price needs.

    IS NOT NULL is spelled out because a CHECK lets a comparison with NULL pass.
    """
    return models.Q(
        **{f"{name}__isnull": False for name in given},
        **{f"{name}__gte": 0 for name in given if name != "unit_rates"},
        **{f"{name}__isnull": True for name in _NEEDED if name not in given},
    )


# Modalities that are not sold by the token, with their units and rates.
_SOLD_BY: dict[str, tuple[str, tuple[str, ...]]] = {
    AIModel.Modality.IMAGE: ("picture", IMAGE_PRICE),
    AIModel.Modality.SPEECH: ("hour", SPEECH_PRICE),
    AIModel.Modality.VIDEO: ("second", UNIT_PRICE),
    AIModel.Modality.ASSET_3D: ("asset", UNIT_PRICE),
}

# Does a price version have the rates of its model's modality?
OF_THE_RIGHT_KIND = (
    models.Q(model__modality=AIModel.Modality.IMAGE, image_fee__isnull=False)
    | models.Q(model__modality=AIModel.Modality.SPEECH, speech_fee__isnull=False)
    | models.Q(
        model__modality__in=[AIModel.Modality.VIDEO, AIModel.Modality.ASSET_3D],
        unit_fee__isnull=False,
    )
    | models.Q(~models.Q(model__modality__in=list(_SOLD_BY)), input__isnull=False)
)


class PriceVersion(models.Model):
    """A model's price from `valid_from` on. It never changes: a new price is a new version. A
    version that is not in force yet can be withdrawn.

    Token prices are micro-USD per 1,000,000 tokens (one token costs that many pico-USD); image
    prices are nano-USD per picture, speech prices nano-USD per hour of audio, unit prices nano-USD
    per second of video or per 3D asset, by variant (see ai.catalog.params). `*_fee` is the
    platform's, added to the provider's rate. `cached_input` is the rate of input tokens that the
    provider has read from its cache, NULL where it has none. It is never above `input`, so that a
    call without cached tokens is the dearest: what is held for it.
    """

    id = models.BigAutoField(primary_key=True)
    model = models.ForeignKey(AIModel, on_delete=models.PROTECT, related_name="prices")
    valid_from = models.DateTimeField()
    input = models.BigIntegerField(null=True, blank=True, validators=_PER_MILLION)
    cached_input = models.BigIntegerField(null=True, blank=True, validators=_PER_MILLION)
    output = models.BigIntegerField(null=True, blank=True, validators=_PER_MILLION)
    token_fee = models.BigIntegerField(null=True, blank=True, validators=_PER_MILLION)
    image_low = models.BigIntegerField(null=True, blank=True, validators=_PER_PICTURE)
    image_standard = models.BigIntegerField(null=True, blank=True, validators=_PER_PICTURE)
    image_high = models.BigIntegerField(null=True, blank=True, validators=_PER_PICTURE)
    image_fee = models.BigIntegerField(null=True, blank=True, validators=_PER_PICTURE)
    speech_hour = models.BigIntegerField(null=True, blank=True, validators=_PER_HOUR)
    speech_fee = models.BigIntegerField(null=True, blank=True, validators=_PER_HOUR)
    unit_rates = UnitRatesField(null=True, blank=True)
    unit_fee = models.BigIntegerField(null=True, blank=True, validators=_PER_UNIT)

    class Meta:
        ordering = ["model_id", "-valid_from"]
        constraints = [
            models.UniqueConstraint(fields=["model", "valid_from"], name="one_price_at_a_time"),
            models.CheckConstraint(
                condition=_only(TOKEN_PRICE)
                | _only(IMAGE_PRICE)
                | _only(SPEECH_PRICE)
                | (_only(UNIT_PRICE) & models.Q(_ARE_RATES)),
                name="price_is_complete_and_not_negative",
            ),
            models.CheckConstraint(
                condition=models.Q(cached_input__isnull=True)
                | models.Q(
                    input__isnull=False, cached_input__gte=0, cached_input__lte=models.F("input")
                ),
                name="cached_input_is_no_dearer_than_input",
                violation_error_message=_DEARER_CACHE,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model_id} from {self.valid_from:%Y-%m-%d}"

    @property
    def can_be_withdrawn(self) -> bool:
        """Is it certainly not in force yet? Then it may be deleted."""
        return self.valid_from > timezone.now() + _A_WHILE

    def clean(self) -> None:
        """Raises ValidationError for a price that could never be corrected: of the wrong kind,
        without a rate that is needed, too high, of zero, or in the past."""
        model = AIModel.objects.filter(pk=self.model_id).first()
        if model is None:
            return  # the form says that the model is missing
        self._refuse_wrong_kind(model)
        if self.unit_rates is not None:
            self._refuse_wrong_rates(self.unit_rates, model)
        self._refuse_nothing(model)
        self._refuse_the_past(model)

    def _refuse_wrong_kind(self, model: AIModel) -> None:
        unit, own = _SOLD_BY.get(model.modality, ("token", TOKEN_PRICE))
        given = {name for name in RATES if getattr(self, name) is not None}
        may_be_given = {CACHED_INPUT} if unit == "token" else set()
        if given - may_be_given != set(own):
            *names, last = (name.replace("_", " ") for name in own)
            but = " but that of cached input" if may_be_given else ""
            raise ValidationError(
                f"{model.display_name} is sold by the {unit}: give {', '.join(names)} and {last}, "
                f"and no other price{but}."
            )

    def _refuse_nothing(self, model: AIModel) -> None:
        is_free = not any(self._amounts())
        if is_free and model.provider != LOCAL_PROVIDER:
            raise ValidationError(f"{model.display_name} would cost nothing.")

    def _refuse_wrong_rates(self, rates: dict[str, int], model: AIModel) -> None:
        """Refuse rates for other variants than the model's, and those above the limit."""
        variants = Params(model.params).variants
        if rates.keys() != variants:
            named = ", ".join(sorted(variants))
            raise ValidationError(
                {"unit_rates": f"{model.display_name} needs one rate for each of: {named}."}
            )
        if max(rates.values()) > MAX_UNIT_USD * 10**9:
            message = f"A rate is less than or equal to {MAX_UNIT_USD} USD."
            raise ValidationError({"unit_rates": message})

    def _amounts(self) -> Iterator[int]:
        """The rates that are set, in their own units."""
        for name in RATES:
            value = getattr(self, name)
            if isinstance(value, dict):
                yield from value.values()
            elif value is not None:
                yield value

    def _refuse_the_past(self, model: AIModel) -> None:
        """The first price may begin at any time: nothing was sold before it."""
        if self.valid_from is None or self.valid_from >= timezone.now() - _A_WHILE:
            return
        if model.prices.exists():
            raise ValidationError({"valid_from": "This is in the past: begin now or later."})
