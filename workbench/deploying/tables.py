"""What ``up`` and ``outputs`` show of a stack: its models with their addresses, and how to call one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from components.contract.texts.outputs import shell_word
from components.contract.texts.printable import printable
from livefleet import LiveFolder, call_lines
from toolkit.printing import pluralize
from toolkit.screen import Message, Screen, Styled, TableColumn, columns_of, hidden_findings, write

from ..engine.values import masked
from ..planning.wording.figures import whole_usd
from .call import StackCall
from .findings import ProgramFindings
from .status import ClusterStatus, Readiness, parts_of

if TYPE_CHECKING:
    from livefleet import LiveFleet

    from ..engine.project import Project

LOOPBACK = "loopback"
"""Key under which ``workbench outputs`` adds the addresses on this machine."""
_MOST_ROWS = 12
"""Models that are listed without details: with the headline and the command they fill one screen of 24 lines."""
_CLUSTER_DOMAIN = ".svc.cluster.local"
_DETAILS = ("nodes", "costs", "addresses in the cluster", "each changed resource")
_NOT_CHECKED = "not checked"
_NOTHING = "-"
_SIMULATED = (
    "Answers are simulated: no model runs. Texts are made up; times are estimated from profiles of the models or "
    "from the memory bandwidth of their nodes."
)
_ROOM = (
    "needed: nodes for the current replicas. ready: all nodes of the instance type. Simulated nodes are created in "
    "steps of eight per group, which leaves room for more replicas."
)
_QUESTION = '{"model": %s, "messages": [{"role": "user", "content": "Why is the sky blue?"}]}'


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model, or another endpoint that answers for one.

    Attributes:
        title: Name in the outputs.
        ready: Its replicas; None if the cluster has no workload of it, or was not asked.
        cost: US dollars a month, as the plan shows them; None if unknown.
        address: Where a user calls it; empty if nothing answers.
    """

    title: str
    is_model: bool
    ready: Readiness | None
    cost: float | None
    address: str


