"""What a VariantAutoscaling becomes: natively an autoscaler with the bounds of the plan's optimum."""

from ...contract.findings.collector import Findings, Unrenderable
from ...contract.load import LoadedResource
from ...fleet.library import Library
from ...fleet.options import Options
from ...fleet.rendered import Rendered
from .checks.agreed import agreed_for, stated_by
from .load import load_of
from .native.level import VariantLevel
from .native.rendering import render_natively
from .operated import render_for_operator
from .types import VariantAutoscaling
from .variant import found_variant


def render_variant_autoscaling(
    source: LoadedResource, library: Library, options: Options, findings: Findings
) -> Rendered:
    """Render a VariantAutoscaling.

    Raises:
        Unrenderable: an error that leaves nothing to render; it is in ``findings``.
    """
    resource = source.resource
    assert isinstance(resource, VariantAutoscaling)  # noqa: S101  the caller chose this function by kind
    stated = stated_by(resource, options.levels, findings)
    namespace, is_native = resource.metadata.namespace or options.namespace, options.realization.is_native
    asked = load_of(resource, namespace, options.levels, findings) if is_native else None
    variant = found_variant(source, library, options, findings)
    agreed = agreed_for(variant, stated)
    if agreed is None:
        raise Unrenderable
    if not is_native:
        return render_for_operator(variant, agreed)
    if asked is None:
        raise Unrenderable
    return render_natively(VariantLevel(variant, agreed, asked))
