"""Routes under `/api/images`, `/api/videos`, `/api/assets-3d` and `/api/jobs`."""

from django.urls import path

from studios.viewsets.assets import AssetViewSet
from studios.viewsets.images import ImageViewSet
from studios.viewsets.jobs import JobViewSet
from studios.viewsets.videos import VideoViewSet

image_routes = [
    path("", ImageViewSet.as_view({"get": "list", "post": "create"})),
    path("/estimate", ImageViewSet.as_view({"post": "estimate"})),
    path("/<uuid:job_id>", ImageViewSet.as_view({"delete": "destroy"})),
    path("/<uuid:job_id>/star", ImageViewSet.as_view({"post": "star"})),
]
video_routes = [
    path("", VideoViewSet.as_view({"get": "list", "post": "create"})),
    path("/estimate", VideoViewSet.as_view({"post": "estimate"})),
    path("/<uuid:job_id>", VideoViewSet.as_view({"delete": "destroy"})),
    path("/<uuid:job_id>/star", VideoViewSet.as_view({"post": "star"})),
    path("/<uuid:job_id>/extend", VideoViewSet.as_view({"post": "extend"})),
    path(
        "/<uuid:job_id>/extend/estimate",
        VideoViewSet.as_view({"post": "estimate_extension"}),
    ),
]
asset_routes = [
    path("generate", AssetViewSet.as_view({"post": "create"})),
    path("generate/estimate", AssetViewSet.as_view({"post": "estimate"})),
    path("assets", AssetViewSet.as_view({"get": "list"})),
    path("assets/<uuid:job_id>", AssetViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path("assets/<uuid:job_id>/status", AssetViewSet.as_view({"get": "status"})),
    path("assets/<uuid:job_id>/star", AssetViewSet.as_view({"post": "star"})),
]
job_routes = [
    path("", JobViewSet.as_view({"get": "list"})),
    path("/<uuid:job_id>", JobViewSet.as_view({"get": "retrieve"})),
    path("/<uuid:job_id>/cancel", JobViewSet.as_view({"post": "cancel"})),
    path("/<uuid:job_id>/retry", JobViewSet.as_view({"post": "retry"})),
]
