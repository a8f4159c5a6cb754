"""Routes under `/api/teams/`."""

from django.urls import path

from teams.viewsets.answers import AcceptanceViewSet, ReceivedInvitationViewSet
from teams.viewsets.audit import AuditViewSet
from teams.viewsets.invitations import InvitationViewSet
from teams.viewsets.members import MemberViewSet, OwnMembershipViewSet
from teams.viewsets.teams import TeamViewSet

urlpatterns = [
    path(
        "me",
        TeamViewSet.as_view(
            {
                "get": "retrieve",
                "post": "create",
                "patch": "partial_update",
                "delete": "destroy",
            }
        ),
    ),
    path("me/leave", OwnMembershipViewSet.as_view({"post": "leave"})),
    path("me/transfer-ownership", OwnMembershipViewSet.as_view({"post": "transfer"})),
    path(
        "me/members/<uuid:member_id>",
        MemberViewSet.as_view({"patch": "partial_update", "delete": "destroy"}),
    ),
    path("me/invites", InvitationViewSet.as_view({"get": "list", "post": "create"})),
    path("me/invites/<uuid:invite_id>", InvitationViewSet.as_view({"delete": "destroy"})),
    path("me/invites/<uuid:invite_id>/resend", InvitationViewSet.as_view({"post": "resend"})),
    path("me/audit", AuditViewSet.as_view({"get": "list"})),
    path("invites/<str:token>", ReceivedInvitationViewSet.as_view({"get": "retrieve"})),
    path("invites/<str:token>/accept", AcceptanceViewSet.as_view({"post": "accept"})),
    path("invites/<str:token>/decline", ReceivedInvitationViewSet.as_view({"post": "decline"})),
]
