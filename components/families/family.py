"""API families: their kinds, how each kind is rendered, and the optional protocols of a family.

A family derives from :class:`Family` and from the protocols that its API needs. Any number of families may implement
a protocol, and their order in the list never matters (:mod:`components.families`). If several match:

- :class:`FlavorReader`: the family whose schema a flavor matches reads it. A flavor that matches several is an error
  that names all of them.
- :class:`ScalingSimulator`: the simulator of the kind with the named autoscaler runs. A name in several kinds is an
  error that names all of them.
- :class:`VariantDescriber`: a resource is described by its own family. A profile is printed once per family.
- :class:`AnnotationReader`: each family checks the annotations that are its own.
- :class:`SharedObjects`: all families create their objects. An object of two families is an error that names both.
- :class:`Migrating`: the manifests of a family are converted by its own steps.
- :class:`OperatorObjects`: the operator's family renders its objects. An operator of two families is an error.
- :class:`Expandable`, :class:`Convertible`: they belong to a member, and a kind has one family.
"""

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from ..contract.base import Json
from ..contract.findings.collector import Findings
from ..contract.kinds import Kind
from ..contract.load import LoadedResource
from ..contract.problems import Problem
from ..contract.releases import Releases
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
    from .authoring import ModelDeployment
    from .migration import ReleaseStep

Render = Callable[[LoadedResource, Library, Options, Findings], Rendered | None]
"""Renders a resource; None if nothing is created for it alone.

Raises Unrenderable after an error that leaves nothing to render; it is in the findings.
"""


@dataclass(frozen=True, slots=True)
class Member:
    """One kind of a family.

    A kind that is shorthand for resources of other kinds has a subclass as its member, which implements
    :class:`Expandable`, :class:`Convertible` or both.

    Attributes:
        render: Renders a resource of the kind.
        serves: Whether it creates a workload with its own name, which must be unique in the namespace.
        referred: Whether other resources refer to it; such kinds are rendered first.
        attached: Whether it scales workloads of other resources, which it looks up in the library; such kinds are
            rendered last.
        component: Name of the component class in the family's package; empty without one.
        ready_condition: Condition that the operator sets in the status once all pods of a resource are ready; empty
            without one.
    """

    kind: Kind
    render: Render
    serves: bool = False
    referred: bool = False
    attached: bool = False
    component: str = ""
    ready_condition: str = ""


@runtime_checkable
class Migrating(Protocol):
    """A family whose manifests differ in form between releases."""

    def steps(self) -> "tuple[ReleaseStep, ...]":
        """Return the conversions, oldest first."""
        ...

    def edits(self, value: Object) -> bool:  # noqa: ARG002  for derived classes
        """Whether conversions edit an object of another API, such as an autoscaler of a resource."""
        return False


@runtime_checkable
class Expandable(Protocol):
    """A member whose resources are shorthand for typed resources that users could write instead."""

    def expand(self, source: LoadedResource, options: Options, findings: Findings) -> tuple[Object, ...]:
        """Return the equivalent resources, with upstream's defects corrected.

        Errors go to ``findings``; the result then lacks the resources that could not be expanded.
        """
        ...


@runtime_checkable
class Convertible(Protocol):
    """A member whose resources the upstream operator itself converts to typed resources."""

    def convert(self, source: LoadedResource, options: Options) -> tuple[tuple[Object, ...], str]:
        """Return what the operator creates for a resource, defects included, and the reason if it fails midway.

        The reason is empty if the operator succeeds.
        """
        ...


@dataclass(frozen=True, slots=True)
class Family:
    """The kinds of one API, and everything specific to it.

    Attributes:
        name: Unique name, which is also a key of the setting ``realizations``.
        package: The family's package, which exports the components of its kinds.
        operator: Prerequisite of realization ``operator`` (:mod:`..plan.prerequisites.charts`): a chart, or objects
            that the family renders (:class:`OperatorObjects`); empty if there is no operator.
    """

    name: str
    package: str
    members: tuple[Member, ...]
    operator: str = ""

    def check(self, rendered: Sequence[Rendered]) -> Iterator[Problem]:  # noqa: ARG002  families override it
        """Yield problems between resources of the family; none by default.

        Called once per plan, if the plan contains a resource of the family.
        """
        yield from ()

    @property
    def releases(self) -> Releases:
        """The releases of its API, which all its kinds share."""
        return self.members[0].kind.releases

    def component(self, member: Member) -> Any:  # noqa: ANN401  a class that is imported only where Pulumi is
        return getattr(importlib.import_module(self.package), member.component)


