"""Recognizes what serves models among the objects of a snapshot, each once, under its topmost owner."""

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from components.contract.schema.embedded import CORE, definitions
from components.contract.tables import load_table
from components.engines.images import parse_image
from components.engines.registry import engine_started_by
from components.families import kinds, member_of
from components.fleet.objects import Object
from components.fleet.shapes import DEPLOYMENT, LEADER_WORKER_SET, shape_of
from components.plan.running_objects import malformed, serving_lines

from .snapshot import ClusterSnapshot, Identity, group_of, identity_of, owner_reference

_HELM_LABEL, _HELM = "app.kubernetes.io/managed-by", "Helm"
_HELM_RELEASE = "meta.helm.sh/release-name"
_CHART = "helm.sh/chart"
_POD = ("", "Pod")


class ManagedBy(NamedTuple):
    """Who manages a resource.

    Attributes:
        kind: ``operator``, ``helm``, ``controller``, ``hand`` (kubectl), ``client`` (any other one that wrote it), or
            ``unknown`` for files, which do not tell.
        name: The project of the operator, the release, the controller, or the field manager.
        detail: The chart or stack of a release, or who wrote the resource of an operator.
    """

    kind: str
    name: str = ""
    detail: str = ""

    @property
    def text(self) -> str:
        detail = f" ({self.detail})" if self.detail else ""
        match self.kind:
            case "operator":
                return f"{self.name} operator{detail}"
            case "helm":
                return f"Helm release {self.name}{detail}"
            case "controller":
                return f"{self.name}{detail}"
            case "hand":
                return f"by hand ({self.name})"
            case "client":
                return f"written by {self.name}"
            case _:
                return "unknown"


class DescribedPods(NamedTuple):
    """Pods that a resource describes without a workload that was read.

    Attributes:
        body: A workload with these pods.
        path: The field of the resource that describes the serving container.
        engine: The server that the resource names, if no container does.
        degrees: Degrees of parallelism that the resource sets: ``tensor``, ``pipeline`` and ``data``.
    """

    body: Object
    path: str
    role: str = ""
    engine: str = ""
    degrees: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Serving:
    """A resource that serves models.

    Attributes:
        resource: The topmost object; of an owner that was not read, only its reference.
        family: The family of its kind; empty for other kinds.
        project: The project whose operator manages it; empty without one.
        workloads: The workloads that run the engine.
        pods: The pods.
        described: What the resource describes; used without workloads.
        is_read: Whether the resource itself was read.
        is_ambiguous: Whether a resource of another API has the same kind, namespace and name.
    """

    resource: Object
    family: str = ""
    project: str = ""
    workloads: tuple[Object, ...] = ()
    pods: tuple[Object, ...] = ()
    described: tuple[DescribedPods, ...] = field(default=(), repr=False)
    owner: ManagedBy = field(default=ManagedBy("unknown"))
    is_read: bool = True
    is_ambiguous: bool = False

    @property
    def identity(self) -> Identity:
        """Identity of the resource."""
        return identity_of(self.resource)

    @property
    def kind(self) -> str:
        """Kind of the resource in findings: ``Kind.group`` if a resource of a family has the same kind and name."""
        group, kind, _, _ = self.identity
        return f"{kind}.{group}" if self.is_ambiguous and not self.family else kind


