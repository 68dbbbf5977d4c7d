"""What a VariantAutoscaling becomes: natively an autoscaler with the bounds of the plan's optimum."""

from ...api.findings import Findings, Unrenderable
from ...api.load import Loaded
from ...fleet.library import Library
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from .checks.agreed import agreed_for, stated_by
from .operated import render_for_operator
from .types import VariantAutoscaling
from .variant import found_variant


def render_variant_autoscaling(
    source: Loaded, library: Library, options: Options, findings: Findings
) -> Rendered | None:
    """Render a VariantAutoscaling.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    resource = source.resource
    assert isinstance(resource, VariantAutoscaling)  # noqa: S101  the caller chose this function by kind
    stated = stated_by(resource, options.levels, findings)
    variant = found_variant(source, library, options, findings)
    agreed = agreed_for(variant, stated)
    if agreed is None:
        raise Unrenderable
    if not options.realization.is_native:
        return render_for_operator(variant, agreed)
    return None
