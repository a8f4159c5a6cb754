"""`python -m screenshots`: pictures of the admin and of the web app, with demo accounts in them, in
docs/images."""

import json
import os
import subprocess
import sys
from pathlib import Path

import django
from django.core.management import call_command

from bench.servers import BenchError, uvicorn
from devserver.errors import LocalError
from devserver.paths import ROOT
from devserver.ports import LOOPBACK
from devserver.throwaway import Stores, stores
from devserver.web_app import WebApp
from screenshots.chromium import BrowserError, Page, new_page
from simulator.process import running

_WIDTH = 1400
_IMAGES = ROOT / "docs" / "images"
_SHOWN = "api@kestrel.example.com"


def main() -> None:
    try:
        with stores() as started, running() as simulator:
            os.environ.update(_development(started, simulator.url))
            django.setup()
            _take_pictures()
    except (BenchError, BrowserError, LocalError) as error:
        sys.exit(str(error))


def _development(started: Stores, simulator_url: str) -> dict[str, str]:
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        "DATABASE_URL": started.database_url,
        "REDIS_URL": started.redis_url,
        "VAR_DIR": started.folder,
        "DEMO": "1",
        "SIMULATOR_URL": simulator_url,
        "WEB_APP_DIR": str(Path(started.folder) / "web"),
    }


def _take_pictures() -> None:
    from accounts.models import User  # needs Django's settings

    WebApp().build(Path(os.environ["WEB_APP_DIR"]))
    demo = _seed(Path(os.environ["VAR_DIR"]) / "demo.json")
    user = User.objects.get(email=_SHOWN)
    with uvicorn("config.asgi:application", {}) as service, new_page(_WIDTH) as page:
        admin = f"http://{LOOPBACK}:{service.port}/admin/"
        page.open(admin)
        page.submit("form", {"username": demo["admin_email"], "password": demo["admin_password"]})
        _save(page, "admin-dashboard.png")
        page.open(f"{admin}accounts/user/{user.pk}/change/")
        _save(page, "admin-user.png")
        _photograph(f"http://{LOOPBACK}:{service.port}")


def _seed(file: Path) -> dict[str, str]:
    """What `make run` begins with. Returns the credentials."""
    call_command("setup", local=True)
    call_command("create_demo", "--write", str(file))
    demo: dict[str, str] = json.loads(file.read_text())
    call_command("create_demo_conversations", demo["email"])
    call_command("create_demo_content")
    return demo


def _photograph(url: str) -> None:
    """The screens of the web app (web/tests/screenshots/take.ts). Raises LocalError."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "devserver.web_app", "run", "screenshots", "--", str(_IMAGES)],
        env={**os.environ, "SERVICE_URL": url},
        check=False,
    )
    if done.returncode:
        raise LocalError("Not all screens of the web app were photographed; see above.")


def _save(page: Page, name: str) -> None:
    _IMAGES.mkdir(exist_ok=True)
    (_IMAGES / name).write_bytes(page.picture())


if __name__ == "__main__":
    main()
