"""Routes under `/api/users/` that concern what an account used and may use."""

from django.urls import path

from billing.viewsets import UsageViewSet

urlpatterns = [
    path("me/usage", UsageViewSet.as_view({"get": "usage"})),
    path("me/entitlements", UsageViewSet.as_view({"get": "entitlements"})),
]
