"""Maps fields of the resources generated from a ModelBooster to the booster's fields that they came from."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ....contract.kinds import Kind
from ....contract.problems import field_path
from ....fleet.objects import Object
from .command import config_arguments
from .context import BackendContext, BackendRole
from .scaling import scaling_field
from .serving import serving_of


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a generated resource.

    Attributes:
        origin: The booster's field that it came from.
        same: Whether both fields hold the same value, so that paths below them are the same too.
    """

    path: str
    origin: str
    same: bool = False


Fields = Callable[[], Iterator[Field]]


class LazyFieldMap:
    """Maps the fields of one generated resource. The field with the longest matching path counts."""

    __slots__ = ("_fields", "_title")

    def __init__(self, kind: Kind, name: str, fields: Fields) -> None:
        """Keep the function that yields the fields: it is only called if there is a problem to report."""
        self._title = f"{kind.kind} {name!r}"
        self._fields = fields

    def __call__(self, path: str) -> tuple[str, str]:
        """Return the booster's field for a field, and the prefix of a message about it."""
        matching = [field for field in self._fields() if _is_below(path, field.path)]
        if not matching:
            return "", ""
        field = max(matching, key=lambda field: len(field.path))
        if field.same:
            return field.origin + path[len(field.path) :], ""
        return field.origin, f"becomes {path} of {self._title}: " if path else ""


def _is_below(path: str, parent: str) -> bool:
    return path.startswith(parent) and (not parent or path[len(parent) : len(parent) + 1] in ("", ".", "["))


def serving_fields(backend: BackendContext) -> Iterator[Field]:
    """Yield the fields of a backend's ModelServing."""
    _, body = serving_of(backend)
    yield Field("", backend.path)
    yield Field("metadata.name", f"{backend.path}.name")
    yield Field("spec.replicas", backend.replicas_path, same=True)
    yield Field("spec.schedulerName", f"{backend.path}.schedulerName", same=True)
    for index, role in enumerate(backend.roles):
        path = f"spec.template.roles[{index}]"
        yield Field(path, role.path)
        yield Field(f"{path}.replicas", f"{role.path}.replicas", same=True)
        yield Field(f"{path}.workerReplicas", f"{role.path}.pods")
        templates = body["spec"]["template"]["roles"][index]
        for template in ("entryTemplate", "workerTemplate"):
            yield from _pod_fields(f"{path}.{template}.spec", role, templates.get(template))


def _pod_fields(path: str, role: BackendRole, template: Object | None) -> Iterator[Field]:
    backend = role.backend
    yield Field(f"{path}.affinity", f"{role.path}.affinity", same=True)
    yield Field(f"{path}.tolerations", f"{role.path}.tolerations", same=True)
    yield Field(f"{path}.runtimeClassName", f"{backend.path}.runtimeClassName", same=True)
    yield Field(f"{path}.volumes", f"{backend.path}.cacheURI")
    yield Field(f"{path}.initContainers", f"{backend.path}.modelURI")
    for index, _ in enumerate(backend.spec.lora_adapters or ()):
        yield Field(f"{path}.initContainers[{index + 1}]", f"{backend.path}.loraAdapters[{index}].artifactURL")
    for index, container in enumerate(template["spec"]["containers"] if template else ()):
        field = f"{path}.containers[{index}]"
        yield Field(f"{field}.env", f"{backend.path}.env")
        yield Field(f"{field}.envFrom", f"{backend.path}.envFrom", same=True)
        if container["name"] == "runtime":
            yield Field(field, backend.path)
            continue
        yield Field(field, role.path)
        yield Field(f"{field}.image", f"{role.path}.image", same=True)
        yield Field(f"{field}.resources", f"{role.path}.resources", same=True)
        yield Field(f"{field}.command", f"{role.path}.config")
        yield Field(f"{field}.args", f"{role.path}.config", same=True)
        arguments = config_arguments(role)
        for position, text in enumerate(container["args"]):
            # The arguments of config keep their order among those that are generated.
            if arguments and text == arguments[0][0]:
                key = field_path(["config", arguments.pop(0)[1]])
                yield Field(f"{field}.args[{position}]", f"{role.path}.{key}", same=True)
            else:
                yield Field(f"{field}.args[{position}]", f"{role.path}.config")
        yield Field(f"{field}.volumeMounts", f"{backend.path}.cacheURI")


def server_fields(backend: BackendContext) -> Iterator[Field]:
    """Yield the fields of a backend's ModelServer."""
    yield Field("", backend.path)
    yield Field("metadata.name", f"{backend.path}.name")
    for role in backend.roles[-1:]:
        for field in ("spec.model", "spec.workloadPort", "spec.kvConnector"):
            yield Field(field, f"{role.path}.config")


def route_fields(backends: tuple[BackendContext, ...]) -> Iterator[Field]:
    """Yield the fields of the booster's ModelRoute."""
    yield Field("", "spec")
    yield Field("metadata.name", "metadata.name", same=True)
    yield Field("spec.modelName", "metadata.name")
    yield Field("spec.rules", backends[0].path.partition("[")[0])
    yield Field("spec.rateLimit", "spec")
    lora = next((backend.path for backend in backends if backend.spec.lora_adapters), backends[0].path)
    yield Field("spec.loraAdapters", f"{lora}.loraAdapters")
    yield Field("spec.rules[0].modelMatch", "spec.modelMatch", same=True)
    adapters = sum(len(backend.spec.lora_adapters or ()) for backend in backends)
    for rule in range(1, 1 + adapters):
        yield Field(f"spec.rules[{rule}]", f"{lora}.loraAdapters")
        yield Field(f"spec.rules[{rule}].modelMatch", "spec.modelMatch")
    for index, backend in enumerate(backends):
        yield Field(f"spec.rules[0].targetModels[{index}]", backend.path)
        yield Field(f"spec.rules[0].targetModels[{index}].weight", f"{backend.path}.routeWeight", same=True)


def policy_fields(path: str) -> Iterator[Field]:
    """Yield the fields of a policy; ``path`` is ``spec`` or that of a backend."""
    yield Field("", path)
    yield Field("metadata.name", "metadata.name" if path == "spec" else f"{path}.name")
    yield Field("spec", f"{path}.autoscalingPolicy", same=True)


def binding_fields(path: str, backends: tuple[BackendContext, ...]) -> Iterator[Field]:
    """Yield the fields of the binding of a policy; ``path`` is ``spec`` or that of a backend."""
    yield Field("", f"{path}.autoscalingPolicy")
    yield Field("metadata.name", "metadata.name" if path == "spec" else f"{path}.name")
    yield Field("spec.optimizerConfiguration.costExpansionRatePercent", "spec.costExpansionRatePercent", same=True)
    for index, backend in enumerate(backends):
        is_shared = path == "spec" and not backend.booster.spec.backend
        field = f"spec.optimizerConfiguration.params[{index}]" if is_shared else f"spec.{scaling_field(backend)}"
        yield Field(field, backend.path)
        yield Field(f"{field}.minReplicas", backend.replicas_path, same=True)
        yield Field(f"{field}.maxReplicas", f"{backend.path}.maxReplicas", same=True)
        yield Field(f"{field}.cost", f"{backend.path}.scalingCost", same=True)
