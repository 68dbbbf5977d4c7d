"""The tables at the end of ``up``: models, nodes, endpoints, and the addresses of the live fleet."""

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
    "needed: nodes for the current replicas. ready: all nodes of the instance type. Simulated nodes are created in "
    "steps of eight per group, which leaves room for more replicas."
)


def show(outputs: Mapping[str, Any], kubeconfig: str, console: Console | None = None) -> None:
    """Print models with ready pods and endpoints, and node groups with ready nodes."""
    models, endpoints, nodes = (_mapping(outputs, key) for key in ("models", "endpoints", "nodes"))
    if not models and not nodes:
        return
    out = console or Console(highlight=False)
    if not out.is_terminal:
        out.width = WIDE  # do not truncate names in logs
    status = _ClusterStatus.read(kubeconfig, models)
    if models:
        out.print(_models_table(models, endpoints, status, no_wrap=not out.is_terminal))
    if nodes:
        table = Table("group", "instance type", "needed", "ready", "accelerators", box=None, title="Nodes")
        table.title_justify = "left"
        for name, group in sorted(nodes.items()):
            instance_type = str(group.get("instanceType"))
            ready = str(status.nodes.get(instance_type, 0)) if status.reachable else "-"
            add_row(table, name, instance_type, group.get("nodes"), ready, group.get("accelerators", 0))
        out.print(table)
    cost = _cost_line(_mapping(outputs, "cost"))
    if cost:
        out.print(Text(cost), soft_wrap=True)
    if any(status.nodes.get(str(group.get("instanceType")), 0) > group.get("nodes", 0) for group in nodes.values()):
        out.print(_MORE, soft_wrap=True)
    if status.reachable:
        out.print(f"export KUBECONFIG={Path(kubeconfig).resolve()}", soft_wrap=True, markup=False)


def _cost_line(cost: Mapping[str, Any]) -> str:
    """Format the cost of an environment, or, for an environment without cost, of its models at AWS prices."""
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
    value = outputs.get(key)
    return value if isinstance(value, dict) else {}


class _ClusterStatus:
    """Ready pods by workload and ready nodes by instance type; empty if the cluster is unreachable."""

    def __init__(self) -> None:
        self.pods: dict[tuple[str, str, str], tuple[int | None, int]] = {}
        self.nodes: dict[str, int] = {}
        self.reachable = False

    @classmethod
    def read(cls, kubeconfig: str, models: Mapping[str, Any]) -> "_ClusterStatus":
        status = cls()
        try:
            with Kube.from_kubeconfig(Path(kubeconfig)) as kube:
                for kind in sorted({kind for model in models.values() for kind, _ in _parts(model)}):
                    status._count_pods(kube, kind)
                for node in kube.list("v1", "Node"):
                    status._count_node(node)
        except (KubeError, WorkbenchError):
            return status
        status.reachable = True
        return status

    def _count_pods(self, kube: Kube, kind: str) -> None:
        shape = shape_named(kind)
        if shape is None:
            return
        for workload in kube.list(shape.api_version, kind):
            meta, status = workload["metadata"], workload.get("status", {})
            # Without its controller, as in the simulated cluster, a workload is accepted but has no status.
            reported = not shape.requires or status
            ready = status.get("readyReplicas", 0) if reported else None
            self.pods[kind, meta["namespace"], meta["name"]] = ready, workload["spec"].get("replicas", 1)

    def _count_node(self, node: Mapping[str, Any]) -> None:
        if node.get("spec", {}).get("unschedulable"):
            return  # the live fleet cordons nodes that it holds in reserve
        conditions = node.get("status", {}).get("conditions") or ()
        if any(c["type"] == "Ready" and c["status"] == "True" for c in conditions):
            instance_type = node["metadata"].get("labels", {}).get(_INSTANCE_TYPE, "")
            self.nodes[instance_type] = self.nodes.get(instance_type, 0) + 1


