"""Recognizes what serves models among the objects of a snapshot, each once, under its topmost owner."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from components.families import kinds, member_of
from components.fleet.objects import Object
from components.fleet.shapes import shape_of

from .describing import (
    DescribedPods,
    described_pods,
    describes_devices,
    describes_models,
    row_of,
    serving_table,
    workload_of,
)
from .servers import requests_devices, server_of_pod
from .snapshot import ClusterSnapshot, Identity, group_of, identity_of, owner_reference
from .writers import writers_of

_HELM_LABEL, _HELM = "app.kubernetes.io/managed-by", "Helm"
_HELM_RELEASE = "meta.helm.sh/release-name"
_CHART = "helm.sh/chart"
_POD = ("", "Pod")
_OVER = ("Succeeded", "Failed")
"""Phases of pods that hold nothing any more."""


class ManagedBy(NamedTuple):
    """Who manages a resource.

    Attributes:
        kind: ``operator``, ``helm``, ``controller``, ``hand`` (kubectl), ``client`` (any other one that wrote it), or
            ``unknown`` for files, which do not tell.
        name: The project of the operator, the release, the controller, or the field manager.
        detail: The chart or stack of a release, who wrote the resource of an operator, or the resource of a client.
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
                return f"written by {self.name}{detail}"
            case _:
                return "unknown"


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
        is_known: Whether a known server runs in it; otherwise its pods only hold accelerators.
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
    is_known: bool = True

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
    """Return whether a workload runs an engine, or another known server of models."""
    shape = shape_of(body)
    if shape is None or not isinstance(body.get("spec"), dict):
        return False
    return any(server_of_pod(template.body) for template in shape.pod_templates(body))


def holds_devices(body: Object) -> bool:
    """Return whether the pods of an object request accelerators."""
    shape = shape_of(body)
    if shape is None:
        return describes_devices(body)
    if not isinstance(body.get("spec"), dict):
        return False
    return any(requests_devices(template.body) for template in shape.pod_templates(body))


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
    other = next((writer for writer in writers_of(body) if writer.name != _HELM), None)
    if other is not None and not release:
        # The program keeps applying the object, even if another one wrote it last.
        written = ManagedBy("client", other.name, other.source)
    if project:
        return ManagedBy("operator", project, written.text if written.kind != "unknown" else "")
    reference = owner_reference(body)
    if reference is not None:
        return ManagedBy("controller", f"{reference.get('kind')}/{reference.get('name')}", written.detail)
    return written


def _is_candidate(body: Object) -> bool:
    kind = kinds().find(body["apiVersion"], body["kind"])
    if kind and shape_of(body) is None:
        return member_of(kind)[1].serves
    return is_known_server(body) or holds_devices(body)


def is_known_server(body: Object) -> bool:
    """Return whether a workload, or an object of another project, serves models with a known server."""
    return is_engine_workload(body) if shape_of(body) is not None else describes_models(body)


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
        known = is_engine_workload(root)
        return Serving(root, family, "", (root,), pods, owner=owner_of(root), is_known=known)
    # A group's own workloads are pods of the LeaderWorkerSet above them.
    workloads = tuple(
        body
        for body in owned
        if is_engine_workload(body) and not any(shape_of(owner) is not None for owner in snapshot.owners(body))
    )
    kind = kinds().find(root["apiVersion"], root["kind"])
    project = row["project"] if row else kind.releases.project if kind else ""
    described = () if workloads or row is None else tuple(described_pods(root, row, snapshot))
    known = bool(family or workloads) or describes_models(root)
    return Serving(
        resource=root,
        family=family,
        project=project,
        workloads=workloads,
        pods=pods,
        described=described,
        owner=owner_of(root, project),
        is_known=known,
    )


def _by_pods(snapshot: ClusterSnapshot, covered: set[Identity]) -> Iterator[Serving]:
    """Yield what creates pods with an engine and is of a kind that is not read, such as a DaemonSet."""
    groups: dict[Identity, list[Object]] = {}
    tops: dict[Identity, tuple[Object, bool]] = {}
    for pod in snapshot.of_kind(*_POD):
        is_over = (pod.get("status") or {}).get("phase") in _OVER
        if identity_of(pod) in covered or is_over or not (server_of_pod(pod) or requests_devices(pod)):
            continue
        root = snapshot.root(pod)
        if identity_of(root) in covered:
            continue
        reference = owner_reference(root)
        top, is_read = root, True
        if reference is not None:
            metadata = {"name": str(reference.get("name")), "namespace": pod["metadata"].get("namespace") or ""}
            kind = {"apiVersion": reference.get("apiVersion"), "kind": reference.get("kind")}
            top = {**kind, "metadata": metadata, "spec": {}}
            is_read = False
        tops.setdefault(identity_of(top), (top, is_read))
        groups.setdefault(identity_of(top), []).append(pod)
    for identity, pods in groups.items():
        top, is_read = tops[identity]
        template = {"metadata": {"labels": pods[0]["metadata"].get("labels") or {}}, "spec": pods[0]["spec"]}
        body = workload_of(top, template, len(pods))
        owner = owner_of(top) if is_read else ManagedBy("controller", f"{top['kind']}/{top['metadata']['name']}")
        known, described = any(server_of_pod(pod) for pod in pods), (DescribedPods(body, "spec.containers"),)
        yield Serving(
            resource=top,
            family="",
            project="",
            workloads=(),
            pods=tuple(pods),
            described=described,
            owner=owner,
            is_read=is_read,
            is_known=known,
        )


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
