"""The workloads that serve requests, as the live fleet simulates them."""

import re
from typing import TYPE_CHECKING

from components.engines.exporters import exporter_of
from components.engines.registry import engines
from components.engines.served.adapters import adapter_model_name, adapters_of
from components.engines.served.names import positional, served_names
from components.engines.settings import Setting
from components.engines.versions import ANY
from components.fleet.ending import finishing_seconds
from components.fleet.rendered import Rendered, ServingIndex
from components.fleet.workloads import Workload
from components.resources.serving.fleet.outputs import output_name

from ..fleet import ServedWorkload, Speaks
from .paces import speeds_of
from .roles import roles_of

if TYPE_CHECKING:
    from components.engines.command_line import CommandLine
    from components.plan.plan import Plan

_NUMBERED = re.compile(r"v?(\d+(?:\.\d+)+)")
_BUILD = re.compile(r"(?:^|-)(b\d+)(?=-|$)")
_MODEL_SETTINGS = (Setting.MODEL, Setting.MODEL_REPOSITORY, Setting.MODEL_ADDRESS)


def served_workloads(planned: "Plan") -> tuple[ServedWorkload, ...]:
    """Return every workload of a plan that listens on a port."""
    roles, titles, speeds = roles_of(planned.fleet), _titles(planned), speeds_of(planned)
    names = _requested_names(planned)
    served = []
    for _, workload in planned.fleet.workloads:
        key, port = f"{workload.namespace}/{workload.name}", _port(workload)
        if not port:
            continue
        line, title, speed = workload.server.line, titles[key], speeds[key]
        behavior = speed.behavior
        exporter = exporter_of(workload.container, line)
        adapters = tuple(dict.fromkeys(adapter_model_name(line, name) or name for name, _ in adapters_of(line)))
        models = (
            served_names(line)
            or tuple(filter(None, (line.value_of(Setting.SERVED_NAME),)))
            or tuple(name for name in names.get(key, ()) if name not in adapters)
            or (workload.model or title,)
        )
        loaded = (
            next(filter(None, map(line.value_of, _MODEL_SETTINGS)), "")
            or positional(line)
            or behavior.model
            or models[0]
        )
        served.append(
            ServedWorkload(
                namespace=workload.namespace,
                kind=workload.kind,
                name=workload.name,
                title=title,
                selector=dict(workload.own_pods.front),
                container=str(workload.container["name"]),
                engine=line.engine,
                version=_version(line),
                speaks=Speaks(behavior.api),
                port=port,
                models=tuple(dict.fromkeys((*models, *adapters))),
                adapters=adapters,
                loaded=loaded,
                paces=speed.paces,
                startup=speed.startup,
                role=roles[key],
                queue=behavior.queue,
                in_flight=behavior.in_flight,
                context=speed.context,
                embeds=behavior.embeds,
                dimensions=speed.dimensions if behavior.embeds else None,
                images=speed.images,
                exports=exporter.is_on or exporter.facts is None,
                metrics_refusal=behavior.metrics_refusal,
                image_refusal=behavior.image_refusal.replace("<model>", loaded),
                tool_refusal=behavior.tool_refusal,
                inputs=behavior.inputs,
                truncates=behavior.truncates,
                finishing=finishing_seconds(workload),
                group=dict(workload.own_pods.group or {}) if workload.size > 1 and not workload.bare else {},
            )
        )
    return tuple(served)


def _titles(planned: "Plan") -> dict[str, str]:
    """Return the name in the outputs of each workload's resource, or of the resource with its endpoint."""
    routed: dict[tuple[str, str], Rendered] = {}
    for item, endpoint in planned.fleet.endpoints:
        for key in endpoint.backend_keys:
            routed.setdefault(key, item)
    titles = {}
    for item, workload in planned.fleet.workloads:
        routing = [routed[key] for key in sorted(workload.backend_keys) if key in routed]
        resource = item if item.endpoints or not routing else routing[0]
        title = output_name(planned, resource.namespace, resource.name)
        titles[f"{workload.namespace}/{workload.name}"] = title
    return titles


def _requested_names(planned: "Plan") -> dict[str, tuple[str, ...]]:
    """Return the model names that requests to the endpoints use, by workload."""
    names: dict[str, list[str]] = {}
    index = ServingIndex(planned.fleet)
    for _, endpoint in planned.fleet.endpoints:
        renamed = {
            (backend.namespace, backend.workload): backend.served_name
            for backend in endpoint.backends
            if backend.served_name
        }
        for workload in index.of_keys(endpoint.backend_keys):
            name = next((renamed[key] for key in workload.backend_keys if key in renamed), endpoint.model)
            names.setdefault(f"{workload.namespace}/{workload.name}", []).append(name)
    return {key: tuple(dict.fromkeys(aliases)) for key, aliases in names.items()}


def _port(workload: Workload) -> int:
    """Return the server's port; 0 if it is unknown."""
    configured = workload.port or workload.server.line.number_of(Setting.PORT)
    engine = engines().get(workload.server.line.engine)
    declared = next((int(port["containerPort"]) for port in workload.container.get("ports") or ()), 0)
    return configured or declared or (engine.port if engine and engine.port else 0)


def _version(line: "CommandLine") -> str:
    """Return the version in the image's tag, with its trailing zeros; empty without one."""
    engine = engines().get(line.engine)
    if engine is None or engine.version(line.tag) in (None, ANY):
        return ""
    tag = line.tag.removeprefix(f"{engine.edition(line.tag)}-")
    match = _BUILD.search(tag) if engine.builds else _NUMBERED.match(tag)
    return match[1] if match else ""
