"""What the package and its families offer: the same to type checkers as when it runs, and loaded where it is used."""

import ast
import importlib
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pulumi
import pytest

import components
from components.families import FAMILIES
from components.resources import COMPONENTS

ROOT = Path(__file__).parents[3]
PACKAGES = ["components", *(family.package for family in FAMILIES if any(m.component for m in family.members))]


def declared(package: str) -> dict[str, str]:
    """Names that a type checker sees, each with the module that it is imported from."""
    module = importlib.import_module(package)
    body = ast.parse(inspect.getsource(module)).body
    blocks = [n for n in body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    homes = [(importlib.util.resolve_name("." * node.level + str(node.module), package), node) for node in imports]
    return {alias.name: home for home, node in homes for alias in node.names}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_is_what_it_is_to_a_type_checker(package: str) -> None:
    names = declared(package)
    assert names
    for name, home in names.items():
        assert getattr(importlib.import_module(package), name) is getattr(importlib.import_module(home), name), name


@pytest.mark.parametrize("package", PACKAGES)
def test_components_and_their_arguments_are_offered_together(package: str) -> None:
    module = importlib.import_module(package)
    for name in declared(package):
        found = getattr(module, name)
        if isinstance(found, type) and issubclass(found, pulumi.ComponentResource):
            args = inspect.get_annotations(found.__init__)["args"]
            assert getattr(module, args.__name__) is args


def test_every_public_component_is_declared() -> None:
    assert set(COMPONENTS) <= set(declared("components"))
    for family in FAMILIES:
        offered = {member.component for member in family.members if member.component}
        assert offered <= set(declared(family.package)) if offered else True


def test_a_name_that_is_not_there_is_told_as_python_does() -> None:
    with pytest.raises(AttributeError, match="module 'components' has no attribute 'ModelFleets'"):
        getattr(components, "ModelFleets")  # noqa: B009  the name is wrong on purpose
    with pytest.raises(ImportError):
        exec("from components.families.llmaz import Playgrounds")


@pytest.mark.parametrize(
    "package", [*PACKAGES, "components.families", "components.plan.plan", "components.contract.lazy"]
)
def test_importing_a_package_does_not_load_pulumi(package: str) -> None:
    script = f"import {package}, sys; sys.exit('pulumi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0
