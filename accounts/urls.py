"""Routes under `/api/auth/`."""

from django.urls import path

from accounts.viewsets.sessions import SessionViewSet, SignInViewSet

urlpatterns = [
    path("signup", SignInViewSet.as_view({"post": "sign_up"})),
    path("login", SignInViewSet.as_view({"post": "sign_in"})),
    path("refresh", SignInViewSet.as_view({"post": "refresh"})),
    path("logout", SessionViewSet.as_view({"post": "sign_out"})),
    path("me", SessionViewSet.as_view({"get": "me"})),
]
