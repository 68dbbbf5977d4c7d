"""The order of the folders (docs/architecture.md): who may import whom."""

import ast
import functools
from collections.abc import Iterator, Sequence

from tests.layers.modules import ROOT, Import, Module, within

TOP_LEVEL = ("components", "toolkit", "livefleet", "stacks", "__main__", "workbench", "tests")
"""The folders of the project. Each may import itself and what stands before it."""
APART = ("ci", "policy", "tools")
"""Folders with requirements of their own, which run where nothing else is installed: they import nothing of ours."""
LAYERS = (
    "contract",
    "engines",
    "fleet",
    "performance",
    "families",
    "checks",
    "clouds",
    "plan",
    "resources",
)
"""The folders of ``components``. Each may import itself and what stands before it."""
INDEPENDENT = ("families", "checks", "clouds")
"""Layers that consist of columns: a folder in one of them does not import the folder beside it."""
OPEN = tuple(f"components.families.leaderworkerset.{module}" for module in ("rules", "types"))
"""LeaderWorkerSet is a workload of the fleet too: other families take its template into their types."""
ENTRIES = ("components", "components.__main__", "components.version")
"""The package itself, which re-exports the components and registers the clouds, the entry of the plugin, and the
version of both."""
EAGER = (
    "components.contract.lazy",
    "components.clouds.CLOUDS",
    "components.fleet.clouds.register",
    "components.resources.HOMES",
)
"""What the package imports when it is imported itself: tables of names, and where clouds are registered."""
DYNAMIC = ("components.contract.lazy", "components.families.family", "components.resources")
"""Where modules may be imported by a computed name: the helper of lazy packages, the components of a family by way of
its own package, and the list of all components."""
CLOUD_USERS = (
    "components.resources.serving.fleet.cloud_charts",  # the list of charts that only clusters on a cloud have
    "components.resources.prerequisites.accelerators",  # agents select nodes of EKS by label
    "workbench.adopting.aws",  # `adopt --aws` writes settings for what exists there
    "workbench.capacity",  # the command reads what the Cluster Autoscaler writes about groups on EC2
    "workbench.creating.answers",  # `init --cluster eks` writes settings for a type that the region offers
    "workbench.creating.repository",  # and for a version of EKS
    "workbench.planning.stackless",  # `plan --cluster eks` describes a cluster that no stack has
)
"""Who knows a cloud beside its registration, its resources and the stacks, and why."""
PULUMI = ("pulumi", "pulumi_kubernetes", "pulumi_aws")
PULUMI_USERS = ("components.resources", "components.__main__", "stacks", "__main__", "workbench.engine")
PRIVATE = ("pulumi.runtime.mocks", "pulumi.runtime.stack", "pulumi.runtime.settings")
"""What Pulumi keeps private and may change in any release."""
OUTSIDE = ("aiohttp", "http.client", "httpx", "requests", "socket", "subprocess", "urllib.request", "urllib3")
"""What reaches out of the process."""

_COMPONENTS = "components"
_FAMILIES = f"{_COMPONENTS}.families"
_CLOUDS = f"{_COMPONENTS}.clouds"
_RESOURCES = f"{_COMPONENTS}.resources"


def layer_of(name: str) -> str | None:
    """Return the layer of a dotted name: a folder of ``components``, or None for what is elsewhere."""
    steps = name.split(".")
    return steps[1] if len(steps) > 1 and steps[0] == _COMPONENTS and steps[1] in LAYERS else None


def unlisted(module: Module) -> Iterator[str]:
    """Yield modules that are in no folder of the lists."""
    if within(module.name, _COMPONENTS):
        if module.name not in ENTRIES and layer_of(module.name) is None:
            yield f"{module.path}:1: it is in none of the layers {', '.join(LAYERS)}"
    elif not within(module.name, *TOP_LEVEL, *APART):
        yield f"{module.path}:1: it is in none of the folders {', '.join((*TOP_LEVEL, *APART))}"


