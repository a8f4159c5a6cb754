"""How flags and entries are answered."""

from typing import Any

from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from content.models import Entry
from content.rendering import render


# openapi-python-client has one variable for a type and a field of the same name.
@extend_schema_serializer(component_name="FeatureFlags")
class FlagsSerializer(serializers.Serializer[Any]):
    flags = serializers.DictField(
        child=serializers.BooleanField(), help_text="Each flag by its name: is it on for you?"
    )


@extend_schema_serializer(component_name="ContentEntryLink")
class EntryLinkSerializer(serializers.Serializer[Any]):
    url = serializers.CharField(help_text="An address, or a path of the web app like `/pricing`.")
    text = serializers.CharField()


_SEVERITY = serializers.ChoiceField(
    choices=Entry.Severity.choices, allow_null=True, help_text="Of a banner, else null."
)
_LINK = EntryLinkSerializer(allow_null=True, help_text="Of a banner that has one, else null.")


@extend_schema_serializer(component_name="ContentEntry")
class EntrySerializer(serializers.ModelSerializer[Entry]):
    html = serializers.SerializerMethodField(help_text="Harmless HTML, made of Markdown.")
    severity = serializers.SerializerMethodField()
    link = serializers.SerializerMethodField()
    published_at = serializers.DateTimeField(source="publish_at")
    ends_at = serializers.DateTimeField(
        source="unpublish_at",
        allow_null=True,
        help_text="When it is not to be shown any more; null: it stays.",
    )

    class Meta:
        model = Entry
        fields = (
            "id",
            "kind",
            "slug",
            "locale",
            "title",
            "html",
            "severity",
            "link",
            "published_at",
            "ends_at",
            "updated_at",
        )
        read_only_fields = fields

    def get_html(self, entry: Entry) -> str:
        return render(entry.body)

    @extend_schema_field(_SEVERITY)
    def get_severity(self, entry: Entry) -> str | None:
        return entry.severity or None

    @extend_schema_field(_LINK)
    def get_link(self, entry: Entry) -> dict[str, str] | None:
        if not entry.link_url:
            return None
        return {"url": entry.link_url, "text": entry.link_text}
