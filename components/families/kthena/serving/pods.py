"""Pod templates of a role, with what Kthena's controller and the environment add to them (Kthena spec 3.2)."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from ....fleet.demand import NodeChoice, NodeField, PodDemand
from ....fleet.objects import Object, copied
from ....fleet.options import Options
from ....fleet.placement import requests_of
from ....fleet.serving import disable_token_mount, override_pod
from ..made import behind
from ..names import entry_labels, role_labels
from ..types.model_serving import PodTemplateSpec
from .asked import AskedServing
from .gang import SCHEDULER
from .groups import has_pod_groups
from .nodes import choices_of, put_on_nodes, selector_field
from .spread import spread

GROUP_VARIABLES = ("GROUP_SIZE", "ENTRY_ADDRESS", "WORKER_INDEX")
"""What every container of a ModelServing knows of its role instance."""
LEADER_ADDRESS = "$(LWS_LEADER_ADDRESS)"
"""Address of the entry pod as LeaderWorkerSets tell it."""
_USUAL_SCHEDULER = Options().scheduler_name
_CHANGED = ("affinity", "tolerations")
"""Fields of a pod that are changed where they stand; all others are only replaced as a whole."""
_SIZE, _INDEX = "$(LWS_GROUP_SIZE)", "$(LWS_WORKER_INDEX)"


@dataclass(frozen=True, slots=True)
class RoleInstance:
    """What tells the pods of one role instance from those of another.

    Attributes:
        entry_address: Where its entry pod is found.
        labels: Labels that only its pods have.
        annotations: Annotations that only its pods have.
    """

    entry_address: str = LEADER_ADDRESS
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Template:
    """The entry pods or the workers of a role, complete but for what differs between its instances.

    Attributes:
        part: Field of a LeaderWorkerSet that takes them.
        body: The template.
        choices: Nodes that the pods may run on.
        node_field: The field that could choose nodes.
    """

    part: str
    body: Object
    choices: tuple[NodeChoice, ...]
    node_field: NodeField

    @property
    def spec(self) -> Object:
        """The pod."""
        spec: Object = self.body["spec"]
        return spec

    @functools.cached_property
    def requests(self) -> Mapping[str, Decimal]:
        """What one of them requests."""
        return requests_of(self.spec)

    def demand(self, pods: int, *, per_replica: int, surge: int = 0) -> PodDemand:
        """Return what some of these pods need from nodes."""
        return PodDemand(
            pods, self.requests, self.choices, surge_pods=surge, per_replica=per_replica, node_field=self.node_field
        )


def complete(asked: AskedServing, path: str, role: str, written: PodTemplateSpec, *, entry: bool) -> Template:
    """Return the template of the entry pods or the workers of a role.

    Args:
        asked: The ModelServing.
        path: The field of the template.
        role: Name of the role.
        written: What is written.
        entry: Whether it is that of the entry pods.
    """
    native = asked.options.realization.is_native
    own = written.metadata.wire() if written.metadata else {}
    spec = written.spec or {}
    body: Object = {"metadata": own, "spec": {**spec, **{key: copied(spec[key]) for key in _CHANGED if key in spec}}}
    if native:
        override_pod(body, asked.options.overrides)
    labels = entry_labels(asked.name, role) if entry else role_labels(asked.name, role)
    body["metadata"] = {**body["metadata"], "labels": {**(body["metadata"].get("labels") or {}), **labels}}
    alternatives = asked.options.alternatives if native else {}
    choices = choices_of(body["spec"], alternatives, behind(asked.source), f"{path}.spec")
    if native:
        _settle(body["spec"], choices, asked)
        if entry:
            spread(asked, role, body["spec"])
    part = "leaderTemplate" if entry else "workerTemplate"
    return Template(part, body, choices, selector_field(behind(asked.source), f"{path}.spec"))


def _settle(spec: Object, choices: tuple[NodeChoice, ...], asked: AskedServing) -> None:
    """Add what no controller adds: the way to the nodes, the scheduler, and no token."""
    put_on_nodes(spec, choices)
    if has_pod_groups(asked.group):
        spec.setdefault("schedulerName", SCHEDULER)
    elif asked.options.scheduler_name != _USUAL_SCHEDULER:
        spec.setdefault("schedulerName", asked.options.scheduler_name)
    disable_token_mount(spec)


def template_for(template: Template, instance: RoleInstance) -> Object:
    """Return a template for the pods of one role instance; what it does not change is that of all instances."""
    written, spec = template.body["metadata"], template.body["spec"]
    metadata = {**written, "labels": {**written["labels"], **instance.labels}}
    if instance.annotations:
        metadata["annotations"] = {**(written.get("annotations") or {}), **instance.annotations}
    containers = {
        field: [_told_group(container, instance.entry_address) for container in spec[field]]
        for field in ("initContainers", "containers")
        if spec.get(field)
    }
    return {"metadata": metadata, "spec": {**spec, **containers}}


def _told_group(container: Object, entry_address: str) -> Object:
    """Return a container with the variables of the group, in place of any of their names.

    They stand first, so that other variables can refer to them; those that they refer to are put before them by the
    controller of LeaderWorkerSets.
    """
    values = dict(zip(GROUP_VARIABLES, (_SIZE, entry_address, _INDEX), strict=True))
    others = [variable for variable in container.get("env") or () if variable["name"] not in values]
    return {**container, "env": [*({"name": name, "value": value} for name, value in values.items()), *others]}
