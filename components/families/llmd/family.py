"""llm-d's Workload Variant Autoscaler as a family."""

from ..family import Family, Member
from .controller.objects import controller_objects
from .described import described_variant, entry_of
from .kinds import VARIANT_AUTOSCALING
from .names import OPERATOR
from .rendering import render_variant_autoscaling
from .together import in_common

FAMILY = Family(
    name="llmd",
    package=__package__ or "",
    operator=OPERATOR,
    operator_objects=controller_objects,
    members=(Member(VARIANT_AUTOSCALING, render_variant_autoscaling, attached=True, component="VariantAutoscaling"),),
    together=in_common,
    variant=described_variant,
    profile_entry=entry_of,
)
