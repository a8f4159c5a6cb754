"""The web app's packages, which tests of its build and its screens need."""

import pytest

from devserver.web_app import WebApp

needs_packages = pytest.mark.skipif(
    not WebApp().is_installed(tools=True),
    reason="The web app's packages are not installed: run `make web-check`.",
)
