"""Converts a ModelBooster as Kthena's own controllers do, up to the point where they fail."""

from collections.abc import Iterator

from .....contract.load import LoadedResource
from .....contract.schema.defaults import with_defaults
from .....fleet.objects import Object
from .....fleet.options import Options
from ...kinds import RELEASES
from ...names import NETWORKING_API, WORKLOAD_API, backend_name
from ...types import ModelBooster
from ..context import REVISION, labels_of, revision_of, uid_of
from .networking import route_spec, server_spec
from .scaling import optimizer_spec, policy_spec, scaling_spec
from .serving import ConversionError, serving_spec, substitute_placeholders

_OWNER_FLAGS = {"blockOwnerDeletion": True, "controller": True}


def convert(source: LoadedResource, options: Options) -> tuple[tuple[Object, ...], str]:
    """Return the objects that the controllers generate from a booster, and why they stop; empty if they finish.

    The objects are as they are sent to the API server, which sets defaults. Uid and revisions are placeholders: the
    API server creates the uid, and revisions are a hash of values as Go prints them.
    """
    if isinstance(source.resource, ModelBooster) and source.resource.spec.backend:
        # Its form is that of v0.2.0 and later, whose controllers convert it otherwise.
        return (), f"only the controllers of {RELEASES.title(RELEASES.contract)} are known word for word"
    objects: list[Object] = []
    conversion = _Conversion(source, options.namespace)
    try:
        for step in (conversion.servings, conversion.servers, conversion.routes, conversion.scaling):
            # The controllers send the objects of a step only once they have converted all of them.
            objects += list(step())
    except ConversionError as error:
        return tuple(objects), str(error)
    return tuple(objects), ""


class _Conversion:
    """The steps of the controllers."""

    def __init__(self, source: LoadedResource, namespace: str) -> None:
        booster = source.resource
        assert isinstance(booster, ModelBooster)  # noqa: S101  the caller chose this function by kind
        self._booster = booster
        self._stored = with_defaults(source)["spec"]
        self._model = booster.metadata.name
        self._namespace = booster.metadata.namespace or namespace
        self._uid = uid_of(self._namespace, self._model)

    def servings(self) -> Iterator[Object]:
        for backend, stored in zip(self._booster.spec.all_backends, self._stored["backends"], strict=True):
            spec = serving_spec(self._model, backend, self._labels(backend.name, stored))
            body = self._object("ModelServing", backend.name, spec, revised=stored)
            yield substitute_placeholders(body, self._model, backend)

    def servers(self) -> Iterator[Object]:
        for backend in self._booster.spec.all_backends:
            spec = server_spec(self._model, backend, self._uid)
            yield self._object("ModelServer", backend.name, spec, NETWORKING_API, _OWNER_FLAGS)

    def routes(self) -> Iterator[Object]:
        yield self._object("ModelRoute", "", route_spec(self._model, self._booster.spec), NETWORKING_API)

    def scaling(self) -> Iterator[Object]:
        spec = self._booster.spec
        if spec.autoscaling_policy:
            binding = optimizer_spec(self._model, spec)
            yield self._policy("", self._stored["autoscalingPolicy"])
            yield self._object("AutoscalingPolicyBinding", "", binding, flags=_OWNER_FLAGS)
            return
        for backend, stored in zip(spec.all_backends, self._stored["backends"], strict=True):
            if backend.autoscaling_policy:
                binding = scaling_spec(self._model, backend)
                yield self._policy(backend.name, stored["autoscalingPolicy"])
                yield self._object("AutoscalingPolicyBinding", backend.name, binding, flags=_OWNER_FLAGS)

    def _policy(self, backend: str, stored: Object) -> Object:
        return self._object("AutoscalingPolicy", backend, policy_spec(stored), flags=_OWNER_FLAGS)

    def _object(
        self,
        kind: str,
        backend: str,
        spec: Object,
        api: str = WORKLOAD_API,
        flags: Object | None = None,
        revised: Object | None = None,
    ) -> Object:
        """Return an object. Its revision is the hash of its spec, or of ``revised``."""
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
