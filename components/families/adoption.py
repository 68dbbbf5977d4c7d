"""Adoption: describing a workload of one family in the kinds of another, which then runs the same pods."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..fleet.autoscalers import Autoscaler
from ..fleet.endpoints import Endpoint
from ..fleet.objects import Object
from ..fleet.options import Options
from ..fleet.shapes import PodUpdate
from ..fleet.workloads import Workload


@dataclass(frozen=True, slots=True)
class AdoptedWorkload:
    """A rendered workload, without the names and labels by which its own family finds it.

    Attributes:
        name: Name of the resource.
        workload: The workload, with its engine, its weights and its bounds.
        leader: Template of the pods that receive requests.
        worker: Template of the other pods of a replica; None if a replica is one pod.
        update: How its pods are replaced.
        endpoint: Where it serves; None if it does not.
        autoscaler: What scales it; None if nothing does.
    """

    name: str
    namespace: str
    workload: Workload
    leader: Object
    worker: Object | None
    update: PodUpdate
    endpoint: Endpoint | None
    autoscaler: Autoscaler | None

    @property
    def container(self) -> Object:
        """The serving container."""
        container: Object = self.leader["spec"]["containers"][self.workload.server.position]
        return container

    @property
    def workers(self) -> int:
        """Pods of a replica that receive no requests."""
        return self.workload.size - 1


@runtime_checkable
class Adopting(Protocol):
    """A family that can describe workloads of other families in its own kinds.

    What it cannot express is left out: the caller renders the manifests and compares them with the original.
    """

    def adopt(self, adopted: AdoptedWorkload, options: Options) -> tuple[Object, ...]:
        """Return the manifests of a workload, those that others refer to first."""
        ...

    @property
    def own_variables(self) -> Mapping[str, str]:
        """Variables that the family's controllers set in every container.

        Each with the variable of a LeaderWorkerSet that has the same value; empty if none has.
        """
        ...


def renamed_variables(container: Object, names: Mapping[str, str]) -> Object:
    """Return a container whose command, arguments, variables and scripts of hooks refer to other variables.

    Kubernetes expands ``$(NAME)``, and shells ``$NAME`` and ``${NAME}``.
    """
    # After another dollar sign, neither expands it.
    pattern = re.compile(rf"(?<!\$)\$(?:\(({'|'.join(names)})\)|\{{({'|'.join(names)})\}}|({'|'.join(names)})\b)")

    def renamed(match: re.Match[str]) -> str:
        name = next(group for group in match.groups() if group)
        return match[0].replace(name, names[name])

    def in_text(text: Any) -> Any:  # noqa: ANN401  YAML has numbers too
        return pattern.sub(renamed, text) if isinstance(text, str) else text

    changed = dict(container)
    for part in ("command", "args"):
        if container.get(part):
            changed[part] = [in_text(word) for word in container[part]]
    if container.get("env"):
        changed["env"] = [
            {**variable, "value": in_text(variable["value"])} if "value" in variable else variable
            for variable in container["env"]
        ]
    if container.get("lifecycle"):
        changed["lifecycle"] = {
            name: {**hook, "exec": {"command": [in_text(word) for word in hook["exec"].get("command") or ()]}}
            if isinstance(hook, Mapping) and hook.get("exec")
            else hook
            for name, hook in container["lifecycle"].items()
        }
    return changed


def node_selector_of(pod: Object) -> dict[str, str] | None:
    """Return the node affinity of a pod as a node selector; None if a selector cannot express it."""
    affinity = pod.get("affinity") or {}
    node = affinity.get("nodeAffinity") or {}
    terms = (node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or []
    if (
        set(affinity) != {"nodeAffinity"}
        or len(node) != 1
        or len(terms) != 1
        or set(terms[0]) != {"matchExpressions"}
    ):
        return None
    expressions = terms[0]["matchExpressions"]
    if any(item["operator"] != "In" or len(item["values"]) != 1 for item in expressions):
        return None
    labels = {item["key"]: str(item["values"][0]) for item in expressions}
    return labels if len(labels) == len(expressions) else None
