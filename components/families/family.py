"""What an API family is: its kinds, what each becomes, and what its operator needs."""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..contract.base import Json
from ..contract.findings.collector import Findings
from ..contract.kinds import Kind
from ..contract.load import Loaded
from ..contract.problems import Problem
from ..fleet.demand import PodDemand
from ..fleet.levels import ServiceLevels
from ..fleet.library import Library
from ..fleet.objects import Object
from ..fleet.options import Options
from ..fleet.origins import Argument
from ..fleet.rendered import Rendered
from ..performance.simulation.scenario import Simulator
from ..performance.sizing.cases import Profile
from ..performance.sizing.variants import ModelVariant

Render = Callable[[Loaded, Library, Options, Findings], Rendered | None]
"""Returns what a resource becomes; None if it becomes nothing by itself.

Raises Unrenderable after an error that leaves nothing to render; it is in the findings.
"""


Expand = Callable[[Loaded, Options, Findings], tuple[Object, ...]]
"""Returns the typed resources that a resource stands for, for somebody who wants to write them instead."""
Convert = Callable[[Loaded, Options], tuple[tuple[Object, ...], str]]
"""Returns what the operator itself makes of a resource, defects included, and why it makes no more, if it fails."""


@dataclass(frozen=True, slots=True)
class Member:
    """One kind of a family.

    Attributes:
        render: What a resource of the kind becomes.
        serves: Whether it creates a workload with its own name, which no other resource in the namespace may have.
        referred: Whether other resources refer to it: such kinds are rendered first.
        attached: Whether it scales what other resources become, and finds that in the library: such kinds are
            rendered last.
        component: Class that creates a single one, as the family's package offers it; empty without.
        expand: The resources that one of the kind stands for, if the operator makes typed resources of it.
        convert: What the operator makes of one, literally.
    """

    kind: Kind
    render: Render
    serves: bool = False
    referred: bool = False
    attached: bool = False
    component: str = ""
    expand: Expand | None = None
    convert: Convert | None = None


ReadFlavor = Callable[[Json, Argument, Mapping[str, tuple[str, ...]]], tuple[PodDemand | None, list[Problem]]]
"""Returns what a flavor in wire form needs from nodes, and what is wrong with it.

The last argument is, by instance type, further types that the environment allows instead.
"""


Together = Callable[[Sequence[Rendered], Library, Options], tuple[list[Problem], tuple[Rendered, ...]]]
"""Returns what a family has once, whatever the number of its resources, and what is wrong with that.

It is called where there is at least one of them, with what they have become, in the order of their names.
"""


@dataclass(frozen=True, slots=True)
class OperatorSite:
    """What an operator is told of the cluster, if no chart installs it: then its family renders its objects.

    Attributes:
        levels: What is promised and expected of models, with settings of the operator.
        interval: How often its metrics are scraped, such as ``15s``.
        monitor_labels: Labels by which Prometheus finds what it shall scrape, beside those of its chart.
        scraper: Namespace of the pods that scrape; empty where it is not known.
        account: ServiceAccount of these pods; empty for any of that namespace.
        guarded: Whether only they may connect to the operator.
    """

    levels: ServiceLevels = field(default_factory=ServiceLevels)
    interval: str = "15s"
    monitor_labels: Mapping[str, str] = field(default_factory=dict)
    scraper: str = ""
    account: str = ""
    guarded: bool = False


def _nothing(_rendered: Sequence[Rendered]) -> Iterator[Problem]:
    yield from ()


ProfileEntry = Callable[[Profile], Json]
"""Returns the part of a resource that says how fast a replica of a model is on an accelerator."""


def _no_variant(_source: Loaded) -> ModelVariant | None:
    return None


@dataclass(frozen=True, slots=True)
class Family:
    """Kinds of one API, and everything that only they know.

    Attributes:
        package: The family's package, which offers the components of its kinds.
        operator: Name of what is installed for the realization ``operator`` (:mod:`..plan.prerequisites.charts`): a
            chart, or objects; empty without.
        operator_objects: Returns the objects, each after what it needs, where they are no chart's.
        check: Yields what is wrong with the family's resources together.
        together: What they have in common once, if anything: objects made of all of them.
        flavor: Reads a flavor that no model claims, if the family has flavors.
        simulator: Simulates its autoscalers, if it has its own.
        variant: Returns what a resource of the family says of a variant of a model; None for one that says nothing.
        profile_entry: Returns what such a resource says of how fast it is, if the family has such resources.
    """

    name: str
    package: str
    members: tuple[Member, ...]
    operator: str = ""
    operator_objects: Callable[[OperatorSite], tuple[Object, ...]] | None = None
    check: Callable[[Sequence[Rendered]], Iterator[Problem]] = _nothing
    together: Together | None = None
    flavor: ReadFlavor | None = None
    simulator: Simulator | None = None
    variant: Callable[[Loaded], ModelVariant | None] = _no_variant
    profile_entry: ProfileEntry | None = None

    def component(self, member: Member) -> Any:  # noqa: ANN401  a class that is imported only where Pulumi is
        """Return the component of a kind."""
        return getattr(importlib.import_module(self.package), member.component)
