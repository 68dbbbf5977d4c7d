"""Pods in a form in which two renderings of the same server are equal.

Names of containers, volumes and ports may differ, and so may the order of arguments, variables and tolerations, the
spelling of quantities, and the labels and variables with which a controller finds and informs its pods.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ...contract.base import Json
from ...contract.quantity import format_quantity, is_quantity, parse_quantity
from ...engines.command_line import CommandLine, command_line_of
from ...families.adoption import node_selector_of, renamed_variables
from ...fleet.objects import Object
from ...fleet.placement import requested_by
from ...fleet.shapes import PodTemplate
from ...fleet.workloads import Workload

SERVER = "server"
"""Key of the serving container, whatever its name."""
_POD_DEFAULTS: Object = {
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
    "restartPolicy": "Always",
    "enableServiceLinks": True,
}
"""Defaults of the API server (kubernetes/kubernetes v1.36.3, pkg/apis/core/v1/defaults.go: SetDefaults_PodSpec)."""
_PROBE_DEFAULTS = {"periodSeconds": 10, "timeoutSeconds": 1, "failureThreshold": 3, "successThreshold": 1}
"""Likewise (SetDefaults_Probe)."""
_PROBES = ("startupProbe", "livenessProbe", "readinessProbe")


@dataclass(frozen=True, slots=True)
class Ownership:
    """What belongs to the controllers of a family rather than to the pods.

    Attributes:
        is_label: Whether a key of a label or annotation is one of a controller.
        variables: Variables that a controller sets in every container, each with the variable of a LeaderWorkerSet
            that has the same value; empty if none has.
    """

    is_label: Callable[[str], bool]
    variables: Mapping[str, str] = field(default_factory=dict)


def leader_and_worker(workload: Workload) -> tuple[PodTemplate, PodTemplate | None]:
    """Return the template of the pods that receive requests, and that of the others of a replica."""
    templates = workload.pod_templates
    return templates[0], templates[-1] if workload.size > 1 else None


def comparable_pods(workload: Workload, ownership: Ownership) -> Object:
    """Return the pods of a replica, each template under the part that it plays."""
    leader, worker = leader_and_worker(workload)
    selector = set(workload.shape.labels_of(workload.body)[0])
    pods = {
        "leader": _comparable_template(leader.body, workload, selector, ownership, position=workload.server.position)
    }
    if worker is not None:
        pods["worker"] = _comparable_template(worker.body, workload, selector, ownership, position=None)
    return pods


def without_owner(template: Object, workload: Workload, ownership: Ownership) -> Object:
    """Return a pod template without the labels and annotations of a controller."""
    selector = set(workload.shape.labels_of(workload.body)[0])
    metadata = _own_metadata(template.get("metadata") or {}, selector, ownership)
    return {**({"metadata": metadata} if metadata else {}), "spec": template["spec"]}


def _own_metadata(metadata: Object, selector: Iterable[str], ownership: Ownership) -> Object:
    kept = {
        part: {
            key: value
            for key, value in (metadata.get(part) or {}).items()
            if not ownership.is_label(key) and not (part == "labels" and key in selector)
        }
        for part in ("labels", "annotations")
    }
    return {part: values for part, values in kept.items() if values}


def _comparable_template(
    template: Object, workload: Workload, selector: set[str], ownership: Ownership, position: int | None
) -> Object:
    spec = template["spec"]
    volumes = {volume["name"]: _volume(volume) for volume in spec.get("volumes") or ()}
    containers = {
        SERVER if index == position else container["name"]: _comparable_container(
            container, volumes, ownership, workload.server.line if index == position else None
        )
        for index, container in enumerate(spec["containers"])
    }
    if position is None:
        # The workers of a group run the same server, under whatever name.
        containers = _single_as_server(containers)
    loaders = [_comparable_container(container, volumes, ownership) for container in spec.get("initContainers") or ()]
    mounted = {
        mount["name"]
        for container in (*spec["containers"], *(spec.get("initContainers") or ()))
        for mount in container.get("volumeMounts") or ()
    }
    rest = {key: value for key, value in spec.items() if key not in ("containers", "initContainers", "volumes")}
    pod = {
        **_own_metadata(template.get("metadata") or {}, selector, ownership),
        **_POD_DEFAULTS,
        **{key: value for key, value in rest.items() if value not in (None, {}, [])},
        "containers": containers,
        # Those with different images have nothing in common that could be compared.
        "initContainers": {f"{index} {loader['image']}": loader for index, loader in enumerate(loaders)},
        "volumes": sorted((_text(body) for name, body in volumes.items() if name not in mounted)),
    }
    required = node_selector_of(spec)
    if required is not None:
        pod["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **required}
        del pod["affinity"]
    tolerations = [entry for entry in spec.get("tolerations") or () if entry not in device_tolerations(spec)]
    return {**pod, "tolerations": sorted(tolerations, key=_text)}


def device_tolerations(spec: Object) -> list[Object]:
    """Return the tolerations of a pod for the devices that it requests.

    They allow no other nodes than those with the devices. Some families add them, and so does the admission plugin
    ExtendedResourceToleration.
    """
    devices = {key for key in requested_by(spec) if "/" in key}
    return [
        entry
        for entry in spec.get("tolerations") or ()
        if entry == {"key": entry.get("key"), "operator": "Exists", "effect": "NoSchedule"}
        and entry["key"] in devices
    ]


def _single_as_server(containers: dict[str, Object]) -> dict[str, Object]:
    return {SERVER: next(iter(containers.values()))} if len(containers) == 1 else containers


def _comparable_container(
    container: Object, volumes: Mapping[str, Json], ownership: Ownership, line: CommandLine | None = None
) -> Object:
    translated = _with_group_variables(container, ownership)
    plain = {
        key: value
        for key, value in translated.items()
        if key not in ("name", "command", "args", "env", "ports", "resources", "volumeMounts", *_PROBES)
        and value not in (None, {}, [])
    }
    read = line or command_line_of(translated)
    again = CommandLine(
        read.engine, read.tag, translated.get("args") or (), translated.get("command") or (), unread=read.unread
    )
    ports = {str(port["name"]): port["containerPort"] for port in container.get("ports") or () if port.get("name")}
    variables = {variable["name"]: _variable(variable) for variable in translated.get("env") or ()}
    return {
        **plain,
        "run": comparable_line(again),
        "env": {name: value for name, value in variables.items() if name not in ownership.variables},
        "ports": sorted(
            f"{port['containerPort']}/{port.get('protocol', 'TCP')}" for port in container.get("ports") or ()
        ),
        "resources": _resources(container.get("resources") or {}),
        "volumeMounts": {
            str(mount["mountPath"]).rstrip("/"): _mount(mount, volumes)
            for mount in container.get("volumeMounts") or ()
        },
        **{name: _probe(container[name], ports) for name in _PROBES if container.get(name)},
    }


def comparable_line(line: CommandLine) -> Object:
    """Return a command line with the arguments of its engine by flag, in the order of each flag's own uses."""
    reading = line.reading
    if reading is None:
        return {"words": list(line.words)}
    words, start = line.words, len(line.command)
    arguments: dict[str, list[Json]] = {}
    for use in reading.uses:
        if use.stray:
            arguments.setdefault("positional", []).append(words[start + use.position])
            continue
        known = use.flag if not use.dotted else None
        name = known.name if known else use.name
        if known and reading.table.dashed(use.name) in known.negatives:
            name = f"not {name}"
        values = [
            _value(words[start + value.position], use.name, joined=value.position == use.position)
            for value in use.values
        ]
        arguments.setdefault(name, []).append(values)
    first = min((use.position for use in reading.uses), default=len(line.args))
    return {"program": list(words[: start + first]), "arguments": dict(sorted(arguments.items()))}


