"""The servers in pods: by an engine's command line, or by other signs of a server."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from components.engines.container_variables import values_of, with_values
from components.engines.signs import ServerSigns, models_of, server_in, server_started_by, servers
from components.fleet.objects import Object
from components.plan.running_objects import holds_devices, serving_lines

from .snapshot import ClusterSnapshot


class PodServer(NamedTuple):
    """The server in a pod.

    Attributes:
        position: Index of its container.
        name: Its name.
    """

    position: int
    name: str


def server_of_pod(template: Mapping[str, Any]) -> PodServer | None:
    """Return the server that a pod runs; None if it runs no known one.

    The program decides where it is that of a server without flag tables: an engine's image may start it.
    """
    lines = serving_lines(template)
    signed = [*_signed(template)]
    for position, line in enumerate(lines):
        if line:
            started = signed[position]
            return PodServer(position, started.name if started and not started.engine else line.engine)
    likely = ((position, server) for position, server in enumerate(_likely(template)) if server)
    return next((PodServer(position, server.name) for position, server in likely), None)


def requests_devices(template: Mapping[str, Any]) -> bool:
    """Return whether a container of a pod requests accelerators."""
    return any(holds_devices(container) for container in containers_of(template))


def served_models(
    name: str, container: Mapping[str, Any], namespace: str = "", snapshot: ClusterSnapshot | None = None
) -> tuple[str, ...]:
    """Return the models of a server by its command, its variables, or its image; empty if none of them names any.

    Args:
        name: The server.
        container: Its container.
        namespace: The namespace of its pod.
        snapshot: The objects, whose ConfigMaps may hold its variables.
    """
    server = servers().get(name)
    if server is None:
        return ()
    variables = {**(_configured(container, namespace, snapshot) if snapshot else {}), **values_of(container)}
    return models_of(server, with_values(container), variables)


def config_maps_of(container: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the ConfigMaps from which a container takes variables."""
    for source in container.get("envFrom") or ():
        yield ((source or {}).get("configMapRef") or {}).get("name") or ""
    for variable in container.get("env") or ():
        yield (((variable or {}).get("valueFrom") or {}).get("configMapKeyRef") or {}).get("name") or ""


def _configured(container: Mapping[str, Any], namespace: str, snapshot: ClusterSnapshot) -> dict[str, str]:
    """Return the variables that a container takes from ConfigMaps."""
    values: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        name = ((source or {}).get("configMapRef") or {}).get("name")
        body = snapshot.find("", "ConfigMap", namespace, str(name))
        values |= {key: str(value) for key, value in ((body or {}).get("data") or {}).items()}
    for variable in container.get("env") or ():
        reference = ((variable or {}).get("valueFrom") or {}).get("configMapKeyRef") or {}
        body = snapshot.find("", "ConfigMap", namespace, str(reference.get("name")))
        value = ((body or {}).get("data") or {}).get(reference.get("key"))
        if value is not None:
            values[str(variable.get("name"))] = str(value)
    return values


def containers_of(template: Mapping[str, Any]) -> list[Object]:
    """Return the containers of a pod."""
    containers = (template.get("spec") or {}).get("containers")
    return [each for each in containers if isinstance(each, dict)] if isinstance(containers, list) else []


def _signed(template: Mapping[str, Any]) -> Iterator[ServerSigns | None]:
    yield from (server_started_by(with_values(container)) for container in containers_of(template))


def _likely(template: Mapping[str, Any]) -> Iterator[ServerSigns | None]:
    labels = (template.get("metadata") or {}).get("labels")
    for container in containers_of(template):
        yield server_in(
            with_values(container), labels if isinstance(labels, dict) else {}, devices=holds_devices(container)
        )