@dataclass(slots=True)
class StackReport:
    """The outputs of a stack, and what answers.

    Attributes:
        kubeconfig: Kubeconfig of its cluster; empty before there is one.
        fleet: The simulated fleet that runs; None without one.
        folder: Files of that fleet.
    """

    stack: str
    outputs: Mapping[str, Any]
    kubeconfig: str = ""
    fleet: "LiveFleet | None" = None
    folder: LiveFolder | None = None
    status: ClusterStatus = field(default_factory=ClusterStatus)

    @classmethod
    def of(cls, call: StackCall, outputs: Mapping[str, Any], *, asks: bool = True) -> "StackReport":
        """Return the report of a stack.

        Args:
            call: The command.
            outputs: The outputs of the stack.
            asks: Whether to ask the cluster which replicas are ready.
        """
        project = call.sealed_project()
        kubeconfig = call.kubeconfig or _kubeconfig_of(call, project)
        folder = LiveFolder(call.state_dir)
        fleet = None if call.kubeconfig else folder.running_fleet(call.stack)
        plain = masked(dict(outputs))
        report = cls(call.stack, plain, kubeconfig, fleet, folder)
        if asks and kubeconfig and (report.models or report.nodes):
            report.status = ClusterStatus.read(kubeconfig, report.models)
        return report

    @property
    def models(self) -> Mapping[str, Any]:
        return _mapping(self.outputs, "models")

    @property
    def endpoints(self) -> Mapping[str, Any]:
        return _mapping(self.outputs, "endpoints")

    @property
    def nodes(self) -> Mapping[str, Any]:
        return _mapping(self.outputs, "nodes")

    @property
    def door(self) -> str:
        """URL of the gateway on this machine; empty without one."""
        return printable(self.folder.addresses().door_api) if self.fleet and self.folder else ""

    # The answer

    def facts(self) -> Iterator[str]:
        """Yield the parts of the headline: how many models are ready, and what they cost."""
        count = len(self.models)
        if count:
            ready = [self.status.readiness(model) for model in self.models.values()]
            known = [each for each in ready if each]
            if known:
                complete = sum(each.complete for each in known)
                of_all = f"{complete:,} of " if complete < count else ""
                yield f"{of_all}{count:,} {'model' if count == 1 else 'models'} ready"
            else:
                yield pluralize(count, "model")
        if cost := cost_in_words(_mapping(self.outputs, "cost")):
            yield cost

    def rows(self) -> list[ModelRow]:
        """Return all endpoints: the models, then their aliases and routes."""
        costs = _mapping(_mapping(self.outputs, "cost"), "models")
        rows = []
        for title in [*sorted(self.models), *sorted(set(self.endpoints) - set(self.models))]:
            model = self.models.get(title)
            month = _mapping(_mapping(costs, title), "usdPerMonth").get("now")
            ready = self.status.readiness(model) if model else None
            rows.append(ModelRow(title, model is not None, ready, month, self._address(title)))
        return rows

    def _address(self, title: str) -> str:
        if self.fleet and self.folder:
            played = {endpoint.title for endpoint in self.fleet.endpoints if not endpoint.why}
            return self.folder.addresses().endpoints.get(title, "") if title in played else ""
        return _url(_mapping(self.endpoints, title))

    def model_lines(self, screen: Screen, *, details: bool) -> Iterator[str]:
        """Yield the table of models, and the one address of all."""
        rows = self.rows()
        shown = rows
        if not details and len(rows) > _MOST_ROWS:
            # What is not ready comes first: it must not be among the rows that are left out.
            shown = sorted(rows, key=lambda row: not (row.ready and not row.ready.complete))[:_MOST_ROWS]
        # Names that pods use as well; --details and the JSON document have the long ones.
        addresses = [row.address.replace(_CLUSTER_DOMAIN, "", 1) or "no answer" for row in shown]
        columns = [TableColumn("MODEL", shortens=True), TableColumn("ADDRESS", whole=True)]
        cells: list[list[str | Styled]] = [
            [row.title, address] for row, address in zip(shown, addresses, strict=True)
        ]
        if any(row.ready for row in shown):
            columns.insert(1, TableColumn("READY"))
            for row, line in zip(shown, cells, strict=True):
                line.insert(1, _ready(row.ready))
        narrow = list(screen.table(columns, cells))
        columns.insert(-1, TableColumn("$/MONTH", right=True))
        for row, line in zip(shown, cells, strict=True):
            line.insert(-1, _month(row.cost))
        table = list(screen.table(columns, cells))
        # Where long addresses leave no room for whole names, costs are details.
        yield from table if _fits(table, len(shown), screen) else narrow
        if len(rows) > len(shown):
            yield f"and {len(rows) - len(shown):,} more (--details)"
        if self.door:
            yield f"All models at the gateway: {self.door}"
        for malformed in self.status.unread:
            yield from screen.text(f"note: not read, and not counted: {malformed}", "note", hanging="  ")
        yield from self._silent(screen)

    def _silent(self, screen: Screen) -> Iterator[str]:
        """Yield why endpoints have no answer, and what is played by a stand-in."""
        for endpoint in sorted(self.fleet.endpoints if self.fleet else (), key=lambda endpoint: endpoint.title):
            if endpoint.why:
                text = f"{endpoint.title} has no answer: {endpoint.why}"
            elif endpoint.stand_in:
                text = f"{endpoint.title} answers for a {endpoint.stand_in}"
            else:
                continue
            yield from screen.text(f"note: {text}", "note", hanging="  ")

    # How to call it

    def call_lines(self, *, details: bool) -> Iterator[str]:
        """Yield the command that calls a model; with details, one for each API."""
        if self.fleet and self.folder:
            lines = list(call_lines(self.fleet, self.folder, Path.cwd()))
            for line in lines if details else lines[:1]:
                yield f"Call a model {line.what}; its answers are simulated:"
                yield from command_lines(line.line)
            return
        chats = [title for title in sorted(self.models) if self.endpoints.get(title, {}).get("api") == "openai"]
        chats = [title for title in chats if _address_parts(_url(self.endpoints[title]))]
        if chats and self.status.reachable and not self.is_simulated:
            yield from self._request(chats[0])

    @property
    def is_simulated(self) -> bool:
        """Whether the nodes are simulated: without a live fleet, nothing answers there."""
        cost = _mapping(self.outputs, "cost")
        return bool(cost) and not cost.get("region")

    def _request(self, title: str) -> Iterator[str]:
        endpoint = self.endpoints[title]
        url, model = _url(endpoint), shell_word(_QUESTION % json.dumps(endpoint.get("model"), ensure_ascii=False))
        host, port, path = _address_parts(url) or ("", 0, "")
        yield f"Call {printable(title)}:"
        if host.endswith(_CLUSTER_DOMAIN):
            service, namespace = host.split(".")[:2]
            yield f"  kubectl --kubeconfig {shell_word(_from_here(self.kubeconfig))} -n {shell_word(namespace)} \\"
            yield f"    port-forward {shell_word(f'service/{service}')} {port} &"
            url = f"http://127.0.0.1:{port}{path}"
        yield from command_lines(
            f"curl {shell_word(f'{url}/chat/completions')} -H 'Content-Type: application/json' -d {model}"
        )

    # Everything else

    def detail_lines(self, screen: Screen) -> Iterator[str]:
        """Yield workloads, memory, nodes, costs and addresses in the cluster."""
        rows = []
        costs = {row.title: row.cost for row in self.rows()}
        for title, model in sorted(self.models.items()):
            parts = parts_of(model)
            further = f" and {len(parts) - 1} more" if len(parts) > 1 else ""
            fit = str(model.get("fit") or _NOTHING)
            fit = _NOT_CHECKED if fit.startswith(_NOT_CHECKED) else fit  # the outputs hold the reason
            workload = "/".join(parts[0]) + further
            rows.append([title, str(model.get("model")), workload, _month(costs[title]), fit])
        if rows:
            month = TableColumn("$/MONTH", right=True)
            columns = [*map(TableColumn, ("MODEL", "NAME", "WORKLOAD")), month, TableColumn("MEMORY")]
            yield from ("", *screen.table(columns, rows))
        rows = [
            [title, str(endpoint.get("api", _NOTHING)), _url(endpoint) or _NOTHING]
            for title, endpoint in sorted(self.endpoints.items())
        ]
        if rows:
            address = TableColumn("ADDRESS IN THE CLUSTER" if self.is_in_cluster else "ADDRESS", whole=True)
            yield from ("", *screen.table([*map(TableColumn, ("ENDPOINT", "API")), address], rows))
        yield from self._node_lines(screen)
        for text in cost_details(_mapping(self.outputs, "cost")):
            yield from ("", *screen.text(text))
        if self.fleet:
            yield from ("", *screen.text(_SIMULATED))
        if self.status.reachable:
            yield from ("", f"export KUBECONFIG={shell_word(str(Path(self.kubeconfig).resolve()))}")

    @property
    def is_in_cluster(self) -> bool:
        """Whether all addresses are names of Services."""
        return all(_CLUSTER_DOMAIN in _url(endpoint) for endpoint in self.endpoints.values())

    def _node_lines(self, screen: Screen) -> Iterator[str]:
        rows = []
        for name, group in sorted(self.nodes.items()):
            instance_type = str(group.get("instanceType"))
            ready = str(self.status.nodes.get(instance_type, 0)) if self.status.reachable else _NOTHING
            rows.append([name, instance_type, str(group.get("nodes")), ready, str(group.get("accelerators", 0))])
        if not rows:
            return
        numbers = [TableColumn(title, right=True) for title in ("NEEDED", "READY", "GPUS")]
        yield from ("", *screen.table([TableColumn("NODES"), TableColumn("INSTANCE"), *numbers], rows))
        ready_nodes = self.status.nodes
        groups = self.nodes.values()
        if any(ready_nodes.get(str(group.get("instanceType")), 0) > group.get("nodes", 0) for group in groups):
            yield from screen.text(_ROOM)


