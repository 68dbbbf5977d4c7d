"""What the controller of VariantAutoscalings needs: the resource itself, and an autoscaler on the signal it emits.

Read in llm-d/llm-d-workload-variant-autoscaler at c0f645c: internal/controller, internal/collector, docs.
"""

from collections.abc import Iterator

from ...contract.findings.collector import Unrenderable
from ...contract.findings.ids import RuleId
from ...fleet.autoscalers import Autoscaler
from ...fleet.objects import Object
from ...fleet.origins import Origin
from ...fleet.rendered import Rendered
from ...fleet.serving import as_manifest
from ...fleet.shapes import DEPLOYMENT
from ...performance.sizing.cases import Sized
from .checks.agreed import Agreed
from .hpa import hpa_of
from .names import OPERATOR
from .peak import sized_at_peak
from .variant import Variant

SIGNAL = "inferno_desired_replicas"
_MOST_REPLICAS = 10
"""Of upstream's sample, where nobody says what is asked of the model (WVA spec 10)."""
_UNQUOTED = ('"', "\\", "\n")
"""What ends or changes a string of PromQL: the controller puts names into its queries as they are."""
_NO_WAY_BACK = (
    "without requests it scales to zero (serviceLevels.controller.scaleToZero), and requests that nobody answers do "
    "not wake it up again; scale it up yourself, or set scaleToZero to false"
)


def render_for_operator(variant: Variant, agreed: Agreed) -> Rendered:
    """Return the resource for the controller, and an autoscaler that follows it.

    Raises:
        Unrenderable: the controller would ignore it; that is in the findings.
    """
    source = variant.source
    for path, reason in _refused(variant):
        variant.findings.error(path, reason, RuleId.OPERATOR_UNSUPPORTED)
    sized = sized_at_peak(variant, agreed)
    if variant.findings.has_errors:
        raise Unrenderable
    if variant.options.levels.controller.scale_to_zero:
        variant.findings.warn("", _NO_WAY_BACK, RuleId.AUTOSCALING_ASLEEP)
    return Rendered(
        source,
        source.kind.kind,
        source.name,
        variant.namespace,
        autoscalers=(Autoscaler(_hpa(variant, sized), lambda path: _blame(variant, path), sized=sized),),
        others=(as_manifest(source, variant.options),),
        requires=frozenset({OPERATOR}),
    )


def _refused(variant: Variant) -> Iterator[tuple[str, str]]:
    """Yield what the controller cannot do."""
    workload, model = variant.workload, variant.resource.spec.model_id
    if workload.shape is not DEPLOYMENT:
        yield (
            "metadata.name",
            f"the controller finds Deployments alone, and {workload.name!r} is a {workload.kind}; use realization "
            "'native', also for this family alone (realizations: {llmd: native})",
        )
    if any(character in model for character in _UNQUOTED):
        yield (
            "spec.modelID",
            f"must have no quotes, backslashes and line breaks, found {model!r}: the controller writes it into its "
            "queries as it is; use realization 'native', or serve the model under another name",
        )


def _hpa(variant: Variant, sized: Sized | None) -> Object:
    """Return an autoscaler that makes as many replicas as the signal says."""
    metric = {"name": SIGNAL, "selector": {"matchLabels": {"variant_name": variant.source.name}}}
    # Not Value, which would multiply what there is by the signal (WVA spec 10).
    target = {"type": "AverageValue", "averageValue": "1"}
    followed = {"type": "External", "external": {"metric": metric, "target": target}}
    least = 0 if variant.options.levels.controller.scale_to_zero else 1
    return hpa_of(variant, least, sized.replicas if sized else _MOST_REPLICAS, [followed])


def _blame(variant: Variant, path: str) -> Origin:
    """Return what a field of the autoscaler comes from: settings, or the name of the resource."""
    if path == "minReplicas":
        return Origin(variant.source, "", "minReplicas, by serviceLevels.controller.scaleToZero: ")
    return Origin(variant.source, "metadata.name")
