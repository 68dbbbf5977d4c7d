"""Kthena as a family: its kinds and what each becomes."""

from collections.abc import Iterator, Sequence

from ...contract.findings.collector import Findings
from ...contract.load import LoadedResource
from ...contract.problems import Problem
from ...fleet.library import Library
from ...fleet.objects import Object
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ...fleet.serving import render_declared
from ...performance.simulation.scenario import Simulator
from ..family import Convertible, Expandable, Family, Member, ScalingSimulator
from .autoscaling.rendering import render_binding
from .booster.literal.converting import convert
from .booster.rendering import expanded, render_model_booster
from .kinds import BINDING, MODEL_BOOSTER, MODEL_ROUTE, MODEL_SERVER, MODEL_SERVING, POLICY
from .operated import OPERATOR
from .routing.rendering import render_model_route
from .routing.servers import render_model_server
from .routing.together import shared_models
from .serving.rendering import render_model_serving
from .simulation.scenario import SIMULATOR


def _declared(source: LoadedResource, _library: Library, options: Options, _findings: Findings) -> Rendered | None:
    """Render a resource that others refer to: an object for the operator alone."""
    return render_declared(source, options, OPERATOR)


class ModelBoosterMember(Member, Expandable, Convertible):
    """ModelBooster, which stands for a ModelServing, ModelServer and ModelRoute."""

    def expand(self, source: LoadedResource, options: Options, findings: Findings) -> tuple[Object, ...]:
        """Return the resources to write instead, without the defects of the controllers."""
        return expanded(source, options, findings)

    def convert(self, source: LoadedResource, options: Options) -> tuple[tuple[Object, ...], str]:
        """Return what the controllers make of it."""
        return convert(source, options)


class Kthena(Family, ScalingSimulator):
    """Kthena: an autoscaler of its own, and routes that several models may claim."""

    def check(self, rendered: Sequence[Rendered]) -> Iterator[Problem]:
        """Yield names of models that several routes serve."""
        yield from shared_models(rendered)

    def simulators(self) -> tuple[Simulator, ...]:
        """Return the simulator of AutoscalingPolicyBindings."""
        return (SIMULATOR,)


FAMILY = Kthena(
    name="kthena",
    package=__package__ or "",
    operator=OPERATOR,
    members=(
        ModelBoosterMember(MODEL_BOOSTER, render_model_booster, serves=True, component="ModelBooster"),
        Member(MODEL_SERVING, render_model_serving, serves=True, component="ModelServing"),
        Member(POLICY, _declared, referred=True, component="AutoscalingPolicy"),
        Member(BINDING, render_binding, component="AutoscalingPolicyBinding"),
        Member(MODEL_SERVER, render_model_server, referred=True, component="ModelServer"),
        Member(MODEL_ROUTE, render_model_route, component="ModelRoute"),
    ),
)
