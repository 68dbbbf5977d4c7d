"""How many replicas a variant needs at its peak, as far as anybody says what that is."""

from ...sizing.cases import Case, Profile
from .names import ACCELERATOR_LABEL
from .variant import Variant


def replicas_at_peak(variant: Variant) -> int:
    """Return how many replicas the model of queues says; 0 where it cannot say, or no number is enough."""
    from ...sizing.queues import size

    case = _case(variant)
    if case is None:
        return 0
    (sized,) = size((case,))
    return sized.replicas if sized.is_feasible else 0


def _case(variant: Variant) -> Case | None:
    levels, resource = variant.options.levels, variant.resource
    label = resource.metadata.labels.get(ACCELERATOR_LABEL)
    profile = next((each for each in resource.spec.model_profile.accelerators if each.acc == label), None)
    load = levels.load(variant.namespace, variant.source.name)
    classes = levels.classes_of(resource.spec.model_id)
    if profile is None or load is None or len(classes) != 1 or not load.per_minute:
        return None
    speed = Profile(profile.acc, profile.acc_count, float(profile.alpha), float(profile.beta), profile.max_batch_size)
    promise = classes[0].promises[resource.spec.model_id]
    return Case(speed, promise, float(load.per_minute), float(load.output_tokens))
