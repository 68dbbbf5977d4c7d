"""Kthena as a family: its kinds and what each becomes."""

from ...contract.findings.collector import Findings
from ...contract.load import Loaded
from ...fleet.library import Library
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from ...fleet.serving import render_declared
from ..family import Family, Member
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


def _declared(source: Loaded, _library: Library, options: Options, _findings: Findings) -> Rendered | None:
    """Render a resource that others refer to: an object for the operator alone."""
    return render_declared(source, options, OPERATOR)


FAMILY = Family(
    name="kthena",
    package=__package__ or "",
    operator=OPERATOR,
    members=(
        Member(
            MODEL_BOOSTER,
            render_model_booster,
            serves=True,
            component="ModelBooster",
            expand=expanded,
            convert=convert,
        ),
        Member(MODEL_SERVING, render_model_serving, serves=True, component="ModelServing"),
        Member(POLICY, _declared, referred=True, component="AutoscalingPolicy"),
        Member(BINDING, render_binding, component="AutoscalingPolicyBinding"),
        Member(MODEL_SERVER, render_model_server, referred=True, component="ModelServer"),
        Member(MODEL_ROUTE, render_model_route, component="ModelRoute"),
    ),
    check=shared_models,
    simulator=SIMULATOR,
)
