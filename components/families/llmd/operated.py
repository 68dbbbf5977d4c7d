"""What the controller of VariantAutoscalings needs: the resource itself, and an autoscaler on the signal it emits."""

from ...fleet.rendered import Rendered
from ...fleet.serving import as_written
from .names import OPERATOR
from .variant import Variant


def render_for_operator(variant: Variant) -> Rendered:
    """Return the resource for the controller."""
    source = variant.source
    return Rendered(
        source,
        source.kind.kind,
        source.name,
        variant.namespace,
        others=(as_written(source, variant.options),),
        requires=frozenset({OPERATOR}),
    )
