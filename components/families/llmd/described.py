"""What a VariantAutoscaling says of its model: profiles, and the accelerator it runs on."""

from decimal import Decimal

from ...contract.base import Json
from ...contract.load import LoadedResource
from ...performance.sizing.cases import Profile
from ...performance.sizing.variants import ModelVariant
from .load import observed_load
from .names import ACCELERATOR_LABEL
from .types import VariantAutoscaling
from .types.variant_autoscaling import AcceleratorProfile


def described_variant(source: LoadedResource) -> ModelVariant | None:
    """Return what a resource says of a variant; None for one of another kind."""
    resource = source.resource
    if not isinstance(resource, VariantAutoscaling):
        return None
    current = resource.status.current_alloc if resource.status else None
    return ModelVariant(
        source,
        resource.spec.model_id,
        (resource.metadata.labels or {}).get(ACCELERATOR_LABEL, ""),
        tuple(profile_of(each) for each in resource.spec.model_profile.accelerators),
        observed_load(current.load) if current else None,
    )


def profile_of(given: AcceleratorProfile) -> Profile:
    """Return how fast a replica is on one accelerator, as numbers."""
    return Profile(given.acc, given.acc_count, float(given.alpha), float(given.beta), given.max_batch_size)


def entry_of(profile: Profile) -> Json:
    """Return the part of a resource that says how fast a replica is: no number has an exponent (WVA spec 2)."""
    entry = {
        "acc": profile.accelerator,
        "accCount": profile.count,
        "alpha": _decimal_text(profile.alpha),
        "beta": _decimal_text(profile.beta),
        "maxBatchSize": profile.batch,
    }
    return {"modelProfile": {"accelerators": [entry]}}


def _decimal_text(number: float) -> str:
    return f"{Decimal(repr(number)):f}"
