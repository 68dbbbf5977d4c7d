"""A ModelBooster becomes what its resources become, or is left to Kthena's controllers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from ....contract.findings.collector import Findings, Unrenderable
from ....contract.load import LoadedResource
from ....fleet.combining import with_autoscaler
from ....fleet.library import Library
from ....fleet.objects import Object
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import as_manifest
from ....fleet.workloads import NamedWeights, Workload
from ..autoscaling.rendering import render_binding
from ..made import Made
from ..names import NETWORKING_API, WORKLOAD_API
from ..operated import OPERATOR
from ..routing.rendering import render_model_route
from ..routing.servers import render_model_server
from ..serving.rendering import render_model_serving
from . import direct
from .children.weights import named_weights
from .direct import Step
from .expansion import Expansion, expand, parts_of
from .operated import check_booster_for_operator
from .setup import Purpose, Setup

_Render = Callable[[LoadedResource, Library, Options, Findings], Rendered | None]


def render_model_booster(source: LoadedResource, _library: Library, options: Options, findings: Findings) -> Rendered:
    """Render a ModelBooster: what it is expanded into goes through the functions of what is written by hand.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    setup = Setup.of(options, applied=not options.realization.is_native)
    if setup.purpose is Purpose.CONTROLLERS:
        check_booster_for_operator(parts_of(source, setup), options, findings)
    expansion = expand(source, findings, setup)
    parts = list(_rendered(_steps(source, expansion, options), findings))
    if findings.has_errors:
        raise Unrenderable
    joined = _joined(source, parts, options)
    if options.realization.is_native:
        return joined
    # Its resources are made by the controllers.
    others = (each for each in joined.others if each["apiVersion"] not in (WORKLOAD_API, NETWORKING_API))
    return replace(joined, others=(as_manifest(source, options), *others), requires=joined.requires | {OPERATOR})


def expanded(source: LoadedResource, options: Options, findings: Findings) -> tuple[Object, ...]:
    """Return the resources that a ModelBooster stands for; with realization operator as the controllers need them."""
    try:
        children = expand(source, findings, Setup.of(options))
    except Unrenderable:
        return ()
    return () if findings.has_errors else tuple(child.resource.wire() for child in children)


def _steps(source: LoadedResource, expansion: Expansion, options: Options) -> Iterator[Step]:
    """Yield what renders the resources; each knows the others and nothing else."""
    kinds: tuple[tuple[_Render, Iterable[Made]], ...] = (
        (render_model_serving, expansion.servings),
        (render_model_server, expansion.servers),
        (render_model_route, expansion.routes),
    )
    if expansion.fronts:
        yield from direct.steps(source, expansion.fronts, expansion.servings, options)
        kinds = ()
    if kinds or expansion.bindings:
        library = Library(expansion, options.namespace)
        for render, children in (*kinds, (render_binding, expansion.bindings)):
            yield from ((partial(render, child, library, options), Findings(child)) for child in children)


def _rendered(steps: Iterable[Step], findings: Findings) -> Iterator[Rendered]:
    """Yield what the resources become that become something."""
    # Warnings of a part would be about what is missing around it.
    in_part = findings.has_errors
    for render, found in steps:
        try:
            item = render(found)
        except Unrenderable:
            item = None
        findings.problems += [each for each in found.problems if each.is_error or not in_part]
        if item:
            yield item


def _joined(source: LoadedResource, parts: list[Rendered], options: Options) -> Rendered:
    """Return what all parts become together, under the booster's name."""
    name = source.name
    weights = tuple(named for part in parts_of(source, Setup.of(options)) for named in named_weights(part))
    scalers = {scaler.target: scaler for part in parts for scaler in part.autoscalers}
    return Rendered(
        source=source,
        kind=source.kind.kind,
        name=name,
        namespace=source.resource.metadata.namespace or options.namespace,
        workloads=tuple(
            with_autoscaler(each, scalers.get((each.kind, each.namespace, each.name)))
            for each in _workloads(parts, weights)
        ),
        endpoints=tuple(each for part in parts for each in part.endpoints),
        autoscalers=tuple(each for part in parts for each in part.autoscalers),
        others=tuple(each for part in parts for each in part.others),
        shared=tuple(each for part in parts for each in part.shared),
        requires=frozenset[str]().union(*(part.requires for part in parts)),
        model=name,
    )


def _workloads(parts: Iterable[Rendered], weights: tuple[NamedWeights, ...]) -> Iterator[Workload]:
    """Yield the workloads of all parts, with the sources of what they load."""
    for workload in (each for part in parts for each in part.workloads):
        yield replace(workload, server=replace(workload.server, weights=weights))
