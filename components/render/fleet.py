"""Renders everything that was read, and collects every problem of every resource."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..api.kinds import kind_of
from ..api.llmaz import BackendRuntime, OpenModel, Playground, Service
from ..api.llmkube import InferenceService, Model
from ..api.load import Loaded
from ..api.problems import Problem, errors
from .findings import Findings, Unrenderable
from .llmaz import render_as_written, render_playground, render_service
from .llmkube.inference_service import crowded_claims, render_inference_service
from .models import Library
from .options import Options
from .types import LEADER_WORKER_SET, LLMAZ, LLMKUBE, Fleet, Object, Rendered

_DEFAULTS = Options()
_Render = Callable[[Loaded, Library, Options, Findings], Rendered]
_WORKLOADS: dict[str, _Render] = {
    "InferenceService": render_inference_service,
    "Playground": render_playground,
    "Service": render_service,
}
_REFERRED = OpenModel | BackendRuntime | Model


def render_fleet(resources: Iterable[Loaded], options: Options = _DEFAULTS, unread: Iterable[Problem] = ()) -> Fleet:
    """Render resources that may refer to each other.

    Every Playground, Service and InferenceService gives one ``Rendered``; OpenModels, BackendRuntimes and Models are
    what they refer to, and become objects only where an operator wants them. What several of them share is made
    once. What is wrong is returned, never raised; the same resources in another order give the same objects.

    Args:
        resources: What was read.
        options: How to render.
        unread: Problems of reading. A model with a wrong field is reported there; what claims it is not told
            that there is no such model.
    """
    ordered = sorted(resources, key=_identity)
    again = _duplicates(ordered, options)
    problems = list(again.values())
    library = Library(
        models={r.resource.metadata.name: r.resource for r in ordered if isinstance(r.resource, OpenModel)},
        runtimes={r.resource.metadata.name: r.resource for r in ordered if isinstance(r.resource, BackendRuntime)},
        unread=frozenset((p.kind, p.name) for p in errors(unread)),
        namespaced=_by_namespace(ordered, options),
    )
    rendered = []
    for source in ordered:
        findings = Findings(source)
        try:
            item = _render(source, library, options, findings)
        except Unrenderable:
            item = None
        problems += findings.problems
        if item and not findings.failed and id(source) not in again:
            rendered.append(item)
    clashes, unique = _clashes(rendered)
    problems += [*clashes, *crowded_claims(unique)]
    return Fleet((*_shared(unique), *unique), tuple(sorted(problems, key=lambda p: p.place)))


def _by_namespace(ordered: list[Loaded], options: Options) -> dict[str, dict[str, Model]]:
    found: dict[str, dict[str, Model]] = {}
    for source in ordered:
        if isinstance(source.resource, Model):
            found.setdefault(_namespace(source, options), {})[source.resource.metadata.name] = source.resource
    return found


def _namespace(source: Loaded, options: Options) -> str:
    return source.resource.metadata.namespace or options.namespace


def _shared(rendered: Iterable[Rendered]) -> tuple[Rendered, ...]:
    """Make each object that several resources share once, whoever asks for it first."""
    made: dict[tuple[str, str, str], tuple[Object, Loaded]] = {}
    for item in rendered:
        for body in item.shared:
            metadata = body["metadata"]
            made.setdefault((metadata.get("namespace", ""), body["kind"], metadata["name"]), (body, item.source))
    # A copy of the source: who looks for the item of a resource by its source shall not find these.
    return tuple(
        Rendered(replace(source), kind, name, namespace, (body,))
        for (namespace, kind, name), (body, source) in sorted(made.items(), key=lambda entry: entry[0])
    )


def _render(source: Loaded, library: Library, options: Options, findings: Findings) -> Rendered | None:
    render = _WORKLOADS.get(source.resource.kind)
    if render:
        return render(source, library, options, findings)
    if isinstance(source.resource, _REFERRED):
        if options.realization == "native":
            return None
        kube = isinstance(source.resource, Model)
        return render_as_written(source, options, namespaced=kube, needs=frozenset({LLMKUBE if kube else LLMAZ}))
    namespaced = kind_of(source.resource).namespaced
    return render_as_written(source, options, namespaced=namespaced, needs=frozenset({LEADER_WORKER_SET}))


def _identity(source: Loaded) -> tuple[str, str, str]:
    resource = source.resource
    order = "0" if isinstance(resource, _REFERRED) else "1"
    return order + resource.kind, resource.metadata.namespace or "", resource.metadata.name


def _duplicates(ordered: list[Loaded], options: Options) -> dict[int, Problem]:
    """Report objects declared twice, and workloads of different kinds with one name, by identity."""
    seen: dict[tuple[str, str, str], Loaded] = {}
    problems = {}
    for source in ordered:
        resource = source.resource
        serves = isinstance(resource, Playground | Service | InferenceService) or resource.kind == "LeaderWorkerSet"
        namespaced = serves or isinstance(resource, Model)
        namespace = _namespace(source, options) if namespaced else resource.metadata.namespace or ""
        key = ("workload" if serves else resource.kind, namespace, resource.metadata.name)
        first = seen.setdefault(key, source)
        if first is not source:
            where = f"{first.resource.kind}/{first.resource.metadata.name} in {first.file}:{first.line}"
            reason = f"is taken by {where}; rename or remove one of the two"
            problems[id(source)] = source.problem("metadata.name", reason)
    return problems


def _clashes(rendered: list[Rendered]) -> tuple[list[Problem], tuple[Rendered, ...]]:
    """Report objects that two resources would both make, and return what is left."""
    makers: dict[tuple[str, str, str], Rendered] = {}
    problems, unique = [], []
    for item in rendered:
        made = [(body["kind"], item.namespace, body["metadata"]["name"]) for body in item.objects]
        # The LeaderWorkerSet controller makes a headless Service of the set's name.
        made += [("Service", *rest) for kind, *rest in made if kind == "LeaderWorkerSet"]
        # An operator makes the Service of an InferenceService, whose name has dashes for the dots.
        if item.kind == "InferenceService" and item.endpoint:
            made.append(("Service", item.namespace, item.endpoint.service))
        taken = next((key for key in made if key in makers), None)
        if taken is None:
            makers.update(dict.fromkeys(made, item))
            unique.append(item)
            continue
        other = makers[taken].source
        where = f"{other.resource.kind}/{other.resource.metadata.name} in {other.file}:{other.line}"
        reason = f"{taken[0]} {taken[2]!r} is made for {where} too; rename one of the two"
        problems.append(item.source.problem("metadata.name", reason))
    return problems, tuple(unique)
