"""Renders everything that was read, and collects every problem of every resource."""

from collections.abc import Callable, Iterable

from ..api.kinds import kind_of
from ..api.llmaz import BackendRuntime, OpenModel, Playground, Service
from ..api.load import Loaded
from ..api.problems import Problem, errors
from .findings import Findings, Unrenderable
from .llmaz import render_as_written, render_playground, render_service
from .models import Library
from .options import Options
from .types import LEADER_WORKER_SET, LLMAZ, Fleet, Rendered

_DEFAULTS = Options()
_Render = Callable[[Loaded, Library, Options, Findings], Rendered]
_WORKLOADS: dict[str, _Render] = {"Playground": render_playground, "Service": render_service}


def render_fleet(resources: Iterable[Loaded], options: Options = _DEFAULTS, unread: Iterable[Problem] = ()) -> Fleet:
    """Render resources that may refer to each other.

    Every Playground and Service gives one ``Rendered``; OpenModels and BackendRuntimes are what they refer to,
    and become objects only where an operator wants them. What is wrong is returned, never raised; the same
    resources in another order give the same objects.

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
    return Fleet(unique, tuple(sorted([*problems, *clashes], key=lambda p: p.place)))


def _render(source: Loaded, library: Library, options: Options, findings: Findings) -> Rendered | None:
    render = _WORKLOADS.get(source.resource.kind)
    if render:
        return render(source, library, options, findings)
    kind = kind_of(source.resource)
    if isinstance(source.resource, OpenModel | BackendRuntime):
        if options.realization == "native":
            return None
        return render_as_written(source, options, namespaced=False, needs=frozenset({LLMAZ}))
    return render_as_written(source, options, namespaced=kind.namespaced, needs=frozenset({LEADER_WORKER_SET}))


def _identity(source: Loaded) -> tuple[str, str, str]:
    resource = source.resource
    order = "0" if isinstance(resource, OpenModel | BackendRuntime) else "1"
    return order + resource.kind, resource.metadata.namespace or "", resource.metadata.name


def _duplicates(ordered: list[Loaded], options: Options) -> dict[int, Problem]:
    """Report objects declared twice, and workloads of different kinds with one name, by identity."""
    seen: dict[tuple[str, str, str], Loaded] = {}
    problems = {}
    for source in ordered:
        resource = source.resource
        serves = isinstance(resource, Playground | Service) or resource.kind == "LeaderWorkerSet"
        namespace = resource.metadata.namespace or (options.namespace if serves else "")
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
