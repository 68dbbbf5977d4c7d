"""Inspects a snapshot: every model that is served, with the findings, the memory and the costs that a plan has.

Live objects go through the same plan as manifests (:mod:`components.plan`): resources of the families as manifests
under their operators, everything else as what runs already. So a finding here is a finding of ``validate`` and
``plan``.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from components.checks.memory.cases import Fit
from components.checks.metrics.scaled_objects import reads_engines
from components.contract.findings.ids import RuleId
from components.contract.load import Manifests, OtherObject
from components.contract.problems import Problem, Severity
from components.engines.command_line import command_line_of
from components.engines.config_file import config_path
from components.engines.container_variables import with_values
from components.engines.scripts.commands import engine_line
from components.engines.settings import Setting
from components.families import kinds, member_of, objects
from components.fleet.demand import NodeChoice
from components.fleet.instances import instances_beside
from components.fleet.objects import HPA, Object, copied
from components.fleet.rendered import Rendered
from components.fleet.shapes import DEPLOYMENT, shape_named, shape_of
from components.plan.others import as_written
from components.plan.plan import Plan, plan
from components.plan.running import ResourceKey, RunningFleet
from components.plan.running_objects import malformed, running_workload
from components.plan.scalers import VERTICAL, WrittenScalers, check_vertical, is_scaler, scaler_item

from .costs import ModelPrice, price_of, running_price
from .describing import ray_serve_of, row_of, value_at
from .draining import check_pools
from .endpoints import endpoints_of
from .environment import ClusterNode, environment_of, nodes_for, nodes_of, nodes_under, releases_in
from .node_bill import NodeBill, node_bill
from .node_types import types_of
from .parts import Part, parts_of, pods_of, secrets_of
from .recognition import ManagedBy, Serving, is_engine_workload, serving_resources
from .scraping import check_monitors, check_scraped
from .servers import config_maps_of, containers_of
from .snapshot import ClusterSnapshot, Identity, Missing, group_of, identity_of

Scalers = Mapping[tuple[str, str], Sequence[Object]]
"""Autoscalers by namespace and name of their target."""
_SCALED_OBJECT = ("keda.sh", "ScaledObject")
_UNREAD = ("FailedGetPodsMetric", "FailedGetExternalMetric", "FailedGetObjectMetric")
"""Reasons of the condition ScalingActive (kubernetes/kubernetes v1.36.3, pkg/controller/podautoscaler)."""
_LONGEST_MESSAGE = 200
_FINDING_ORDER = attrgetter("namespace", "kind", "name", "path", "reason", "rule")


@dataclass(frozen=True, slots=True)
class ModelScaler:
    """What scales a model.

    Attributes:
        minimum: Lower bound of the replicas; None if unknown.
        maximum: Upper bound.
    """

    kind: str
    name: str
    minimum: int | None
    maximum: int | None

    @property
    def text(self) -> str:
        bounds = f" {self.minimum}-{self.maximum}" if self.maximum is not None else ""
        return f"{self.kind}/{self.name}{bounds}"


@dataclass(frozen=True, slots=True)
class NodeUse:
    """Nodes of one type that a model runs on."""

    instance_type: str
    capacity: str
    region: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InspectedModel:
    """A resource that serves models, as it runs.

    Attributes:
        identity: Group, kind, namespace and name of the resource.
        models: The names of the models, or their locations.
        family: The family of its kind; empty for other kinds.
        release: The release of the family's API, or several with the same fields.
        parts: Its workloads.
        memory: Whether its model fits, in words; empty if it has no accelerators.
        fit: The verdict of the worst part, as in the plan.
        price: Its costs.
        unchecked: What could not be checked, and why.
        is_known: Whether a known server runs in it; otherwise its pods only hold accelerators.
    """

    identity: Identity
    api_version: str
    models: tuple[str, ...]
    family: str
    release: str
    parts: tuple[Part, ...]
    nodes: tuple[NodeUse, ...]
    autoscalers: tuple[ModelScaler, ...]
    endpoints: tuple[str, ...]
    owner: ManagedBy
    fit: Fit
    memory: str
    price: ModelPrice
    secrets: tuple[str, ...] = ()
    findings: tuple[Problem, ...] = ()
    unchecked: tuple[str, ...] = ()
    is_known: bool = True

    @property
    def title(self) -> str:
        """``Kind/name``."""
        return f"{self.identity[1]}/{self.identity[3]}"

    @property
    def desired(self) -> int:
        """Desired replicas of all parts."""
        return sum(part.desired for part in self.parts)

    @property
    def ready(self) -> int | None:
        """Ready replicas of all parts; None if the state is unknown."""
        known = [part.ready for part in self.parts if part.ready is not None]
        return sum(known) if len(known) == len(self.parts) and known else None

    @property
    def accelerators(self) -> int:
        """Accelerators of all desired replicas."""
        return sum(part.desired * part.accelerators for part in self.parts)


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result of an inspection.

    Attributes:
        models: Every resource that serves models, by namespace, kind and name.
        findings: Findings of other objects: those that models refer to, and of the cluster.
        missing: What could not be read.
        absent: The kinds that the server does not serve.
        unreadable: Problems of files, and of objects of a cluster that cannot be read.
    """

    source: str
    server_version: str
    namespaces: tuple[str, ...]
    models: tuple[InspectedModel, ...]
    findings: tuple[Problem, ...] = ()
    missing: tuple[Missing, ...] = ()
    absent: tuple[str, ...] = ()
    unreadable: tuple[Problem, ...] = ()
    planned: Plan | None = field(default=None, repr=False, compare=False)
    bill: NodeBill = field(default_factory=NodeBill)

    @property
    def all_findings(self) -> Iterator[Problem]:
        """The findings of models and of everything else."""
        for model in self.models:
            yield from model.findings
        yield from self.findings


