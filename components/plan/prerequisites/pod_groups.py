"""PodGroup ``scheduling.volcano.sh/v1beta1``: pods that are scheduled together or not at all.

The fields are those of the CRD of Volcano v1.12.2, which its chart installs. The kind belongs to no family:
objects of it are rendered, not read from manifests.
"""

from typing import Annotated, Literal

from pydantic import Field

from ...contract.base import ApiModel, Int32, Int64
from ...contract.kinds import Column, Kind
from ...contract.meta import Resource
from ...contract.schema.embedded import Quantity, Time


class Topology(ApiModel):
    """Maximum distance between the pods in the network."""

    mode: Literal["hard", "soft"] = "hard"
    highest_tier_allowed: Int64 = 1


class PodGroupSpec(ApiModel):
    """Desired scheduling of the group."""

    min_member: Int32 | None = None
    min_task_member: dict[str, Int32] | None = None
    queue: str = "default"
    priority_class_name: str | None = None
    min_resources: dict[str, Quantity] | None = None
    network_topology: Topology | None = None


class PodGroupCondition(ApiModel):
    """A condition that the scheduler reports."""

    type: str | None = None
    status: str | None = None
    transition_id: Annotated[str | None, Field(alias="transitionID")] = None
    last_transition_time: Time | None = None
    reason: str | None = None
    message: str | None = None


class PodGroupStatus(ApiModel):
    """Observed state."""

    phase: str | None = None
    conditions: list[PodGroupCondition] | None = None
    running: Int32 | None = None
    succeeded: Int32 | None = None
    failed: Int32 | None = None


class PodGroup(Resource):
    """Pods that are scheduled together or not at all."""

    api_version: Literal["scheduling.volcano.sh/v1beta1"]
    kind: Literal["PodGroup"]
    spec: PodGroupSpec
    status: PodGroupStatus | None = None


POD_GROUP = Kind(
    "scheduling.volcano.sh/v1beta1",
    "PodGroup",
    PodGroup,
    "podgroups",
    namespaced=True,
    short_names=("pg", "podgroup-v1beta1"),
    columns=(
        Column("Status", "string", ".status.phase"),
        Column("MinMember", "integer", ".spec.minMember"),
        Column("Runnings", "integer", ".status.running"),
        Column("Queue", "string", ".spec.queue", 1),
    ),
)
