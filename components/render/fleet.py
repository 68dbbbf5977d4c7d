"""Renders everything that was read, and collects every problem of every resource."""

from collections.abc import Callable, Iterable

from ..api.kinds import kind_of
from ..api.llmaz import BackendRuntime, OpenModel, Playground, Service
from ..api.load import Loaded
from ..api.problems import Problem
from .findings import Findings, Unrenderable
from .llmaz import Library, render_as_written, render_playground, render_service
from .options import Options
from .types import LEADER_WORKER_SET, LLMAZ, Fleet, Rendered

_DEFAULTS = Options()
_Render = Callable[[Loaded, Library, Options, Findings], Rendered]
_WORKLOADS: dict[str, _Render] = {"Playground": render_playground, "Service": render_service}


def render_fleet(resources: Iterable[Loaded], options: Options = _DEFAULTS) -> Fleet:
    """Render resources that may refer to each other.

    Every Playground and Service gives one ``Rendered``; OpenModels and BackendRuntimes are what they refer to,
    and become objects only where an operator wants them. What is wrong is returned, never raised; the same
    resources in another order give the same objects.
    """
    ordered = sorted(resources, key=_identity)
    problems = _duplicates(ordered, options)
    library = Library(
        models={r.resource.metadata.name: r.resource for r in ordered if isinstance(r.resource, OpenModel)},
        runtimes={r.resource.metadata.name: r.resource for r in ordered if isinstance(r.resource, BackendRuntime)},
    )
    rendered = []
    for source in ordered:
        findings = Findings(source)
        try:
            item = _render(source, library, options, findings)
        except Unrenderable:
            item = None
        problems += findings.problems
        if item and not findings.failed:
            rendered.append(item)
    return Fleet(tuple(rendered), tuple(sorted(problems, key=lambda p: p.place)))


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


def _duplicates(ordered: list[Loaded], options: Options) -> list[Problem]:
    """Report objects declared twice, and workloads of different kinds that would get one name."""
    seen: dict[tuple[str, str, str], Loaded] = {}
    problems = []
    for source in ordered:
        resource = source.resource
        serves = isinstance(resource, Playground | Service) or resource.kind == "LeaderWorkerSet"
        namespace = resource.metadata.namespace or (options.namespace if serves else "")
        key = ("workload" if serves else resource.kind, namespace, resource.metadata.name)
        first = seen.setdefault(key, source)
        if first is not source:
            where = f"{first.resource.kind}/{first.resource.metadata.name} in {first.file}:{first.line}"
            problems.append(source.problem("metadata.name", f"is taken by {where}; rename or remove one of the two"))
    return problems
