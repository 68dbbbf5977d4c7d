"""Nothing outside ``fleet/shapes.py`` compares kinds of workloads: it asks the shape."""

import pytest

from tests.layers.kinds import EXCEPTIONS, comparisons, kinds_compared
from tests.layers.modules import Module, modules

PROJECT = modules("components", "stacks", "livefleet", "workbench", "__main__.py")


def test_nothing_compares_kinds_of_workloads() -> None:
    assert [found for module in PROJECT for found in kinds_compared(module)] == []


def test_no_exception_is_idle() -> None:
    used = [module.path for module in PROJECT if list(comparisons(module))]
    assert [end for end in EXCEPTIONS if not any(path.endswith(end) for path in used)] == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(body):\n    return body['kind'] == 'StatefulSet'",
        "def f(body):\n    return 'Deployment' != body['kind']",
        "def f(body):\n    return body['kind'] in ('Deployment', 'StatefulSet')",
        "def f(body):\n    return body['kind'] in ['LeaderWorkerSet']",
        "KINDS = ('Deployment', 'DaemonSet')\ndef f(body):\n    return body['kind'] in KINDS",
        "KINDS: dict[str, str] = {'Deployment': 'apps/v1'}\ndef f(body):\n    return KINDS[body['kind']]",
        "def f(kind):\n    match kind:\n        case 'StatefulSet':\n            return 1",
        "def f(found):\n    return found.get('Deployment')",
        "def f(found):\n    return found['Deployment']",
        "def f(workload):\n    return workload.shape is DEPLOYMENT",
        "def f(workload):\n    return workload.kind == shapes.STATEFUL_SET.kind",
        "def f(title):\n    return title.startswith('LeaderWorkerSet')",
    ],
)
def test_a_planted_comparison_is_found(text: str) -> None:
    assert list(kinds_compared(Module("components/plan/planted.py", text))) != []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("components/fleet/shapes.py", "def f(body):\n    return body['kind'] == 'StatefulSet'"),
        ("components/plan/planted.py", "def f(workload):\n    return workload.shape.has_groups"),
        ("components/plan/planted.py", "def f(name):\n    return new_object('apps/v1', 'Deployment', name)"),
        ("components/plan/planted.py", "def f(name):\n    return {'kind': 'Deployment', 'name': name}"),
        ("components/plan/planted.py", "def f(body):\n    return body['kind'] == 'Service'"),
        ("components/plan/planted.py", "def f(choice):\n    return choice == WorkloadChoice.DEPLOYMENT"),
        ("components/plan/planted.py", "def f(needs):\n    return needs | DEPLOYMENT.requires"),
    ],
)
def test_other_code_is_not(path: str, text: str) -> None:
    assert list(kinds_compared(Module(path, text))) == []