def serving_resources(snapshot: ClusterSnapshot) -> tuple[Serving, ...]:
    """Return everything that serves models, sorted by namespace, kind and name."""
    candidates = {identity_of(body): body for body in snapshot.objects if _is_candidate(body)}
    labelled = _labelled(snapshot, candidates)
    roots = [
        body
        for identity, body in candidates.items()
        if identity not in labelled and not any(identity_of(owner) in candidates for owner in snapshot.owners(body))
    ]
    claimed: dict[Identity, list[Object]] = {identity_of(root): [*snapshot.all_owned(root)] for root in roots}
    for identity, root in labelled.items():
        child = snapshot.find(*identity)
        if child is not None and root in claimed:
            claimed[root] += [child, *snapshot.all_owned(child)]
    served = [_serving(root, claimed[identity_of(root)], snapshot) for root in roots]
    covered = {*claimed, *(identity_of(body) for bodies in claimed.values() for body in bodies)}
    served += _by_pods(snapshot, covered)
    names = Counter(serving.identity[1:] for serving in served)
    served = [replace(serving, is_ambiguous=names[serving.identity[1:]] > 1) for serving in served]
    return tuple(sorted(served, key=lambda serving: (serving.identity[2], serving.identity[1], serving.identity[3])))


def family_of(body: Object) -> str:
    """Return the family of an object's kind; empty for other kinds."""
    kind = kinds().find(body["apiVersion"], body["kind"])
    return member_of(kind)[0].name if kind else ""


def is_engine_workload(body: Object) -> bool:
    """Return whether a workload runs an engine."""
    shape = shape_of(body)
    if shape is None or not isinstance(body.get("spec"), dict):
        return False
    return any(any(serving_lines(template.body)) for template in shape.pod_templates(body))


def owner_of(body: Object, project: str = "") -> ManagedBy:
    """Return who manages an object.

    Args:
        body: The object.
        project: The project whose operator reads it; empty without one.
    """
    labels, annotations = (body["metadata"].get(key) or {} for key in ("labels", "annotations"))
    stacks = serving_table()["stacks"]
    stack = next((row["name"] for row in stacks if any(_matches(key, row["label"]) for key in labels)), "")
    release = str(annotations.get(_HELM_RELEASE) or "")
    if not release and (labels.get(_HELM_LABEL) == _HELM or labels.get("helm-release-name")):
        # `helm template` writes no annotation; Helm adds it when it installs.
        release = str(labels.get("helm-release-name") or labels.get("app.kubernetes.io/instance") or "unnamed")
    written = ManagedBy("helm", release, stack or str(labels.get(_CHART) or "")) if release else _writer(body)
    if project:
        return ManagedBy("operator", project, written.text if written.kind != "unknown" else "")
    reference = owner_reference(body)
    if reference is not None:
        return ManagedBy("controller", f"{reference.get('kind')}/{reference.get('name')}", written.detail)
    return written


@functools.cache
def serving_table() -> Mapping[str, Any]:
    """Return the table of kinds of other projects."""
    table: Mapping[str, Any] = load_table(__package__, "serving.yaml")
    return table


def row_of(body: Object) -> Mapping[str, Any] | None:
    """Return the row of a kind of another project; None for other kinds."""
    identity = (group_of(body), body["kind"])
    return next((row for row in serving_table()["kinds"] if (row["group"], row["kind"]) == identity), None)


def value_at(body: Any, path: str) -> Any:  # noqa: ANN401  any field
    """Return the value of a field; None if it is absent."""
    for step in path.split("."):
        body = body.get(step) if isinstance(body, dict) else None
    return body


def _is_candidate(body: Object) -> bool:
    if shape_of(body) is not None:
        return is_engine_workload(body)
    kind = kinds().find(body["apiVersion"], body["kind"])
    return member_of(kind)[1].serves if kind else describes_models(body)


def describes_models(body: Object) -> bool:
    """Return whether an object of another project serves models."""
    row = row_of(body)
    if row is None or "serves" not in row:
        return row is not None
    return any(_engine_of_image(value_at(body, part["field"])) for part in row["pods"])


def _engine_of_image(pod: Any) -> str:  # noqa: ANN401  any field
    """Return the engine in the images of a pod spec whose controller starts another command; empty without one."""
    images = (
        str(container.get("image") or "")
        for container in _items(value_at(pod, "containers"))
        if isinstance(container, dict)
    )
    engines = (engine_started_by(parse_image(image).repository) for image in images)
    return next((engine.name for engine in engines if engine), "")