def inspect(snapshot: ClusterSnapshot, unreadable: Sequence[Problem] = ()) -> Inspection:
    """Inspect a snapshot.

    Args:
        snapshot: What was read.
        unreadable: Problems of files.
    """
    nodes = nodes_of(snapshot)
    others = types_of(nodes.values())
    with instances_beside(others):
        return _inspected(snapshot, unreadable, nodes, others)


def _inspected(
    snapshot: ClusterSnapshot,
    unreadable: Sequence[Problem],
    nodes: Mapping[str, ClusterNode],
    others: Collection[str],
) -> Inspection:
    served = serving_resources(snapshot)
    scalers = _scalers(snapshot)
    values = [*_manifests(snapshot, served, scalers)]
    releases = releases_in(snapshot, objects(values, snapshot.source).resources)
    newest = {family: names[-1] for family, names in releases.items()}
    manifests = _load(values, snapshot.source, newest)
    running = _running_fleet(snapshot, served, manifests, nodes)
    planned = plan(manifests, environment_of(snapshot, newest, nodes.values()), running)
    owners = _owning_models(snapshot, served, planned, scalers)
    by_model: dict[Identity, list[Problem]] = {}
    rest: list[Problem] = []
    ignored = (entry.problem for entry in planned.ignored)
    of_cluster = (
        *check_monitors(snapshot, _pod_labels(planned)),
        *check_scraped(snapshot, planned.fleet),
        *_vertical_problems(snapshot, planned),
        *_status_problems(snapshot, planned),
        *check_pools(snapshot, [serving for serving in served if serving.is_known], nodes),
    )
    found = {*planned.problems, *ignored, *_missing_prerequisites(planned), *of_cluster}
    # A node has whatever type it has: one that no table knows is not checked, and no error.
    found = {_without_types(problem, others) for problem in found if problem.rule != RuleId.NODES_TYPE_UNKNOWN}
    for problem in sorted(found, key=_FINDING_ORDER):
        owner = owners.get((problem.kind, problem.namespace, problem.name))
        (rest if owner is None else by_model.setdefault(owner, [])).append(problem)
    bill = node_bill(snapshot, nodes, served)
    models = tuple(
        _model(
            serving,
            snapshot,
            planned=planned,
            nodes=nodes,
            # Nothing is known of what only holds accelerators, so that nothing is judged.
            findings=tuple(by_model.get(serving.identity, ())) if serving.is_known else (),
            releases=releases,
            scalers=scalers,
            bill=bill,
        )
        for serving in served
    )
    return Inspection(
        source=snapshot.source,
        server_version=snapshot.server_version,
        namespaces=snapshot.namespaces,
        models=models,
        findings=tuple(rest),
        missing=snapshot.missing,
        absent=snapshot.absent,
        unreadable=(*snapshot.unread, *unreadable),
        planned=planned,
        bill=bill,
    )