def missing_folders() -> Iterator[str]:
    """Yield folders that are listed and do not exist."""
    listed = [*TOP_LEVEL, *APART, *(f"{_COMPONENTS}/{layer}" for layer in LAYERS)]
    yield from (place for place in listed if not (ROOT / place).exists() and not (ROOT / f"{place}.py").exists())


def later_folders(module: Module) -> Iterator[str]:
    """Yield imports of folders that come later in the order, those for type checkers included."""
    for imported in _references(module):
        for here, there, order in _places(module.name, imported.name):
            if here in APART:
                yield f"{module.path}:{imported.line}: imports {imported.name}; {here} imports nothing of ours"
            elif there in APART or order.index(there) > order.index(here):
                yield f"{module.path}:{imported.line}: imports {imported.name}; {there} comes after {here}"


def mutual_pairs(modules: Sequence[Module]) -> Iterator[str]:
    """Yield folders of the project and of ``components`` that import each other, with an import of each direction."""
    edges: dict[tuple[str, str], str] = {}
    for module in modules:
        for imported in _references(module):
            for here, there, _ in _places(module.name, imported.name):
                edges.setdefault((here, there), f"{module.path}:{imported.line}")
    for here, there in sorted(edges):
        if here < there and (there, here) in edges:
            yield f"{edges[here, there]}: {here} imports {there}, and {edges[there, here]}: {there} imports {here}"


def neighbours(module: Module) -> Iterator[str]:
    """Yield imports of the column beside: of another check, another cloud, or from within another family."""
    layer, column = layer_of(module.name), _column(module.name)
    if layer not in INDEPENDENT:
        return
    for imported in module.all_imports:
        beside = _column(imported.name)
        if layer_of(imported.name) != layer or not beside or beside == column or within(imported.name, *OPEN):
            continue
        if column:
            yield f"{module.path}:{imported.line}: imports {imported.name}; {column} and {beside} are side by side"


def insides_of_families(module: Module) -> Iterator[str]:
    """Yield imports from within a family: its resources may, and the list of families knows each ``family.py``."""
    for imported in module.all_imports:
        family = _column(imported.name) if layer_of(imported.name) == "families" else ""
        if not family or within(imported.name, *OPEN):
            continue
        own = within(module.name, f"{_FAMILIES}.{family}", f"{_RESOURCES}.{family}")
        listed = module.name == _FAMILIES and within(imported.name, f"{_FAMILIES}.{family}.family")
        if not own and not listed:
            yield f"{module.path}:{imported.line}: imports {imported.name} from within the family {family}"


def clouds_imported(module: Module) -> Iterator[str]:
    """Yield imports of a cloud by other than its registration, its resources and the stacks."""
    for imported in module.all_imports:
        cloud = _column(imported.name) if layer_of(imported.name) == "clouds" else ""
        users = (f"{_CLOUDS}.{cloud}", f"{_RESOURCES}.{cloud}", "stacks", *CLOUD_USERS)
        if cloud and module.name != _CLOUDS and not within(module.name, *users):
            yield f"{module.path}:{imported.line}: imports {imported.name}"


def insides_of_the_live_fleet(modules: Sequence[Module]) -> Iterator[str]:
    """Yield imports of other names of the live fleet than those of its ``SURFACE``."""
    public = {name for module in modules if module.path == "livefleet/__init__.py" for name in _surface(module)}
    for module in modules:
        for imported in module.all_imports if not module.is_in("livefleet") else ():
            if within(imported.name, "livefleet") and imported.name.partition(".")[2] not in public:
                yield f"{module.path}:{imported.line}: imports {imported.name}"


