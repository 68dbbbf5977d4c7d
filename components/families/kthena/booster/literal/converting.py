"""Everything that Kthena's controllers make of a ModelBooster, until they give up."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .....contract.load import LoadedResource
from .....contract.schema.defaults import with_defaults
from .....fleet.objects import Object
from .....fleet.options import Options
from ...names import NETWORKING_API, WORKLOAD_API, backend_name
from ...types import ModelBooster
from ..children.labels import REVISION, labels_of, revision_of, uid_of
from .command import Unconvertible
from .networking import route_spec, server_spec
from .scaling import optimizer_spec, policy_spec, scaling_spec
from .servings import serving_spec
from .templating import substituted

_OWNED = {"blockOwnerDeletion": True, "controller": True}


@dataclass(frozen=True, slots=True)
class Conversion:
    """What the controllers make.

    Attributes:
        objects: As they send them to the API server, which fills in defaults. Uid and revisions are placeholders:
            the one is given by the API server, the others are a hash of Go's own way to print values.
        failure: Why they go no further; empty if they make everything.
    """

    objects: tuple[Object, ...]
    failure: str = ""


def converted(source: LoadedResource, namespace: str) -> Conversion:
    """Return what the controllers make of a booster, in their order: each step ends at the first failure.

    Args:
        source: The booster.
        namespace: Namespace of a booster that names none.
    """
    found: list[Object] = []
    try:
        for step in _Steps(source, namespace).all():
            found += step()
    except Unconvertible as error:
        return Conversion(tuple(found), str(error))
    return Conversion(tuple(found))


def convert(source: LoadedResource, options: Options) -> tuple[tuple[Object, ...], str]:
    """Return what the controllers make of a booster, and why they make no more."""
    conversion = converted(source, options.namespace)
    return conversion.objects, conversion.failure


class _Steps:
    def __init__(self, source: LoadedResource, namespace: str) -> None:
        booster = source.resource
        assert isinstance(booster, ModelBooster)  # noqa: S101  the caller chose this function by kind
        self._booster = booster
        self._stored = with_defaults(source)["spec"]
        self._model = booster.metadata.name
        self._namespace = booster.metadata.namespace or namespace
        self._uid = uid_of(self._namespace, self._model)

    def all(self) -> tuple[Callable[[], list[Object]], ...]:
        """Return the steps, in order."""
        return (
            lambda: list(self._servings()),
            lambda: list(self._servers()),
            lambda: [self._object("ModelRoute", "", route_spec(self._model, self._booster.spec), NETWORKING_API)],
            lambda: list(self._scaling()),
        )

    def _servings(self) -> Iterator[Object]:
        for backend, stored in zip(self._booster.spec.backends, self._stored["backends"], strict=True):
            labels = self._labels(backend.name, stored)
            spec = serving_spec(self._model, backend, labels)
            body = self._object("ModelServing", backend.name, spec, revised=stored)
            yield substituted(body, self._model, backend)

    def _servers(self) -> Iterator[Object]:
        for backend in self._booster.spec.backends:
            spec = server_spec(self._model, backend, self._uid)
            yield self._object("ModelServer", backend.name, spec, NETWORKING_API, _OWNED)

    def _scaling(self) -> Iterator[Object]:
        spec = self._booster.spec
        if spec.autoscaling_policy:
            binding = optimizer_spec(self._model, spec)
            yield self._policy("", self._stored["autoscalingPolicy"])
            yield self._object("AutoscalingPolicyBinding", "", binding, flags=_OWNED)
            return
        for backend, stored in zip(spec.backends, self._stored["backends"], strict=True):
            if backend.autoscaling_policy:
                binding = scaling_spec(self._model, backend)
                yield self._policy(backend.name, stored["autoscalingPolicy"])
                yield self._object("AutoscalingPolicyBinding", backend.name, binding, flags=_OWNED)

    def _policy(self, backend: str, stored: Object) -> Object:
        return self._object("AutoscalingPolicy", backend, policy_spec(stored), flags=_OWNED)

    def _object(
        self,
        kind: str,
        backend: str,
        spec: Object,
        api: str = WORKLOAD_API,
        flags: Object | None = None,
        revised: Object | None = None,
    ) -> Object:
        """Return an object; its revision is that of its spec, or of what it is made of."""
        owner = {"apiVersion": WORKLOAD_API, "kind": "ModelBooster", "name": self._model, "uid": self._uid}
        metadata = {
            "name": backend_name(self._model, backend) if backend else self._model,
            "namespace": self._namespace,
            "labels": self._labels(backend, spec if revised is None else revised),
            "ownerReferences": [{**owner, **(flags or {})}],
        }
        return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}

    def _labels(self, backend: str, revised: Object) -> dict[str, str]:
        return {**labels_of(self._model, self._namespace, backend), REVISION: revision_of(revised)}