def _value(word: str, name: str, *, joined: bool) -> str:
    if not joined:
        return word
    return word.partition("=")[2] if "=" in word else word[len(name) :]


def _with_group_variables(container: Object, ownership: Ownership) -> Object:
    """Return a container whose texts refer to the variables of a LeaderWorkerSet instead of a controller's own."""
    names = {own: shared for own, shared in ownership.variables.items() if shared}
    return renamed_variables(container, names) if names else container


def _variable(variable: Object) -> Json:
    return variable["valueFrom"] if variable.get("valueFrom") else str(variable.get("value") or "")


def _resources(resources: Object) -> Object:
    # The API server defaults requests to limits.
    requests = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {
        "limits": {key: quantity(value) for key, value in sorted((resources.get("limits") or {}).items())},
        "requests": {key: quantity(value) for key, value in sorted(requests.items())},
    }


def quantity(value: Json) -> Json:
    """Return a quantity in one spelling; anything else unchanged."""
    return format_quantity(parse_quantity(value)) if is_quantity(value) else value


def _volume(volume: Object) -> Json:
    body = {key: value for key, value in volume.items() if key != "name"}
    size = (body.get("emptyDir") or {}).get("sizeLimit")
    return body if size is None else {"emptyDir": {**body["emptyDir"], "sizeLimit": quantity(size)}}


def _mount(mount: Object, volumes: Mapping[str, Json]) -> Object:
    rest = {
        key: value
        for key, value in mount.items()
        if key not in ("name", "mountPath") and value not in (None, False, "")
    }
    return {**rest, "volume": volumes.get(mount["name"], mount["name"])}


def _probe(probe: Object, ports: Mapping[str, int]) -> Object:
    """Return a probe with its defaults, whose port is a number."""
    full = {**_PROBE_DEFAULTS, **{key: value for key, value in probe.items() if value not in (None, 0)}}
    for handler in ("httpGet", "tcpSocket", "grpc"):
        if handler in full:
            port = full[handler].get("port")
            scheme = {"scheme": "HTTP", "path": "/"} if handler == "httpGet" else {}
            full[handler] = {**scheme, **full[handler], "port": ports.get(str(port), port)}
    return full


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)
