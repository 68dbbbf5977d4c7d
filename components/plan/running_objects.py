"""Workloads and autoscalers of a cluster as parts of a fleet: see :mod:`.running`."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import ConfigDict, ValidationError

from ..contract.base import ApiModel, Json, NaturalInt32, PositiveInt32
from ..contract.documents.source import Location
from ..contract.findings.collector import Findings
from ..contract.findings.ids import RuleId
from ..contract.kinds import Kind
from ..contract.load import LoadedResource, OtherObject
from ..contract.messages import explain
from ..contract.meta import JsonObject, Resource
from ..contract.problems import Problem, Severity, field_path
from ..contract.schema.embedded import PodTemplate, format_value
from ..contract.schema.live import normalized, wrong_types
from ..contract.texts.secrets import masked_text, quoted_texts
from ..contract.texts.unseen import unseen_texts
from ..engines.command_line import CommandLine, command_line_of
from ..engines.devices import vendor_needed_by
from ..engines.served.names import served_names
from ..engines.serving import serving_line
from ..families import labelled_server
from ..fleet.arguments import check_arguments
from ..fleet.extended_resources import fractional_devices
from ..fleet.instances import is_accelerator
from ..fleet.objects import Object, copied
from ..fleet.origins import Origin
from ..fleet.rendered import Rendered
from ..fleet.serving import declared_port, server_of
from ..fleet.shapes import shape_of
from ..fleet.workloads import Workload
from ..fleet.written import pod_demands
from .others import as_written, in_namespace, unusable_field
from .overridden_variables import without_overridden
from .scaler_kinds import SCALER_KINDS

_MOST_JOBS = 100
"""Default ``maxReplicaCount`` of a ScaledJob (kedacore/keda, apis/keda/v1alpha1/scaledjob_types.go)."""


class RunningSpec(ApiModel):
    """The spec of a workload that runs; only its pod template is validated."""

    model_config = ConfigDict(extra="allow")

    template: PodTemplate | None = None


class RunningObject(Resource):
    """A workload or autoscaler that runs."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    spec: RunningSpec


class DescribingObject(Resource):
    """An object of another API that describes pods."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    spec: JsonObject


class _Templates(ApiModel):
    """The part of a workload that is read before it is validated as a whole."""

    template: PodTemplate | None = None
    replicas: NaturalInt32 | None = None
    selector: JsonObject | None = None


class _ServicePort(ApiModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    port: PositiveInt32


class _Service(ApiModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    selector: dict[str, str] | None = None
    ports: list[_ServicePort] | None = None


_DEVICES = "NVIDIA_VISIBLE_DEVICES"
"""With it, NVIDIA's runtime gives a container GPUs that it does not request."""
_SPECS: Mapping[tuple[str, str], type[ApiModel]] = {
    **{key: kind.model for key, kind in SCALER_KINDS.items()},
    ("v1", "Service"): _Service,
}


def malformed(body: Object, file: str) -> tuple[Problem, ...]:
    """Return why an object cannot be read: a workload, pod, autoscaler or Service; nothing for other kinds.

    A file may contain anything, and so may the answer of a server that is none of Kubernetes.
    """
    found: list[Problem] = []
    known: list[frozenset[str]] = []
    kind = Kind(str(body["apiVersion"]), str(body["kind"]), RunningObject, "", namespaced=True)

    def problem(path: str, reason: str) -> None:
        namespace, name = str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])
        known[:] = known or [quoted_texts(body)]
        reason = masked_text(reason, known[0])
        found.append(Problem(file=file, kind=kind.kind, name=name, path=path, reason=reason, namespace=namespace))

    def check(model: type[ApiModel], value: Json, outer: tuple[str, ...], *, skip: int = 0) -> None:
        try:
            model.model_validate(normalized(value))
        except ValidationError as error:
            for parts, reason in explain(error, kind):
                problem(field_path((*outer, *parts[skip:])), reason)

    for parts, reason in wrong_types(normalized(body)):
        problem(field_path(parts), reason)
    if found:
        return tuple(found)
    shape, spec = shape_of(body), body.get("spec")
    model = _SPECS.get((kind.api_version, kind.kind))
    is_pod = (kind.api_version, kind.kind) == ("v1", "Pod")
    if (shape or model or is_pod) and not isinstance(spec, dict):
        problem("spec", f"must be a map, found {format_value(spec)}")
    elif is_pod:
        check(_Templates, {"template": {"spec": spec}}, (), skip=1)
    elif model:
        check(model, spec, ("spec",))
    elif shape and isinstance(spec, dict):
        check(_Templates, {key: spec[key] for key in ("template", "replicas", "selector") if key in spec}, ("spec",))
        outer, _, count = shape.group_field.partition(".")
        if outer:
            group = spec.get(outer)
            size = group.get(count, 1) if isinstance(group, dict) else 0
            if not isinstance(group, dict) or type(size) is not int or size < 1:
                problem(f"spec.{outer}", "must be a map with the pods of a group, and their number in size")
            else:
                for field in shape.templates:
                    name = field.path.rpartition(".")[2]
                    check(_Templates, {"template": group.get(name)}, ("spec", outer, name), skip=1)
    return tuple(found)


