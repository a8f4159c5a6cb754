"""`/docs` and `/redoc`: the document to read, without anything from elsewhere."""

import httpx
import pytest

from tests.service import Web


@pytest.mark.parametrize("path", ["/docs", "/redoc"])
def test_a_page_is_made_of_our_own_files(web: Web, path: str) -> None:
    response = httpx.get(f"{web.url}{path}")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "/openapi.json" in response.text
    assert "://" not in response.text
