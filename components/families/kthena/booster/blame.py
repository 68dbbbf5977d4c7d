"""Which field of a ModelBooster is behind a field of what it becomes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ....contract.kinds import Kind
from ....contract.problems import field_path
from ....fleet.objects import Object
from .children.command import words_of
from .children.serving import pods_of, roles_of
from .setup import Part, RoleOf

_ROLES = "spec.template.roles"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of what is made, and the field of the booster behind it.

    Attributes:
        same: Whether it is the same thing there, with the same fields below.
    """

    child: str
    written: str
    same: bool = False


class Fields:
    """Fields of one resource; the longest path that leads to a field counts."""

    __slots__ = ("_fields", "_title")

    def __init__(self, title: str, fields: Callable[[], Iterator[Field]]) -> None:
        """Keep how to find the fields: nobody asks as long as nothing is wrong.

        Args:
            title: The resource, for messages.
            fields: Yields the fields.
        """
        self._title = title
        self._fields = fields

    def __call__(self, path: str) -> tuple[str, str]:
        """Return the field behind a field, and the lead of a reason about it."""
        within = [field for field in self._fields() if _leads_to(field.child, path)]
        if not within:
            return "", ""
        field = max(within, key=lambda each: len(each.child))
        if field.same:
            return field.written + path[len(field.child) :], ""
        return field.written, f"becomes {path} of {self._title}: " if path else ""


def fields_of(kind: Kind, name: str, fields: Callable[[], Iterator[Field]]) -> Fields:
    """Return the fields of a resource of a kind and name."""
    return Fields(f"{kind.kind} {name!r}", fields)


def _leads_to(start: str, path: str) -> bool:
    return path.startswith(start) and (not start or path[len(start) : len(start) + 1] in ("", ".", "["))


def of_serving(part: Part) -> Iterator[Field]:
    """Yield the fields of a backend's ModelServing."""
    _, body = pods_of(part)
    yield Field("", part.path)
    yield Field("metadata.name", f"{part.path}.name")
    yield Field("spec.replicas", f"{part.path}.minReplicas", same=True)
    for place, role in enumerate(roles_of(part)):
        start = f"{_ROLES}[{place}]"
        yield Field(start, role.path)
        yield Field(f"{start}.replicas", f"{role.path}.replicas", same=True)
        yield Field(f"{start}.workerReplicas", f"{role.path}.pods")
        written = body["spec"]["template"]["roles"][place]
        for template in ("entryTemplate", "workerTemplate"):
            yield from _of_pod(f"{start}.{template}.spec", role, written.get(template))


def _of_pod(start: str, role: RoleOf, template: Object | None) -> Iterator[Field]:
    part = role.part
    yield Field(f"{start}.affinity", f"{role.path}.affinity", same=True)
    yield Field(f"{start}.volumes", f"{part.path}.cacheURI")
    yield Field(f"{start}.initContainers", f"{part.path}.modelURI")
    for place, _ in enumerate(part.backend.lora_adapters or ()):
        yield Field(f"{start}.initContainers[{place + 1}]", f"{part.path}.loraAdapters[{place}].artifactURL")
    for place, container in enumerate(template["spec"]["containers"] if template else ()):
        at = f"{start}.containers[{place}]"
        yield Field(f"{at}.env", f"{part.path}.env")
        yield Field(f"{at}.envFrom", f"{part.path}.envFrom", same=True)
        if container["name"] == "runtime":
            yield Field(at, part.path)
            continue
        yield Field(at, role.path)
        yield Field(f"{at}.image", f"{role.path}.image", same=True)
        yield Field(f"{at}.resources", f"{role.path}.resources", same=True)
        yield Field(f"{at}.command", f"{role.path}.config")
        yield Field(f"{at}.args", f"{role.path}.config", same=True)
        yield from _of_arguments(f"{at}.args", role, container["args"])
        yield Field(f"{at}.volumeMounts", f"{part.path}.cacheURI")


def _of_arguments(start: str, role: RoleOf, args: list[str]) -> Iterator[Field]:
    """Yield the arguments that keys of the config became, and those that are there anyway."""
    words = words_of(role)
    for place, text in enumerate(args):
        if words and text == words[0][0]:
            key = field_path(["config", words.pop(0)[1]])
            yield Field(f"{start}[{place}]", f"{role.path}.{key}", same=True)
        else:
            yield Field(f"{start}[{place}]", f"{role.path}.config")


def of_server(part: Part) -> Iterator[Field]:
    """Yield the fields of a backend's ModelServer."""
    yield Field("", part.path)
    yield Field("metadata.name", f"{part.path}.name")
    for role in roles_of(part)[-1:]:
        for field in ("spec.model", "spec.workloadPort", "spec.kvConnector"):
            yield Field(field, f"{role.path}.config")


def of_route(parts: tuple[Part, ...]) -> Iterator[Field]:
    """Yield the fields of the booster's ModelRoute."""
    yield Field("", "spec")
    yield Field("metadata.name", "metadata.name", same=True)
    yield Field("spec.modelName", "metadata.name")
    yield Field("spec.rules", "spec.backends")
    yield Field("spec.rateLimit", "spec")
    lora = next((part.path for part in parts if part.backend.lora_adapters), "spec.backends[0]")
    yield Field("spec.loraAdapters", f"{lora}.loraAdapters")
    yield Field("spec.rules[0].modelMatch", "spec.modelMatch", same=True)
    for rule in range(len(parts) and 1 + sum(len(part.backend.lora_adapters or ()) for part in parts)):
        if rule:
            yield Field(f"spec.rules[{rule}]", f"{lora}.loraAdapters")
            yield Field(f"spec.rules[{rule}].modelMatch", "spec.modelMatch")
    for place, part in enumerate(parts):
        yield Field(f"spec.rules[0].targetModels[{place}]", part.path)
        yield Field(f"spec.rules[0].targetModels[{place}].weight", f"{part.path}.routeWeight", same=True)


def of_policy(path: str) -> Iterator[Field]:
    """Yield the fields of a policy; ``path`` is that of the booster or of a backend, which has it."""
    yield Field("", path)
    yield Field("metadata.name", "metadata.name" if path == "spec" else f"{path}.name")
    yield Field("spec", f"{path}.autoscalingPolicy", same=True)


def of_binding(path: str, parts: tuple[Part, ...]) -> Iterator[Field]:
    """Yield the fields of a binding; ``path`` is that of the booster or of a backend, which has the policy."""
    yield Field("", f"{path}.autoscalingPolicy")
    yield Field("metadata.name", "metadata.name" if path == "spec" else f"{path}.name")
    yield Field("spec.optimizerConfiguration.costExpansionRatePercent", "spec.costExpansionRatePercent", same=True)
    for place, part in enumerate(parts):
        at = "spec.scalingConfiguration" if path != "spec" else f"spec.optimizerConfiguration.params[{place}]"
        yield Field(at, part.path)
        yield Field(f"{at}.minReplicas", f"{part.path}.minReplicas", same=True)
        yield Field(f"{at}.maxReplicas", f"{part.path}.maxReplicas", same=True)
        yield Field(f"{at}.cost", f"{part.path}.scalingCost", same=True)