def _without_types(problem: Problem, others: Collection[str]) -> Problem:
    """Return a problem without advice to use types of a cloud that the node is not from."""
    if not any(name in problem.reason for name in others):
        return problem
    return replace(problem, reason=problem.reason.partition("; use ")[0])


# From objects to the input of a plan


def _manifests(snapshot: ClusterSnapshot, served: Sequence[Serving], scalers: Scalers) -> Iterator[Object]:
    """Yield the resources of the families that users wrote, not those that an operator derives from others.

    They are as a user would write them: without what the server and autoscalers set.
    """
    roots = {serving.identity for serving in served}
    for body in snapshot.objects:
        if kinds().find(body["apiVersion"], body["kind"]) is None:
            continue
        if shape_of(body) is not None and not is_engine_workload(body):
            continue
        owners = [*snapshot.owners(body)]
        derived = any(
            identity_of(owner) in roots or kinds().find(owner["apiVersion"], owner["kind"]) for owner in owners
        )
        if derived:
            continue
        manifest = as_written(copied(body))
        if shape_of(body) is not None and _scalers_of(body, scalers):
            spec = {key: value for key, value in manifest["spec"].items() if key != "replicas"}
            manifest = {**manifest, "spec": spec}
        metadata = {key: value for key, value in manifest["metadata"].items() if key != "ownerReferences"}
        yield {**manifest, "metadata": metadata}


def _load(values: Iterable[Object], source: str, releases: Mapping[str, str]) -> Manifests:
    """Load manifests; the problems of invalid ones name their namespace, because a cluster has many."""
    by_namespace: dict[str, list[Object]] = {}
    for value in values:
        by_namespace.setdefault(value["metadata"].get("namespace") or "", []).append(value)
    parts = []
    for namespace, own in sorted(by_namespace.items()):
        part = objects(own, source, releases)
        problems = (
            problem if problem.namespace else replace(problem, namespace=namespace) for problem in part.problems
        )
        parts.append(replace(part, problems=tuple(problems)))
    return Manifests.merged(parts)


def _running_fleet(
    snapshot: ClusterSnapshot, served: Sequence[Serving], manifests: Manifests, nodes: Mapping[str, ClusterNode]
) -> RunningFleet:
    """Return the workloads and autoscalers that are no manifests of a family."""
    items: list[Rendered] = []
    problems: list[Problem] = []
    choices: dict[ResourceKey, tuple[NodeChoice, ...]] = {}
    written = {
        (source.kind.kind, source.resource.metadata.namespace or "", source.name) for source in manifests.resources
    }
    targets: set[ResourceKey] = set()
    for serving in served:
        _, kind, namespace, name = serving.identity
        if serving.family:
            choices[kind, namespace, name] = nodes_under(serving.pods, nodes)
            if (kind, namespace, name) in written:
                targets.add((kind, namespace, name))
            continue
        for body in serving.workloads:
            item, wrong = running_workload(body, snapshot.source)
            problems += wrong
            if item is None:
                continue
            items.append(item)
            pods = [pod for pod in snapshot.all_owned(body) if pod["kind"] == "Pod"] or serving.pods
            choices[item.kind, item.namespace, item.name] = nodes_under(pods, nodes)
            targets.add((item.kind, item.namespace, item.name))
        for described in serving.described:
            item, wrong = running_workload(
                described.body,
                snapshot.source,
                origin={**serving.resource, "kind": serving.kind},
                containers_path=described.path,
            )
            problems += wrong
            if item is not None:
                items.append(item)
                choices[item.kind, item.namespace, item.name] = nodes_under(serving.pods, nodes)
    for body in snapshot.objects:
        if not is_scaler(body) or malformed(body, snapshot.source):
            continue
        if snapshot.owner(body) is not None:
            continue  # its owner, such as a ScaledObject, decides on its metrics
        item, wrong = scaler_item(body, snapshot.source)
        if item is None or not _concerns_models(item, targets, snapshot):
            continue
        (scaler,) = item.autoscalers
        problems += [*wrong, *_unread_metrics(body, item)]
        items.append(replace(item, autoscalers=(replace(scaler, target_known=scaler.target in targets),)))
    return RunningFleet(
        items=tuple(items),
        problems=tuple(problems),
        nodes=choices,
        could_run=lambda pod: nodes_for(pod, nodes),
        config_maps=tuple(OtherObject(body, snapshot.source, 0) for body in snapshot.of_kind("", "ConfigMap")),
    )


