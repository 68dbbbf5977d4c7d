"""The external processor's configuration.

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
    """How requests to a backend of a rule are rewritten.

    Attributes:
        prefix: Prefix of the API's own path.
        model: The backend's name of the model (``modelNameOverride``); empty if it is the clients' name.
        removed: Request headers to remove.
        added: Request headers to set.
    """

    prefix: str = _PREFIX
    model: str = ""
    removed: tuple[str, ...] = ()
    added: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProcessorConfig:
    """Configuration of the external processor.

    Attributes:
        models: Every model that a rule names, in the order of the rules.
        by_host: Models by the host name of their routes.
        unscoped: Models of the routes without a host name, if other routes have one.
        backends: By the name that ``alteration.backend_name`` returns.
        costs: By route (``namespace/name``): the kind of tokens to count by the metadata key to report it under.
    """

    models: tuple[str, ...] = ()
    by_host: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unscoped: tuple[str, ...] = ()
    backends: Mapping[str, AiBackend] = field(default_factory=dict)
    costs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def for_host(self, host: str) -> tuple[str, ...]:
        """Return the models of a host (``selectModelsForHost``, ``internal/extproc/models_processor.go``)."""
        if not host or not self.by_host:
            return self.models
        return self.by_host.get(host, self.unscoped)


def processor_config(objects: Iterable[Object]) -> ProcessorConfig:
    """Return the processor's configuration for rendered objects."""
    rendered = tuple(objects)
    routes = ai_routes(rendered)
    by_host: dict[str, list[Object]] = {}
    open_routes: list[Object] = []
    backends: dict[str, AiBackend] = {}
    costs: dict[str, dict[str, str]] = {}
    for route in routes:
        hosts = dict.fromkeys(_hosts(route))
        for host in hosts:
            by_host.setdefault(host, []).append(route)
        if not hosts:
            open_routes.append(route)
        backends.update(_backends(route, rendered))
        own = _costs(route)
        if own:
            costs["/".join(place_of(route))] = own
    # Without hosts every model is found by its name alone.
    unscoped = _models(open_routes) if by_host else ()
    return ProcessorConfig(
        models=_models(routes),
        by_host={host: (*_models(own), *unscoped) for host, own in by_host.items()},
        unscoped=unscoped,
        backends=backends,
        costs=costs,
    )


def written(config: ProcessorConfig) -> bytes:
    return TypeAdapter(ProcessorConfig).dump_json(config, indent=1)


def read_config(file: Path) -> ProcessorConfig:
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
    return tuple(
        header["value"]
        for header in headers
        if header.get("type", "Exact") == "Exact" and header["name"] == MODEL_HEADER
    )


def _costs(route: Object) -> dict[str, str]:
    return {cost["metadataKey"]: cost["type"] for cost in route["spec"].get("llmRequestCosts", ())}


def _backends(route: Object, objects: Iterable[Object]) -> dict[str, AiBackend]:
    service_backend, home = service_backends(objects), route["metadata"]["namespace"]
    backends = {}
    for number, rule in enumerate(route["spec"]["rules"]):
        for index, reference in enumerate(rule["backendRefs"]):
            spec = service_backend[reference.get("namespace", home), reference["name"]]["spec"]
            # The rule's mutations come last: they override the backend's.
            mutations = spec.get("headerMutation", {}), reference.get("headerMutation", {})
            removed = {name.lower() for mutation in mutations for name in mutation.get("remove", ())}
            added = [header for mutation in mutations for header in mutation.get("set", ())]
            backends[backend_name(route, number, index)] = AiBackend(
                # An empty prefix counts as none (``cmp.Or`` in ``schemaToFilterAPI``).
                prefix=spec["schema"].get("prefix") or _PREFIX,
                model=reference.get("modelNameOverride", ""),
                removed=tuple(sorted(removed)),
                added={header["name"].lower(): header["value"] for header in added},
            )
    return backends
