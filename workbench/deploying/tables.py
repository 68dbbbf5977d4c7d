"""The table at the end of ``up``: models, pods, nodes and endpoints, with what the cluster says of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from components.contract.texts.printable import printable
from components.fleet.shapes import shape_named
from livefleet import LiveFolder, call_lines
from toolkit.kube import Kube, KubeError

from ..errors import WorkbenchError
from .call import StackCall

if TYPE_CHECKING:
    from livefleet import LiveFleet

_INSTANCE_TYPE = "node.kubernetes.io/instance-type"

_NOT_CHECKED = "not checked"
WIDE = 240
_MORE = (
    "needed: for the replicas that the models have now. ready: every node of the instance type; simulated nodes come "
    "in steps of eight per group, so that more replicas find room."
)


def show(outputs: Mapping[str, Any], kubeconfig: str, console: Console | None = None) -> None:
    """Print models with ready pods and endpoints, and node groups with ready nodes."""
    models, endpoints, nodes = (_mapping(outputs, key) for key in ("models", "endpoints", "nodes"))
    if not models and not nodes:
        return
    out = console or Console(highlight=False)
    if not out.is_terminal:
        out.width = WIDE  # a log has no edge to cut names at
    live = _Live.read(kubeconfig, models)
    if models:
        out.print(_models(models, endpoints, live, whole=not out.is_terminal))
    if nodes:
        out.print(_nodes(nodes, live))
    cost = _cost(_mapping(outputs, "cost"))
    if cost:
        out.print(Text(cost), soft_wrap=True)
    if any(live.nodes.get(str(group.get("instanceType")), 0) > group.get("nodes", 0) for group in nodes.values()):
        out.print(_MORE, soft_wrap=True)
    if live.seen:
        out.print(f"export KUBECONFIG={Path(kubeconfig).resolve()}", soft_wrap=True, markup=False)


def _cost(cost: Mapping[str, Any]) -> str:
    """Write what an environment costs; where nobody pays, what its models would."""
    if not cost.get("models"):
        return ""
    region, date = printable(str(cost.get("region"))), printable(str(cost.get("date")))
    month = cost["usdPerMonth" if region else "modelsUsdPerMonth"]
    usd = f"{month['now']:,.0f} USD a month now, {month['min']:,.0f} at least and {month['max']:,.0f} at most"
    if not region:
        return f"On AWS, on demand in us-east-1 (prices of {date}), the models would cost {usd}."
    missing = f"; without a price: {printable(', '.join(cost['unpriced']))}" if cost.get("unpriced") else ""
    return f"Cost: {usd} ({region}, prices of {date}{missing})."


def _mapping(outputs: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = outputs.get(key)
    return found if isinstance(found, dict) else {}


class _Live:
    """Ready pods by workload and ready nodes by instance type."""

    def __init__(self) -> None:
        self.pods: dict[tuple[str, str, str], tuple[int | None, int]] = {}
        self.nodes: dict[str, int] = {}
        self.seen = False

    @classmethod
    def read(cls, kubeconfig: str, models: Mapping[str, Any]) -> "_Live":
        live = cls()
        try:
            with Kube.from_kubeconfig(Path(kubeconfig)) as kube:
                for kind in sorted({kind for model in models.values() for kind, _ in _parts(model)}):
                    live._count(kube, kind)
                for node in kube.list("v1", "Node"):
                    live._node(node)
        except (KubeError, WorkbenchError):
            return live
        live.seen = True
        return live

    def _count(self, kube: Kube, kind: str) -> None:
        shape = shape_named(kind)
        if shape is None:
            return
        for workload in kube.list(shape.api_version, kind):
            meta, status = workload["metadata"], workload.get("status", {})
            wanted = workload["spec"].get("replicas", 1)
            # Without its controller, as in the simulated cluster, the API server has accepted it and no more.
            known = not shape.requires or status
            ready = status.get("readyReplicas", 0) if known else None
            self.pods[kind, meta["namespace"], meta["name"]] = ready, wanted

    def _node(self, node: Mapping[str, Any]) -> None:
        if node.get("spec", {}).get("unschedulable"):
            return  # held in reserve, for when there is no room
        conditions = node.get("status", {}).get("conditions") or ()
        if any(c["type"] == "Ready" and c["status"] == "True" for c in conditions):
            instance = node["metadata"].get("labels", {}).get(_INSTANCE_TYPE, "")
            self.nodes[instance] = self.nodes.get(instance, 0) + 1


def _models(models: Mapping[str, Any], endpoints: Mapping[str, Any], live: _Live, *, whole: bool) -> Table:
    # An address is copied: in a log it is on one line, whatever stands beside it.
    endpoint_column = Column("endpoint", overflow="fold", no_wrap=whole)
    columns = ("name", "model", "workload", "ready", endpoint_column, "api", "memory")
    table = Table(*columns, box=None, title="Models")
    table.title_justify = "left"
    for name, model in sorted(models.items()):
        parts = _parts(model)
        endpoint = endpoints.get(name) or {}
        found = [live.pods.get((kind, str(model.get("namespace")), part)) for kind, part in parts]
        add_row(
            table,
            name,
            model.get("model"),
            "/".join(parts[0]) + (f" and {len(parts) - 1} more" if len(parts) > 1 else ""),
            _ready([each for each in found if each]),
            _url(endpoint),
            endpoint.get("api", "-"),
            _memory(str(model.get("fit") or "-")),
        )
    for name, endpoint in sorted(endpoints.items()):
        if name not in models:  # other names of a model, and routes to several
            add_row(table, name, endpoint.get("model"), "-", "-", _url(endpoint), endpoint.get("api", "-"), "-")
    return table


def _parts(model: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return kind and name of the objects of a model: the set of their pods may have a name that no object has."""
    usual = str(model.get("workloadKind"))
    # Where a resource has workloads of several kinds, each part says its own.
    named = [str(part).rpartition("/") for part in model.get("parts") or ()]
    return [(kind or usual, name) for kind, _, name in named] or [(usual, str(model.get("workload")))]


