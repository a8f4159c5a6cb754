"""Files that nobody writes by hand: generated ones, and those that are no text, by their paths."""

from pathlib import PurePosixPath

_GENERATED_FOLDERS = frozenset(
    {
        "__pycache__",
        "bower_components",
        "build",
        "coverage",
        "deriveddata",
        "dist",
        "node_modules",
        "obj",
        "out",
        "pods",
        "site-packages",
        "target",
        "third_party",
        "vendor",
        "venv",
        *(".cache", ".gradle", ".idea", ".mypy_cache", ".next", ".nuxt", ".pytest_cache"),
        *(".terraform", ".tox", ".venv", ".yarn"),
    }
)
_GENERATED_FILES = frozenset(
    {
        "cargo.lock",
        "composer.lock",
        "gemfile.lock",
        "go.sum",
        "package-lock.json",
        "pipfile.lock",
        "pnpm-lock.yaml",
        "poetry.lock",
        "uv.lock",
        "yarn.lock",
        ".ds_store",
    }
)
_GENERATED_ENDS = (".min.js", ".min.css", ".map", ".pb.go", "_pb2.py", ".snap", ".lock")

_PICTURES_AND_SOUND = (
    ".avif .bmp .gif .heic .icns .ico .jpeg .jpg .png .psd .tif .tiff .webp .aac .avi .flac .m4a "
    ".mkv .mov .mp3 .mp4 .ogg .wav .webm .eot .otf .ttf .woff .woff2"
)
_PROGRAMS_AND_DATA = (
    ".a .bin .class .dll .dylib .exe .jar .lib .o .obj .pyc .pyd .so .wasm .7z .bz2 .dmg .gz .iso "
    ".rar .tar .tgz .whl .xz .zip .zst .doc .docx .odt .pdf .ppt .pptx .xls .xlsx .db .npy .npz "
    ".onnx .parquet .pkl .pt .safetensors .sqlite .sqlite3"
)
_BINARY = frozenset(f"{_PICTURES_AND_SOUND} {_PROGRAMS_AND_DATA}".split())


def is_generated_folder(name: str) -> bool:
    return name.lower() in _GENERATED_FOLDERS


def is_written_by_hand(name: str) -> bool:
    """Is a file of that name, without its folder, probably a text that somebody wrote?"""
    lower = name.lower()
    if lower in _GENERATED_FILES or lower.endswith(_GENERATED_ENDS):
        return False
    return PurePosixPath(lower).suffix not in _BINARY
