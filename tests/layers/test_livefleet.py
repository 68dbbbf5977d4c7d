"""The live fleet is a package of its own: others use its public names alone, and it uses nothing of the workbench."""

from collections.abc import Callable, Iterable, Iterator

import pytest

import livefleet
from tests.layers.modules import Module, modules, within

PROJECT = modules(
    "ci", "policy/guardrails", "components", "stacks", "toolkit", "livefleet", "workbench", "__main__.py"
)
OWN = ("livefleet", "tests")
"""The package; and tests, which put stand-ins in the place of its parts."""
BELOW = ("toolkit", "livefleet")
ABOVE = ("workbench", "stacks", "tests", "ci")
PUBLIC = 14


def private_uses(module: Module) -> Iterator[str]:
    """Yield what a module outside of the live fleet imports of it beside the public names."""
    if module.is_in(*OWN):
        return
    for name in sorted(module.imports):
        _, _, inside = name.partition(".")
        if within(name, "livefleet") and inside not in livefleet.SURFACE:
            yield f"{module.path} imports {name}, which is not public: see livefleet/__init__.py"


def upward_uses(module: Module) -> Iterator[str]:
    """Yield what the live fleet and the shared helpers import of what uses them."""
    if module.is_in(*BELOW):
        yield from (f"{module.path} imports {name}" for name in sorted(module.imports) if within(name, *ABOVE))
    if module.is_in("toolkit"):
        own = (name for name in sorted(module.imports) if within(name, "livefleet"))
        yield from (f"{module.path} imports {name}" for name in own)


Rule = Callable[[Module], Iterable[str]]


@pytest.mark.parametrize("rule", [private_uses, upward_uses])
def test_only_public_names_cross_the_border_and_none_upwards(rule: Rule) -> None:
    assert [found for module in PROJECT for found in rule(module)] == []


def test_the_surface_is_about_a_dozen_names_that_exist() -> None:
    assert len(livefleet.SURFACE) <= PUBLIC
    for name in livefleet.SURFACE:
        assert getattr(livefleet, name).__doc__, name
        assert f"``{name}``" in str(livefleet.__doc__)


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (private_uses, "workbench/planted.py", "from livefleet.folder import LiveFolder"),
        (private_uses, "workbench/planted.py", "from livefleet import pods"),
        (private_uses, "stacks/planted.py", "def f():\n    import livefleet.served"),
        (upward_uses, "livefleet/pods/planted.py", "from workbench.errors import WorkbenchError"),
        (upward_uses, "livefleet/planted.py", "def f():\n    from stacks.settings import Settings"),
        (upward_uses, "toolkit/planted.py", "from livefleet import LiveFolder"),
    ],
)
def test_a_planted_import_is_found(rule: Rule, path: str, text: str) -> None:
    assert list(rule(Module(path, text))) != []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("workbench/planted.py", "from livefleet import LiveFolder, Speeds"),
        ("livefleet/planted.py", "from toolkit.kube import Kube\nfrom components.plan.plan import plan"),
        ("tests/livefleet/planted.py", "from livefleet.pods.part import PodsPart"),
    ],
)
def test_what_is_allowed_is_not(path: str, text: str) -> None:
    assert [found for rule in (private_uses, upward_uses) for found in rule(Module(path, text))] == []