def _unread_metrics(body: Object, item: Rendered) -> Iterator[Problem]:
    """Yield that an autoscaler reads no metric, as its controller has written into its status."""
    for condition in value_at(body, "status.conditions") or ():
        reason = str(condition.get("reason"))
        if (condition.get("type"), condition.get("status")) != ("ScalingActive", "False") or reason not in _UNREAD:
            continue
        (scaler,) = item.autoscalers
        yield scaler.origin_of("metrics").problem(
            f"is not read ({reason}: {str(condition.get('message'))[:_LONGEST_MESSAGE]}), so that the replicas stay "
            "as they are; let Prometheus scrape the pods, by the labels with which it selects PodMonitors, and give "
            "the adapter a rule for the metric",
            Severity.WARNING,
            RuleId.METRICS_ADAPTER_MISSING,
        )


def _vertical_problems(snapshot: ClusterSnapshot, planned: Plan) -> Iterator[Problem]:
    """Yield the problems of VerticalPodAutoscalers of models; those of other programs are not read."""
    served = {(each.kind, each.namespace, each.name) for _, each in planned.fleet.workloads}
    served |= {(item.kind, item.namespace, item.name) for item in planned.fleet.rendered}
    others = [
        OtherObject(body, snapshot.source, 0)
        for body in snapshot.of_kind(*VERTICAL)
        if (
            value_at(body, "spec.targetRef.kind"),
            body["metadata"].get("namespace") or "",
            value_at(body, "spec.targetRef.name"),
        )
        in served
    ]
    yield from check_vertical(WrittenScalers(vertical=tuple(others)), planned.fleet, "")


def _status_problems(snapshot: ClusterSnapshot, planned: Plan) -> Iterator[Problem]:
    """Yield what controllers wrote into the status of ScaledObjects, and of HPAs that another object owns."""
    served = {(each.kind, each.namespace, each.name) for _, each in planned.fleet.workloads}
    served |= {(item.kind, item.namespace, item.name) for item in planned.fleet.rendered}
    for body in snapshot.objects:
        target = _target_of(body)
        if target not in served:
            continue
        is_owned = body["kind"] == HPA and snapshot.owner(body) is not None
        conditions = value_at(body, "status.conditions") or ()
        for condition in conditions if is_owned or (group_of(body), body["kind"]) == _SCALED_OBJECT else ():
            kind, status, reason = (str(condition.get(key)) for key in ("type", "status", "reason"))
            message = str(condition.get("message"))[:_LONGEST_MESSAGE]
            if is_owned and (kind, status) == ("ScalingActive", "False") and reason in _UNREAD:
                owner = snapshot.owner(body)
                title = f"{owner['kind']}/{owner['metadata']['name']}" if owner else ""
                text = (
                    f"reads no metric ({reason}: {message}), so that the replicas stay as they are; correct {title}"
                )
            elif not is_owned and (kind, status) == ("Ready", "False"):
                text = f"is not ready ({reason}: {message}), so that KEDA does not scale; correct what it names"
            elif not is_owned and (kind, status) == ("Fallback", "True"):
                text = f"is in its fallback ({reason}: {message}): a trigger cannot be read; correct it"
            else:
                continue
            yield OtherObject(body, snapshot.source, 0).problem(
                "status.conditions", text, Severity.WARNING, RuleId.METRICS_ADAPTER_MISSING
            )


def _target_of(body: Object) -> ResourceKey | None:
    reference = value_at(body, "spec.scaleTargetRef")
    if not isinstance(reference, Mapping) or not reference.get("name"):
        return None
    kind = str(reference.get("kind") or DEPLOYMENT.kind)
    return kind, str(body["metadata"].get("namespace") or ""), str(reference["name"])


