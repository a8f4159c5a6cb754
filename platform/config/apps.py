"""The project as an app, and the admin as this service runs it."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class ProjectConfig(AppConfig):
    """What concerns the whole: the command `setup`, and the page at `/`. It has no models."""

    name = "config"


class OperatorAdminConfig(AdminConfig):
    """Django's admin with a site of our own."""

    default_site = "config.admin_site.OperatorSite"
