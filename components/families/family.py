"""What an API family is: its kinds, what each becomes, and the protocols that it may implement beside.

A family derives from :class:`Family` and from the protocols for what its API has beyond that. Any number of families
may implement a protocol. Callers ask all of them (:mod:`components.families`), and none takes precedence by its place
in the list. Where several answer:

- :class:`FlavorReader`: the family whose schema a flavor fits reads it. A flavor that fits several is an error that
  names all of them.
- :class:`ScalingSimulator`: the simulator of the kind that has the named autoscaler runs. A name that several kinds
  have is an error that names all of them.
- :class:`VariantDescriber`: the family of a resource describes it. A profile is printed as an entry for each family.
- :class:`SharedObjects`: all make their objects. An object that two of them make is an error that names both.
- :class:`OperatorObjects`: the family of the operator renders its objects. An operator of two families is an error.
- :class:`Expandable`, :class:`Convertible`: they belong to a member, and a kind has one family.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..contract.base import Json
from ..contract.findings.collector import Findings
from ..contract.kinds import Kind
from ..contract.load import LoadedResource
from ..contract.problems import Problem
from ..fleet.demand import PodDemand
from ..fleet.levels import ServiceLevels
from ..fleet.library import Library
from ..fleet.objects import Object
from ..fleet.options import Options
from ..fleet.origins import Argument
from ..fleet.rendered import Rendered

if TYPE_CHECKING:
    from ..performance.simulation.scenario import Simulator
    from ..performance.sizing.cases import ModelVariant, Profile

Render = Callable[[LoadedResource, Library, Options, Findings], Rendered | None]
"""Returns what a resource becomes; None if it becomes nothing by itself.

Raises Unrenderable after an error that leaves nothing to render; it is in the findings.
"""


@dataclass(frozen=True, slots=True)
class Member:
    """One kind of a family.

    A kind that stands for resources of other kinds has a subclass as its member, which implements
    :class:`Expandable`, :class:`Convertible` or both.

    Attributes:
        render: What a resource of the kind becomes.
        serves: Whether it creates a workload with its own name, which no other resource in the namespace may have.
        referred: Whether other resources refer to it: such kinds are rendered first.
        attached: Whether it scales what other resources become, and finds that in the library: such kinds are
            rendered last.
        component: Class that creates a single one, as the family's package offers it; empty without.
    """

    kind: Kind
    render: Render
    serves: bool = False
    referred: bool = False
    attached: bool = False
    component: str = ""


@runtime_checkable
class Expandable(Protocol):
    """A member whose resources stand for typed resources that users could write instead."""

    def expand(self, source: LoadedResource, options: Options, findings: Findings) -> tuple[Object, ...]:
        """Return the resources to write instead of one, with the upstream defects corrected.

        Errors go to ``findings``; then the result may lack what could not be expanded.
        """
        ...


@runtime_checkable
class Convertible(Protocol):
    """A member whose resources the upstream operator itself converts to typed resources."""

    def convert(self, source: LoadedResource, options: Options) -> tuple[tuple[Object, ...], str]:
        """Return what the operator creates for a resource, defects included, and why it stops there.

        The reason is empty where the operator gets to the end.
        """
        ...


@dataclass(frozen=True, slots=True)
class Family:
    """Kinds of one API, and everything that only they know.

    Attributes:
        name: Unique among the families; the setting ``realizations`` has it as a key.
        package: The family's package, which offers the components of its kinds.
        operator: Name of what is installed for the realization ``operator`` (:mod:`..plan.prerequisites.charts`): a
            chart, or objects that the family renders (:class:`OperatorObjects`); empty without.
    """

    name: str
    package: str
    members: tuple[Member, ...]
    operator: str = ""

    def check(self, rendered: Sequence[Rendered]) -> Iterator[Problem]:  # noqa: ARG002  families override it
        """Yield what is wrong with the family's resources together; none by default.

        Called once per plan, where the family has at least one resource.
        """
        yield from ()

    def component(self, member: Member) -> Any:  # noqa: ANN401  a class that is imported only where Pulumi is
        """Return the component of a kind."""
        return getattr(importlib.import_module(self.package), member.component)


@dataclass(frozen=True, slots=True)
class FlavorReading:
    """What a family makes of a flavor.

    Attributes:
        fits: Whether the value is a flavor of the family at all.
        demand: What it requests of nodes, for no pods yet; None where an error forbids to create any.
        problems: Where it does not fit, the reasons; otherwise what is wrong with the flavor.
    """

    fits: bool
    demand: PodDemand | None = None
    problems: Sequence[Problem] = ()


@runtime_checkable
class FlavorReader(Protocol):
    """A family with a type of its own for kinds of nodes, which components that create nodes accept."""

    def read_flavor(self, value: Json, at: Argument, alternatives: Mapping[str, tuple[str, ...]]) -> FlavorReading:
        """Read a flavor that no model claims.

        Called for every flavor in the arguments of such a component, whichever family it was written for.

        Args:
            value: The flavor in wire form.
            at: The argument that holds it.
            alternatives: By instance type, further types that the environment allows instead.
        """
        ...


@runtime_checkable
class ScalingSimulator(Protocol):
    """A family whose controller scales by algorithms of its own, which can be simulated."""

    def simulators(self) -> "tuple[Simulator, ...]":
        """Return one simulator per kind of autoscaler."""
        ...


@runtime_checkable
class VariantDescriber(Protocol):
    """A family whose resources say how fast a model is on an accelerator."""

    def variant(self, source: LoadedResource) -> "ModelVariant | None":
        """Return the variant of a model that a resource describes; None where it describes none.

        Called with resources of the family's own kinds alone.
        """
        ...

    def profile_entry(self, profile: "Profile") -> Json:
        """Return the part of such a resource that states a measured profile, to be pasted into one."""
        ...


@runtime_checkable
class SharedObjects(Protocol):
    """A family with objects that exist once for all its resources, such as a ConfigMap with a part for each."""

    def family_objects(
        self, rendered: Sequence[Rendered], library: Library, options: Options
    ) -> tuple[list[Problem], tuple[Rendered, ...]]:
        """Return what is wrong with the resources together, and a ``Rendered`` per object.

        Called once per plan, after everything is rendered, where the family has at least one resource. The source of
        each result is a copy of one of the resources' sources, and its title the object's own: it is not what that
        resource becomes.

        Args:
            rendered: What the family's resources have become, in the order of their names.
            library: Every resource and workload of the fleet.
            options: As they apply to the family.
        """
        ...


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


@runtime_checkable
class OperatorObjects(Protocol):
    """A family whose operator no chart installs: it renders the objects that run it."""

    def operator_objects(self, site: OperatorSite) -> tuple[Object, ...]:
        """Return the objects, each after those that it needs.

        Called by the component that installs ``Family.operator``, which no other family with objects may name.
        """
        ...
