"""The digest of a repository that a planner is given."""

from hypothesis import given
from hypothesis import strategies as st

from integrations.githosts.types import FILE, SUBMODULE, SYMLINK, Entry
from integrations.workspaces.digest import MAX_BYTES, digest, readme_of


def entries(*paths: str, mode: str = FILE) -> list[Entry]:
    return [Entry(path, mode, "0" * 40, 10) for path in paths]


def test_a_small_repository_is_shown_whole_with_folders_first() -> None:
    shown = digest(entries("src/app.py", "src/lib/a.py", "README.md", "LICENSE"), "# Site\n")
    assert shown.split("\n") == [
        "# Site",
        "",
        "src/",
        "  lib/",
        "    a.py",
        "  app.py",
        "LICENSE",
        "README.md",
    ]


def test_generated_folders_are_counted_and_not_opened() -> None:
    shown = digest(entries("app.js", *(f"node_modules/x/{n}.js" for n in range(12))))
    assert shown.split("\n") == ["node_modules/ (12 files)", "app.js"]


def test_generated_and_binary_files_are_counted() -> None:
    shown = digest(entries("a.py", "uv.lock", "logo.PNG", "app.min.js"))
    assert shown.split("\n") == ["a.py", "(3 files generated, binary or deep)"]


def test_a_submodule_is_named_as_one() -> None:
    assert digest(entries("library", mode=SUBMODULE)) == "library (submodule)"


def test_folders_without_room_are_counted() -> None:
    deep = [f"a/b{n}/c/d{m}.py" for n in range(40) for m in range(200)]
    shown = digest(entries("top.py", *deep), max_bytes=2_000)
    lines = shown.split("\n")
    assert len(shown.encode()) <= 2_000
    assert "a/" in lines
    assert "top.py" in lines
    assert "  b7/ (200 files)" in lines or any(line.startswith("    c/ (") for line in lines)


def test_a_long_readme_leaves_room_for_the_tree() -> None:
    shown = digest(entries("a.py"), "ü" * 100_000, max_bytes=5_000)
    assert len(shown.encode()) <= 5_000
    assert shown.endswith("[cut]\n\na.py")


def test_the_readme_is_the_one_at_the_top() -> None:
    found = readme_of(entries("docs/README.md", "readme.rst", "README.md", "readme_old.md"))
    assert found is not None
    assert found.path == "README.md"
    assert readme_of(entries("docs/README.md")) is None
    assert readme_of(entries("README.md", mode=SYMLINK)) is None


PATHS = st.lists(
    st.lists(st.sampled_from(["a", "b", "ü", "vendor", "x.py", "y.png", "long" * 20]), max_size=6)
    .filter(bool)
    .map("/".join),
    max_size=60,
    unique=True,
)


@given(paths=PATHS, readme=st.text(max_size=300), limit=st.integers(200, 3_000))
def test_no_digest_is_longer_than_it_may_be(paths: list[str], readme: str, limit: int) -> None:
    assert len(digest(entries(*paths), readme, max_bytes=limit).encode()) <= limit


def test_paths_of_any_depth_are_counted() -> None:
    shown = digest(entries(*(f"{'a/' * 2_000}{n}.py" for n in range(50))))
    assert shown.endswith("(50 files generated, binary or deep)")
    assert len(shown.encode()) <= MAX_BYTES
