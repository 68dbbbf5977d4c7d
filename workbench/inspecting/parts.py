"""The workloads of a model: engine, version, parallelism, accelerators and replicas."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from components.contract.quantity import is_quantity, parse_quantity
from components.engines.command_line import CommandLine, command_line_of
from components.engines.images import parse_image
from components.engines.registry import engines
from components.engines.scripts.commands import engine_line
from components.engines.served.names import served_names
from components.engines.settings import Setting
from components.engines.versions import format_version
from components.fleet.instances import is_accelerator
from components.fleet.objects import Object
from components.fleet.rendered import Rendered
from components.fleet.shapes import shape_of
from components.fleet.workloads import Server
from components.plan.running_objects import serving_lines

from .describing import DescribedPods, engine_named_by, row_of, value_at
from .recognition import Serving
from .servers import served_models, server_of_pod
from .snapshot import ClusterSnapshot

_NUMBERS = 3
"""Numbers of a version, as engines write them."""
_READY = ("readyReplicas", "availableReplicas", "availableServers")


@dataclass(frozen=True, slots=True)
class Part:
    """A workload of a model.

    Attributes:
        title: ``Kind/name``.
        role: Its role, such as ``prefill``; empty if the model has one workload.
        engine: The engine, or the server that its resource names; empty if unknown.
        version: Version of the engine; empty if unknown.
        models: Names that the server accepts.
        tensor, pipeline, data: Degrees of parallelism; 1 unless set, and None if a script computes them.
        pods: Pods of one replica.
        resource: The extended resource of its accelerators; empty without one.
        accelerators: Accelerators of one replica.
        ready: Ready replicas; None if the state is unknown.
        is_digest_only: Whether the image has a digest and no tag.
    """

    title: str
    role: str
    engine: str
    version: str
    image: str
    models: tuple[str, ...]
    tensor: int | None
    pipeline: int | None
    data: int | None
    pods: int
    resource: str
    accelerators: int
    desired: int
    ready: int | None
    is_digest_only: bool = False

    @property
    def parallelism(self) -> str:
        """Such as ``TP 8 PP 2``; empty without any."""
        degrees = (("TP", self.tensor), ("PP", self.pipeline), ("DP", self.data))
        return " ".join(f"{name} {'?' if degree is None else degree}" for name, degree in degrees if degree != 1)


def parts_of(serving: Serving, items: Sequence[Rendered], snapshot: ClusterSnapshot) -> tuple[Part, ...]:
    """Return the workloads of a resource: those that run, else those that it describes.

    Args:
        serving: The resource.
        items: What it is rendered to.
        snapshot: All objects.
    """
    planned = {(workload.kind, workload.name): workload.server for item in items for workload in item.workloads}
    if serving.workloads:
        return tuple(
            _part(body, "", _ready(body), snapshot, server=planned.get((body["kind"], body["metadata"]["name"])))
            for body in serving.workloads
        )
    if serving.described:
        ready = _ready_pods(serving.pods) if serving.pods else _status(serving.resource)
        alone = len(serving.described) == 1
        parts = (_described_part(serving, part, ready if alone else None, snapshot) for part in serving.described)
        # A replica of several pods is ready when all of them are.
        return tuple(
            replace(part, ready=part.ready // part.pods) if part.ready and serving.pods else part for part in parts
        )
    workloads = [workload for item in items for workload in item.workloads]
    ready = _status(serving.resource)
    return tuple(
        _part(
            workload.body,
            workload.role,
            ready if len(workloads) == 1 else None,
            snapshot,
            desired=workload.replicas,
            server=workload.server,
        )
        for workload in workloads
    ) or (_unknown(serving, ready),)


def secrets_of(serving: Serving, items: Sequence[Rendered]) -> tuple[str, ...]:
    """Return the names of the Secrets that pods refer to; their values are never read."""
    names = {name for pod in pods_of(serving, items) for name in secret_names(pod.get("spec") or {})}
    return tuple(sorted(names))


def pods_of(serving: Serving, items: Sequence[Rendered]) -> list[Any]:
    """Return the pod templates of a resource: of what runs or is described, else of what it is rendered to."""
    bodies = [*serving.workloads, *(part.body for part in serving.described)]
    bodies = bodies or [workload.body for item in items for workload in item.workloads]
    return [pod for body in bodies for pod in _pods(body)]


def _part(
    body: Object,
    role: str,
    ready: int | None,
    snapshot: ClusterSnapshot,
    *,
    desired: int | None = None,
    server: Server | None = None,
) -> Part:
    """Return a workload.

    Args:
        body: The object.
        role: Its role.
        ready: Its ready replicas.
        snapshot: All objects.
        desired: Its replicas, if not those of the object.
        server: What its resource tells about the server; None if no resource describes it.
    """
    shape = shape_of(body)
    pods = _pods(body)
    front = pods[0] if pods else {}
    lines = serving_lines(front)
    containers = (front.get("spec") or {}).get("containers") or [{}]
    named = server.line.engine if server else ""
    signed = server_of_pod(front)
    usual = server.position if server else signed.position if signed else 0
    position = next((place for place, line in enumerate(lines) if line), usual)
    container = containers[position if position < len(containers) else 0]
    # The resource names the engine of an image that nothing else tells it of, and whose entrypoint starts it.
    line = next(filter(None, lines), None) or (command_line_of(container, named) if named else None)
    if server and server.config:
        line = server.line  # with the arguments of its configuration file
    image = str(container.get("image") or "")
    parsed = parse_image(image)
    amounts = _accelerators(body)
    replicas = (body.get("spec") or {}).get("replicas", 1)
    tensor, pipeline, data = _degrees(line)
    name = signed.name if signed else line.engine if line else ""
    models = (served_names(line) if line else ()) or served_models(
        name, container, str(body["metadata"].get("namespace") or ""), snapshot
    )
    return Part(
        title=f"{body['kind']}/{body['metadata']['name']}",
        role=role,
        engine=name,
        version=_version(line),
        image=image,
        models=models,
        tensor=tensor,
        pipeline=pipeline,
        data=data,
        pods=shape.size_of(body) if shape else 1,
        resource=next(iter(amounts), ""),
        accelerators=sum(amounts.values()),
        desired=replicas if desired is None and isinstance(replicas, int) else desired or 0,
        ready=ready,
        is_digest_only=bool(parsed.digest and not parsed.tag),
    )


def _described_part(serving: Serving, pods: DescribedPods, ready: int | None, snapshot: ClusterSnapshot) -> Part:
    """Return the part of pods that a resource describes; degrees that the resource sets override the flags."""
    part = _part(pods.body, pods.role, ready, snapshot)
    named = pods.engine if pods.is_decided else part.engine or pods.engine
    if not part.models and pods.engine and pods.engine != part.engine:
        (template, *_) = _pods(pods.body) or [{}]
        containers = (template.get("spec") or {}).get("containers") or [{}]
        part = replace(part, models=served_models(pods.engine, containers[0]))

    def degree(name: str, of_flags: int | None) -> int | None:
        return pods.degrees[name] if pods.degrees.get(name, 0) > 0 else of_flags

    return replace(
        part,
        title=f"{serving.resource['kind']}/{serving.resource['metadata']['name']}",
        engine=named,
        tensor=degree("tensor", part.tensor),
        pipeline=degree("pipeline", part.pipeline),
        data=degree("data", part.data),
    )


def _unknown(serving: Serving, ready: int | None) -> Part:
    """Return the part of a resource that could not be rendered and has no workload."""
    replicas = value_at(serving.resource, "spec.replicas")
    title = f"{serving.resource['kind']}/{serving.resource['metadata']['name']}"
    desired = replicas if isinstance(replicas, int) else 1
    row = row_of(serving.resource)
    engine = engine_named_by(serving.resource, row) if row else ""
    return Part(
        title=title,
        role="",
        engine=engine,
        version="",
        image="",
        models=(),
        tensor=1,
        pipeline=1,
        data=1,
        pods=1,
        resource="",
        accelerators=0,
        desired=desired,
        ready=ready,
    )


def _degrees(line: CommandLine | None) -> tuple[int | None, int | None, int | None]:
    source = (engine_line(line) or line) if line else None

    def degree(setting: Setting) -> int | None:
        if source is None or not source.holds(setting):
            return 1
        return source.number_of(setting)  # None for a variable of a script

    return degree(Setting.TENSOR_PARALLEL), degree(Setting.PIPELINE_PARALLEL), degree(Setting.DATA_PARALLEL)


def _version(line: CommandLine | None) -> str:
    engine = engines().get(line.engine) if line else None
    version = engine.version(line.tag) if engine and line else None
    if not version or engine is None:
        return ""  # neither a floating tag nor one of another project names the version that runs
    if engine.builds:
        return format_version(version, builds=True)
    # Versions are compared without trailing zeros, and written with them.
    return format_version((*version, *(0,) * (_NUMBERS - len(version))))


def _pods(body: Object) -> list[Any]:
    """Return the pod templates of a workload, that of the pods that receive requests first."""
    shape = shape_of(body)
    templates = shape.pod_templates(body) if shape else ()
    return [template.body for template in templates]


def _accelerators(body: Object) -> dict[str, int]:
    """Return the accelerators of one replica."""
    shape = shape_of(body)
    total: dict[str, int] = {}
    for template in shape.pod_templates(body) if shape else ():
        for container in (template.body.get("spec") or {}).get("containers") or ():
            resources = container.get("resources") or {}
            amounts = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
            for key, amount in amounts.items():
                if is_accelerator(key) and is_quantity(amount):
                    total[key] = total.get(key, 0) + int(parse_quantity(amount)) * template.pods
    return total


def _ready(body: Object) -> int | None:
    status = body.get("status")
    if not isinstance(status, dict):
        return None  # rendered by Helm, not read from a cluster
    return int(status.get("readyReplicas") or 0)


def _status(body: Object) -> int | None:
    status = body.get("status")
    if not isinstance(status, dict):
        return None
    return next((status[key] for key in _READY if isinstance(status.get(key), int)), None)


def _ready_pods(pods: Sequence[Object]) -> int:
    conditions = ((pod.get("status") or {}).get("conditions") or () for pod in pods)
    return sum(
        any(each.get("type") == "Ready" and each.get("status") == "True" for each in own) for own in conditions
    )


def secret_names(pod: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the Secrets that a pod spec refers to."""
    names = [reference.get("name") for reference in pod.get("imagePullSecrets") or ()]
    names += [(volume.get("secret") or {}).get("secretName") for volume in pod.get("volumes") or ()]
    for container in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
        for variable in container.get("env") or ():
            reference = (variable.get("valueFrom") or {}).get("secretKeyRef") or {}
            names.append(reference.get("name"))
        names += [(source.get("secretRef") or {}).get("name") for source in container.get("envFrom") or ()]
    yield from (name for name in names if isinstance(name, str) and name)
