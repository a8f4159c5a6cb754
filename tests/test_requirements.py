"""What production imports, production installs."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from devserver.paths import ROOT

# Not part of production: the simulator, the local default, tests and benchmarks, packages of Node.
LEFT_OUT = ("tests", "tools", "web", ".venv", "var")
# What these import may be missing: a process that needs it, and has it not, refuses to start.
OPTIONAL = {
    "platform/observability/error_reports.py",
    "platform/observability/exporters.py",
    "platform/observability/tracing/otel.py",
}


def test_every_import_of_production_is_of_something_it_installs() -> None:
    installed = _locked("requirements.txt")
    optional = installed | _locked("requirements-observability.txt")
    distributions = packages_distributions()
    ours = {path.name for folder in (ROOT, ROOT / "platform") for path in folder.iterdir()}

    missing = {
        module: str(path.relative_to(ROOT))
        for path in _production_files()
        for module in _imports(path)
        if module not in sys.stdlib_module_names
        and module not in ours
        and not {_normal(name) for name in distributions.get(module, [])}
        & (optional if str(path.relative_to(ROOT)) in OPTIONAL else installed)
    }

    assert missing == {}


def test_what_is_optional_is_locked_to_the_versions_of_what_is_not() -> None:
    pin = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)
    required, optional, all_of_them = (
        dict(pin.findall(_read(f"{name}.txt")))
        for name in ("requirements", "requirements-observability", "requirements-dev")
    )
    both = required.keys() & optional.keys()
    assert {name: optional[name] for name in both} == {name: required[name] for name in both}
    # The tests run with what is named there.
    named = re.findall(r"^([a-z][a-z0-9-]*) ", _read("requirements-observability.in"), re.MULTILINE)
    assert len(named) == 3
    assert {name: all_of_them[name] for name in named} == {name: optional[name] for name in named}


def _locked(name: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+)==", _read(name), re.MULTILINE))


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
