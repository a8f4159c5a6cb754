"""Routes under `/api/billing/`."""

from django.urls import path

from billing.viewsets import BillingViewSet

urlpatterns = [
    path("plans", BillingViewSet.as_view({"get": "plans"})),
    path("subscription", BillingViewSet.as_view({"get": "subscription"})),
    path("balance", BillingViewSet.as_view({"get": "balance"})),
    path("wallet", BillingViewSet.as_view({"get": "wallet"})),
    path("transactions", BillingViewSet.as_view({"get": "transactions"})),
    path("topup", BillingViewSet.as_view({"post": "topup"})),
    path("upgrade", BillingViewSet.as_view({"post": "upgrade"})),
]
