"""No function over 40 lines, no module over 300, no folder with more than 15 modules; tests are no exception."""

import pytest

from tests.layers.modules import Module, modules
from tests.layers.sizes import FOLDER, FUNCTION, MODULE, full_folders, long_functions, long_modules

PROJECT = modules("ci", "policy/guardrails", "components", "stacks", "workbench", "tests", "__main__.py")


@pytest.mark.parametrize("module", PROJECT, ids=lambda module: module.path)
def test_no_module_and_no_function_is_too_long(module: Module) -> None:
    assert [*long_modules(module), *long_functions(module)] == []


def test_no_folder_is_too_full() -> None:
    assert list(full_folders(PROJECT)) == []


def planted(lines: int, path: str = "components/plan/planted.py") -> Module:
    """A function of as many lines, in a class in a module with one line more."""
    return Module(path, "class A:\n    def f():\n" + "        x = 1\n" * (lines - 1))


def test_what_is_too_large_is_found() -> None:
    assert list(long_functions(planted(FUNCTION))) == []
    assert list(long_functions(planted(FUNCTION + 1))) != []
    assert list(long_modules(planted(MODULE - 1))) == []
    assert list(long_modules(planted(MODULE))) != []
    folder = [planted(2, f"tests/planted/module_{number}.py") for number in range(FOLDER + 1)]
    assert list(full_folders(folder[:-1])) == []
    assert list(full_folders(folder)) != []


def test_async_functions_count_too() -> None:
    assert list(long_functions(Module("a.py", "async def f():\n" + "    x = 1\n" * FUNCTION))) != []
