"""Routes under `/api/billing/`, `/api/models`, and those of usage under `/api/users/`."""

from django.urls import path

from billing.viewsets import BillingViewSet, ModelViewSet, UsageViewSet

billing_routes = [
    path("plans", BillingViewSet.as_view({"get": "plans"})),
    path("subscription", BillingViewSet.as_view({"get": "subscription"})),
    path("balance", BillingViewSet.as_view({"get": "balance"})),
    path("wallet", BillingViewSet.as_view({"get": "wallet"})),
    path("transactions", BillingViewSet.as_view({"get": "transactions"})),
    path("topup", BillingViewSet.as_view({"post": "topup"})),
    path("upgrade", BillingViewSet.as_view({"post": "upgrade"})),
]
model_routes = [path("", ModelViewSet.as_view({"get": "list"}))]
user_routes = [
    path("me/usage", UsageViewSet.as_view({"get": "usage"})),
    path("me/entitlements", UsageViewSet.as_view({"get": "entitlements"})),
]
