"""A ModelBooster's backend while it is expanded: its roles, and the labels of the generated resources."""

import enum
import functools
import hashlib
import uuid
from dataclasses import dataclass

from pydantic_core import to_json

from ....contract.base import Json
from ....fleet.objects import Object
from ....fleet.options import ModelCache, Options
from ..controllers import Controllers
from ..names import WORKLOAD_GROUP, backend_name
from ..types import ModelBooster
from ..types.model_booster import ModelBackend, ModelWorker
from .facts import EngineFacts, facts

LEADER, PREFILL, DECODE = "leader", "prefill", "decode"
"""Names of the roles."""
REVISION = f"{WORKLOAD_GROUP}/revision"
DRAIN_SECONDS = 300
"""Termination grace period that Kthena's controllers set, for the requests in progress."""
_UID_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, WORKLOAD_GROUP)
_SAFE_LETTERS = str.maketrans("0123456789", "456789bcdf")
"""Replaces the digits of a revision as Kubernetes does, so that no words result (``rand.SafeEncodeString``)."""


class Purpose(enum.Enum):
    """Who runs the resources that a ModelBooster is expanded into."""

    NATIVE = "native"
    """This project: the expansion omits parts that only Kthena's controllers and router use."""
    CONTROLLERS = "controllers"
    """Kthena's controllers: pods have its runtime, which exports metrics under its names and tracks the cache."""


@dataclass(frozen=True, slots=True)
class ExpansionOptions:
    """Options of an expansion.

    Attributes:
        namespace: Namespace of a booster without one.
        loader_image: Image that replaces Kthena's downloader.
        cache: The environment's cache of weights, for backends without one.
        grace: Termination grace period of the pods, in seconds.
        applied: Whether the generated resources are applied to a cluster. Otherwise ModelServings are rendered right
            away, which takes no revision, and ModelServers and ModelRoutes are only generated for Kthena's router.
    """

    purpose: Purpose = Purpose.NATIVE
    namespace: str = "default"
    loader_image: str = ""
    cache: ModelCache | None = None
    applied: bool = True
    grace: int = DRAIN_SECONDS

    @classmethod
    def of(cls, options: Options, *, applied: bool = True) -> "ExpansionOptions":
        """Return the options of an expansion that rendering options imply."""
        purpose = Purpose.NATIVE if options.realization.is_native else Purpose.CONTROLLERS
        grace = max(DRAIN_SECONDS, options.pod_grace) if purpose is Purpose.NATIVE else DRAIN_SECONDS
        return cls(
            purpose=purpose,
            namespace=options.namespace,
            loader_image=options.loader_image,
            cache=options.cache,
            applied=applied,
            grace=grace,
        )

    @property
    def runtime(self) -> bool:
        """Whether pods have Kthena's runtime next to the engine."""
        return self.purpose is Purpose.CONTROLLERS