def _models_table(
    models: Mapping[str, Any], endpoints: Mapping[str, Any], status: _ClusterStatus, *, no_wrap: bool
) -> Table:
    # Users copy addresses: do not wrap them in a log.
    endpoint_column = Column("endpoint", overflow="fold", no_wrap=no_wrap)
    columns = ("name", "model", "workload", "ready", endpoint_column, "api", "memory")
    table = Table(*columns, box=None, title="Models")
    table.title_justify = "left"
    for name, model in sorted(models.items()):
        parts = _parts(model)
        endpoint = endpoints.get(name) or {}
        pods = [status.pods.get((kind, str(model.get("namespace")), part)) for kind, part in parts]
        fit = str(model.get("fit") or "-")
        add_row(
            table,
            name,
            model.get("model"),
            "/".join(parts[0]) + (f" and {len(parts) - 1} more" if len(parts) > 1 else ""),
            _readiness([count for count in pods if count]),
            _url(endpoint),
            endpoint.get("api", "-"),
            _NOT_CHECKED if fit.startswith(_NOT_CHECKED) else fit,  # the outputs hold the reason
        )
    for name, endpoint in sorted(endpoints.items()):
        if name not in models:  # an alias of a model, or a route to several models
            add_row(table, name, endpoint.get("model"), "-", "-", _url(endpoint), endpoint.get("api", "-"), "-")
    return table


def _parts(model: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return kind and name of the objects of a model; the name of its workload may be that of no object."""
    default_kind = str(model.get("workloadKind"))
    # If a resource has workloads of several kinds, a part has the form kind/name.
    parts = [str(part).rpartition("/") for part in model.get("parts") or ()]
    return [(kind or default_kind, name) for kind, _, name in parts] or [(default_kind, str(model.get("workload")))]


def _url(endpoint: Mapping[str, Any]) -> str:
    """Return the URL of a model, or its URL in the cluster while its load balancer has no address."""
    url = str(endpoint.get("url") or "")
    return url if "://" in url else str(endpoint.get("clusterUrl") or url or "-")


def _readiness(counts: Sequence[tuple[int | None, int]]) -> str:
    """Format ready and desired replicas: ``2/3``; ``accepted (3)`` if no controller reports a status."""
    if not counts:
        return "-"
    ready, desired = [count for count, _ in counts if count is not None], sum(count for _, count in counts)
    return f"{sum(ready)}/{desired}" if ready else f"accepted ({desired})"


def add_row(table: Table, *cells: object) -> None:
    """Add a row of plain text: names from manifests must not be read as markup or move the cursor."""
    table.add_row(*(Text(printable(str(cell))) for cell in cells))


LOOPBACK = "loopback"
"""Key under which ``workbench outputs`` adds the addresses on this machine."""
_ADDRESS = len("http://127.0.0.1:65535/v1")
_SIMULATED = (
    "Answers are simulated: no model runs. Texts are made up; times are estimated from profiles of the models or "
    "from the memory bandwidth of their nodes."
)


def show_stack(outputs: Mapping[str, Any], call: StackCall) -> None:
    """Print the tables of a stack, and the addresses of its models on this machine."""
    project = call.sealed_project()
    kubeconfig = project.kubeconfig if project else ""
    show(outputs, call.kubeconfig or str(call.cwd / kubeconfig))
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
    # Users copy addresses: do not truncate them.
    address_column = Column("address", min_width=_ADDRESS, overflow="fold")
    names = (Column(name, overflow="fold") for name in ("endpoint", "model"))
    table = Table(*names, address_column, box=None, title="On this machine (simulated)")
    table.title_justify = "left"
    for endpoint in sorted(fleet.endpoints, key=lambda endpoint: endpoint.title):
        url = addresses.endpoints.get(endpoint.title, "-")
        stand_in = f" (for a {endpoint.stand_in})" if endpoint.stand_in else ""
        add_row(
            table, endpoint.title, endpoint.model, f"no answer: {endpoint.why}" if endpoint.why else url + stand_in
        )
    if addresses.door:
        add_row(table, "gateway", "all models", addresses.door_api)
    out.print(table)
    out.print(_SIMULATED, soft_wrap=True, markup=False)
    for line in call_lines(fleet, folder, Path.cwd()):
        out.print(f"{line.what}:", soft_wrap=True, markup=False)
        out.print(f"  {line.line}", soft_wrap=True, markup=False)


def with_addresses(outputs: Mapping[str, Any], call: StackCall) -> dict[str, Any]:
    """Add the addresses on this machine to the outputs, if a live fleet runs."""
    folder = LiveFolder(call.state_dir)
    fleet = folder.running_fleet(call.stack)
    if fleet is None or LOOPBACK in outputs:
        return dict(outputs)
    addresses = folder.addresses()
    loopback = {
        "simulated": True,
        "endpoints": addresses.endpoints,
        "door": addresses.door_api,
        "prometheus": addresses.prometheus,
    }
    return {**outputs, LOOPBACK: {key: value for key, value in loopback.items() if value}}
