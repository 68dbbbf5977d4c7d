"""What a variant is sized for: what is promised, what is asked, and what its accelerators cost."""

from dataclasses import dataclass
from decimal import Decimal

from ....sizing.cases import Case, Profile
from ....sizing.levels import Load
from ..checks.agreed import Agreed
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

    def case(self, profile: Profile, per_minute: Decimal, cents_per_hour: Decimal) -> Case:
        """Return the question how many replicas of a profile some load needs."""
        tokens, price = float(self.load.output_tokens), float(cents_per_hour)
        return Case(profile, self.agreed.promise, float(per_minute), tokens, price)

    def own(self, per_minute: Decimal) -> Case:
        """Return that question for the accelerator that it runs on."""
        return self.case(self.agreed.profile, per_minute, self.agreed.cost.cents_per_hour)
