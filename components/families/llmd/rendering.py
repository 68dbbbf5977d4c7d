"""What a VariantAutoscaling becomes: natively an autoscaler with the bounds of the plan's optimum."""

from ...api.findings import Findings
from ...api.load import Loaded
from ...fleet.library import Library
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from .operated import render_for_operator
from .variant import found_variant


def render_variant_autoscaling(
    source: Loaded, library: Library, options: Options, findings: Findings
) -> Rendered | None:
    """Render a VariantAutoscaling.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    variant = found_variant(source, library, options, findings)
    if not options.realization.is_native:
        return render_for_operator(variant)
    return None
