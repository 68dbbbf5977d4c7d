"""The release of Kthena's controllers that realization operator installs, and which of their defects it has."""

from dataclasses import dataclass

from ...contract.load import LoadedResource
from ...contract.releases import Span
from .generated import Generated
from .kinds import RELEASES


@dataclass(frozen=True, slots=True)
class Controllers:
    """Kthena's controllers of one release.

    Attributes:
        release: The release.
    """

    release: str

    @classmethod
    def of(cls, source: LoadedResource) -> "Controllers":
        """Return the controllers for a resource: those of its release, or else of the contract's."""
        kind = source.origin.owner.kind if isinstance(source, Generated) else source.kind
        return cls(kind.release or RELEASES.contract)

    @property
    def title(self) -> str:
        """The version of the chart, for messages."""
        return RELEASES.find(self.release).operator

    def until(self, last: str) -> bool:
        """Whether they have what is in all releases until one of them."""
        return RELEASES.covers(Span(until=last), self.release)

    def since(self, first: str) -> bool:
        """Whether they have what is in all releases since one of them."""
        return RELEASES.covers(Span(since=first), self.release)