def _concerns_models(item: Rendered, targets: Collection[ResourceKey], snapshot: ClusterSnapshot) -> bool:
    """Return whether an autoscaler scales a model, or was meant to scale one that does not exist."""
    (scaler,) = item.autoscalers
    if scaler.target in targets:
        return True
    if any(_key(body) == scaler.target for body in snapshot.objects):
        return False
    reference = scaler.hpa["spec"]["scaleTargetRef"]
    is_of_family = kinds().find(str(reference.get("apiVersion")), str(reference.get("kind"))) is not None
    # KEDA's proxy is in front of servers alone; a target that may be in a kind that is not read is left out.
    is_read = shape_named(str(reference.get("kind"))) is not None
    return is_of_family or reads_engines(scaler) or (scaler.reads_pods and is_read)


def _scalers(snapshot: ClusterSnapshot) -> Scalers:
    """Return the autoscalers of a cluster, those of families included."""
    by_target: dict[tuple[str, str], list[Object]] = {}
    for body in snapshot.objects:
        name = value_at(body, "spec.scaleTargetRef.name")
        kind = kinds().find(body["apiVersion"], body["kind"])
        is_scaler = (group_of(body), body["kind"]) in (("autoscaling", HPA), _SCALED_OBJECT)
        if name and (is_scaler or (kind is not None and member_of(kind)[1].attached)):
            by_target.setdefault((body["metadata"].get("namespace") or "", str(name)), []).append(body)
    return by_target


def _scalers_of(body: Object, scalers: Scalers) -> list[Object]:
    """Return the autoscalers whose target is an object."""
    group, kind, namespace, name = identity_of(body)
    references = ((scaler, value_at(scaler, "spec.scaleTargetRef")) for scaler in scalers.get((namespace, name), ()))
    return [
        scaler
        for scaler, reference in references
        if reference.get("kind") in (None, kind) and (not reference.get("apiVersion") or group_of(reference) == group)
    ]


# From the plan to models


def _pod_labels(planned: Plan) -> dict[str, list[Mapping[str, str]]]:
    """Return the labels of the pods that receive requests, by namespace."""
    labels: dict[str, list[Mapping[str, str]]] = {}
    for _, workload in planned.fleet.workloads:
        own = (workload.front.get("metadata") or {}).get("labels") or {}
        labels.setdefault(workload.namespace, []).append({**own, **workload.selector})
    return labels


def _owning_models(
    snapshot: ClusterSnapshot, served: Sequence[Serving], planned: Plan, scalers: Scalers
) -> dict[ResourceKey, Identity]:
    """Return the model that each object belongs to."""
    owners: dict[ResourceKey, Identity] = {}
    for serving in served:
        for body in (serving.resource, *serving.workloads):
            for scaler in _scalers_of(body, scalers):
                owners.setdefault(_key(scaler), serving.identity)
            for child in snapshot.all_owned(body):
                owners.setdefault(_key(child), serving.identity)
        owners |= dict.fromkeys(
            (_resource_key(serving), *map(_key, (*serving.workloads, *serving.pods))), serving.identity
        )
    for item, rendered in planned.fleet.autoscalers:
        target = next(
            (
                owner
                for owner, workload in planned.fleet.workloads
                if (workload.kind, workload.namespace, workload.name) == rendered.target
            ),
            None,
        )
        identity = owners.get((target.kind, target.namespace, target.name)) if target else None
        if identity:
            owners.setdefault((item.kind, item.namespace, item.name), identity)
    return owners


def _key(body: Object) -> ResourceKey:
    _, kind, namespace, name = identity_of(body)
    return kind, namespace, name


def _resource_key(serving: Serving) -> ResourceKey:
    return serving.kind, *serving.identity[2:]


