"""The order of the rooms (design, "Layout"): who may import whom."""

import ast
from collections.abc import Iterator

from tests.layers.modules import ROOT, Module

_FOLDERS = sorted(path.parent for path in (ROOT / "components/families").glob("*/family.py"))
FAMILIES = tuple(f"components.families.{folder.name}" for folder in _FOLDERS)
_COMPONENTS = tuple(
    f"components.families.{folder.name}.components" for folder in _FOLDERS if (folder / "components").is_dir()
)
OPEN = tuple(f"components.families.leaderworkerset.{module}" for module in ("args", "rules", "types"))
"""LeaderWorkerSet is a workload of the waist too: other families take its template into their types."""

ORDER: tuple[tuple[str, ...], ...] = (
    ("components.contract.lazy", "components.contract.findings.ids components.contract.findings.annotations"),
    ("components.contract",),
    # Names and facts, which every room may know.
    ("components.fleet.clouds components.fleet.instances components.fleet.node_labels",),
    ("components.clouds.aws.names",),
    ("components.engines", "components.performance.sizing"),
    ("components.fleet",),
    # How autoscalers behave, whatever they scale.
    ("components.performance.simulation",),
    # What a family is, and what any of them may use of another.
    ("components.families.family", " ".join(OPEN)),
    (
        *FAMILIES,
        *(
            "components.fleet.nodes",
            "components.checks.memory",
            "components.checks.metrics",
            "components.checks.front_door",
            "components.checks.hardening",
        ),
    ),
    ("components.families",),
    ("components.clouds.aws",),
    (
        "components.plan.prerequisites.charts components.plan.prerequisites.images components.plan.prerequisites.needed "
        "components.plan.prerequisites.prometheus",
    ),
    ("components.contract.findings", "components.plan.costs"),
    ("components.plan",),
    ("components.plan.review",),
    # What component files share; component files, with those of prerequisites first; the fleet made of them.
    ("components.resources.serving",),
    ("components.plan.prerequisites",),
    (*_COMPONENTS, "components.resources.aws"),
    ("components.resources.serving.model_fleet components.resources.serving.fleet",),
    ("components",),
    ("stacks",),
    ("__main__",),
    ("workbench", "ci", "policy"),
    ("tests",),
)
"""Rows of rooms. A module may import its own room and what stands above its row: neither neighbours nor later rows.

A room is one or more prefixes of dotted names, parted by spaces; a module is in the room with the longest that fits.
"""
FIRST_WITH_PULUMI = "components.resources.serving"
OUTSIDE = ("pulumi", "pulumi_kubernetes", "pulumi_aws", "httpx", "requests", "socket", "subprocess", "urllib")
"""What reaches out of the process: not for rooms above the first one with Pulumi, which are tested as functions."""

_ROOMS = {prefix: (row, room) for row, rooms in enumerate(ORDER) for room in rooms for prefix in room.split()}


def place_of(name: str) -> tuple[int, str] | None:
    """Return row and room of a module, or of what is imported from one; None for what is not ours."""
    steps = name.split(".")
    prefixes = (".".join(steps[:length]) for length in range(len(steps), 0, -1))
    return next((_ROOMS[prefix] for prefix in prefixes if prefix in _ROOMS), None)


def wrong_directions(module: Module) -> Iterator[str]:
    """Yield imports of later rows and of neighbours."""
    place = place_of(module.name)
    if place is None:
        yield f"{module.path} is in no room"
        return
    for name in sorted(module.imports):
        found = place_of(name)
        if found and found != place and found[0] >= place[0]:
            yield f"{module.path} imports {name}: {found[1]} is {_beside(found[0], place[0])} {place[1]}"


def _beside(there: int, here: int) -> str:
    return "beside" if there == here else "after"


def insides(module: Module) -> Iterator[str]:
    """Yield imports from within a family by somebody else: only the list of families knows their ``family``."""
    for family in FAMILIES:
        if within(module.name, family):
            continue
        for name in sorted(module.imports):
            listed = module.name == "components.families" and within(name, f"{family}.family")
            if within(name, family) and not listed and not any(within(name, prefix) for prefix in OPEN):
                yield f"{module.path} imports {name} from within a family"


def reaching_out(module: Module) -> Iterator[str]:
    """Yield imports of Pulumi, the network and other processes by modules that are pure."""
    place, first = place_of(module.name), _ROOMS[FIRST_WITH_PULUMI][0]
    if place and place[0] < first:
        yield from (f"{module.path} imports {name}" for name in sorted(module.imports) if within(name, *OUTSIDE))


def absolute_imports(module: Module) -> Iterator[str]:
    """Yield absolute imports of ``components`` from within: the published wheel has another name for it."""
    if not module.is_in("components"):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and not node.level and within(node.module or "", "components"):
            yield f"{module.path}:{node.lineno} imports {node.module}; write it relatively"


def within(name: str, *prefixes: str) -> bool:
    """Tell whether a dotted name is one of some packages, or below."""
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)
