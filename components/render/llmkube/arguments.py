"""What the container of an InferenceService is started with: the runtime's command, arguments and environment."""

from dataclasses import dataclass, field

from ..types import Object
from .serving import Serving


@dataclass(frozen=True, slots=True)
class Arguments:
    """How a runtime is started.

    Attributes:
        command: Command of the container; None leaves it to the image.
        args: Arguments, each flag and each value an item of its own.
        env: What the runtime itself sets, as wire objects; ``spec.env`` follows it.
    """

    command: list[str] | None = None
    args: list[str] = field(default_factory=list)
    env: list[Object] = field(default_factory=list)


def arguments(serving: Serving) -> Arguments:
    """Return what the container is started with; what is wrong is recorded in the findings."""
    raise NotImplementedError(serving.runtime)
