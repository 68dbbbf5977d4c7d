"""The objects of a snapshot that belong to models: what can be adopted."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from components.contract.kinds import Kind
from components.families import kinds
from components.fleet.objects import Object
from components.fleet.shapes import SHAPES, shape_of

from ..inspecting.describing import describes_models
from ..inspecting.endpoints import labels_of_pods
from ..inspecting.recognition import is_engine_workload, serving_resources
from ..inspecting.snapshot import ClusterSnapshot, Identity, group_of, identity_of, owner_reference

_SYSTEM = "kube-"
_KSERVE = "serving.kserve.io"
_SCALERS = (("autoscaling", "HorizontalPodAutoscaler"), ("keda.sh", "ScaledObject"))
_PARTS = "rendered"
"""Name of the file of objects that belong to no model."""
_DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")
_HOOK = "helm.sh/hook"
_POOLS = ("inference.networking.k8s.io", "inference.networking.x-k8s.io")


@dataclass(frozen=True, slots=True)
class AdoptableObject:
    """An object that belongs to a model.

    Attributes:
        live: The object as the server returned it.
        anchor: Name of the workload or resource that it belongs to, which names its file.
        kind: Its kind in a family; None for objects of other APIs.
        scaled: Whether an autoscaler sets the number of its replicas.
        owner: What created it, such as ``Playground models/chat``; empty if it has no owner.
        is_part: Whether it only came with the models, in what a chart or a kustomization renders.
    """

    live: Object
    anchor: str
    kind: Kind | None = None
    scaled: bool = False
    owner: str = ""
    is_part: bool = False

    @property
    def identity(self) -> Identity:
        """Group, kind, namespace and name."""
        return identity_of(self.live)

    @property
    def title(self) -> str:
        """``Kind namespace/name``."""
        return title_of(self.identity)


def left_out(snapshot: ClusterSnapshot, adopted: Collection[Identity]) -> Iterator[str]:
    """Yield what serves models, or may, and is not among what can be adopted.

    Args:
        snapshot: The objects.
        adopted: The objects for which there is a decision.
    """
    for serving in serving_resources(snapshot):
        title = title_of(serving.identity)
        if serving.identity in adopted or serving.identity[2].startswith(_SYSTEM):
            continue
        if serving.is_known:
            yield f"not adopted: {title} serves models, and is of a kind that is not adopted"
        else:
            yield f"not known, and not adopted: {title} holds accelerators and runs no known server"


def title_of(identity: Identity) -> str:
    """Return ``Kind namespace/name``."""
    _, kind, namespace, name = identity
    return f"{kind} {f'{namespace}/' if namespace else ''}{name}"


def candidates(snapshot: ClusterSnapshot, *, rendered: bool = False) -> tuple[AdoptableObject, ...]:
    """Return the objects that belong to models, sorted by identity.

    What Helm or Kustomize rendered is one unit, whose models need its other objects too: ConfigMaps, claims, routers.
    These are included if it has a model, except definitions of kinds, hooks, and objects of a running cluster.

    Args:
        snapshot: The objects.
        rendered: Whether they were rendered, instead of read from a cluster.

    If only some namespaces were read, cluster-wide resources belong to models only if a name in these refers to them.

    These are the resources of all families, KServe's, RayClusters with an engine, workloads whose containers run a
    known engine, and the Services, autoscalers and inference pools of these.
    """
    known = kinds()
    roots: dict[Identity, AdoptableObject] = {}
    for body in _outside_of_system(snapshot.objects):
        kind = known.find(body["apiVersion"], body["kind"])
        serves = is_engine_workload(body)
        described = group_of(body) == _KSERVE or describes_models(body)
        if serves or described or (kind and not shape_of(body)):
            name = body["metadata"]["name"]
            roots[identity_of(body)] = AdoptableObject(body, name, kind, _is_scaled(body, snapshot), _owner(body))
    if snapshot.namespaces:
        # Workloads refer to no resource; a container may have the name of one.
        resources = (root.live for root in roots.values() if root.identity[2] and not shape_of(root.live))
        names = {text for body in resources for text in _texts(body.get("spec"))}
        roots = {identity: root for identity, root in roots.items() if identity[2] or identity[3] in names}
    own = [candidate for candidate in roots.values() if not candidate.owner]
    for body in _outside_of_system(snapshot.objects):
        identity = identity_of(body)
        anchor = "" if identity in roots else _anchor(body, own)
        if anchor:
            roots[identity] = AdoptableObject(body, anchor, None, scaled=False, owner=_owner(body))
    if rendered and roots:
        for body in _outside_of_system(snapshot.objects):
            is_hook = _HOOK in (body["metadata"].get("annotations") or {})
            is_live = "uid" in body["metadata"]
            if is_hook or is_live or (group_of(body), body["kind"]) == _DEFINITION:
                continue
            part = AdoptableObject(body, _PARTS, scaled=_is_scaled(body, snapshot), is_part=True)
            roots.setdefault(identity_of(body), part)
    return tuple(roots[identity] for identity in sorted(roots))


def _outside_of_system(objects: Iterable[Object]) -> Iterator[Object]:
    return (body for body in objects if not (body["metadata"].get("namespace") or "").startswith(_SYSTEM))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _owner(body: Object) -> str:
    reference = owner_reference(body)
    return f"{reference.get('kind')} {reference.get('name')}" if reference else ""


def pod_templates(body: Object) -> list[Object]:
    """Return the pod templates of a workload; empty for other objects."""
    shape = next((shape for shape in SHAPES if shape.kind == body["kind"] and shape.group == group_of(body)), None)
    return [template.body for template in shape.pod_templates(body)] if shape else []


def _is_scaled(body: Object, snapshot: ClusterSnapshot) -> bool:
    namespace = body["metadata"].get("namespace") or ""
    scalers = (scaler for group, kind in _SCALERS for scaler in snapshot.of_kind(group, kind, namespace))
    return any(_targets(scaler, body) for scaler in scalers)


def _targets(scaler: Object, body: Object) -> bool:
    reference = (scaler.get("spec") or {}).get("scaleTargetRef") or {}
    # KEDA's default target is a Deployment.
    kind = reference.get("kind") or "Deployment"
    return (kind, reference.get("name")) == (body["kind"], body["metadata"]["name"])


def _anchor(body: Object, roots: Iterable[AdoptableObject]) -> str:
    """Return the name of the workload that an object belongs to; empty if it belongs to none."""
    namespace = body["metadata"].get("namespace") or ""
    inside = [root for root in roots if (root.live["metadata"].get("namespace") or "") == namespace]
    group, kind, spec = group_of(body), body["kind"], body.get("spec") or {}
    if (group, kind) in _SCALERS:
        return next((root.anchor for root in inside if _targets(body, root.live)), "")
    selector: Mapping[str, str] = {}
    if (group, kind) == ("", "Service"):
        selector = spec.get("selector") or {}
    elif group in _POOLS and kind == "InferencePool":
        # v1 of the API has the labels in matchLabels, v1alpha2 (x-k8s.io) in the selector itself.
        selector = (spec.get("selector") or {}).get("matchLabels") or spec.get("selector") or {}
        if not all(isinstance(value, str) for value in selector.values()):
            return ""
    if not selector:
        return ""
    for root in inside:
        if any(selector.items() <= labels.items() for labels in labels_of_pods(root.live)):
            return root.anchor
    return ""
