"""Nothing outside the engines' room names a flag of an engine (design, "Layout")."""

import pytest

from tests.layers.flags import OTHER_PROGRAMS, flags_named, known_flags
from tests.layers.modules import Module, modules

PROJECT = modules("components", "stacks", "workbench", "__main__.py")


@pytest.mark.parametrize("module", PROJECT, ids=lambda module: module.path)
def test_no_module_names_a_flag(module: Module) -> None:
    assert list(flags_named(module)) == []


def test_the_flags_are_those_of_the_tables() -> None:
    some = {"--tensor-parallel-size", "--model", "-ngl", "--ctx-size", "--dist-init-addr", "--num-shard", "-tp"}
    assert some <= known_flags()


@pytest.mark.parametrize("folder", OTHER_PROGRAMS)
def test_no_exception_is_idle(folder: str) -> None:
    quoted = {word.text for module in modules(folder) for word in module.words if word.quoted}
    assert set(OTHER_PROGRAMS[folder]) <= quoted


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("components/families/llmaz/planted.py", "ARGS = ['--served-model-name', 'm']"),
        ("components/families/llmkube/planted.py", "def f(n):\n    return f'--tensor-parallel-size={n}'"),
        ("components/families/llmkube/planted.py", "REASON = 'add --n-gpu-layers 0 to extraArgs'"),
        ("components/fleet/planted.py", "NAMES = ('-ngl',)"),
        ("components/checks/metrics/planted.py", "FLAG = '--max_model_len'"),
        ("components/plan/planted.py", "FLAG = '--timeout'"),
        ("stacks/planted.py", "FLAG = '--port'"),
    ],
)
def test_a_planted_flag_is_found(path: str, text: str) -> None:
    assert list(flags_named(Module(path, text))) != []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("components/engines/planted.py", "FLAG = '--port'"),
        ("components/plan/planted.py", '"""Of a model with ``--max-model-len``."""'),
        ("components/families/llmaz/planted.py", "COMMAND = ['sh', '-c', 'python3 -m engine']"),
        ("workbench/planted.py", "OPTION = '--timeout'"),
        ("workbench/planted.py", "OPTION = '--start-cluster'"),
    ],
)
def test_other_options_are_not(path: str, text: str) -> None:
    assert list(flags_named(Module(path, text))) == []
