"""What production imports, production installs."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from local.paths import ROOT

# Not part of production: the simulator, the local default, tests and benchmarks.
LEFT_OUT = ("tests", "bench", "simulator", "local", ".venv", "var")


def test_every_import_of_production_is_of_something_it_installs() -> None:
    installed = set(re.findall(r"^([a-z0-9-]+)==", _read("requirements.txt"), re.MULTILINE))
    distributions = packages_distributions()
    ours = {path.name for folder in (ROOT, ROOT / "platform") for path in folder.iterdir()}

    missing = {
        module: str(path.relative_to(ROOT))
        for path in _production_files()
        for module in _imports(path)
        if module not in sys.stdlib_module_names
        and module not in ours
        and not {_normal(name) for name in distributions.get(module, [])} & installed
    }

    assert missing == {}


def _normal(distribution: str) -> str:
    """A distribution's name as the lock files write it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _read(name: str) -> str:
    return (ROOT / name).read_text()


def _production_files() -> list[Path]:
    return [
        path
        for path in ROOT.rglob("*.py")
        if not set(LEFT_OUT) & set(path.relative_to(ROOT).parts) and path.name != "conftest.py"
    ]


def _imports(path: Path) -> set[str]:
    """The top-level names of all modules that a file imports."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module.partition(".")[0])
    return modules
