"""The only way to call a provider. Holds, meters and settles every call."""

from django.apps import AppConfig


class InferenceConfig(AppConfig):
    name = "ai.inference"
