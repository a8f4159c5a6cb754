"""All routes of the Django application: `/api`, files and the admin."""

from django.conf import settings
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.generic import TemplateView

from accounts import urls as accounts
from apidocs.asyncapi.document import asyncapi_json
from apidocs.openapi.document import openapi_json
from billing import urls as billing
from common.api import bad_request, page_not_found, permission_denied, server_error
from config.continuations import ContinuationViewSet
from config.web_app.pages import page
from content import urls as content
from conversations import urls as conversations
from media.files import urls as files
from studios import urls as studios

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/auth/", include(accounts.auth_routes)),
    path("api/users/", include(accounts.user_routes)),
    path("api/users/", include(billing.user_routes)),
    path("api/users/me/export", include("privacy.urls")),
    path("api/billing/", include(billing.billing_routes)),
    path("api/models", include(billing.model_routes)),
    path("api/keys", include("publicapi.urls")),
    path("api/agents", include(accounts.agent_routes)),
    path("api/conversations", include(conversations.conversation_routes)),
    path("api/spaces", include(conversations.space_routes)),
    path("api/uploads", include(files.upload_routes)),
    path("api/transcribe", include(conversations.transcribe_routes)),
    path("api/files", include(conversations.file_routes)),
    path(
        "api/council/cards/<uuid:card_id>/continue",
        ContinuationViewSet.as_view({"post": "create"}),
    ),
    path("api/council/", include("council.urls")),
    path("api/project/workspaces", include("integrations.workspaces.urls")),
    path("api/project/", include("projects.urls")),
    path("api/images", include(studios.image_routes)),
    path("api/videos", include(studios.video_routes)),
    path("api/assets-3d/", include(studios.asset_routes)),
    path("api/jobs", include(studios.job_routes)),
    path("api/connectors", include("integrations.connectors.urls")),
    path("api/teams/", include("teams.urls")),
    path("api/events", include("events.urls")),
    path("api/flags", include(content.flag_routes)),
    path("api/cms", include(content.cms_routes)),
    path("files/", include(files.file_routes)),
    path("admin/", admin.site.urls),
]

if not settings.PRODUCTION:
    urlpatterns += [
        path("openapi.json", openapi_json, name="openapi"),
        path("asyncapi.json", asyncapi_json),
        path("docs", TemplateView.as_view(template_name="openapi/swagger.html")),
        path("redoc", TemplateView.as_view(template_name="openapi/redoc.html")),
    ]

urlpatterns.append(re_path("", page))

handler400 = bad_request
handler403 = permission_denied
handler404 = page_not_found
handler500 = server_error
