"""The settings of a stack that matter to ``fit``: region, prices and instance types, and the shapes of models."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..default_stack import choose_stack
from ..errors import WorkbenchError
from .inputs import GivenModel, given_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from components.checks.memory.workloads.known import KnownShapes
    from components.fleet.instances import Instance
    from components.plan.costs.prices import OwnPrices
    from components.plan.fitting.question import FitQuestion


@dataclass(frozen=True, slots=True)
class FitSettings:
    """What a stack says of models and prices.

    Attributes:
        title: The default stack, for a line of output; empty if the command line names the stack.
        stack: Its name; empty for default settings.
        region: Region of its nodes; empty without one.
        types: Instance types that it describes, by name.
    """

    title: str
    stack: str = ""
    region: str = ""
    types: "Mapping[str, Instance]" = field(default_factory=dict)
    prices: "OwnPrices | None" = None
    shapes: "KnownShapes | None" = field(default=None, repr=False)

    def model(self, name: str, parameters: str) -> GivenModel:
        """Return a model of the stack's modelShapes, or another one."""
        if self.shapes is not None and name in self.shapes.own and not parameters:
            return GivenModel(name, self.shapes)
        return given_model(name, parameters)

    def applied_to(self, question: "FitQuestion") -> "FitQuestion":
        """Return the question with the prices of the stack."""
        return replace(question, prices=self.prices) if self.prices is not None else question


def fit_settings(cwd: Path, stack: str | None) -> FitSettings:
    """Return the settings of a stack, or of the default stack of the project.

    Raises:
        WorkbenchError: the settings are invalid.
    """
    chosen = choose_stack(cwd, stack)
    title = "" if stack else chosen.title
    if not chosen.name:
        return FitSettings(title)
    from components.resources.serving.fleet.files import read_text
    from stacks.stack_file import StackFile

    from ..subject import Subject

    settings = Subject(chosen.name, chosen.folder).settings()
    environment = settings.environment(lambda path: read_text(chosen.folder / path))
    if environment.price_problems:
        located = StackFile(settings.file, chosen.folder).located(environment.price_problems)
        raise WorkbenchError("\n".join(map(str, located)))
    region = environment.cloud.region if environment.cloud else ""
    return FitSettings(
        title, chosen.name, region, types=environment.types, prices=environment.prices, shapes=environment.shapes
    )