def running_workload(
    body: Object,
    file: str,
    *,
    origin: Object | None = None,
    containers_path: str = "",
    line: int = 0,
    location: Location | None = None,
) -> tuple[Rendered | None, tuple[Problem, ...]]:
    """Return a workload that runs, and its problems; None if its pods cannot be read.

    Args:
        body: The workload, of a kind in ``fleet.shapes``.
        file: Where it was read, for messages.
        origin: The object that describes the pods, if that is not the workload.
        containers_path: The field of ``origin`` with the serving container; empty for the pod template.
        line: Its line in the file.
        location: The lines of its fields.
    """
    body, overridden = without_overridden(body, file) if origin is None else (body, ())
    source, problems = loaded(body, file, line=line, location=location)
    problems = (*overridden, *problems)
    if source is not None and origin is not None:
        source, problems = loaded(origin, file, DescribingObject)
    if source is not None:
        problems = (*problems, *_unseen(source, body if origin is None else origin))
    shape = shape_of(body)
    if source is None or shape is None:
        return None, problems
    written: Object = normalized(as_written(copied(body)))
    templates = shape.pod_templates(written)
    if not templates or any(not (template.body.get("spec") or {}).get("containers") for template in templates):
        path = f"{shape.templates[0].path}.spec.containers"
        return None, (*problems, source.problem(path, "must have at least one container, found none; add one"))
    findings = Findings(source)
    for path, reason in fractional_devices(written):
        findings.error(path, reason)
    _complete(written, templates[0].body)
    front = templates[0]
    containers = front.body["spec"]["containers"]
    served = serving_lines(front.body)
    lines = [line or command_line_of(container) for line, container in zip(served, containers, strict=True)]
    server = server_of(containers, source, f"{front.field.path}.spec.containers", lines=lines)
    if containers_path:
        args = Origin(source, f"{containers_path}.args")
        server = replace(server, args=args, ports=Origin(source, f"{containers_path}.ports"))
    container = containers[server.position]
    check_arguments(server, container, findings)
    # A server in another part of the resource, such as a worker, may hold the accelerators.
    if not any(_may_have_devices(template.body) for template in templates) and vendor_needed_by(
        str(container.get("image") or "")
    ):
        path = f"{containers_path or f'{front.field.path}.spec.containers[{server.position}]'}.resources"
        findings.warn(
            path,
            f"requests no accelerator, without which the server of {container['image']} does not start; request "
            "nvidia.com/gpu, or use the image for CPUs",
            RuleId.GPUS_ABSENT,
        )
    workload = Workload(
        body=written,
        server=server,
        port=declared_port(container, server.line),
        replicas=int(written["spec"].get("replicas", 1)),
        pods=pod_demands(written, shape, source),
        model=next(iter(served_names(server.line)), source.name),
        origin=Origin(source),
    )
    item = Rendered(
        source, source.kind.kind, workload.name, workload.namespace, workloads=(workload,), requires=shape.requires
    )
    return item, (*problems, *findings.problems)


def serving_lines(template: Mapping[str, Any]) -> list[CommandLine | None]:
    """Return the command line of each container of a pod that serves models; None for the others.

    Labels tell the engine only if no image or program does, as for an image of a registry of one's own.
    """
    containers = (template.get("spec") or {}).get("containers")
    containers = containers if isinstance(containers, list) else []
    labels = (template.get("metadata") or {}).get("labels")
    own = labels if isinstance(labels, dict) else {}
    lines = [
        serving_line(each, "", own, devices=holds_devices(each)) if isinstance(each, dict) else None
        for each in containers
    ]
    server = labelled_server(labels) if isinstance(labels, dict) and not any(lines) else None
    if server is None:
        return lines
    return [
        serving_line(each, server.engine) if isinstance(each, dict) and each.get("name") == server.container else None
        for each in containers
    ]


