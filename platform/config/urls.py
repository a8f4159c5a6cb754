"""All routes of the Django application: `/api`, files and the admin."""

from django.conf import settings
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import TemplateView

from common.api import bad_request, page_not_found, permission_denied, server_error, unknown_path
from config.continuations import ContinuationViewSet
from config.openapi import openapi_json

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/auth/", include("accounts.urls")),
    path("api/users/", include("accounts.user_urls")),
    path("api/users/", include("billing.user_urls")),
    path("api/billing/", include("billing.urls")),
    path("api/models", include("billing.model_urls")),
    path("api/keys", include("publicapi.urls")),
    path("api/agents", include("accounts.agent_urls")),
    path("api/conversations", include("conversations.urls")),
    path("api/spaces", include("conversations.space_urls")),
    path("api/uploads", include("files.upload_urls")),
    path("api/transcribe", include("conversations.transcribe_urls")),
    path("api/files", include("conversations.file_urls")),
    path(
        "api/council/cards/<uuid:card_id>/continue",
        ContinuationViewSet.as_view({"post": "create"}),
    ),
    path("api/council/", include("council.urls")),
    path("api/events", include("events.urls")),
    path("files/", include("files.urls")),
    path("admin/", admin.site.urls),
]

if not settings.PRODUCTION:
    urlpatterns += [
        path("openapi.json", openapi_json, name="openapi"),
        path("docs", TemplateView.as_view(template_name="openapi/swagger.html")),
        path("redoc", TemplateView.as_view(template_name="openapi/redoc.html")),
    ]

urlpatterns.append(re_path("", unknown_path))

handler400 = bad_request
handler403 = permission_denied
handler404 = page_not_found
handler500 = server_error
