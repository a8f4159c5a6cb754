"""The digest of a repository that a planner is given."""

from hypothesis import given
from hypothesis import strategies as st

from integrations.githosts.types import FILE, SUBMODULE, SYMLINK, Entry
from integrations.workspaces.digest import MAX_BYTES, digest, readme_of, sources_of
from integrations.workspaces.symbols import Symbol


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


# --- Symbols --------------------------------------------------------------------------------------


def functions(count: int, length: int = 4) -> list[Symbol]:
    return [Symbol(f"f{n}".ljust(length, "_"), "function", n) for n in range(count)]


def test_files_are_shown_with_what_they_define() -> None:
    symbols = {
        "src/app.py": [
            Symbol("LIMIT", "constant", 1),
            Symbol("App", "class", 2),
            Symbol("run", "method", 3),
            Symbol("main", "function", 9),
            Symbol("main", "function", 12),
        ],
        "gone.py": functions(1),
    }
    shown = digest(entries("src/app.py", "src/empty.py", "LICENSE"), "# Site\n", symbols)
    assert shown.split("\n") == [
        "# Site",
        "",
        "src/",
        "  app.py: App, main(), LIMIT",
        "  empty.py",
        "LICENSE",
    ]


def test_symbols_push_no_file_out_of_the_digest() -> None:
    tree = entries("a.py", "b/c.py", "b/d.py", *(f"e/{n}.txt" for n in range(30)))
    plain = digest(tree, "# Site", max_bytes=400)
    shown = digest(
        tree, "# Site", {each.path: functions(90) for each in tree if "txt" not in each.path},
        max_bytes=400,
    )  # fmt: skip
    assert [line.partition(":")[0] for line in shown.split("\n")] == plain.split("\n")
    assert len(plain.encode()) < len(shown.encode()) <= 400


def test_little_room_is_for_the_first_symbols_of_each_file_upper_folders_first() -> None:
    tree = entries("z.py", "a/b.py", "tests/test_z.py")
    symbols = {each.path: functions(3, length=40) for each in tree}
    pictures = [digest(tree, "", symbols, max_bytes=limit) for limit in range(60, 600)]
    with_all = [each for each in pictures if "test_z.py" in each]
    steps = [*dict.fromkeys(tuple(_symbols_shown(each)) for each in with_all)]
    words = [f"{each.name}()" for each in functions(3, length=40)]
    first, second, whole = f"{words[0]}, …", f"{words[0]}, {words[1]}, …", ", ".join(words)
    assert steps == [
        (),
        (f"z.py: {first}",),
        (f"b.py: {first}", f"z.py: {first}"),
        (f"b.py: {first}", f"test_z.py: {first}", f"z.py: {first}"),
        (f"b.py: {first}", f"test_z.py: {first}", f"z.py: {second}"),
        (f"b.py: {second}", f"test_z.py: {first}", f"z.py: {second}"),
        (f"b.py: {second}", f"test_z.py: {second}", f"z.py: {second}"),
        (f"b.py: {second}", f"test_z.py: {second}", f"z.py: {whole}"),
        (f"b.py: {whole}", f"test_z.py: {second}", f"z.py: {whole}"),
        (f"b.py: {whole}", f"test_z.py: {whole}", f"z.py: {whole}"),
    ]


def _symbols_shown(shown: str) -> list[str]:
    return [line.strip() for line in shown.split("\n") if ":" in line]


def test_the_sources_are_those_that_somebody_wrote_upper_folders_first() -> None:
    tree = entries(
        "tests/test_app.py",
        "src/core/run.py",
        "app.ts",
        "README.md",
        "app.min.js",
        "node_modules/x/index.js",
        "src/app.py",
        "src/app.test.ts",
    )
    assert [each.path for each in sources_of(tree)] == [
        "app.ts",
        "src/app.py",
        "src/core/run.py",
        "src/app.test.ts",
        "tests/test_app.py",
    ]


def test_neither_links_nor_large_files_are_sources_and_there_is_a_bound() -> None:
    assert sources_of(entries("link.py", mode=SYMLINK)) == []
    assert sources_of([Entry("large.py", FILE, "0" * 40, 200_000)]) == []
    assert sources_of([Entry("empty.py", FILE, "0" * 40, 0)]) == []
    assert len(sources_of([Entry(f"{n}.py", FILE, "0" * 40, None) for n in range(500)])) == 60


SYMBOLS = st.lists(
    st.builds(
        Symbol, st.sampled_from(["a", "ü", "run" * 9]), st.sampled_from(["class", "function"]),
        st.just(1),
    ),
    max_size=9,
)  # fmt: skip
PATHS = st.lists(
    st.lists(st.sampled_from(["a", "b", "ü", "vendor", "x.py", "y.png", "long" * 20]), max_size=6)
    .filter(bool)
    .map("/".join),
    max_size=60,
    unique=True,
)


@given(
    paths=PATHS,
    readme=st.text(max_size=300),
    symbols=st.dictionaries(st.sampled_from(["x.py", "a/x.py", "a/b/x.py", "b/ü"]), SYMBOLS),
    limit=st.integers(200, 3_000),
)
def test_no_digest_is_longer_than_it_may_be(
    paths: list[str], readme: str, symbols: dict[str, list[Symbol]], limit: int
) -> None:
    shown = digest(entries(*paths), readme, symbols, max_bytes=limit)
    assert len(shown.encode()) <= limit
    plain = digest(entries(*paths), readme, max_bytes=limit)
    assert len(shown.split("\n")) == len(plain.split("\n"))


def test_paths_of_any_depth_are_counted() -> None:
    shown = digest(entries(*(f"{'a/' * 2_000}{n}.py" for n in range(50))))
    assert shown.endswith("(50 files generated, binary or deep)")
    assert len(shown.encode()) <= MAX_BYTES
