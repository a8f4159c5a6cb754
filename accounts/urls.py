"""Routes under `/api/auth/`, `/api/agents`, and those of the account under `/api/users/`."""

from django.urls import path

from accounts.viewsets.agents import AgentViewSet
from accounts.viewsets.emails import VerificationMailViewSet, VerifyEmailViewSet
from accounts.viewsets.passwords import ForgottenPasswordViewSet, PasswordViewSet
from accounts.viewsets.sessions import SessionViewSet, SignInViewSet
from accounts.viewsets.sign_in_options import SignInOptionsViewSet
from accounts.viewsets.users import ProfileViewSet

auth_routes = [
    path("options", SignInOptionsViewSet.as_view({"get": "retrieve"})),
    path("signup", SignInViewSet.as_view({"post": "sign_up"})),
    path("login", SignInViewSet.as_view({"post": "sign_in"})),
    path("google", SignInViewSet.as_view({"post": "sign_in_with_google"})),
    path("refresh", SignInViewSet.as_view({"post": "refresh"})),
    path("logout", SessionViewSet.as_view({"post": "sign_out"})),
    path("sessions", SessionViewSet.as_view({"get": "list"})),
    path("sessions/end-others", SessionViewSet.as_view({"post": "end_others"})),
    path("sessions/<uuid:session_id>", SessionViewSet.as_view({"delete": "destroy"})),
    path("me", SessionViewSet.as_view({"get": "me"})),
    path("verify-email", VerifyEmailViewSet.as_view({"post": "verify"})),
    path("verify-email/resend", VerificationMailViewSet.as_view({"post": "send"})),
    path("forgot-password", ForgottenPasswordViewSet.as_view({"post": "forgot"})),
    path("reset-password", ForgottenPasswordViewSet.as_view({"post": "reset"})),
    path("reset-password/verify", ForgottenPasswordViewSet.as_view({"post": "verify"})),
    path("change-password", PasswordViewSet.as_view({"post": "change"})),
]
user_routes = [
    path(
        "me",
        ProfileViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
]
agent_routes = [
    path("", AgentViewSet.as_view({"get": "list", "post": "create", "patch": "update_named"})),
    path("/<str:model>", AgentViewSet.as_view({"patch": "partial_update"})),
]