def _surface(module: Module) -> Iterator[str]:
    for node in module.nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id="SURFACE")], value=ast.Dict(keys=keys)):
                yield from (key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def pulumi_imported(module: Module) -> Iterator[str]:
    """Yield imports of Pulumi by modules that are no resources and no program."""
    if not within(module.name, *PULUMI_USERS):
        for imported in module.all_imports:
            if within(imported.name, *PULUMI):
                yield f"{module.path}:{imported.line}: imports {imported.name}"


def private_pulumi(modules: Sequence[Module]) -> Iterator[str]:
    """Yield imports of Pulumi's private modules, where more than one module has them."""
    users = {
        f"{module.path}:{imported.line}: imports {imported.name}": module.path
        for module in modules
        for imported in module.all_imports
        if within(imported.name, *PRIVATE)
    }
    if len(set(users.values())) > 1:
        yield from users


def reaching_out(module: Module) -> Iterator[str]:
    """Yield imports of the network and of other processes by pure layers."""
    if layer_of(module.name) not in (None, "resources"):
        for imported in module.all_imports:
            if within(imported.name, *OUTSIDE) and not imported.typing_only:
                yield f"{module.path}:{imported.line}: imports {imported.name}"


def absolute_imports(module: Module) -> Iterator[str]:
    """Yield absolute imports of ``components`` from within; the entry of the plugin runs as a program."""
    if not module.is_in(_COMPONENTS) or module.name == f"{_COMPONENTS}.__main__":
        return
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom):
            names = [] if node.level else [node.module or ""]
        else:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            if within(name, _COMPONENTS, "inference_platform"):
                yield f"{module.path}:{getattr(node, 'lineno', 0)}: imports {name}"


def computed_imports(module: Module) -> Iterator[str]:
    """Yield calls that import a module by a computed name, which the rules of the order cannot see."""
    if not within(module.name, _COMPONENTS) or within(module.name, *DYNAMIC):
        return
    for node in module.nodes:
        called = node.func if isinstance(node, ast.Call) else None
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        if name in ("import_module", "__import__"):
            yield f"{module.path}:{getattr(node, 'lineno', 0)}: calls {name}"


def eager_exports(module: Module) -> Iterator[str]:
    """Yield imports of a lazy package that are neither for type checkers nor the helper that makes it lazy."""
    if module.name == _COMPONENTS or _is_package_of_family(module):
        for imported in module.all_imports:
            lazy = imported.typing_only or within(imported.name, *EAGER)
            if within(imported.name, _COMPONENTS) and not lazy:
                yield f"{module.path}:{imported.line}: imports {imported.name} when it is imported"


def long_program(module: Module) -> Iterator[str]:
    """Yield the program if it has 30 lines or more."""
    lines = len(module.text.splitlines())
    if module.path == "__main__.py" and lines >= 30:
        yield f"{module.path}:30: it has {lines} lines, and a program has fewer than 30"


def _references(module: Module) -> Iterator[Import]:
    """Yield the imports of ours that count for the order.

    The entries re-export everything. The package of a family re-exports its components, the only upward reference of
    a layer; `eager_exports` makes sure that only type checkers follow it.
    """
    family = _column(module.name)
    for imported in module.all_imports:
        upward = _is_package_of_family(module) and within(imported.name, f"{_RESOURCES}.{family}")
        if within(imported.name, *TOP_LEVEL, *APART) and not (upward and imported.typing_only):
            yield imported


def _is_package_of_family(module: Module) -> bool:
    return layer_of(module.name) == "families" and module.name.count(".") == 2 and module.path.endswith("__init__.py")


def _places(name: str, imported: str) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield where a module and what it imports are, if they are apart: in the project, and in ``components``."""
    here, there = name.split(".")[0], imported.split(".")[0]
    if here in (*TOP_LEVEL, *APART) and here != there:
        yield here, there, TOP_LEVEL
    below, above = layer_of(name), layer_of(imported)
    if below and above and below != above:
        yield below, above, LAYERS
    elif below and above is None and here == there and imported != _COMPONENTS:
        yield below, imported, (*LAYERS, imported)


def _column(name: str) -> str:
    """Return the folder within a layer, such as a family; empty for modules of the layer itself."""
    steps = name.split(".")
    if layer_of(name) is None or len(steps) < 3:
        return ""
    return steps[2] if steps[2] in _columns(steps[1]) else ""


@functools.cache
def _columns(layer: str) -> frozenset[str]:
    """Return the folders within a layer: an imported name may also be that of a module or a function."""
    return frozenset(path.name for path in (ROOT / _COMPONENTS / layer).glob("*/") if path.is_dir())
