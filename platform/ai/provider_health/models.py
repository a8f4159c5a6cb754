"""Providers, with the switches of operators."""

from django.db import models


class Provider(models.Model):
    """A provider of `ai.providers.config`. `is_off`: an operator has switched it off; `models_off`
    are the ids of its models that are switched off by themselves."""

    name = models.CharField(primary_key=True, max_length=32)
    is_off = models.BooleanField(default=False)
    models_off = models.JSONField(default=list)
    changed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name


def read_switches() -> tuple[list[str], list[tuple[str, str]]]:
    """The providers that are switched off, and the models, each with its provider."""
    rows = list(Provider.objects.values_list("name", "is_off", "models_off"))
    providers = [name for name, is_off, _ in rows if is_off]
    return providers, [(name, model) for name, _, off in rows for model in off]
