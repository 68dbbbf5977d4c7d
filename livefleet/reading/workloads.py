"""The workloads that serve requests, as the live fleet simulates them."""

import re
from typing import TYPE_CHECKING

from components.engines.exporters import exporter_of
from components.engines.registry import engines
from components.engines.served.adapters import adapter_model_name, adapters_of
from components.engines.served.names import positional, served_names
from components.engines.settings import Setting
from components.engines.versions import ANY
from components.fleet.workloads import Workload
from components.resources.serving.fleet.outputs import output_name

from ..fleet import ServedWorkload, Speaks
from .paces import Speed, speeds_of
from .roles import PodRole, roles_of

if TYPE_CHECKING:
    from components.engines.command_line import CommandLine
    from components.fleet.rendered import Rendered
    from components.plan.plan import Plan

_NUMBERED = re.compile(r"v?(\d+(?:\.\d+)+)")
_BUILD = re.compile(r"(?:^|-)(b\d+)(?=-|$)")
_MODELS = (Setting.MODEL, Setting.MODEL_REPOSITORY, Setting.MODEL_ADDRESS)


def served_workloads(planned: "Plan") -> tuple[ServedWorkload, ...]:
    """Return every workload of a plan that listens on a port."""
    roles, titles, speeds = roles_of(planned.fleet), _titles(planned), speeds_of(planned)
    names = _asked_names(planned)
    return tuple(
        _workload(each, titles[place], roles[place], speeds[place], names.get(place, ()))
        for place, each in ((f"{each.namespace}/{each.name}", each) for _, each in planned.fleet.workloads)
        if _port(each)
    )


def _workload(each: Workload, title: str, role: PodRole, speed: Speed, asked: tuple[str, ...]) -> ServedWorkload:
    line, answering = each.server.line, speed.answering
    exporter = exporter_of(each.container, line)
    adapters = tuple(dict.fromkeys(adapter_model_name(line, name) or name for name, _ in adapters_of(line)))
    own = _own_names(line) or tuple(name for name in asked if name not in adapters) or (each.model or title,)
    loaded = _loaded(line) or answering.model or own[0]
    return ServedWorkload(
        namespace=each.namespace,
        kind=each.kind,
        name=each.name,
        title=title,
        selector=dict(each.own_pods.front),
        container=str(each.container["name"]),
        engine=line.engine,
        version=_version(line, answering.api),
        speaks=Speaks(answering.api),
        port=_port(each),
        models=tuple(dict.fromkeys((*own, *adapters))),
        adapters=adapters,
        loaded=loaded,
        paces=speed.paces,
        startup=speed.startup,
        role=role,
        queue=answering.queue,
        in_flight=answering.in_flight,
        context=speed.context,
        embeds=answering.embeds,
        dimensions=speed.dimensions if answering.embeds else None,
        images=speed.images,
        exports=exporter.is_on or exporter.facts is None,
        metrics_refusal=answering.metrics_refusal,
        image_refusal=answering.image_refusal.replace("<model>", loaded),
        tool_refusal=answering.tool_refusal,
        inputs=answering.inputs,
        truncates=answering.truncates,
        group=dict(each.own_pods.group or {}) if each.size > 1 and not each.bare else {},
    )


def _titles(planned: "Plan") -> dict[str, str]:
    """Return the name in the outputs of each workload's resource, or of the resource with its endpoint."""
    routed: dict[tuple[str, str], Rendered] = {}
    for item, endpoint in planned.fleet.endpoints:
        for place in endpoint.backend_keys:
            routed.setdefault(place, item)
    titles = {}
    for item, workload in planned.fleet.workloads:
        routing = [routed[place] for place in sorted(workload.backend_keys) if place in routed]
        resource = item if item.endpoints or not routing else routing[0]
        title = output_name(planned, resource.namespace, resource.name)
        titles[f"{workload.namespace}/{workload.name}"] = title
    return titles


def _asked_names(planned: "Plan") -> dict[str, tuple[str, ...]]:
    """Return the model names that requests to the endpoints use, by workload."""
    names: dict[str, list[str]] = {}
    for _, endpoint in planned.fleet.endpoints:
        renamed = {
            (backend.namespace, backend.workload): backend.served_name
            for backend in endpoint.backends
            if backend.served_name
        }
        for _, workload in planned.fleet.workloads:
            if workload.backend_keys & endpoint.backend_keys:
                name = next((renamed[place] for place in workload.backend_keys if place in renamed), endpoint.model)
                names.setdefault(f"{workload.namespace}/{workload.name}", []).append(name)
    return {place: tuple(dict.fromkeys(aliases)) for place, aliases in names.items()}


def _own_names(line: "CommandLine") -> tuple[str, ...]:
    """Return the model names that the server's command line sets."""
    return served_names(line) or tuple(filter(None, (line.value_of(Setting.SERVED_NAME),)))


def _loaded(line: "CommandLine") -> str:
    return next(filter(None, map(line.value_of, _MODELS)), "") or positional(line)


def _port(each: Workload) -> int:
    """Return the server's port; 0 if it is unknown."""
    chosen = each.port or each.server.line.number_of(Setting.PORT)
    engine = engines().get(each.server.line.engine)
    declared = next((int(port["containerPort"]) for port in each.container.get("ports") or ()), 0)
    return chosen or declared or (engine.port if engine and engine.port else 0)


def _version(line: "CommandLine", api: str) -> str:
    """Return the version in the image's tag, with its trailing zeros; empty if there is none."""
    engine = engines().get(line.engine)
    if engine is None and api != Speaks.OPENAI:
        match = _NUMBERED.search(line.tag)
        return match[1] if match else ""
    if engine is None or engine.version(line.tag) in (None, ANY):
        return ""
    match = _BUILD.search(line.tag) if engine.builds else _NUMBERED.match(line.tag)
    return match[1] if match else ""
