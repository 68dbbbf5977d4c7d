"""What is known of the models of a fleet: what an environment says of its own ones, and the catalog."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ....contract.problems import Problem
from ....fleet.workloads import NamedWeights
from ..catalog import shape_of
from ..naming import estimate
from ..shapes import Shape


@dataclass(frozen=True, slots=True)
class OwnShape:
    """What an environment says of a model.

    Attributes:
        is_sized: Whether it says how large the files are.
    """

    shape: Shape
    is_sized: bool = False


@dataclass(frozen=True, slots=True)
class KnownShapes:
    """What is known of models.

    Attributes:
        own: What an environment says, by what servers are told or by where weights are from.
        problems: What is wrong with what it says.
        rest: Shape of the only model that is otherwise unknown; None if it was not given.
        local: Reads the shape of a model from its folder on this machine; None if files must not be read.
    """

    own: Mapping[str, OwnShape] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    rest: OwnShape | None = None
    local: Callable[[str], Shape | None] | None = None

    def find(self, model: str, weights: tuple[NamedWeights, ...], *, single_file: bool = False) -> Shape | str:
        """Return what is known of a model; in words what is not.

        Args:
            model: What the server is told to load.
            weights: What is known by other names.
            single_file: Whether it reads single files.
        """
        named = next((each for each in weights if each.loaded_as == model), None)
        names = list(_names(model, named))
        own = next((self.own[name] for name in names if name in self.own), None)
        of_file = single_file or (named is not None and bool(named.file))
        shown = (named.file or named.name) if named else model
        if own is not None and (own.is_sized or not of_file):
            return own.shape
        if of_file:
            found = estimate(shown, single_file=True)
            return found or f"the size of the file {shown} is not known; say it with weightsGib of modelShapes"
        if self.local is not None:
            here = next(filter(None, map(self.local, names)), None)
            if here is not None:
                return here
        name = named.name if named else model
        known = shape_of(name)
        if known is None and self.rest is not None:
            return replace(self.rest.shape, name=shown)
        return known or estimate(name) or f"the model {shown} is not known; describe it in modelShapes"


def _names(model: str, named: NamedWeights | None) -> Iterator[str]:
    """Yield what a model may be called, what is most exact first."""
    yield model
    if named:
        if named.file:
            yield f"{named.name}/{named.file}"
            yield named.file
        yield named.name
    elif ":" in model:
        yield model.rpartition(":")[0]
