"""The hot path goes to the database that Django knows, by the way that Django was told."""

import pytest
from django.db import connection, connections

from common.database import connection_parameters


def test_what_the_url_says_of_tls_and_options_holds_for_the_hot_path_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = connections["default"].settings_dict["OPTIONS"]
    monkeypatch.setitem(options, "sslmode", "verify-full")
    monkeypatch.setitem(options, "sslrootcert", "/etc/ca.pem")
    monkeypatch.setitem(options, "options", "-c search_path=app")

    parameters = connection_parameters()

    assert parameters["sslmode"] == "verify-full"
    assert parameters["sslrootcert"] == "/etc/ca.pem"
    assert parameters["options"].startswith("-c search_path=app -c ")
    assert "pool" not in parameters


@pytest.mark.django_db
def test_nobody_waits_for_a_row_for_ever() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("10s",)
