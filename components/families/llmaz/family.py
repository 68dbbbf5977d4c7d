"""The family llmaz: its kinds and how they are rendered."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...contract.base import Json
from ...fleet.objects import Object
from ...fleet.origins import Argument
from ..family import Authoring, Family, FlavorReader, FlavorReading, Member, Migrating
from .flavors import read_flavor
from .kinds import BACKEND_RUNTIME, OPEN_MODEL, PLAYGROUND, SERVICE
from .rendering import OPERATOR, render_backend_runtime, render_open_model, render_playground, render_service

if TYPE_CHECKING:
    from ..authoring import ModelDeployment
    from ..migration import ReleaseStep


class Llmaz(Family, FlavorReader, Migrating, Authoring):
    """llmaz, whose flavors are also arguments of components that create nodes."""

    def read_flavor(self, value: Json, at: Argument, alternatives: Mapping[str, tuple[str, ...]]) -> FlavorReading:
        """Read a flavor of llmaz, with INSTANCE-TYPE among its params."""
        return read_flavor(value, at, alternatives)

    def author(self, deployment: "ModelDeployment") -> tuple[Object, ...]:
        """Return an OpenModel and a Playground."""
        from .authoring import author

        return author(deployment)

    def steps(self) -> "tuple[ReleaseStep, ...]":
        """Return the conversions between releases."""
        from .migration import steps

        return steps()


FAMILY = Llmaz(
    name="llmaz",
    package=__package__ or "",
    operator=OPERATOR,
    members=(
        Member(OPEN_MODEL, render_open_model, referred=True, component="OpenModel"),
        Member(BACKEND_RUNTIME, render_backend_runtime, referred=True, component="BackendRuntime"),
        # InftyAI/llmaz at 3c13ff3, pkg/controller/inference: setPlaygroundCondition and setServiceCondition
        Member(PLAYGROUND, render_playground, serves=True, component="Playground", ready_condition="Available"),
        Member(SERVICE, render_service, serves=True, component="Service", ready_condition="Available"),
    ),
)
