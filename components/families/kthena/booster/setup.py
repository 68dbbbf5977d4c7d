"""What a ModelBooster is expanded for, and one of its backends on the way."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from ....contract.base import Json
from ....fleet.objects import Object
from ....fleet.options import ModelCache, Options
from ..names import backend_name
from ..types import ModelBooster
from ..types.model_booster import ModelBackend, ModelWorker
from .facts import Started, facts


class Purpose(enum.Enum):
    """Who runs what a ModelBooster is expanded into."""

    NATIVE = "native"
    """This project: what only Kthena's controllers and its router use is left out."""
    CONTROLLERS = "controllers"
    """Kthena's controllers: pods have the runtime, which tells metrics under Kthena's names and follows the cache."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What else than the ModelBooster itself decides.

    Attributes:
        namespace: Of a booster that names none.
        loader_image: Takes the place of Kthena's downloader.
        cache: Where the environment keeps weights, for backends that do not say it.
        applied: Whether somebody applies what is made: else ModelServings are rendered in its place, which
            need no revision, and servers and routes are made only for Kthena's router.
    """

    purpose: Purpose = Purpose.NATIVE
    namespace: str = "default"
    loader_image: str = ""
    cache: ModelCache | None = None
    applied: bool = True

    @classmethod
    def of(cls, options: Options, *, applied: bool = True) -> "Setup":
        """Return what the options of a rendering decide."""
        purpose = Purpose.NATIVE if options.realization.is_native else Purpose.CONTROLLERS
        return cls(purpose, options.namespace, options.loader_image, options.cache, applied)

    @property
    def runtime(self) -> bool:
        """Whether pods have the runtime beside the engine."""
        return self.purpose is Purpose.CONTROLLERS


@dataclass(frozen=True, slots=True)
class Part:
    """One backend of a ModelBooster on its way.

    Attributes:
        backend: The backend.
        index: Which one it is.
        namespace: Namespace of the booster.
    """

    booster: ModelBooster
    backend: ModelBackend
    index: int
    namespace: str
    setup: Setup

    @property
    def path(self) -> str:
        """Its field."""
        return f"spec.backends[{self.index}]"

    @property
    def model(self) -> str:
        """Name of the booster: what clients ask for."""
        return self.booster.metadata.name

    @property
    def name(self) -> str:
        """Name of what is made of it."""
        return backend_name(self.model, self.backend.name)

    @property
    def started(self) -> Started:
        """How its engine is started."""
        return facts().engines[self.backend.type]

    @property
    def is_disaggregated(self) -> bool:
        """Whether prefill and decode are roles of their own."""
        return self.backend.type.endswith("Disaggregated")

    @property
    def workers(self) -> Mapping[str, tuple[int, ModelWorker]]:
        """The workers that become roles, by type, each with its place."""
        found: dict[str, tuple[int, ModelWorker]] = {}
        for place, worker in enumerate(self.backend.workers):
            found.setdefault(worker.type, (place, worker))
        return found

    def written(self, name: str) -> str:
        """Return what the environment says of a variable in clear; empty where it does not."""
        return next((str(each.get("value") or "") for each in self.env if each["name"] == name), "")

    def argument(self, name: str) -> str:
        """Return a variable for the command of a container that has it: one from elsewhere by its name.

        The kubelet puts the value in, wherever it comes from. Empty where the variable is not set.
        """
        return f"$({name})" if self.place_from_elsewhere(name) is not None else self.written(name)

    def place_from_elsewhere(self, name: str) -> int | None:
        """Return which variable of the backend has this name and ``valueFrom``."""
        places = (place for place, each in enumerate(self.env) if each["name"] == name and each.get("valueFrom"))
        return next(places, None)

    @property
    def env(self) -> tuple[Object, ...]:
        """The variables of the backend."""
        return tuple(self.backend.env or ())


@dataclass(frozen=True, slots=True)
class RoleOf:
    """A worker of a backend on its way to a role.

    Attributes:
        name: Name of the role.
        place: Which worker it is.
    """

    part: Part
    name: str
    place: int
    worker: ModelWorker

    @property
    def path(self) -> str:
        """Its field."""
        return f"{self.part.path}.workers[{self.place}]"

    @property
    def replicas(self) -> int:
        """Instances in a serving group; one unless the worker says it (Kthena spec D-06)."""
        return 1 if self.worker.replicas is None else self.worker.replicas

    @property
    def pods(self) -> int:
        """Pods of an instance; one unless the worker says it."""
        return 1 if self.worker.pods is None else self.worker.pods

    @property
    def config(self) -> dict[str, Json]:
        """Flags and values; none where the worker has no config (D-05)."""
        return self.worker.config or {}
