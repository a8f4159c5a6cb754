"""The admin as this service runs it."""

from django.contrib.admin.apps import AdminConfig


class OperatorAdminConfig(AdminConfig):
    """Django's admin with a site of our own."""

    default_site = "config.admin_site.OperatorSite"