def holds_devices(container: Mapping[str, Any]) -> bool:
    """Return whether a container requests accelerators."""
    resources = container.get("resources") or {}
    return any(
        is_accelerator(str(key)) and str(amount) != "0"
        for field in ("limits", "requests")
        for key, amount in (resources.get(field) or {}).items()
    )


def _may_have_devices(template: Object) -> bool:
    """Return whether a pod has accelerators, or may have them without requesting an extended resource."""
    spec = template.get("spec") or {}
    containers = spec.get("containers") or ()
    if spec.get("runtimeClassName") or spec.get("resourceClaims"):
        return True
    variables = {variable.get("name") for container in containers for variable in container.get("env") or ()}
    amounts = {
        str(key)
        for container in containers
        for field in ("limits", "requests")
        for key in ((container.get("resources") or {}).get(field) or {})
    }
    # Parts of GPUs have resources of their own, such as nvidia.com/mig-1g.10gb.
    return _DEVICES in variables or any("/" in key for key in amounts)


def passed_workload(other: OtherObject, namespace: str) -> Rendered | None:
    """Return the workload of an object that is passed through; None if it is another object, or cannot be read.

    Args:
        other: The object.
        namespace: Namespace of objects that set none.
    """
    if unusable_field(other.value) or shape_of(other.value) is None:
        return None
    body = in_namespace(other.value, namespace)
    if malformed(body, other.file):
        return None
    return running_workload(body, other.file, line=other.line, location=other.location)[0]


def _is_scaled_job(body: Mapping[str, Any]) -> bool:
    return body.get("kind") == "ScaledJob" and str(body.get("apiVersion")).startswith("keda.sh/")


def unchecked_servers(others: Iterable[OtherObject], namespace: str) -> Iterator[Problem]:
    """Note the servers among the objects that are passed through: plans judge the workloads of families only.

    Args:
        others: The objects.
        namespace: Namespace of objects that set none.
    """
    for other in others:
        if _is_scaled_job(other.value):
            spec = other.value.get("spec")
            written = spec.get("maxReplicaCount") if isinstance(spec, dict) else None
            most = written if isinstance(written, int) else _MOST_JOBS
            yield other.problem(
                "spec.maxReplicaCount",
                f"is {most}: that many Jobs run at a time, with pods whose nodes, accelerators and cost are not part "
                "of the plan; the nodes that they select must have room for them",
                Severity.NOTE,
                rule=RuleId.UNCHANGED_UNCHECKED,
            )
            continue
        item = passed_workload(other, namespace)
        engine = next((workload.server.line.engine for workload in item.workloads), "") if item else ""
        if engine:
            yield other.problem(
                "spec",
                f"this server of {engine} is created unchanged; its memory, cost and settings are not checked: pass "
                "its manifest to workbench inspect --from",
                Severity.NOTE,
                rule=RuleId.UNCHANGED_UNCHECKED,
            )


def loaded(
    body: Object, file: str, model: type[Resource] = RunningObject, line: int = 0, location: Location | None = None
) -> tuple[LoadedResource | None, tuple[Problem, ...]]:
    """Return an object as a resource without the replicas that it may have, and its problems."""
    kind = Kind(str(body["apiVersion"]), str(body["kind"]), model, "", namespaced=True)
    value = normalized(as_written(copied(body)))
    if isinstance(value.get("spec"), dict):
        # The API server sets replicas, and autoscalers change them: they are no declaration of a user.
        value["spec"].pop("replicas", None)
    try:
        resource = model.model_validate(value, context=kind)
    except ValidationError as error:
        namespace, name = str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])
        known = quoted_texts(body)
        return None, tuple(
            Problem(
                file=file,
                kind=kind.kind,
                name=name,
                path=field_path(path),
                reason=masked_text(reason, known),
                namespace=namespace,
            )
            for path, reason in explain(error, kind)
        )
    return LoadedResource(resource, kind, file, line, location), ()


def _unseen(source: LoadedResource, body: Object) -> Iterator[Problem]:
    """Yield the texts with characters that are not seen or pass for others, as for manifests."""
    for text in unseen_texts(as_written(copied(body))):
        severity = Severity.WARNING if text.is_free else Severity.ERROR
        yield source.problem(field_path(text.path), text.reason, severity, rule=RuleId.CHARACTER_UNSEEN)


def _complete(body: Object, template: Object) -> None:
    """Set what a chart that was not rendered completely may lack, and later steps read."""
    selector = body["spec"].setdefault("selector", {})
    if not isinstance(selector.get("matchLabels"), dict):
        selector["matchLabels"] = dict((template.get("metadata") or {}).get("labels") or {})