def _fits(table: Sequence[str], rows: int, screen: Screen) -> bool:
    """Whether each row of a table is one line of the screen."""
    return len(table) == rows + 1 and all(columns_of(line) <= screen.width for line in table)


def _month(cost: float | None) -> str:
    return output_usd(cost).removeprefix("$") if cost is not None else _NOTHING


def _ready(ready: Readiness | None) -> Styled:
    if ready is None or ready.ready is None:
        return Styled(str(ready or _NOTHING), "dim")
    return Styled(str(ready), "good" if ready.complete else "warning")


def output_usd(amount: float) -> str:
    """Format an amount of the outputs in whole dollars, as a plan does: ``$1,770``."""
    return whole_usd(Decimal(str(amount)))


def cost_in_words(cost: Mapping[str, Any]) -> str:
    """Return what an environment costs a month: ``$7,666 a month``, ``$0 now ($885 a month on AWS)``."""
    if not cost.get("models"):
        return ""
    if not cost.get("region"):
        return f"$0 now ({output_usd(cost['modelsUsdPerMonth']['now'])} a month on AWS)"
    month = cost["usdPerMonth"]
    now, most = output_usd(month["now"]), output_usd(month["max"])
    return f"{now} a month" + (f" (at most {most})" if most != now else "")


def cost_details(cost: Mapping[str, Any]) -> Iterator[str]:
    """Yield the bounds of the cost, its region and date, and what has no price."""
    if not cost.get("models"):
        return
    region, date = printable(str(cost.get("region"))), printable(str(cost.get("date")))
    month = cost["usdPerMonth" if region else "modelsUsdPerMonth"]
    now, least, most = (output_usd(month[bound]) for bound in ("now", "min", "max"))
    usd = f"{now} a month" if now == least == most else f"{now} a month now, {least} at least and {most} at most"
    if region:
        yield f"Cost: {usd} ({region}, prices of {date})."
    else:
        yield f"Cost on AWS: {usd} (on demand in us-east-1, prices of {date})."
    if cost.get("unpriced"):
        yield f"Without a price: {printable(', '.join(cost['unpriced']))}."


