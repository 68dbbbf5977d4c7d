"""Renders a ModelBooster: its expansion natively, or the booster itself for Kthena's controllers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain

from ....contract.findings.collector import Findings, Unrenderable
from ....contract.kinds import Kind
from ....contract.load import LoadedResource
from ....fleet.combining import with_autoscaler
from ....fleet.library import Library
from ....fleet.objects import Object
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import as_manifest
from ..autoscaling.rendering import render_binding
from ..generated import Generated, GeneratedFindings, GeneratedOrigin
from ..kinds import MODEL_ROUTE, MODEL_SERVER
from ..names import NETWORKING_API, OPERATOR, WORKLOAD_API
from ..references import SelectedRole, roles_in
from ..routing.model_server import check_engines, render_model_server
from ..routing.rendering import checked_endpoints, render_model_route
from ..routing.rules import RouteContext, routed_adapters
from ..routing.targets import RoutedServer, targets_of
from ..serving.context import ServingContext
from ..serving.rendering import check_serving, checked_roles, render_model_serving, render_native
from ..types import ModelServing
from .checks import check_scheduled_together
from .context import BackendContext, ExpansionOptions, Purpose
from .expansion import Expansion, backends_of, expand
from .field_maps import Fields, LazyFieldMap, route_fields, server_fields
from .networking import adapter_names, route_rules
from .operator_checks import check_booster_for_operator
from .weights import named_weights

Roles = tuple[SelectedRole, ...]
Step = tuple[Callable[[Findings], Rendered | None], Findings]
"""A function that renders one of the generated resources, and where it reports problems."""


def render_model_booster(source: LoadedResource, _library: Library, options: Options, findings: Findings) -> Rendered:
    """Render a ModelBooster: the generated resources are rendered like those that the user writes.

    Raises:
        Unrenderable: nothing can be rendered; the error is in ``findings``.
    """
    native = options.realization.is_native
    expansion_options = ExpansionOptions.of(options, applied=not native)
    if expansion_options.purpose is Purpose.CONTROLLERS:
        check_booster_for_operator(backends_of(source, expansion_options), options, findings)
    else:
        check_scheduled_together(backends_of(source, expansion_options), findings)
    expansion = expand(source, findings, expansion_options)
    # After an error, some resources are missing, and warnings of the others may be due to that.
    errors_only = findings.has_errors
    parts = []
    for render, part_findings in _steps(source, expansion, options):
        try:
            part = render(part_findings)
        except Unrenderable:
            part = None
        findings.problems += [problem for problem in part_findings.problems if problem.is_error or not errors_only]
        if part:
            parts.append(part)
    if findings.has_errors:
        raise Unrenderable
    rendered = _combined(source, parts, options)
    if native:
        return rendered
    # The controllers create the generated resources.
    others = (body for body in rendered.others if body["apiVersion"] not in (WORKLOAD_API, NETWORKING_API))
    return replace(rendered, others=(as_manifest(source, options), *others), requires=rendered.requires | {OPERATOR})


def expanded(source: LoadedResource, options: Options, findings: Findings) -> tuple[Object, ...]:
    """Return the resources generated from a ModelBooster; with realization operator as the controllers need them."""
    try:
        expansion = expand(source, findings, ExpansionOptions.of(options))
    except Unrenderable:
        return ()
    return () if findings.has_errors else tuple(generated.resource.wire() for generated in expansion)


def _steps(source: LoadedResource, expansion: Expansion, options: Options) -> Iterator[Step]:
    """Yield the steps that render the generated resources, which refer to each other only."""
    renderers: tuple[tuple[Callable[..., Rendered | None], Iterable[Generated]], ...] = (
        (render_model_serving, expansion.servings),
        (render_model_server, expansion.servers),
        (render_model_route, expansion.routes),
    )
    if expansion.fronts:
        # Natively nothing reads ModelServers and a ModelRoute: the functions that would render them get what these
        # resources would contain.
        renderers = ()
        roles_by_serving: list[Roles] = [tuple(roles_in(serving)) for serving in expansion.servings]
        for serving, roles in zip(expansion.servings, roles_by_serving, strict=True):
            yield partial(_render_serving, serving, roles, options), Findings(serving)
        servers = {}
        for (backend, front), roles in zip(expansion.fronts, roles_by_serving, strict=True):
            servers[backend.name] = RoutedServer(backend.name, front.served, front.port, is_pair=False, roles=roles)
            findings = _findings(source, MODEL_SERVER, backend.name, partial(server_fields, backend))
            yield partial(check_engines, backend.engine.serves, roles), findings
        backends = tuple(backend for backend, _ in expansion.fronts)
        findings = _findings(source, MODEL_ROUTE, source.name, partial(route_fields, backends))
        yield partial(_render_route, source, backends, servers, options, findings.origin), findings
    if renderers or expansion.bindings:
        library = Library(expansion, options.namespace)
        for render, resources in (*renderers, (render_binding, expansion.bindings)):
            for resource in resources:
                yield partial(render, resource, library, options), Findings(resource)


def _findings(source: LoadedResource, kind: Kind, name: str, fields: Fields) -> GeneratedFindings:
    origin = GeneratedOrigin(f"{kind.kind}/{name}", source, LazyFieldMap(kind, name, fields))
    return GeneratedFindings(source, origin=origin)


def _render_serving(source: Generated, roles: Roles, options: Options, findings: Findings) -> Rendered:
    resource = source.resource
    assert isinstance(resource, ModelServing)  # noqa: S101  it was generated as one
    serving = ServingContext(source, resource, resource.metadata.namespace or options.namespace, options, findings)
    check_serving(serving)
    # The route leads to all roles.
    return render_native(serving, checked_roles(serving, roles), frozenset(role.role.name for role in roles))


def _render_route(
    source: LoadedResource,
    backends: tuple[BackendContext, ...],
    servers: dict[str, RoutedServer],
    options: Options,
    origin: GeneratedOrigin,
    findings: Findings,
) -> Rendered:
    model, namespace = backends[0].model, backends[0].namespace
    names = tuple(adapter_names(backends))
    adapters = routed_adapters(model, names)
    rules = route_rules(backends)
    route = RouteContext(
        source=origin,
        name=model,
        namespace=namespace,
        model=model,
        lora_adapters=names,
        adapters=adapters,
        rules=rules,
        options=options,
        findings=findings,
    )
    endpoints = checked_endpoints(route, targets_of(route, servers), routed=False)
    return Rendered(source, MODEL_ROUTE.kind, model, namespace, endpoints=endpoints, model=model)


def _combined(source: LoadedResource, parts: list[Rendered], options: Options) -> Rendered:
    """Merge the rendered resources into one result under the booster's name."""
    name = source.name
    backends = backends_of(source, ExpansionOptions.of(options))
    weights = tuple(chain.from_iterable(map(named_weights, backends)))
    scalers = {scaler.target: scaler for part in parts for scaler in part.autoscalers}
    workloads = []
    for workload in (workload for part in parts for workload in part.workloads):
        scaler = scalers.get((workload.kind, workload.namespace, workload.name))
        workloads.append(with_autoscaler(replace(workload, server=replace(workload.server, weights=weights)), scaler))
    return Rendered(
        source=source,
        kind=source.kind.kind,
        name=name,
        namespace=source.resource.metadata.namespace or options.namespace,
        workloads=tuple(workloads),
        endpoints=tuple(endpoint for part in parts for endpoint in part.endpoints),
        autoscalers=tuple(autoscaler for part in parts for autoscaler in part.autoscalers),
        others=tuple(body for part in parts for body in part.others),
        shared=tuple(body for part in parts for body in part.shared),
        requires=frozenset[str]().union(*(part.requires for part in parts)),
        model=name,
    )