def _missing_prerequisites(planned: Plan) -> Iterator[Problem]:
    """Yield the prerequisites that the cluster lacks, at each resource that needs them."""
    items = {item.title: item for item in planned.fleet.rendered}
    for prerequisite in planned.prerequisites:
        for reason in prerequisite.reasons:
            item = items.get(reason)
            needed = "" if item else f" by {reason}"
            text = (
                f"{prerequisite.chart.name} is required{needed}, and the cluster does not serve what it provides "
                f"({', '.join(prerequisite.chart.provides)}); install it"
            )
            rule = RuleId.PREREQUISITES_MISSING
            if item is None:
                yield Problem(
                    file=planned.environment.file, path="", reason=text, severity=Severity.WARNING, rule=rule
                )
            else:
                yield item.source.problem("", text, rule=rule)


def _model(
    serving: Serving,
    snapshot: ClusterSnapshot,
    planned: Plan,
    nodes: Mapping[str, ClusterNode],
    findings: tuple[Problem, ...],
    releases: Mapping[str, Sequence[str]],
    scalers: Scalers,
    bill: NodeBill,
) -> InspectedModel:
    keys = {_resource_key(serving), *map(_key, serving.workloads)}
    keys |= {(serving.kind, serving.identity[2], part.body["metadata"]["name"]) for part in serving.described}
    items = [item for item in planned.fleet.rendered if (item.kind, item.namespace, item.name) in keys]
    parts = parts_of(serving, items, snapshot)
    names = dict.fromkeys(name for part in parts for name in part.models)
    own = {id(item) for item in items}
    verdicts = [verdict for verdict in planned.verdicts if id(verdict.item) in own]
    worst = min(verdicts, key=lambda verdict: _WORST_FIRST.index(verdict.verdict.fit), default=None)
    uses = _node_uses(serving, nodes)
    # Pods that run nowhere yet will run on nodes of the cluster.
    regions = {use.region for use in uses if use.region} or {node.region for node in nodes.values() if node.region}
    price = running_price(serving, bill, nodes) or price_of(items, parts, regions)
    possible = releases.get(serving.family, ())
    row = row_of(serving.resource)
    serve = ray_serve_of(serving.resource, row) if row else None
    named = (value_at(serving.resource, path) for path in (row.get("model", ()) if row else ()))
    location = next((value for value in named if isinstance(value, str) and value), None)
    names |= dict.fromkeys(serve.models if serve and not names else ())
    return InspectedModel(
        identity=serving.identity,
        api_version=str(serving.resource.get("apiVersion") or ""),
        models=tuple(names) or ((location,) if location else ()),
        family=serving.family,
        release=" to ".join(dict.fromkeys((*possible[:1], *possible[-1:]))),
        parts=parts,
        nodes=uses,
        autoscalers=tuple(_autoscalers(serving, snapshot, planned, items, scalers)),
        endpoints=tuple(endpoints_of(serving, snapshot, items)),
        owner=serving.owner,
        fit=worst.verdict.fit if worst else Fit.UNKNOWN,
        memory=worst.text if worst else "",
        price=price,
        secrets=secrets_of(serving, items),
        findings=findings,
        is_known=serving.is_known,
        unchecked=(
            *_unchecked(serving, items, parts, worst.text if worst else "", price, is_placed=bool(regions)),
            *_unread_files(serving, items, snapshot),
        ),
    )


_WORST_FIRST = (Fit.EXCEEDED, Fit.UNKNOWN, Fit.TIGHT, Fit.FITS)


def _node_uses(serving: Serving, nodes: Mapping[str, ClusterNode]) -> tuple[NodeUse, ...]:
    used: dict[tuple[str, str, str], dict[str, None]] = {}
    for pod in serving.pods:
        name = (pod.get("spec") or {}).get("nodeName")
        if name:
            node = nodes.get(name) or ClusterNode(name, "", "", "")
            used.setdefault((node.instance_type, node.capacity, node.region), {})[name] = None
    return tuple(NodeUse(*key, tuple(sorted(names))) for key, names in sorted(used.items()))


