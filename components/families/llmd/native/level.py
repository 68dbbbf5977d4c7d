"""What a variant is sized for: what is promised, what is asked, and what its accelerators cost."""

from dataclasses import dataclass, replace
from decimal import Decimal

from ....fleet.levels import Load
from ....performance.sizing.cases import Case, Profile
from ..checks.agreed import Agreed, carried
from ..load import AskedLoad
from ..variant import Variant


@dataclass(frozen=True, slots=True)
class VariantLevel:
    """What a variant is sized for."""

    variant: Variant
    agreed: Agreed
    asked: AskedLoad

    @property
    def load(self) -> Load:
        """What is asked of it."""
        return self.asked.load

    def own(self, per_minute: Decimal) -> Case:
        """Return the question how many replicas a rate of requests needs on the accelerator that it runs on."""
        return self.agreed.case(self.load, per_minute)

    def peak_on(self, profile: Profile, cents_per_hour: Decimal) -> Case:
        """Return that question for another accelerator, at the peak."""
        profile, promise = carried(self.variant, profile, self.agreed.promise)
        case = replace(self.own(self.load.per_minute), profile=profile, promise=promise)
        return replace(case, cents_per_hour=float(cents_per_hour))