@dataclass(frozen=True, slots=True)
class BackendContext:
    """A backend of a ModelBooster.

    Attributes:
        index: Its position among the backends.
        namespace: Namespace of the booster.
        controllers: The controllers of the release in which the booster is read.
    """

    booster: ModelBooster
    spec: ModelBackend
    index: int
    namespace: str
    options: ExpansionOptions
    controllers: Controllers

    @property
    def path(self) -> str:
        """The field of the backend."""
        return "spec.backend" if self.booster.spec.backend else f"spec.backends[{self.index}]"

    @property
    def replicas_path(self) -> str:
        """The field of the initial replicas."""
        return f"{self.path}.{'minReplicas' if self.spec.replicas is None else 'replicas'}"

    @property
    def model(self) -> str:
        """Name of the booster, which is the model name of requests."""
        return self.booster.metadata.name

    @property
    def name(self) -> str:
        """Name of the generated resources."""
        return backend_name(self.model, self.spec.name)

    @property
    def labels(self) -> dict[str, str]:
        return labels_of(self.model, self.namespace, self.spec.name)

    @property
    def engine(self) -> EngineFacts:
        return facts().engines[self.spec.type]

    @property
    def is_disaggregated(self) -> bool:
        """Whether prefill and decode are separate roles."""
        return self.spec.type.endswith("Disaggregated")

    @property
    def roles(self) -> "tuple[BackendRole, ...]":
        """The workers that become roles, prefill before decode; of several workers of a type, the first one."""
        types = (PREFILL, DECODE) if self.is_disaggregated else ("server",)
        workers: dict[str, tuple[int, ModelWorker]] = {}
        for index, worker in enumerate(self.spec.workers):
            workers.setdefault(worker.type, (index, worker))
        names = {"server": LEADER, PREFILL: PREFILL, DECODE: DECODE}
        return tuple(BackendRole(self, names[kind], *workers[kind]) for kind in types if kind in workers)

    @property
    def env(self) -> tuple[Object, ...]:
        return tuple(self.spec.env or ())

    def literal_value(self, name: str) -> str:
        """Return the literal value of a variable; empty if it has none."""
        return next((str(variable.get("value") or "") for variable in self.env if variable["name"] == name), "")

    def value_from_index(self, name: str) -> int | None:
        """Return the position of a variable with ``valueFrom``; None if it has a literal value, or is not set."""
        positions = (
            position
            for position, variable in enumerate(self.env)
            if variable["name"] == name and variable.get("valueFrom")
        )
        return next(positions, None)

    def argument(self, name: str) -> str:
        """Return the value of a variable for the arguments of a container that has it; empty if it is not set.

        The kubelet expands a reference, whatever the source of the value.
        """
        return f"$({name})" if self.value_from_index(name) is not None else self.literal_value(name)


@dataclass(frozen=True, slots=True)
class BackendRole:
    """A worker of a backend, which becomes a role of its ModelServing.

    Attributes:
        name: Name of the role.
        index: The worker's position among the workers.
    """

    backend: BackendContext
    name: str
    index: int
    worker: ModelWorker

    @property
    def path(self) -> str:
        """The field of the worker."""
        return f"{self.backend.path}.workers[{self.index}]"

    @property
    def replicas(self) -> int:
        """Instances in a serving group; 1 by default (Kthena spec D-06)."""
        return 1 if self.worker.replicas is None else self.worker.replicas

    @property
    def pods(self) -> int:
        """Pods of an instance; 1 by default."""
        return 1 if self.worker.pods is None else self.worker.pods

    @property
    def config(self) -> dict[str, Json]:
        """Flags and their values; none by default (D-05)."""
        return self.worker.config or {}


def labels_of(model: str, namespace: str, backend: str = "") -> dict[str, str]:
    """Return the labels of resources generated from a backend, or from the whole booster (Kthena spec 2.1)."""
    return {
        f"{WORKLOAD_GROUP}/model-name": model,
        f"{WORKLOAD_GROUP}/backend-name": backend,
        f"{WORKLOAD_GROUP}/managed-by": WORKLOAD_GROUP,
        f"{WORKLOAD_GROUP}/model-uid": uid_of(namespace, model),
    }


@functools.lru_cache(maxsize=1024)
def uid_of(namespace: str, model: str) -> str:
    """Return a placeholder for the uid of a booster.

    A booster has no uid before it is in a cluster, and natively it never is. Namespace and name are just as unique.
    """
    return str(uuid.uuid5(_UID_NAMESPACE, f"{namespace}/{model}"))


def metadata_of(name: str, namespace: str, labels: dict[str, str], spec: Object) -> Object:
    """Return the metadata of a generated resource; only the resource has the revision, not its pods (D-23)."""
    return {"name": name, "namespace": namespace, "labels": {**labels, REVISION: revision_of(spec)}}


def revision_of(spec: Object) -> str:
    """Return a hash of a spec."""
    number = int.from_bytes(hashlib.sha256(to_json(spec)).digest()[:4], "big")
    return str(number).translate(_SAFE_LETTERS)
