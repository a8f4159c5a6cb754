"""Routes under `/api/council/`."""

from django.urls import path

from common.api import AnyAccepted
from council.viewsets.cards import CardViewSet
from council.viewsets.estimates import EstimateViewSet
from council.viewsets.sessions import SessionViewSet

urlpatterns = [
    path("sessions", SessionViewSet.as_view({"get": "list", "post": "create"})),
    path("sessions/estimate", EstimateViewSet.as_view({"post": "session"})),
    path(
        "sessions/<uuid:session_id>",
        SessionViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
    path("sessions/<uuid:session_id>/stop", SessionViewSet.as_view({"post": "stop"})),
    path("sessions/<uuid:session_id>/cards", SessionViewSet.as_view({"post": "add_card"})),
    path("sessions/<uuid:session_id>/chat", SessionViewSet.as_view({"post": "chat"})),
    path("sessions/<uuid:session_id>/chat/estimate", EstimateViewSet.as_view({"post": "chat"})),
    path("sessions/<uuid:session_id>/merge", SessionViewSet.as_view({"post": "merge"})),
    path("sessions/<uuid:session_id>/merge/estimate", EstimateViewSet.as_view({"post": "merge"})),
    path("sessions/<uuid:session_id>/debate", SessionViewSet.as_view({"post": "debate"})),
    path("sessions/<uuid:session_id>/debate/estimate", EstimateViewSet.as_view({"post": "debate"})),
    path("sessions/<uuid:session_id>/events", SessionViewSet.as_view({"get": "events"})),
    path("cards/<uuid:card_id>", CardViewSet.as_view({"delete": "destroy"})),
    path("cards/<uuid:card_id>/stop", CardViewSet.as_view({"post": "stop"})),
    path("cards/<uuid:card_id>/regenerate", CardViewSet.as_view({"post": "regenerate"})),
    path("cards/<uuid:card_id>/diff", CardViewSet.as_view({"get": "diff"})),
    path(
        "cards/<uuid:card_id>/export",
        CardViewSet.as_view({"get": "export"}, content_negotiation_class=AnyAccepted),
    ),
    path("cards/<uuid:card_id>/versions", CardViewSet.as_view({"get": "versions"})),
    path("cards/<uuid:card_id>/restore", CardViewSet.as_view({"post": "restore"})),
    path("cards/<uuid:card_id>/messages", CardViewSet.as_view({"get": "messages", "post": "say"})),
]
