"""Queries of the content endpoints."""

from rest_framework import serializers

from common.locales import LANGUAGE_TAG, MAX_TAG
from content.flags import FLAGS
from content.models import Entry
from content.models.entries import DEFAULT_LOCALE


class FlagsQuerySerializer(serializers.Serializer[dict[str, str]]):
    name = serializers.ChoiceField(
        choices=sorted(FLAGS), required=False, help_text="Only the flag of this name."
    )


class EntriesQuerySerializer(serializers.Serializer[dict[str, str]]):
    kind = serializers.ChoiceField(
        choices=Entry.Kind.choices, required=False, help_text="Only entries of this kind."
    )
    slug = serializers.SlugField(
        max_length=100, required=False, help_text="Only entries with this name."
    )
    locale = serializers.RegexField(
        LANGUAGE_TAG,
        max_length=MAX_TAG,
        required=False,
        help_text="A language tag like `pt-BR`. An entry that is not in this language is answered "
        f"in a more general one (`pt`), or else in the default, `{DEFAULT_LOCALE}`.",
        error_messages={"invalid": "Write a language tag like en or pt-BR."},
    )
