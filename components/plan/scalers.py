"""Autoscalers written by hand, among manifests and in clusters, as parts of a fleet.

They are created unchanged, and checked as those that families render: the workload, its metrics, its bounds.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..contract.documents.source import Location
from ..contract.findings.ids import RuleId
from ..contract.load import LoadedResource, OtherObject
from ..contract.problems import Problem, Severity, did_you_mean
from ..contract.schema.live import normalized
from ..fleet.autoscalers import Autoscaler
from ..fleet.objects import HPA, Key, Object, copied
from ..fleet.origins import Origin
from ..fleet.rendered import Fleet, Rendered
from ..fleet.shapes import shape_named
from ..fleet.words import OtherKinds
from ..fleet.workloads import Workload
from .environment import Environment
from .others import as_written, in_namespace, unusable_field
from .running_objects import loaded, malformed, passed_workload
from .scaler_kinds import REMOVED_HPAS, SCALED_OBJECT, SCALER_KINDS

VERTICAL = ("autoscaling.k8s.io", "VerticalPodAutoscaler")
"""API group and kind of the autoscaler that changes the requests of pods."""
_CHANGES_PODS = ("Auto", "Recreate", "InPlaceOrRecreate")
"""Update modes that evict pods; Initial changes new ones alone (kubernetes/autoscaler, vertical-pod-autoscaler)."""
_UPDATE_MODES = ("Off", "Initial", *_CHANGES_PODS)
_REQUESTS = ("cpu", "memory")
_PAUSED = "autoscaling.keda.sh/paused-replicas"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenScalers:
    """The autoscalers among the objects of other APIs.

    Attributes:
        items: The autoscalers, each as an item of its own.
        workloads: The workloads among those objects, to which they may refer; none without autoscalers.
        vertical: The VerticalPodAutoscalers.
        problems: Problems of objects that cannot be read.
    """

    items: tuple[Rendered, ...] = ()
    workloads: tuple[Rendered, ...] = ()
    vertical: tuple[OtherObject, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def passed(self) -> dict[Key, tuple[Rendered, Workload]]:
        """The workloads by kind, namespace and name, each with its item."""
        pairs = ((item, workload) for item in self.workloads for workload in item.workloads)
        return {(workload.kind, workload.namespace, workload.name): (item, workload) for item, workload in pairs}


NO_SCALERS = WrittenScalers()


def written_scalers(others: Sequence[OtherObject], environment: Environment) -> WrittenScalers:
    """Read the autoscalers among the objects of other APIs, unless these are left out.

    They are read even where such objects are refused, so that all problems are reported at once.
    """
    if environment.other_kinds is OtherKinds.SKIP:
        return NO_SCALERS
    items: list[Rendered] = []
    problems: list[Problem] = []
    vertical: list[OtherObject] = []
    for other in others:
        group = str(other.value["apiVersion"]).rpartition("/")[0]
        is_vertical = (group, other.value["kind"]) == VERTICAL
        if not (is_vertical or is_scaler(other.value)) or unusable_field(other.value):
            continue  # what makes it unusable is reported where it is created
        if is_vertical:
            vertical.append(other)
            continue
        body = in_namespace(as_written(other.value), environment.options.namespace)
        removed = REMOVED_HPAS.get(str(body["apiVersion"]))
        wrong = (
            (Problem(file=other.file, path="apiVersion", reason=_removed(str(body["apiVersion"]), removed)),)
            if removed
            else malformed(body, other.file)
        )
        if wrong:
            problems += [other.problem(problem.path, problem.reason) for problem in wrong]
            continue
        item, found = scaler_item(body, other.file, line=other.line, location=other.location)
        problems += found
        items += [item] if item else []
    if not items and not vertical:
        return WrittenScalers(problems=tuple(problems))
    namespace = environment.options.namespace
    workloads = tuple(item for other in others if (item := passed_workload(other, namespace)) is not None)
    known = {(workload.kind, workload.namespace, workload.name) for item in workloads for workload in item.workloads}
    return WrittenScalers(
        items=tuple(_with_known_target(item, known) for item in items),
        workloads=workloads,
        vertical=tuple(vertical),
        problems=tuple(problems),
    )


def is_scaler(body: Object) -> bool:
    """Return whether an object is an autoscaler that changes replicas."""
    version, kind = str(body.get("apiVersion")), str(body.get("kind"))
    return (version, kind) in SCALER_KINDS or (kind == HPA and version in REMOVED_HPAS)


def scaler_item(
    body: Object, file: str, *, line: int = 0, location: Location | None = None, target_known: bool = False
) -> tuple[Rendered | None, tuple[Problem, ...]]:
    """Return an autoscaler that is created unchanged or exists, and its problems; None if it cannot be read.

    Args:
        body: The autoscaler, with its namespace, of a kind in ``SCALER_KINDS`` and not malformed.
        file: Where it was read, for messages.
        line: Its line there.
        location: The lines of its fields.
        target_known: Whether its workload exists.
    """
    source, problems = loaded(body, file, line=line, location=location)
    if source is None:
        return None, problems
    kind = SCALER_KINDS[source.kind.api_version, source.kind.kind]
    written: Object = normalized(as_written(copied(body)))
    namespace = str(written["metadata"]["namespace"])

    def origin(path: str) -> Origin:
        field = kind.field_of(path)
        return Origin(source, f"spec.{field}" if field else "spec")

    violations = tuple(
        source.problem(f"spec.{path}" if path else "metadata.name", reason)
        for path, reason in kind.violations(written["spec"], source.name)
    )
    hpa = {
        "apiVersion": "autoscaling/v2",
        "kind": HPA,
        "metadata": {"name": source.name, "namespace": namespace},
        "spec": kind.hpa_spec(written["spec"]),
    }
    paused, pauses = _paused(written, source)
    if paused is not None:
        hpa["spec"] = {**kind.hpa_spec(written["spec"]), "minReplicas": paused, "maxReplicas": paused}
    scaler = Autoscaler(
        hpa,
        origin,
        replacement=None if kind.is_hpa else written,
        reads_pods=kind.reads_pods,
        target_known=target_known,
        is_written=True,
    )
    item = Rendered(source, source.kind.kind, source.name, namespace, autoscalers=(scaler,))
    return item, (*problems, *violations, *pauses)


def _paused(body: Object, source: LoadedResource) -> tuple[int | None, tuple[Problem, ...]]:
    """Return the replicas at which KEDA pauses an autoscaler, and what that means; None if it does not.

    KEDA sets the replicas, and its HorizontalPodAutoscaler has no other bounds (kedacore/keda, GetPausedReplicaCount
    in pkg/scaling/executor/scale_scaledobjects.go and controllers/keda/hpa.go).
    """
    text = (body["metadata"].get("annotations") or {}).get(_PAUSED)
    if body["kind"] != SCALED_OBJECT or text is None:
        return None, ()
    path = f'metadata.annotations["{_PAUSED}"]'
    if not text.isdecimal():
        return None, (source.problem(path, f"must be a number of replicas, found {text!r}; correct or remove it"),)
    replicas = int(text)
    if replicas:
        reason = f"is {replicas}: the triggers have no effect, and {replicas} run until the annotation is removed"
        return replicas, (source.problem(path, reason, Severity.NOTE, rule=RuleId.FIELD_NO_EFFECT),)
    reason = "is 0: all replicas end at once, and no request starts one until the annotation is removed"
    return replicas, (source.problem(path, reason, Severity.WARNING, rule=RuleId.AUTOSCALING_ASLEEP),)


def _with_known_target(item: Rendered, known: Iterable[Key]) -> Rendered:
    (scaler,) = item.autoscalers
    own = replace(scaler, target_known=scaler.target in known, target_elsewhere=True)
    return replace(item, autoscalers=(own,))


def _removed(version: str, release: str | None) -> str:
    return f"is no longer served since Kubernetes {release}, found {version!r}; write autoscaling/v2"


# Targets among the resources of families


def resolved(items: Iterable[Rendered], fleet: Sequence[Rendered]) -> tuple[list[Rendered], list[Problem]]:
    """Let autoscalers of resources scale the workloads of these, and report those that could not work.

    Args:
        items: The autoscalers.
        fleet: The rendered resources.
    """
    moved: list[Rendered] = []
    problems: list[Problem] = []
    for item in items:
        (scaler,) = item.autoscalers
        kind, namespace, name = scaler.target
        named = [each for each in fleet if (each.kind, each.namespace, each.name) == (kind, namespace, name)]
        if named and not (shape_named(kind) and _workload(named[0], scaler.target)):
            target, reason = _of_resource(scaler, named[0])
            if reason:
                problems.append(scaler.origin_of("scaleTargetRef").problem(reason, rule=RuleId.AUTOSCALING_CONTESTED))
            moved.append(replace(item, autoscalers=(target,)))
            continue
        owner = next((each for each in fleet if _workload(each, scaler.target)), None)
        if owner is not None and any(workload.operated for workload in owner.workloads):
            problems.append(
                scaler.origin_of("scaleTargetRef").problem(
                    f"{kind} {name!r} is created by the operator for {owner.title}, which sets its replicas again: "
                    f"the two would undo each other's changes; describe the scaling in {owner.title} or a resource "
                    "of its family, or use realization 'native'",
                    rule=RuleId.AUTOSCALING_CONTESTED,
                )
            )
            scaler = replace(scaler, target_known=True)
        moved.append(replace(item, autoscalers=(scaler,)))
    return moved, problems


def _workload(item: Rendered, key: Key) -> Workload | None:
    return next((w for w in item.workloads if (w.kind, w.namespace, w.name) == key), None)


def _of_resource(scaler: Autoscaler, item: Rendered) -> tuple[Autoscaler, str]:
    """Return the autoscaler of a resource with its workload as target, and why it cannot work; empty if it can."""
    kind = item.source.kind
    targets = [workload.shape.target(workload.name) for workload in item.workloads]
    hpa = scaler.hpa
    if len(targets) == 1:
        # Even a wrong autoscaler is checked further, against the workload that was meant.
        hpa = {**hpa, "spec": {**hpa["spec"], "scaleTargetRef": targets[0]}}
    resolved_scaler = replace(scaler, hpa=hpa, target_known=True)
    written = str(scaler.hpa["spec"]["scaleTargetRef"].get("apiVersion") or kind.api_version)
    exists = any(body["kind"] == kind.kind for body in item.objects)
    reason = ""
    if written.rpartition("/")[0] != kind.group:
        reason = f"{item.title} is of API {kind.api_version}, found apiVersion {written!r}; correct it"
    elif not exists:
        names = ", ".join(f"{each['kind']} {each['name']!r} ({each['apiVersion']})" for each in targets)
        reason = (
            f"natively {item.title} becomes {names or 'no workload'}, and no {kind.kind} is created, so the "
            f"autoscaler would find nothing; scale {'one of them' if len(targets) > 1 else 'that'}, or use "
            "realization 'operator'"
        )
    elif not kind.scales:
        reason = (
            f"{kind.kind} has no scale subresource, so that no autoscaler can set its replicas; describe the "
            f"scaling in {item.title} or a resource of its family"
        )
    elif kind.scales_unselected:
        reason = (
            f"the scale subresource of {kind.kind} has no selector, without which autoscalers find no pods "
            f"('selector is required'); describe the scaling in {item.title} or a resource of its family"
        )
    return resolved_scaler, reason


def scaled_objects(scalers: WrittenScalers, fleet: Fleet) -> frozenset[Key]:
    """Return the objects that are created as they are written, and whose replicas a written autoscaler owns."""
    keys: set[Key] = set()
    for _, scaler in fleet.autoscalers:
        if not scaler.is_written:
            continue
        if scaler.target in scalers.passed:
            keys.add(scaler.target)
        owner = next((item for item in fleet.rendered if _workload(item, scaler.target)), None)
        if owner is not None:
            own = {(body["kind"], owner.namespace, body["metadata"]["name"]) for body in owner.objects}
            keys |= own & {(owner.kind, owner.namespace, owner.name)}
    return frozenset(keys)


def replicas_problems(scalers: WrittenScalers, fleet: Fleet) -> Iterator[Problem]:
    """Warn about replicas in manifests of workloads that a written autoscaler owns."""
    reported: set[int] = set()
    for _, scaler in fleet.autoscalers:
        if not scaler.is_written:
            continue
        passed = scalers.passed.get(scaler.target)
        owner = next((item for item in fleet.rendered if _workload(item, scaler.target)), None)
        source = passed[0].source if passed else owner.source if owner else None
        if source is None or id(source) in reported:
            continue
        if passed is not None:
            is_set = "replicas" in passed[1].body["spec"]
        else:
            spec = getattr(source.resource, "spec", None)
            is_set = spec is not None and "replicas" in spec.model_fields_set
        if is_set:
            reported.add(id(source))
            reason = f"has no effect after the creation: {scaler.title} owns the replicas; remove it"
            yield source.problem("spec.replicas", reason, Severity.WARNING, rule=RuleId.FIELD_NO_EFFECT)


def _owns(item: Rendered, target: Key) -> bool:
    return (item.kind, item.namespace, item.name) == target or _workload(item, target) is not None


# VerticalPodAutoscalers


def check_vertical(scalers: WrittenScalers, fleet: Fleet, namespace: str) -> Iterator[Problem]:
    """Report VerticalPodAutoscalers without a workload, those that restart servers, and those beside another one.

    Args:
        scalers: The autoscalers.
        fleet: The rendered resources.
        namespace: Namespace of objects that set none.
    """
    first: dict[Key, OtherObject] = {}
    for other in scalers.vertical:
        spec = other.value.get("spec")
        reference = spec.get("targetRef") if isinstance(spec, dict) else None
        if not isinstance(spec, dict) or not isinstance(reference, dict) or not reference.get("name"):
            yield other.problem("spec.targetRef", "is required, with kind and name; set it")
            continue
        own = str(other.value["metadata"].get("namespace") or namespace)
        target = (str(reference.get("kind")), own, str(reference["name"]))
        owner = next((each for each in fleet.rendered if _owns(each, target)), None)
        passed = scalers.passed.get(target)
        if owner is None and passed is None:
            reason = (
                f"no {target[0]} named {target[2]!r} in namespace {own!r}; correct the name, or add it, unless it "
                "exists in the cluster"
            )
            yield other.problem("spec.targetRef", reason, Severity.WARNING, RuleId.REFERENCE_ELSEWHERE)
            continue
        if owner is not None and _workload(owner, target) is None:
            reason = (
                f"{owner.title} is no workload of pods; set targetRef to the workload that it becomes, if it has one"
            )
            yield other.problem("spec.targetRef", reason, rule=RuleId.AUTOSCALING_CONTESTED)
            continue
        policy = spec.get("updatePolicy")
        mode = str((policy.get("updateMode") if isinstance(policy, dict) else None) or "Auto")
        if mode not in _UPDATE_MODES:
            hint = did_you_mean(mode, _UPDATE_MODES)
            reason = f"must be one of {', '.join(_UPDATE_MODES)}, found {mode!r}{hint}"
            yield other.problem("spec.updatePolicy.updateMode", reason)
        earlier = first.setdefault(target, other)
        if earlier is not other:
            yield other.problem(
                "spec.targetRef",
                f"VerticalPodAutoscaler {earlier.value['metadata']['name']!r} has the same target, and each pod "
                "follows one of the two alone; keep one",
                Severity.WARNING,
                RuleId.AUTOSCALING_VERTICAL,
            )
        if mode in _CHANGES_PODS:
            yield other.problem(
                "spec.updatePolicy.updateMode",
                f"is {mode}, so it evicts pods of {target[0]} {target[2]!r} to change their requests: each eviction "
                "is a restart that loads the weights again; set 'Off' for recommendations alone, or 'Initial'",
                Severity.WARNING,
                RuleId.AUTOSCALING_VERTICAL,
            )
        for scaler in (scaler for _, scaler in fleet.autoscalers if scaler.target == target):
            metrics = scaler.hpa["spec"].get("metrics") or ()
            shared = [m for m in metrics if m.get("type") == "Resource" and m["resource"].get("name") in _REQUESTS]
            if mode != "Off" and shared:
                names = " and ".join(sorted({str(metric["resource"]["name"]) for metric in shared}))
                yield other.problem(
                    "spec.targetRef",
                    f"{scaler.title} scales the same workload on {names}, whose requests this one changes: each "
                    "reacts to the other; set updatePolicy.updateMode: 'Off', or scale on another metric",
                    Severity.WARNING,
                    RuleId.AUTOSCALING_VERTICAL,
                )
