"""The model to size: given by name, or a variant in manifests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import WorkbenchError
from ..subject import Subject, planned

if TYPE_CHECKING:
    from components.fleet.instances import Instance
    from components.fleet.levels import Load, ServiceLevels
    from components.fleet.workloads import Workload
    from components.performance.sizing.cases import ModelVariant, Profile
    from components.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class SizedModel:
    """The model to size.

    Attributes:
        model: The name that clients request.
        title: Display name.
        profiles: Profiles in its resource; empty without a resource.
        accelerator: Current accelerator; empty if unknown.
        load: Load from the settings, else the load that its resource reports.
        nodes: Instance types that its pods can run on.
        levels: SLOs and accelerator prices of the settings.
        hint: Settings key for its load.
        workloads: Workloads that serve it.
        scale_to_zero: Whether the settings allow scaling to zero.
    """

    model: str
    title: str
    levels: "ServiceLevels"
    profiles: "tuple[Profile, ...]" = ()
    accelerator: str = ""
    load: "Load | None" = None
    nodes: "tuple[Instance, ...]" = ()
    hint: str = ""
    workloads: "tuple[Workload, ...]" = ()
    scale_to_zero: bool = False

    @property
    def heading(self) -> str:
        """The title, with the model name if it differs."""
        return self.title if self.title == self.model or not self.model else f"{self.title} ({self.model})"


def bare_model(model: str, subject: Subject) -> SizedModel:
    """Return a model by name, with the workloads of the stack that serve it."""
    from components.fleet.demand import accelerated_nodes
    from components.fleet.levels import ServiceLevels

    title = model or "the model"
    subject.announce()
    if not subject.stack:
        return SizedModel(model, title, ServiceLevels())
    settings = subject.settings()
    if not (model and getattr(settings, "models", None)):
        levels = settings.options().levels
        return SizedModel(model, title, levels, scale_to_zero=levels.controller.scale_to_zero)
    _, plan = planned(subject, None)
    levels, workloads = plan.environment.options.levels, tuple(_serving(plan, model))
    with plan.environment.with_types():
        nodes = accelerated_nodes(demand for workload in workloads for demand in workload.pods)
    return SizedModel(
        model,
        title,
        levels,
        nodes=tuple(nodes),
        workloads=workloads,
        scale_to_zero=levels.controller.scale_to_zero,
    )


def _serving(plan: "Plan", model: str) -> "Iterator[Workload]":
    """Yield the workloads that serve a model, by its name or the names that clients use."""
    from components.engines.served.names import served_names

    for item, workload in plan.fleet.workloads:
        names = {
            workload.model,
            *served_names(workload.server.line),
            *(endpoint.model for endpoint in item.endpoints),
        }
        if model in names:
            yield workload


def find_variant(name: str, subject: Subject, paths: Sequence[Path] | None) -> SizedModel:
    """Find a variant in manifests by name, or namespace/name.

    Raises:
        WorkbenchError: no variant has the name, or several have.
    """
    from components.contract.problems import errors
    from components.families import variants
    from components.fleet.demand import accelerated_nodes

    manifests, plan = planned(subject, paths)
    if invalid := errors(manifests.problems):
        raise WorkbenchError("\n".join(map(str, invalid)))
    options = plan.environment.options
    known: dict[tuple[str, str], ModelVariant] = {}
    for candidate in variants(manifests.resources):
        namespace = candidate.source.resource.metadata.namespace or options.namespace
        other = known.setdefault((namespace, candidate.source.name), candidate)
        if other is not candidate and candidate.source.name == name.rpartition("/")[2]:
            titles = f"{other.source.title} and {candidate.source.title}"
            raise WorkbenchError(f"--variant: {name!r} is the name of {titles}; rename one", 2)
    namespace, variant = _select(name, known)
    workloads = tuple(
        workload
        for _, workload in plan.fleet.workloads
        if (workload.namespace, workload.name) == (namespace, variant.source.name)
    )
    with plan.environment.with_types():
        nodes = accelerated_nodes(demand for workload in workloads for demand in workload.pods)
    return SizedModel(
        model=variant.model,
        title=variant.source.title,
        levels=options.levels,
        profiles=variant.profiles,
        accelerator=variant.accelerator,
        load=options.levels.load(namespace, variant.source.name) or variant.load,
        nodes=tuple(nodes),
        hint=f"serviceLevels.loads[{variant.source.name}]",
        workloads=workloads,
        scale_to_zero=options.levels.controller.scale_to_zero,
    )


def _select(name: str, known: "Mapping[tuple[str, str], ModelVariant]") -> "tuple[str, ModelVariant]":
    from components.contract.problems import did_you_mean

    namespace, _, own = name.rpartition("/")
    matches = [key for key in sorted(known) if key[1] == own and namespace in ("", key[0])]
    if len(matches) > 1:
        choices = ", ".join("/".join(key) for key in matches)
        raise WorkbenchError(f"--variant: {own!r} is in several namespaces; pass one of {choices}", 2)
    if not matches:
        names = sorted({"/".join(key) if namespace else key[1] for key in known})
        hint = did_you_mean(name, names) or f"; available: {', '.join(names) or 'none'}"
        raise WorkbenchError(f"--variant: variant {name!r} not found{hint}", 2)
    return matches[0][0], known[matches[0]]