def _url(endpoint: Mapping[str, Any]) -> str:
    """Return where a model answers: in the cluster where a load balancer's address is not known."""
    url = str(endpoint.get("url") or "")
    return url if "://" in url else str(endpoint.get("clusterUrl") or url or "-")


def _memory(fit: str) -> str:
    """Shorten whether a model fits: why it is not known is told in the outputs."""
    return _NOT_CHECKED if fit.startswith(_NOT_CHECKED) else fit


def _ready(found: Sequence[tuple[int | None, int]]) -> str:
    """Write how many replicas of some workloads are ready, of how many."""
    if not found:
        return "-"
    ready, wanted = [each for each, _ in found if each is not None], sum(each for _, each in found)
    return f"{sum(ready)}/{wanted}" if ready else f"accepted ({wanted})"


def add_row(table: Table, *cells: object) -> None:
    """Add a row: what others wrote is text, and neither markup nor something that moves the cursor."""
    table.add_row(*(Text(printable(str(cell))) for cell in cells))


def _nodes(nodes: Mapping[str, Any], live: _Live) -> Table:
    table = Table("group", "instance type", "needed", "ready", "accelerators", box=None, title="Nodes")
    table.title_justify = "left"
    for name, group in sorted(nodes.items()):
        instance = str(group.get("instanceType"))
        ready = str(live.nodes.get(instance, 0)) if live.seen else "-"
        add_row(table, name, instance, group.get("nodes"), ready, group.get("accelerators", 0))
    return table


LOOPBACK = "loopback"
"""Key beside the outputs, with the addresses on this machine."""
_ADDRESS = len("http://127.0.0.1:65535/v1")
_SIMULATED = (
    "Answers are simulated: no model runs. Texts are made up, and times are estimates from profiles of the models or "
    "from the memory bandwidth of their nodes."
)


def show_stack(outputs: Mapping[str, Any], call: StackCall) -> None:
    """Print the tables of a stack, and where its models answer on this machine."""
    from ..engine.project import ProjectFiles, section

    files = ProjectFiles(call.cwd, call.stack)
    setting = section(files.stored(), files.settings).get(f"{files.name}:kubeconfig", "")
    show(outputs, call.kubeconfig or str(call.cwd / str(setting)))
    folder = LiveFolder(call.state_dir)
    fleet = None if call.kubeconfig else folder.running_fleet(call.stack)
    if fleet and fleet.endpoints:
        out = Console(highlight=False)
        if not out.is_terminal:
            out.width = WIDE
        show_addresses(fleet, folder, out)


def show_addresses(fleet: "LiveFleet", folder: LiveFolder, out: Console) -> None:
    """Print the addresses of the models on this machine, with example requests."""
    addresses = folder.addresses()
    # An address is copied: it stays whole, whatever there is room for.
    address = Column("address", min_width=_ADDRESS, overflow="fold")
    names = (Column(name, overflow="fold") for name in ("endpoint", "model"))
    table = Table(*names, address, box=None, title="On this machine (simulated)")
    table.title_justify = "left"
    for each in sorted(fleet.endpoints, key=lambda each: each.title):
        url = addresses.endpoints.get(each.title, "-")
        played = f" (for a {each.stand_in})" if each.stand_in else ""
        add_row(table, each.title, each.model, f"no answer: {each.why}" if each.why else url + played)
    if addresses.door:
        add_row(table, "gateway", "each of them", addresses.door_api)
    out.print(table)
    out.print(_SIMULATED, soft_wrap=True, markup=False)
    for line in call_lines(fleet, folder, Path.cwd()):
        out.print(f"{line.what}:", soft_wrap=True, markup=False)
        out.print(f"  {line.line}", soft_wrap=True, markup=False)


def with_addresses(outputs: Mapping[str, Any], call: StackCall) -> dict[str, Any]:
    """Return outputs with the addresses on this machine under a key of its own, where something answers there."""
    folder = LiveFolder(call.state_dir)
    fleet = folder.running_fleet(call.stack)
    if fleet is None or LOOPBACK in outputs:
        return dict(outputs)
    found = folder.addresses()
    added = {
        "simulated": True,
        "endpoints": found.endpoints,
        "door": found.door_api,
        "prometheus": found.prometheus,
    }
    return {**outputs, LOOPBACK: {key: value for key, value in added.items() if value}}
