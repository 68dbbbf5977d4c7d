"""What the external processor is told of the routes.

A stand-in for the Secret that the AI gateway's controller writes (``reconcileFilterConfigSecret`` in ai-gateway
v1.1.0 ``internal/controller/gateway.go``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from ...fleet import Object
from .alteration import backend_name
from .translation import ai_routes, place_of, service_backends

MODEL_HEADER = "x-ai-eg-model"
_PREFIX = "v1"


@dataclass(frozen=True, slots=True)
class AiBackend:
    """How a backend of a rule is asked.

    Attributes:
        prefix: What comes before the API's own path.
        knows_as: What it calls the model, if that is not what clients say.
        removed: Headers that it does not get.
        added: Headers that it gets.
    """

    prefix: str = _PREFIX
    knows_as: str = ""
    removed: tuple[str, ...] = ()
    added: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProcessorConfig:
    """Everything that the processor knows.

    Attributes:
        models: Every model that a rule names, in the order of the rules.
        by_host: Models by the host name of their routes.
        unscoped: Models of the routes without a host name, where others have one.
        backends: By the name that ``alteration.backend_name`` gives.
        costs: By route (``namespace/name``), what is counted, by the key under which it is kept.
    """

    models: tuple[str, ...] = ()
    by_host: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unscoped: tuple[str, ...] = ()
    backends: Mapping[str, AiBackend] = field(default_factory=dict)
    costs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def for_host(self, host: str) -> tuple[str, ...]:
        """Return the models that a host has (``selectModelsForHost``, ``internal/extproc/models_processor.go``)."""
        if not host or not self.by_host:
            return self.models
        return self.by_host.get(host, self.unscoped)


def processor_config(objects: Iterable[Object]) -> ProcessorConfig:
    """Return what the processor must know of rendered objects."""
    given = tuple(objects)
    routes = ai_routes(given)
    hosts = {host: [route for route in routes if host in _hosts(route)] for route in routes for host in _hosts(route)}
    open_routes = [route for route in routes if not _hosts(route)] if hosts else []
    return ProcessorConfig(
        models=_models(routes),
        by_host={host: (*_models(found), *_models(open_routes)) for host, found in hosts.items()},
        unscoped=_models(open_routes),
        backends={name: each for route in routes for name, each in _backends(route, given).items()},
        costs={"/".join(place_of(route)): _costs(route) for route in routes if _costs(route)},
    )


def written(config: ProcessorConfig) -> bytes:
    """Return a configuration as the processor reads it."""
    return TypeAdapter(ProcessorConfig).dump_json(config, indent=1)


def read_config(file: Path) -> ProcessorConfig:
    """Read a configuration."""
    return TypeAdapter(ProcessorConfig).validate_json(file.read_bytes())


def _hosts(route: Object) -> list[str]:
    return [str(host) for host in route["spec"].get("hostnames", ())]


def _models(routes: Iterable[Object]) -> tuple[str, ...]:
    headers = (
        header
        for route in routes
        for rule in route["spec"]["rules"]
        for match in rule.get("matches", ())
        for header in match.get("headers", ())
    )
    exact = (each for each in headers if each.get("type", "Exact") == "Exact" and each["name"] == MODEL_HEADER)
    return tuple(each["value"] for each in exact)


def _costs(route: Object) -> dict[str, str]:
    return {each["metadataKey"]: each["type"] for each in route["spec"].get("llmRequestCosts", ())}


def _backends(route: Object, objects: Iterable[Object]) -> dict[str, AiBackend]:
    known, home = service_backends(objects), route["metadata"]["namespace"]
    return {
        backend_name(route, number, index): _backend(
            reference, known[reference.get("namespace", home), reference["name"]]["spec"]
        )
        for number, rule in enumerate(route["spec"]["rules"])
        for index, reference in enumerate(rule["backendRefs"])
    }


def _backend(reference: Object, spec: Object) -> AiBackend:
    """Return a backend as a rule refers to it; what the rule says of headers goes before what the backend says."""
    own, ruled = spec.get("headerMutation", {}), reference.get("headerMutation", {})
    removed = [*own.get("remove", ()), *ruled.get("remove", ())]
    added = [*own.get("set", ()), *ruled.get("set", ())]
    return AiBackend(
        # An empty prefix is none (``cmp.Or`` in ``schemaToFilterAPI``).
        prefix=spec["schema"].get("prefix") or _PREFIX,
        knows_as=reference.get("modelNameOverride", ""),
        removed=tuple(sorted({name.lower() for name in removed})),
        added={each["name"].lower(): each["value"] for each in added},
    )
