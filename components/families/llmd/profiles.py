"""Read profiles from VariantAutoscalings of every release, and write them as entries to paste into one."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from ...contract.base import Json
from ...contract.load import LoadedResource
from ...contract.schema.embedded import format_value
from ...performance.sizing.cases import ModelVariant, Profile
from .load import observed_load
from .names import ACCELERATOR_LABEL
from .types import AcceleratorProfile, PerfParms, VariantAutoscaling

_NUMBER = re.compile(r"\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
"""A number that Go's strconv.ParseFloat reads, without sign, infinity and hexadecimal forms."""
_PARMS = {"decodeParms": ("alpha", "beta"), "prefillParms": ("gamma", "delta")}
"""Keys that the controller reads (internal/utils at v0.4.2, AddModelAcceleratorProfileToSystemData)."""


@dataclass(frozen=True, slots=True)
class ProfiledSpeed:
    """The numbers of a profile entry as they are written, with the paths of those of the decoding in the entry."""

    alpha: str
    beta: str
    gamma: str = "0"
    delta: str = "0"
    alpha_path: str = "alpha"
    beta_path: str = "beta"


def speed_of(entry: AcceleratorProfile) -> ProfiledSpeed | None:
    """Return the speed in a profile entry; None if it has none, or one that cannot be read."""
    if entry.alpha is not None and entry.beta is not None:
        return ProfiledSpeed(entry.alpha, entry.beta)
    if entry.perf_parms is None or next(parameter_problems(entry.perf_parms), None):
        return None
    decode, prefill = entry.perf_parms.decode_parms, entry.perf_parms.prefill_parms
    at = "perfParms.decodeParms"
    return ProfiledSpeed(
        alpha=decode["alpha"],
        beta=decode["beta"],
        gamma=prefill["gamma"],
        delta=prefill["delta"],
        alpha_path=f"{at}.alpha",
        beta_path=f"{at}.beta",
    )


def parameter_problems(parms: PerfParms) -> Iterator[tuple[str, str]]:
    """Yield the parameters that are missing or no number, as path and reason."""
    for field, given in _given(parms):
        for key in _PARMS[field]:
            text = given.get(key)
            if text is None:
                yield f"{field}.{key}", "is required: without it the speed is unknown; measure it, and set it"
            elif not _NUMBER.fullmatch(text):
                yield (
                    f"{field}.{key}",
                    f"must be a number of at least 0 in quotes, such as '20.58', found {format_value(text)}",
                )


def unread_parameters(parms: PerfParms) -> Iterator[str]:
    """Yield the paths of parameters that nothing reads."""
    for field, given in _given(parms):
        yield from (f"{field}.{key}" for key in given if key not in _PARMS[field])


def _given(parms: PerfParms) -> Iterator[tuple[str, Mapping[str, str]]]:
    yield "decodeParms", parms.decode_parms
    yield "prefillParms", parms.prefill_parms


def described_variant(source: LoadedResource) -> ModelVariant | None:
    """Return the variant that a VariantAutoscaling describes; None for a resource of another kind."""
    resource = source.resource
    if not isinstance(resource, VariantAutoscaling):
        return None
    current = resource.status.current_alloc if resource.status else None
    profiles = (profile_of(entry) for entry in entries_of(resource))
    return ModelVariant(
        source,
        resource.spec.model_id,
        (resource.metadata.labels or {}).get(ACCELERATOR_LABEL, ""),
        tuple(profile for profile in profiles if profile is not None),
        observed_load(current.load) if current else None,
    )


def entries_of(resource: VariantAutoscaling) -> list[AcceleratorProfile]:
    """Return the profile entries of a resource; none in the releases without a profile."""
    profile = resource.spec.model_profile
    return [] if profile is None else profile.accelerators


def profile_of(entry: AcceleratorProfile) -> Profile | None:
    """Return the profile of an entry; None if its speed is unknown."""
    speed = speed_of(entry)
    if speed is None:
        return None
    numbers = (float(text) for text in (speed.gamma, speed.delta))
    return Profile(entry.acc, entry.acc_count, float(speed.alpha), float(speed.beta), entry.max_batch_size, *numbers)


def profile_entry(profile: Profile) -> Json:
    """Return ``modelProfile`` with one entry. The kind's numbers must not have exponents (WVA spec 2).

    A measured prefill needs the form that v0.0.1 introduced.
    """
    alpha, beta, gamma, delta = (
        f"{Decimal(repr(number)):f}" for number in (profile.alpha, profile.beta, profile.gamma, profile.delta)
    )
    head = {"acc": profile.accelerator, "accCount": profile.count}
    speed: dict[str, Json] = {"alpha": alpha, "beta": beta, "maxBatchSize": profile.batch}
    if profile.gamma or profile.delta:
        parms = {
            "decodeParms": {"alpha": alpha, "beta": beta},
            "prefillParms": {"gamma": gamma, "delta": delta},
        }
        speed = {"perfParms": parms, "maxBatchSize": profile.batch}
    return {"modelProfile": {"accelerators": [{**head, **speed}]}}