class FlavorReading(NamedTuple):
    """The result of reading a flavor.

    Attributes:
        fits: Whether the value matches the family's flavor schema.
        demand: The nodes that it needs, for no pods yet; None after an error.
        problems: Why the value does not match, or problems of a flavor that does.
    """

    fits: bool
    demand: PodDemand | None = None
    problems: Sequence[Problem] = ()


@runtime_checkable
class FlavorReader(Protocol):
    """A family with its own type for kinds of nodes, which components that create nodes accept."""

    def read_flavor(self, value: Json, at: Argument, alternatives: Mapping[str, tuple[str, ...]]) -> FlavorReading:
        """Read a flavor that no model claims.

        Called for every flavor in the arguments of such a component, whichever family it belongs to.

        Args:
            value: The flavor in wire form.
            at: The argument that holds it.
            alternatives: Per instance type, the other types that the environment allows instead.
        """
        ...


@runtime_checkable
class ScalingSimulator(Protocol):
    """A family whose controller has its own scaling algorithm, which can be simulated."""

    def simulators(self) -> "tuple[Simulator, ...]":
        """Return one simulator per kind of autoscaler."""
        ...


@runtime_checkable
class VariantDescriber(Protocol):
    """A family whose resources contain the measured speed of a model on an accelerator."""

    def variant(self, source: LoadedResource) -> "ModelVariant | None":
        """Return the variant of a model that a resource describes; None if it describes none.

        Called with resources of the family's own kinds only.
        """
        ...

    def profile_entry(self, profile: "Profile") -> Json:
        """Return a measured profile in the form to paste into such a resource."""
        ...


@runtime_checkable
class AnnotationReader(Protocol):
    """A family whose controller reads annotations of objects of other APIs, which plans pass through."""

    def annotation_problems(self, value: Object) -> Iterator[tuple[str, str]]:
        """Yield what keeps the controller from reading an object as it is meant, as path and reason.

        Called with every object that is passed through.
        """
        ...


@runtime_checkable
class SharedObjects(Protocol):
    """A family with objects that all its resources share, such as a ConfigMap with an entry for each resource."""

    def family_objects(
        self, rendered: Sequence[Rendered], library: Library, options: Options
    ) -> tuple[list[Problem], tuple[Rendered, ...]]:
        """Return conflicts between the resources, and one ``Rendered`` per shared object.

        Called once per plan, after all rendering, if the family has at least one resource. The source of each result
        is a copy of one resource's source, with the object's own title, because no single resource creates it.

        Args:
            rendered: The family's rendered resources, sorted by name.
            library: All resources and workloads of the fleet.
            options: The options that apply to the family.
        """
        ...


@dataclass(frozen=True, slots=True)
class OperatorSite:
    """The cluster in which an operator is installed without a chart.

    Attributes:
        levels: Service levels of the models, with settings of the operator.
        interval: Scrape interval of its metrics, such as ``15s``.
        monitor_labels: Labels by which Prometheus selects monitors, besides those of its chart.
        scraper: Namespace of Prometheus; empty if unknown.
        account: ServiceAccount of Prometheus; empty for any in that namespace.
        guarded: Whether only Prometheus may connect to the operator.
        release: Release of the API whose operator is installed; empty for the contract's.
    """

    levels: ServiceLevels = field(default_factory=ServiceLevels)
    interval: str = "15s"
    monitor_labels: Mapping[str, str] = field(default_factory=dict)
    scraper: str = ""
    account: str = ""
    guarded: bool = False
    release: str = ""


@runtime_checkable
class Authoring(Protocol):
    """A family that can describe a model on given nodes in its own kinds."""

    def author(self, deployment: "ModelDeployment") -> tuple[Object, ...]:
        """Return the manifests, those that others refer to first.

        Raises:
            InexpressibleError: The family cannot describe the deployment.
        """
        ...


class LabelledServer(NamedTuple):
    """What labels of a pod tell about its server.

    Attributes:
        engine: The engine.
        container: Name of the container.
    """

    engine: str
    container: str


@runtime_checkable
class PodLabels(Protocol):
    """A family whose pods, rendered or created by its operator, have a label with their engine."""

    def labelled_server(self, labels: Mapping[str, str]) -> LabelledServer | None:
        """Return the server of a pod; None if the labels do not tell its engine."""
        ...


@runtime_checkable
class OperatorObjects(Protocol):
    """A family that renders the objects of its operator, because there is no chart."""

    def operator_objects(self, site: OperatorSite) -> tuple[Object, ...]:
        """Return the objects in dependency order.

        Called by the component that installs ``Family.operator``, which must be unique among such families.
        """
        ...

    def uninstallable(self, release: str) -> str:
        """Return why the operator of a release cannot be installed; empty if it can.

        Args:
            release: Release of the API; empty for the contract's.
        """
        del release
        return ""
