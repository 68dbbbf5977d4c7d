"""Rooms import in one direction, families are known by one line each, and only component files import Pulumi."""

from collections.abc import Callable, Iterable

import pytest

from tests.layers.modules import Module, modules
from tests.layers.order import ORDER, absolute_imports, insides, place_of, reaching_out, wrong_directions

PROJECT = modules("ci", "policy/guardrails", "components", "stacks", "workbench", "__main__.py")
RULES = (wrong_directions, insides, reaching_out, absolute_imports)
Rule = Callable[[Module], Iterable[str]]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("module", PROJECT, ids=lambda module: module.path)
def test_every_module_keeps_the_order(module: Module, rule: Rule) -> None:
    assert list(rule(module)) == []


def test_every_room_has_modules() -> None:
    """A room that is renamed takes its row along."""
    found = {
        place
        for module in modules("ci", "policy/guardrails", "components", "stacks", "workbench", "__main__.py", "tests")
        if (place := place_of(module.name))
    }
    assert found == {(row, room) for row, rooms in enumerate(ORDER) for room in rooms}


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (wrong_directions, "components/contract/planted.py", "from ..fleet.objects import Object"),
        (wrong_directions, "components/engines/planted.py", "def f():\n    from ..families.llmaz import backend"),
        (wrong_directions, "components/fleet/planted.py", "from .. import metrics"),
        (wrong_directions, "components/checks/metrics/planted.py", "from ..front_door import door"),
        (wrong_directions, "components/families/llmaz/planted.py", "from ..llmkube.family import FAMILY"),
        (wrong_directions, "components/families/llmkube/planted.py", "from .. import kinds"),
        (wrong_directions, "components/fleet/nodes/planted.py", "from ..plan.plan import plan"),
        (wrong_directions, "components/plan/planted.py", "from ..serving.objects import kubernetes_object"),
        (
            wrong_directions,
            "components/plan/prerequisites/planted.py",
            "from ..serving.model_fleet import ModelFleet",
        ),
        (wrong_directions, "components/resources/serving/planted.py", "import stacks.settings"),
        (wrong_directions, "stacks/planted.py", "from workbench import kube"),
        (wrong_directions, "__main__.py", "from workbench.cli import app"),
        (wrong_directions, "workbench/planted.py", "from tests.fleets import fleet_of"),
        (wrong_directions, "elsewhere/planted.py", ""),
        (insides, "components/plan/planted.py", "from ..families.llmaz.types import Playground"),
        (insides, "components/families/__init__.py", "from .llmaz.rendering import render_playground"),
        (insides, "workbench/planted.py", "import components.families.llmkube.facts"),
        (reaching_out, "components/plan/planted.py", "import pulumi"),
        (reaching_out, "components/clouds/aws/planted.py", "from pulumi_aws import ec2"),
        (reaching_out, "components/fleet/planted.py", "def f():\n    import subprocess"),
        (reaching_out, "components/families/llmaz/planted.py", "from urllib.request import urlopen"),
        (absolute_imports, "components/contract/planted.py", "from components.contract import names"),
    ],
)
def test_a_planted_import_is_found(rule: Rule, path: str, text: str) -> None:
    assert list(rule(Module(path, text))) != []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("components/families/llmaz/planted.py", "from ..leaderworkerset.types import LeaderWorkerTemplate"),
        ("components/resources/llmaz/planted.py", "import pulumi\nfrom ..types import Playground"),
        ("components/families/__init__.py", "from .llmaz.family import FAMILY"),
        (
            "components/fleet/planted.py",
            "from .instances import instance\nfrom .node_labels import capacity_in",
        ),
        ("components/resources/aws/planted.py", "import pulumi_aws\nfrom ...serving.objects import Thing"),
        ("stacks/planted.py", "from components.resources.serving.model_fleet import ModelFleet"),
    ],
)
def test_what_is_allowed_is_not(path: str, text: str) -> None:
    assert [found for rule in RULES for found in rule(Module(path, text))] == []
