"""The pods that resources of other projects describe (``serving.yaml``), where no workload of theirs was read."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from components.contract.schema.embedded import CORE, definitions
from components.contract.tables import load_table
from components.fleet.objects import Object
from components.fleet.shapes import DEPLOYMENT, LEADER_WORKER_SET
from components.plan.running_objects import malformed

from .ray_serve import RayServe, read_ray_serve
from .servers import requests_devices, server_of_pod
from .snapshot import ClusterSnapshot, group_of

_GPU, _NVIDIA = "gpu", "nvidia.com/gpu"
"""How a DynamoGraphDeployment names accelerators, and the resource that its operator requests for them by default."""


class DescribedPods(NamedTuple):
    """Pods that a resource describes without a workload that was read.

    Attributes:
        body: A workload with these pods.
        path: The field of the resource that describes the serving container.
        engine: The server that the resource names, if no container does.
        degrees: Degrees of parallelism that the resource sets: ``tensor``, ``pipeline`` and ``data``.
        is_decided: Whether the resource decides on the server, whatever is in the image.
    """

    body: Object
    path: str
    role: str = ""
    engine: str = ""
    degrees: Mapping[str, int] = MappingProxyType({})
    is_decided: bool = False


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


def describes_models(body: Object) -> bool:
    """Return whether an object of another project serves models with a known server."""
    return _any_pod(body, lambda pod, part: bool(_server_of(pod, part)))


def describes_devices(body: Object) -> bool:
    """Return whether an object of another project describes pods with accelerators."""
    return _any_pod(body, lambda pod, _: requests_devices({"spec": pod}))


def _server_of(pod: Object, part: Mapping[str, Any]) -> str:
    """Return the server in a pod; empty if it runs no known one."""
    server = server_of_pod({"spec": pod})
    if server is None and "groups" in part:
        # KubeRay starts Ray in place of the image's own program, and Ray starts the engine.
        bare = [{"image": each.get("image")} for each in _items(pod.get("containers")) if isinstance(each, dict)]
        server = server_of_pod({"spec": {"containers": bare}})
    return server.name if server else ""


def _any_pod(body: Object, test: Callable[[Object, Mapping[str, Any]], bool]) -> bool:
    row = row_of(body)
    if row is None:
        return False
    if "requires" in row and not value_at(body, row["requires"]):
        return False
    if "serves" not in row:
        return True
    return any(
        test(pod, part)
        for part in row["pods"]
        for _, entry in _entries(body, part)
        for pod in _pod_specs(entry, part)
    )


def engine_named_by(body: Object, row: Mapping[str, Any]) -> str:
    """Return the server that a resource names, or that serves all resources of its kind; empty if neither."""
    name = str(value_at(body, row.get("engine", "")) or "")
    serve = ray_serve_of(body, row)
    return str(row.get("engines", {}).get(name, name) or row.get("server", "")) or (serve.engine if serve else "")


def ray_serve_of(body: Object, row: Mapping[str, Any]) -> RayServe | None:
    """Return what a resource tells of Ray Serve; None for other resources."""
    return read_ray_serve(value_at(body, row["serve"])) if "serve" in row else None


def described_pods(root: Object, row: Mapping[str, Any], snapshot: ClusterSnapshot) -> Iterator[DescribedPods]:
    """Yield the pods that a resource of another project describes."""
    engine = engine_named_by(root, row)
    for part in row["pods"]:
        for key, entry in _entries(root, part):
            groups = [each for each in _items(value_at(entry, part.get("groups", ""))) if isinstance(each, dict)]
            if len(groups) > 1:
                yield from _of_groups(root, row, part=part, entry=entry, engine=engine, groups=groups)
                continue
            pods = _described(root, row, part=part, key=key, entry=entry, engine=engine, snapshot=snapshot)
            if pods is not None:
                yield pods
                if part.get("container") and "each" not in part:
                    return


def _described(
    root: Object,
    row: Mapping[str, Any],
    part: Mapping[str, Any],
    key: str,
    entry: Object,
    engine: str,
    snapshot: ClusterSnapshot,
) -> DescribedPods | None:
    """Return the pods of one entry of a resource; None if it describes none."""
    specs = [*_pod_specs(entry, part)]
    if not specs:
        return None
    spec, path = specs[0], part.get("field", "spec")
    path = f"{part['each']}[{key}].{path}" if "each" in part else path
    if part.get("runtime"):
        runtime = value_at(root, part["runtime"])
        spec = {"containers": [_with_runtime(spec["containers"][0], runtime, root, snapshot)]}
    elif not part.get("container") and "field" in part:
        # A predictor of KServe has the fields of a pod, and others beside them.
        spec = {name: value for name, value in spec.items() if name in _pod_fields()}
        path = f"{path}.containers[0]"
    if not isinstance(spec.get("containers"), list) or not spec["containers"]:
        return None
    server = _server_of(spec, part)
    if part.get("only") and not server:
        return None
    worker, size = value_at(entry, part.get("worker", "")), 2
    if "groups" in part:
        groups = [group for group in _items(value_at(entry, part["groups"])) if isinstance(group, dict)]
        worker = value_at(groups[0], "template.spec") if groups else None
        size = 1 + _pods_in(groups[0]) if groups else 1
    elif "size" in part:
        size = next((_count(value_at(entry, each)) for each in _paths(part["size"]) if value_at(entry, each)), 1)
        worker = spec
    body = workload_of(root, {"spec": spec}, _replicas(root, entry, part), worker, size)
    if malformed(body, ""):
        return None  # a file may hold anything
    role = part.get("role", "")
    role = (key if role == "key" else str(entry.get("name") or "") if role == "name" else role).lower()
    if role:
        body["metadata"]["name"] += f"-{role}"
    parallel = value_at(root, part.get("parallel", "")) or {}
    degrees = {name: value for name, value in parallel.items() if isinstance(value, int)}
    is_decided = "serve" in row and bool(engine)
    return DescribedPods(
        body=body, path=path, role=role, engine=engine or server, degrees=degrees, is_decided=is_decided
    )


def _of_groups(
    root: Object,
    row: Mapping[str, Any],
    part: Mapping[str, Any],
    entry: Object,
    engine: str,
    groups: Sequence[Object],
) -> Iterator[DescribedPods]:
    """Yield the pods of several groups of workers, each as a workload: pods of different groups are not alike.

    Pods without accelerators, such as those of the head, run no server.
    """
    times, head = _replicas(root, entry, part), str(part["field"])
    described = [("head", head, value_at(entry, head), times)]
    for number, group in enumerate(groups):
        role, path = str(group.get("groupName") or number).lower(), f"{part['groups']}[{number}].template.spec"
        described.append((role, path, value_at(group, "template.spec"), times * _pods_in(group)))
    for role, path, spec, replicas in described:
        if not isinstance(spec, dict) or not requests_devices({"spec": spec}):
            continue
        body = workload_of(root, {"spec": spec}, replicas)
        if malformed(body, ""):
            continue
        body["metadata"]["name"] += f"-{role}"
        named = engine or _server_of(spec, part)
        yield DescribedPods(body, path, role, named, is_decided="serve" in row and bool(engine))


def _pods_in(group: Object) -> int:
    """Return the number of pods of a group of workers of Ray."""
    return _count(group.get("replicas")) * (_count(group.get("numOfHosts")) or 1)


def _entries(root: Object, part: Mapping[str, Any]) -> Iterator[tuple[str, Object]]:
    """Yield the parts of a resource that a row describes, each with its key or its position."""
    if "each" not in part:
        yield "", root
        return
    value = value_at(root, part["each"])
    pairs = value.items() if isinstance(value, dict) else enumerate(_items(value))
    yield from ((str(key), entry) for key, entry in pairs if isinstance(entry, dict))


def _pod_specs(entry: Object, part: Mapping[str, Any]) -> Iterator[Object]:
    """Yield the pod specs that an entry describes: that of its field, or one of its own fields for a container."""
    if "field" not in part:
        container = {name: value_at(entry, part[name]) for name in ("args", "env", "command") if name in part}
        image = [str(value_at(entry, path) or "") for path in part.get("image", ())]
        container |= {"image": ":".join(filter(None, image))} if any(image) else {}
        yield {"containers": [_with_devices({"name": "server", **_present(container)}, entry, part)]}
        return
    for path in _paths(part["field"]):
        value = value_at(entry, path)
        if not isinstance(value, dict):
            continue
        if part.get("container"):
            yield {"containers": [_with_devices({"name": "server", **value}, entry, part)]}
        else:
            yield value
        return


def _with_devices(container: Object, entry: Object, part: Mapping[str, Any]) -> Object:
    """Return a container with the accelerators that its resource requests beside it."""
    limits = value_at(entry, f"{part['resources']}.limits") if "resources" in part else None
    if isinstance(limits, dict):
        amounts = {
            _NVIDIA if key == _GPU else key: value for key, value in limits.items() if not isinstance(value, dict)
        }
        container = {**container, "resources": {"limits": amounts}}
    if gpus := value_at(entry, part.get("gpus", "")):
        container = {**container, "resources": {"limits": {_NVIDIA: str(gpus)}}}
    profile, _, number = str(value_at(entry, part.get("profile", "")) or "").rpartition(":")
    resource = next((name for word, name in part.get("profiles", {}).items() if profile.startswith(word)), "")
    return (
        {**container, "resources": {"limits": {resource: number}}} if resource and number.isdecimal() else container
    )


def _replicas(root: Object, entry: Object, part: Mapping[str, Any]) -> int:
    values = (value_at(entry, path) for path in _paths(part.get("replicas", "")))
    number = next((value for value in values if type(value) is int), 1)
    times = value_at(root, part.get("times", ""))
    return number * times if type(times) is int else number


def _with_runtime(own: Object, runtime: Any, root: Object, snapshot: ClusterSnapshot) -> Object:  # noqa: ANN401
    """Return the container of a resource with what its runtime sets, as KServe merges them."""
    containers = value_at(_runtime_of(root, own, runtime, snapshot), serving_table()["runtimes"]["containers"])
    base: Object = containers[0] if isinstance(containers, list) and containers else {}
    kept = {key: own[key] for key in ("image", "command", "resources", "ports", "volumeMounts") if own.get(key)}
    lists = {key: [*_items(base.get(key)), *_items(own.get(key))] for key in ("args", "env")}
    name = root["metadata"]["name"]
    lists["args"] = [each.replace("{{.Name}}", name) if isinstance(each, str) else each for each in lists["args"]]
    return {"name": "kserve-container", **base, **kept, **lists}


def _runtime_of(root: Object, own: Object, runtime: Any, snapshot: ClusterSnapshot) -> Object | None:  # noqa: ANN401
    """Return the runtime of a resource: the named one, otherwise the one that its controller selects."""
    table, namespace = serving_table()["runtimes"], root["metadata"].get("namespace") or ""
    for kind in table["kinds"]:
        for space in (namespace, ""):
            found = snapshot.find(table["group"], kind, space, str(runtime or ""))
            if found:
                return found
    wanted = value_at(own, "modelFormat.name")
    if runtime or not wanted:
        return None
    for kind in table["kinds"]:
        selectable = [
            (each.get("priority") or 0, body)
            for body in snapshot.of_kind(table["group"], kind)
            if (body["metadata"].get("namespace") or "") in (namespace, "")
            for each in _items(value_at(body, table["formats"]))
            if isinstance(each, dict) and each.get("name") == wanted and each.get("autoSelect") is True
        ]
        if selectable:
            return max(selectable, key=lambda pair: pair[0])[1]
    return None


@functools.cache
def _pod_fields() -> frozenset[str]:
    return frozenset(definitions()[f"{CORE}PodSpec"]["properties"])


def _paths(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _present(values: Mapping[str, Any]) -> Object:
    return {key: value for key, value in values.items() if isinstance(value, list | str)}


def _count(value: object) -> int:
    return value if type(value) is int and value >= 0 else 0


def _items(value: Any) -> list[Any]:  # noqa: ANN401  any field
    return value if isinstance(value, list) else []


def workload_of(root: Object, template: Object, replicas: int, worker: Any = None, size: int = 2) -> Object:  # noqa: ANN401
    """Return a workload with given pods, which exists only to be checked."""
    metadata = {"name": root["metadata"]["name"], "namespace": root["metadata"].get("namespace") or ""}
    spec: Object = {"replicas": replicas, "template": template}
    shape = DEPLOYMENT
    if isinstance(worker, dict) and worker.get("containers") and size > 1:
        shape = LEADER_WORKER_SET
        spec = {
            "replicas": replicas,
            "leaderWorkerTemplate": {"size": size, "leaderTemplate": template, "workerTemplate": {"spec": worker}},
        }
    return {"apiVersion": shape.api_version, "kind": shape.kind, "metadata": metadata, "spec": spec}
