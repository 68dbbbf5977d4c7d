"""Known shapes: those an environment describes, and the catalog."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ....contract.problems import Problem
from ....fleet.workloads import NamedWeights
from ..catalog import shape_of
from ..shapes import Shape


class OwnShape(NamedTuple):
    """A model that an environment describes.

    Attributes:
        is_sized: Whether the description includes the size of the files.
    """

    shape: Shape
    is_sized: bool = False


@dataclass(frozen=True, slots=True)
class KnownShapes:
    """Known shapes of models.

    Attributes:
        own: Models that an environment describes, by the name or path that servers load, or by their origin.
        problems: Problems of these descriptions.
        rest: Shape of the only model that is otherwise unknown; None if it was not given.
        local: Reads the shape of a model from its folder on this machine; None if files must not be read.
    """

    own: Mapping[str, OwnShape] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    rest: OwnShape | None = None
    local: Callable[[str], Shape | None] | None = None

    def find(self, model: str, weights: tuple[NamedWeights, ...], *, single_file: bool = False) -> Shape | str:
        """Return the shape of a model, or a message if it is unknown.

        Args:
            model: The model that the server is configured to load.
            weights: Other names of the model's weights.
            single_file: Whether the server loads single files.
        """
        named = next((candidate for candidate in weights if candidate.loaded_as == model), None)
        names = list(_names(model, named))
        own = next((self.own[name] for name in names if name in self.own), None)
        is_file = single_file or (named is not None and bool(named.file))
        display_name = (named.file or named.name) if named else model
        # The layers in a config.json do not determine the size of a quantized file.
        if own is not None and (own.is_sized or not is_file):
            return own.shape
        if is_file:
            from ..naming import estimate

            shape = estimate(display_name, single_file=True)
            return shape or f"the size of the file {display_name} is unknown; set weightsGib in modelShapes"
        if self.local is not None:
            local = next(filter(None, map(self.local, names)), None)
            if local is not None:
                return local
        name = named.name if named else model
        known = shape_of(name)
        if known is None and self.rest is not None:
            return replace(self.rest.shape, name=display_name)
        if known is not None:
            return known
        # Imported for models outside of the catalog only: many regular expressions.
        from ..naming import estimate

        return estimate(name) or f"unknown model {display_name}; describe it in modelShapes"


def _names(model: str, named: NamedWeights | None) -> Iterator[str]:
    """Yield the possible names of a model, most specific first."""
    yield model
    if named:
        if named.file:
            yield f"{named.name}/{named.file}"
            yield named.file
        yield named.name
    elif ":" in model:
        yield model.rpartition(":")[0]