def _autoscalers(
    serving: Serving, snapshot: ClusterSnapshot, planned: Plan, items: Sequence[Rendered], scalers: Scalers
) -> Iterator[ModelScaler]:
    seen: set[ResourceKey] = set()
    for body in (serving.resource, *serving.workloads):
        for scaler in _scalers_of(body, scalers):
            owner = snapshot.owner(scaler)
            autoscaler = owner if owner is not None and (group_of(owner), owner["kind"]) == _SCALED_OBJECT else scaler
            if _key(autoscaler) in seen:
                continue
            seen.add(_key(autoscaler))
            spec = autoscaler.get("spec") or {}
            low = spec.get("minReplicas", spec.get("minReplicaCount"))
            high = spec.get("maxReplicas", spec.get("maxReplicaCount"))
            least = 0 if (group_of(autoscaler), autoscaler["kind"]) == _SCALED_OBJECT else 1
            bounds = (low if isinstance(low, int) else least, high if isinstance(high, int) else None)
            yield ModelScaler(autoscaler["kind"], autoscaler["metadata"]["name"], *bounds)
    workloads = {(w.kind, w.namespace, w.name) for item in items for w in item.workloads}
    for item, rendered in planned.fleet.autoscalers:
        key = (item.kind, item.namespace, item.name)
        if rendered.target in workloads and key not in seen and not (key[0] == HPA and seen):
            seen.add(key)
            yield ModelScaler(item.kind, item.name, rendered.minimum, rendered.maximum)
    row = row_of(serving.resource) or {}
    fields, serve = row.get("autoscaler"), ray_serve_of(serving.resource, row)
    if (fields or serve) and not seen:
        low, high = (serve.minimum, serve.maximum) if serve else (None, None)
        if fields:
            low, high = (value_at(serving.resource, fields[key]) for key in ("minimum", "maximum"))
        if isinstance(high, int):
            yield ModelScaler(serving.identity[1], serving.identity[3], low if isinstance(low, int) else 1, high)


def _unchecked(
    serving: Serving,
    items: Sequence[Rendered],
    parts: Sequence[Part],
    memory: str,
    price: ModelPrice,
    *,
    is_placed: bool,
) -> Iterator[str]:
    if not serving.is_known:
        yield "everything but nodes and cost (its pods hold accelerators and run no known server)"
    elif not items:
        yield "memory, flags and metrics (the resource cannot be rendered, see its findings)"
    elif memory.startswith(Fit.UNKNOWN):
        yield f"memory ({memory.partition(': ')[2]})"
    wanted = sum(part.desired * part.pods for part in parts)
    if price.unpriced:
        yield f"cost ({price.unpriced})"
    elif price.month is not None and len(serving.pods) < wanted:
        missing = wanted - len(serving.pods)
        yield f"cost ({missing} of {wanted} pods {'does' if missing == 1 else 'do'} not run)"
    elif not is_placed:
        yield f"the region of the nodes (costs are those of {price.region})"
    if not serving.is_known:
        return
    if items and any(not part.engine for part in parts):
        yield "flags and metrics (no known engine runs in it)"
    elif any(not workload.server.line.engine for item in items for workload in item.workloads):
        yield "flags and metrics (the resource does not contain the command of its engine)"
    if any(part.engine and part.is_digest_only for part in parts):
        yield "flags (the image has a digest and no tag, so its version is unknown)"


def _unread_files(serving: Serving, items: Sequence[Rendered], snapshot: ClusterSnapshot) -> Iterator[str]:
    """Yield what the ConfigMaps and configuration files of a server would tell, where they were not read."""
    unread: dict[str, None] = {}
    files: dict[str, None] = {}
    lines = (workload.server.line for item in items for workload in item.workloads)
    read = {config_path(line) for line in lines if not (engine_line(line) or line).has_unknown_config}
    for pod in pods_of(serving, items):
        for container in containers_of(pod):
            for name in config_maps_of(container):
                if name and not snapshot.find("", "ConfigMap", serving.identity[2], name):
                    unread[name] = None
            line = engine_line(command_line_of(with_values(container)))
            file = line.value_of(Setting.CONFIG_FILE) if line else None
            if file and file not in read:
                files[file] = None
    if unread:
        yield f"variables (those of the ConfigMap {', '.join(unread)} were not read)"
    if files:
        yield f"flags (those in {', '.join(files)} are not read)"


def worst_severity(problems: Iterable[Problem]) -> str:
    """Return the highest severity of problems that are not ignored; empty without any."""
    present = {problem.severity for problem in problems if not problem.ignored}
    return next(
        (str(severity) for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE) if severity in present), ""
    )