def command_lines(command: str) -> Iterator[str]:
    """Yield a curl command in several lines that a shell reads as one."""
    first, *options = command.replace(" -H ", "\n-H ").replace(" -d ", "\n-d ").split("\n")
    yield f"  {first}" + (" \\" if options else "")
    for number, option in enumerate(options, 1):
        end = " \\" if number < len(options) else ""
        # Blanks between the members of a JSON object may be line breaks.
        body, separator, messages = (
            option.partition(', "messages": ') if option.startswith("-d ") else (option, "", "")
        )
        yield f"    {body}{',' if separator else ''}{end}"
        if separator:
            yield f'      "messages": {messages}'


def show_stack(report: StackReport, findings: ProgramFindings, *, details: bool) -> None:
    """Print the models of a stack and how to call one, after the headline."""
    write(stack_lines(report, Screen.of(), findings.messages, details=details))


def stack_lines(report: StackReport, screen: Screen, findings: Sequence[Message] = (), *, details: bool) -> list[str]:
    """Return the models of a stack, the command that calls one, and findings; with details, everything else."""
    lines: list[str] = []
    if report.models or report.endpoints:
        lines += report.model_lines(screen, details=details)
    if details:
        lines += report.detail_lines(screen)
    if calls := list(report.call_lines(details=details)):
        lines += ["", *calls]
    # Notes are shown with details only.
    if found := list(screen.findings(findings, details=details)):
        lines += ["", *found]
    if lines and not details:
        hidden = [*hidden_findings(findings), *_DETAILS]
        closing = screen.closing(findings, hidden) if findings else screen.text(f"(--details: {', '.join(hidden)})")
        lines += ["", *closing]
    elif not lines and report.outputs:
        lines.append(f"{pluralize(len(report.outputs), 'output')} (`workbench outputs` shows them)")
    return lines


def show_gateway(report: StackReport) -> None:
    """Print what a gateway adds to a stack that was shown before it started."""
    door = report.door
    if door:
        write([f"All models at the gateway: {door}", "", *report.call_lines(details=False)])


def show_headline(report: StackReport, *facts: str) -> None:
    """Print the first line about a stack."""
    screen = Screen.of()
    write(screen.text(f"{report.stack}: {'; '.join([*facts, *report.facts()])}", "bold", hanging="  "))


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


def _from_here(path: str) -> str:
    """Return a path as it is written in this folder."""
    file = Path(path)
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else path


def _kubeconfig_of(call: StackCall, project: "Project | None") -> str:
    return str(call.cwd / project.kubeconfig) if project and project.kubeconfig else ""


def _mapping(outputs: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = outputs.get(key)
    return value if isinstance(value, dict) else {}


def _url(endpoint: Mapping[str, Any]) -> str:
    """Return the URL of a model, or its URL in the cluster while its load balancer has no address."""
    url = str(endpoint.get("url") or "")
    return url if "://" in url else str(endpoint.get("clusterUrl") or "")


def _address_parts(url: str) -> tuple[str, int, str] | None:
    """Return host, port and path of a URL; None if it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname:
        return None
    return parts.hostname, port or (443 if parts.scheme == "https" else 80), parts.path.rstrip("/")
