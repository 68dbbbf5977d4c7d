"""What ``workbench size`` is about: a model of which nothing else is known, or a variant among manifests."""

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
    """What is sized.

    Attributes:
        model: The name under which clients ask for it.
        title: How to call it, for people.
        profiles: Figures that its resource has; none where it has no resource.
        accelerator: The one that it runs on now; empty where that is not known.
        load: What settings say is asked of it, else what its resource says was observed.
        nodes: Instance types that its pods may be on.
        levels: What settings promise, and what they say accelerators cost.
        hint: Where to say in settings what is asked of it.
        workloads: Workloads of the manifests that serve it.
        scale_to_zero: Whether the settings allow its controller to scale to zero.
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
        """The title, with the model where that is another name."""
        return self.title if self.title == self.model or not self.model else f"{self.title} ({self.model})"


def bare_model(model: str, subject: Subject) -> SizedModel:
    """Return a model by name, with the workloads of the stack that serve it, if a stack is given."""
    from components.fleet.demand import accelerated_nodes
    from components.fleet.levels import ServiceLevels

    title = model or "the model"
    if not subject.stack:
        return SizedModel(model, title, ServiceLevels())
    settings = subject.settings()
    if not (model and getattr(settings, "models", None)):
        levels = settings.options().levels
        return SizedModel(model, title, levels, scale_to_zero=levels.controller.scale_to_zero)
    _, plan = planned(subject, None)
    levels, workloads = plan.environment.options.levels, tuple(_serving(plan, model))
    nodes = accelerated_nodes(demand for each in workloads for demand in each.pods)
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

    for item, each in plan.fleet.workloads:
        asked = {endpoint.model for endpoint in item.endpoints}
        if model in {each.model, *served_names(each.server.line), *asked}:
            yield each


def found_variant(name: str, subject: Subject, paths: Sequence[Path] | None) -> SizedModel:
    """Return the variant of a name among manifests.

    Raises:
        WorkbenchError: there is none, or more than one.
    """
    from components.contract.problems import errors
    from components.families import variants
    from components.fleet.demand import accelerated_nodes

    manifests, plan = planned(subject, paths)
    wrong = errors(manifests.problems)
    if wrong:
        raise WorkbenchError("\n".join(map(str, wrong)))
    options = plan.environment.options
    named: dict[tuple[str, str], ModelVariant] = {}
    for each in variants(manifests.resources):
        namespace = each.source.resource.metadata.namespace or options.namespace
        other = named.setdefault((namespace, each.source.name), each)
        if other is not each and each.source.name == name.rpartition("/")[2]:
            raise WorkbenchError(
                f"--variant: {name!r} is the name of {other.source.title} and of {each.source.title}; rename one", 2
            )
    namespace, variant = _named(name, named)
    workloads = tuple(_workloads(plan, namespace, variant.source.name))
    return SizedModel(
        variant.model,
        variant.source.title,
        options.levels,
        variant.profiles,
        variant.accelerator,
        options.levels.load(namespace, variant.source.name) or variant.load,
        tuple(accelerated_nodes(demand for each in workloads for demand in each.pods)),
        f"serviceLevels.loads[{variant.source.name}]",
        workloads,
        options.levels.controller.scale_to_zero,
    )


def _named(name: str, known: "Mapping[tuple[str, str], ModelVariant]") -> "tuple[str, ModelVariant]":
    from components.contract.problems import did_you_mean

    namespace, _, own = name.rpartition("/")
    found = [key for key in sorted(known) if key[1] == own and namespace in ("", key[0])]
    if len(found) > 1:
        places = ", ".join("/".join(key) for key in found)
        raise WorkbenchError(f"--variant: {own!r} is in several namespaces; pass one of {places}", 2)
    if not found:
        names = sorted({text for there, each in known for text in ((f"{there}/{each}") if namespace else each,)})
        hint = did_you_mean(name, names) or f"; there are {', '.join(names) or 'none'}"
        raise WorkbenchError(f"--variant: no variant of a model is named {name!r}{hint}", 2)
    return found[0][0], known[found[0]]


def _workloads(plan: "Plan", namespace: str, name: str) -> "Iterator[Workload]":
    """Yield the workload of a name."""
    here = (workload for _, workload in plan.fleet.workloads if workload.name == name)
    return (each for each in here if each.namespace == namespace)
