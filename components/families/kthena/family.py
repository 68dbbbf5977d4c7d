"""Registers the kinds of Kthena and the functions that render them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...contract.findings.collector import Findings
from ...contract.load import LoadedResource
from ...contract.problems import Problem
from ...fleet.objects import Object
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ...performance.simulation.scenario import Simulator
from ..adoption import AdoptedWorkload, Adopting
from ..family import Authoring, Convertible, Expandable, Family, Member, Migrating, ScalingSimulator
from .adoption import OWN_VARIABLES, adopt
from .autoscaling.rendering import render_binding, render_policy
from .booster.literal.conversion import convert
from .booster.rendering import expanded, render_model_booster
from .kinds import BINDING, MODEL_BOOSTER, MODEL_ROUTE, MODEL_SERVER, MODEL_SERVING, POLICY
from .names import OPERATOR
from .routing.model_server import render_model_server
from .routing.rendering import duplicate_models, render_model_route
from .serving.rendering import render_model_serving
from .simulation.scenario import SIMULATOR

if TYPE_CHECKING:
    from ..authoring import ModelDeployment
    from ..migration import ReleaseStep


class ModelBoosterMember(Member, Expandable, Convertible):
    """ModelBooster, shorthand for ModelServings, ModelServers, a ModelRoute, policies and bindings."""

    def expand(self, source: LoadedResource, options: Options, findings: Findings) -> tuple[Object, ...]:
        """Return the equivalent resources, without the defects of Kthena's controllers."""
        return expanded(source, options, findings)

    def convert(self, source: LoadedResource, options: Options) -> tuple[tuple[Object, ...], str]:
        """Return the objects that Kthena's controllers generate from it, and why they stop, if they do."""
        return convert(source, options)


class Kthena(Family, ScalingSimulator, Migrating, Adopting, Authoring):
    """Kthena, with a simulator of its autoscaler, a check across its routes, and conversions between releases."""

    def check(self, rendered: Sequence[Rendered]) -> Iterator[Problem]:
        """Yield models that several routes lead to."""
        yield from duplicate_models(rendered)

    def author(self, deployment: "ModelDeployment") -> tuple[Object, ...]:
        """Return a ModelBooster."""
        from .authoring import author

        return author(deployment)

    def steps(self) -> "tuple[ReleaseStep, ...]":
        """Return the conversions between releases."""
        from .migration import STEPS

        return STEPS

    def simulators(self) -> tuple[Simulator, ...]:
        """Return the simulator of AutoscalingPolicyBindings."""
        return (SIMULATOR,)

    def adopt(self, adopted: AdoptedWorkload, options: Options) -> tuple[Object, ...]:
        """Return a ModelServing, with its route and its autoscaling."""
        return adopt(adopted, options)

    @property
    def own_variables(self) -> Mapping[str, str]:
        """Return the variables of a role instance."""
        return OWN_VARIABLES


FAMILY = Kthena(
    name="kthena",
    package=__package__ or "",
    operator=OPERATOR,
    members=(
        # volcano-sh/kthena at 3cc05728: model-booster-controller/controller/condition.go, and SetCondition in
        # model-serving-controller/utils/utils.go
        ModelBoosterMember(
            MODEL_BOOSTER, render_model_booster, serves=True, component="ModelBooster", ready_condition="Active"
        ),
        Member(
            MODEL_SERVING, render_model_serving, serves=True, component="ModelServing", ready_condition="Available"
        ),
        Member(POLICY, render_policy, referred=True, component="AutoscalingPolicy"),
        Member(BINDING, render_binding, component="AutoscalingPolicyBinding"),
        Member(MODEL_SERVER, render_model_server, referred=True, component="ModelServer"),
        Member(MODEL_ROUTE, render_model_route, component="ModelRoute"),
    ),
)
