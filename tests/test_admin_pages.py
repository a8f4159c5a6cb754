"""The operator's admin looks like one: its style sheets are served, by the web process itself."""

import re

import httpx
import pytest

from tests.service import Web


@pytest.mark.usefixtures("committed")
def test_the_login_page_and_its_style_sheets_are_served(web: Web) -> None:
    page = httpx.get(f"{web.url}/admin/login/")
    assert page.status_code == 200
    sheets = re.findall(r'href="(/static/[^"]+\.css)"', page.text)
    assert sheets

    for sheet in sheets:
        answer = httpx.get(web.url + sheet)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/css")
