"""How long the leader of a group may wait until every pod of it has its weights and has joined."""

import math

from ....fleet.instances import instance
from ....fleet.objects import Object
from ..flavors import param
from ..models import Claim
from ..parallel import Parallelism, accelerators
from ..types import Flavor

_PERIOD = 10
"""Seconds between tries where a probe does not say (Kubernetes' default)."""
_ANYHOW_SECONDS = 3600
"""What a Deployment has to make progress: nodes are launched first, and images pulled."""
_DISK, _LOCAL_DISK = 125, 250
"""MiB a second of weights onto a node's disk: what an EBS volume of type gp3 takes as it comes, and what a hub
delivers to nodes with disks of their own."""


def waiting(leader: Object, claim: Claim, parallelism: Parallelism) -> Object:
    """Return the container of a leader with a startup probe that allows for the slowest pod of the group.

    A probe that gives up earlier would restart the leader while a worker still loads, and that again and again.
    """
    probe = leader.get("startupProbe")
    if not probe:
        return leader
    seconds = _ANYHOW_SECONDS + max((_loading(flavor, parallelism) for flavor in claim.flavors), default=0)
    tries = math.ceil(seconds / probe.get("periodSeconds", _PERIOD))
    return {**leader, "startupProbe": {**probe, "failureThreshold": max(tries, probe.get("failureThreshold", 0))}}


def _loading(flavor: Flavor, parallelism: Parallelism) -> int:
    """Return how many seconds the weights may take: each pod writes all of them to its disk and reads its part.

    The accelerators that hold the weights tell how large these are at most.
    """
    node = instance(param(flavor, "INSTANCE-TYPE") or "")
    if node is None or node.accelerator_memory_gib is None:
        return 0
    key, count = accelerators(flavor)
    part = node.accelerator_memory_gib * 1024 * int((parallelism.per_pod or {}).get(key, count))
    return math.ceil((part * parallelism.size + part) / (_LOCAL_DISK if node.local_nvme_gb else _DISK))
