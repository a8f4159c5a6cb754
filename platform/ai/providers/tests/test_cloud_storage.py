"""Which objects are read from Google's store: those of our own folder."""

import pytest

from ai.providers.cloud_storage import CloudFolder

FOLDER = CloudFolder("gs://ours/clips", "https://storage.googleapis.com")


def test_an_object_in_the_folder_has_an_address() -> None:
    assert FOLDER.address_of("gs://ours/clips/1-2/sample_0.mp4") == (
        "https://storage.googleapis.com/ours/clips/1-2/sample_0.mp4"
    )


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "gs://ours/clips",
        "gs://ours/clips/",
        "gs://ours/clipsofothers/a.mp4",
        "gs://ours/a.mp4",
        "gs://theirs/clips/a.mp4",
        "gs://ours/clips/../a.mp4",
        "gs://ours/clips/..",
        "gs://ours/clips/./a.mp4",
        "gs://ours/clips//a.mp4",
        "gs://ours/clips/a.mp4?alt=media",
        "gs://ours/clips/a.mp4#b",
        "gs://ours/clips/%2e%2e/a.mp4",
        "gs://ours/clips/a b.mp4",
        "gs://ours/clips/a.mp4\n",
        "gs://ours/clips/é.mp4",
        "https://storage.googleapis.com/ours/clips/a.mp4",
    ],
)
def test_nothing_else_has(uri: str) -> None:
    assert FOLDER.address_of(uri) is None
