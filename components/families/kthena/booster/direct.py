"""What becomes natively of a ModelBooster whose ModelServers and ModelRoute nobody reads.

The functions behind those kinds are told what the resources would say.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ....contract.findings.collector import Findings
from ....contract.kinds import Kind
from ....contract.load import LoadedResource
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ..kinds import MODEL_ROUTE, MODEL_SERVER
from ..made import Behind, FindingsBehind, Made
from ..reach import SelectedRole, roles_in
from ..routing.asked import AskedRoute, adapters_beside
from ..routing.rendering import checked_endpoints
from ..routing.servers import check_engines
from ..routing.targets import RoutedServer, targets_of
from ..serving.asked import AskedServing
from ..serving.rendering import check_written, checked_roles, native
from ..types import ModelServing
from . import blame
from .blame import Field, fields_of
from .children.command import Commands
from .children.route import adapter_names, asked_rules
from .setup import Part

Roles = tuple[SelectedRole, ...]
Step = tuple[Callable[[Findings], Rendered | None], Findings]
"""Renders a part of what a booster becomes, and where it reports."""


def steps(
    source: LoadedResource, fronts: Sequence[tuple[Part, Commands]], servings: Sequence[Made], options: Options
) -> Iterator[Step]:
    """Yield what renders the ModelServings, and what tells where clients reach the model.

    Args:
        source: The booster.
        fronts: Its backends, and what the pods of each run that take requests.
        servings: The ModelServing of each.
        options: How to render.
    """
    known = [tuple(roles_in(serving)) for serving in servings]
    for serving, roles in zip(servings, known, strict=True):
        yield partial(_serving, serving, roles, options), Findings(serving)
    servers = {}
    for (part, front), roles in zip(fronts, known, strict=True):
        servers[part.name] = RoutedServer(part.name, front.served, front.port, is_pair=False, roles=roles)
        yield (
            partial(_server, part, roles),
            _findings_of(source, MODEL_SERVER, part.name, partial(blame.of_server, part)),
        )
    parts = tuple(part for part, _ in fronts)
    of_route = _findings_of(source, MODEL_ROUTE, source.name, partial(blame.of_route, parts))
    yield partial(_route, source, parts, servers, options, of_route.behind), of_route


def _findings_of(
    source: LoadedResource, kind: Kind, name: str, fields: Callable[[], Iterator[Field]]
) -> FindingsBehind:
    return FindingsBehind(source, behind=Behind(f"{kind.kind}/{name}", source, fields_of(kind, name, fields)))


def _serving(source: Made, known: Roles, options: Options, findings: Findings) -> Rendered:
    resource = source.resource
    assert isinstance(resource, ModelServing)  # noqa: S101  it was made as one
    asked = AskedServing(source, resource, resource.metadata.namespace or options.namespace, options, findings)
    check_written(asked)
    # The route leads to each of them.
    return native(asked, checked_roles(asked, known), frozenset(each.role.name for each in known))


def _server(part: Part, roles: Roles, findings: Findings) -> None:
    check_engines(part.started.serves, roles, findings)


def _route(
    source: LoadedResource,
    parts: Sequence[Part],
    servers: dict[str, RoutedServer],
    options: Options,
    behind: Behind,
    findings: Findings,
) -> Rendered:
    model, namespace = parts[0].model, parts[0].namespace
    rules = asked_rules(parts[0].booster, parts)
    names = tuple(adapter_names(parts))
    adapters = adapters_beside(model, names) if names else ()
    asked = AskedRoute(behind, model, namespace, model, names, adapters, rules, options, findings)
    endpoints = checked_endpoints(asked, targets_of(asked, servers), routed=False)
    return Rendered(source, MODEL_ROUTE.kind, model, namespace, endpoints=endpoints, model=model)
