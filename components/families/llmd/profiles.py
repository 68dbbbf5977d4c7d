"""Read profiles from VariantAutoscalings, and write them as entries to paste into one."""

from decimal import Decimal

from ...contract.base import Json
from ...contract.load import LoadedResource
from ...performance.sizing.cases import ModelVariant, Profile
from .load import observed_load
from .names import ACCELERATOR_LABEL
from .types import AcceleratorProfile, VariantAutoscaling


def described_variant(source: LoadedResource) -> ModelVariant | None:
    """Return the variant that a VariantAutoscaling describes; None for a resource of another kind."""
    resource = source.resource
    if not isinstance(resource, VariantAutoscaling):
        return None
    current = resource.status.current_alloc if resource.status else None
    return ModelVariant(
        source,
        resource.spec.model_id,
        (resource.metadata.labels or {}).get(ACCELERATOR_LABEL, ""),
        tuple(profile_of(entry) for entry in resource.spec.model_profile.accelerators),
        observed_load(current.load) if current else None,
    )


def profile_of(entry: AcceleratorProfile) -> Profile:
    return Profile(entry.acc, entry.acc_count, float(entry.alpha), float(entry.beta), entry.max_batch_size)


def profile_entry(profile: Profile) -> Json:
    """Return ``modelProfile`` with one entry. The kind's numbers must not have exponents (WVA spec 2)."""
    entry = {
        "acc": profile.accelerator,
        "accCount": profile.count,
        "alpha": f"{Decimal(repr(profile.alpha)):f}",
        "beta": f"{Decimal(repr(profile.beta)):f}",
        "maxBatchSize": profile.batch,
    }
    return {"modelProfile": {"accelerators": [entry]}}