def _labelled(snapshot: ClusterSnapshot, candidates: Mapping[Identity, Object]) -> dict[Identity, Identity]:
    """Return the resource that a workload belongs to by label, without a complete chain of owners."""
    parents: dict[Identity, Identity] = {}
    for row in (row for row in serving_table()["kinds"] if "label" in row):
        for resource in snapshot.of_kind(row["group"], row["kind"]):
            _, _, namespace, name = identity_of(resource)
            for identity, body in candidates.items():
                labels = body["metadata"].get("labels") or {}
                is_workload = shape_of(body) is not None and identity[2] == namespace
                # Without an owner, the label may be a coincidence.
                if is_workload and labels.get(row["label"]) == name and owner_reference(body) is not None:
                    parents[identity] = identity_of(resource)
    return parents


def _serving(root: Object, owned: Sequence[Object], snapshot: ClusterSnapshot) -> Serving:
    pods = tuple(body for body in owned if (group_of(body), body["kind"]) == _POD)
    row, family = row_of(root), family_of(root)
    if shape_of(root) is not None:
        return Serving(root, family, "", (root,), pods, owner=owner_of(root))
    # A group's own workloads are pods of the LeaderWorkerSet above them.
    workloads = tuple(
        body
        for body in owned
        if is_engine_workload(body) and not any(shape_of(owner) is not None for owner in snapshot.owners(body))
    )
    kind = kinds().find(root["apiVersion"], root["kind"])
    project = row["project"] if row else kind.releases.project if kind else ""
    described = () if workloads or row is None else tuple(_described(root, row, snapshot))
    return Serving(root, family, project, workloads, pods, described, owner_of(root, project))


def _by_pods(snapshot: ClusterSnapshot, covered: set[Identity]) -> Iterator[Serving]:
    """Yield what creates pods with an engine and is of a kind that is not read, such as a DaemonSet."""
    groups: dict[Identity, list[Object]] = {}
    tops: dict[Identity, tuple[Object, bool]] = {}
    for pod in snapshot.of_kind(*_POD):
        if identity_of(pod) in covered or not any(serving_lines(pod)):
            continue
        root = snapshot.root(pod)
        if identity_of(root) in covered:
            continue
        reference = owner_reference(root)
        top, is_read = root, True
        if reference is not None:
            metadata = {"name": str(reference.get("name")), "namespace": pod["metadata"].get("namespace") or ""}
            top = {"apiVersion": reference.get("apiVersion"), "kind": reference.get("kind"), "metadata": metadata}
            is_read = False
        tops.setdefault(identity_of(top), (top, is_read))
        groups.setdefault(identity_of(top), []).append(pod)
    for identity, pods in groups.items():
        top, is_read = tops[identity]
        template = {"metadata": {"labels": pods[0]["metadata"].get("labels") or {}}, "spec": pods[0]["spec"]}
        body = _workload_of(top, template, len(pods))
        owner = owner_of(top) if is_read else ManagedBy("controller", f"{top['kind']}/{top['metadata']['name']}")
        yield Serving(top, "", "", (), tuple(pods), (DescribedPods(body, "spec.containers"),), owner, is_read)


