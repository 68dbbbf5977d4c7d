"""A variant of a model as its resource describes it, whatever family that is of."""

from dataclasses import dataclass

from ...contract.load import LoadedResource
from ...fleet.levels import Load
from .cases import Profile


@dataclass(frozen=True, slots=True)
class ModelVariant:
    """A model on one of several accelerators.

    Attributes:
        model: The name under which clients ask for it.
        accelerator: The one that it runs on; empty where its resource does not say.
        profiles: How fast it is on each that it could run on.
        load: What was once observed to be asked of it; None where its resource does not say.
    """

    source: LoadedResource
    model: str
    accelerator: str
    profiles: tuple[Profile, ...]
    load: Load | None = None