def _described(root: Object, row: Mapping[str, Any], snapshot: ClusterSnapshot) -> Iterator[DescribedPods]:
    """Yield the pods that a resource of another project describes."""
    engine = str(value_at(root, row.get("engine", "")) or "")
    for part in row["pods"]:
        spec = value_at(root, part["field"])
        if not isinstance(spec, dict):
            continue
        path = part["field"]
        if part.get("container"):
            spec = {"containers": [_with_runtime(spec, value_at(root, part["runtime"]), root, snapshot)]}
        else:
            # A predictor of KServe has the fields of a pod, and others beside them.
            spec = {key: value for key, value in spec.items() if key in _pod_fields()}
            path = f"{path}.containers[0]"
        replicas = value_at(root, part.get("replicas", ""))
        number = replicas if isinstance(replicas, int) else 1
        worker, size = value_at(root, part.get("worker", "")), 2
        if "groups" in part:
            groups = [group for group in _items(value_at(root, part["groups"])) if isinstance(group, dict)]
            if len(groups) > 1:
                continue  # the pods of one group are alike
            worker = value_at(groups[0], "template.spec") if groups else None
            size = 1 + _count(groups[0].get("replicas")) if groups else 1
        if not isinstance(spec.get("containers"), list) or not spec["containers"]:
            continue
        body = _workload_of(root, {"spec": spec}, number, worker if isinstance(worker, dict) else None, size)
        if malformed(body, ""):
            continue  # a file may hold anything
        role = part.get("role", "")
        if role:
            body["metadata"]["name"] += f"-{role}"
        parallel = value_at(root, part.get("parallel", "")) or {}
        degrees = {key: value for key, value in parallel.items() if isinstance(value, int)}
        yield DescribedPods(body, path, role, engine or _engine_of_image(spec), degrees)
        if part.get("container"):
            return


@functools.cache
def _pod_fields() -> frozenset[str]:
    return frozenset(definitions()[f"{CORE}PodSpec"]["properties"])


def _with_runtime(own: Object, runtime: Any, root: Object, snapshot: ClusterSnapshot) -> Object:  # noqa: ANN401
    """Return the container of a resource with what its runtime sets, as KServe merges them."""
    table = serving_table()["runtimes"]
    base: Object = {}
    for kind in table["kinds"]:
        for namespace in (root["metadata"].get("namespace") or "", ""):
            runtime_object = snapshot.find(table["group"], kind, namespace, str(runtime or ""))
            containers = value_at(runtime_object, table["containers"]) if runtime_object else None
            if isinstance(containers, list) and containers and not base:
                base = containers[0]
    kept = {key: own[key] for key in ("image", "command", "resources", "ports", "volumeMounts") if own.get(key)}
    lists = {key: [*_items(base.get(key)), *_items(own.get(key))] for key in ("args", "env")}
    return {"name": "kserve-container", **base, **kept, **lists}


def _count(value: object) -> int:
    return value if type(value) is int and value >= 0 else 0


def _items(value: Any) -> list[Any]:  # noqa: ANN401  any field
    return value if isinstance(value, list) else []


def _workload_of(
    root: Object, template: Object, replicas: int, worker: Object | None = None, size: int = 2
) -> Object:
    """Return a workload with given pods, which exists only to be checked."""
    metadata = {"name": root["metadata"]["name"], "namespace": root["metadata"].get("namespace") or ""}
    spec: Object = {"replicas": replicas, "template": template}
    shape = DEPLOYMENT
    if worker is not None and worker.get("containers") and size > 1:
        shape = LEADER_WORKER_SET
        spec = {
            "replicas": replicas,
            "leaderWorkerTemplate": {"size": size, "leaderTemplate": template, "workerTemplate": {"spec": worker}},
        }
    return {"apiVersion": shape.api_version, "kind": shape.kind, "metadata": metadata, "spec": spec}


def _matches(key: str, label: str) -> bool:
    return key.startswith(label) if label.endswith("/") else key == label


def _writer(body: Object) -> ManagedBy:
    """Return the client that wrote the spec of an object last, by its managed fields."""
    entries = [
        entry
        for entry in body["metadata"].get("managedFields") or ()
        if isinstance(entry, dict) and not entry.get("subresource") and "f:spec" in (entry.get("fieldsV1") or {})
    ]
    newest = max(entries, key=lambda entry: str(entry.get("time") or ""), default=None)
    if newest is None:
        return ManagedBy("unknown")
    manager = str(newest.get("manager") or "")
    by_hand = any(manager.startswith(name) for name in serving_table()["hand"])
    return ManagedBy("hand" if by_hand else "client", manager)
