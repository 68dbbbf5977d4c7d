"""How long the leader of a group waits for all pods to load their weights and join."""

import math

from ...fleet.flavors import Flavor
from ...fleet.instances import instance
from ...fleet.objects import Object
from .flavors import param
from .models import Claim
from .parallel import Parallelism, accelerators

_PERIOD = 10
"""Kubernetes' default ``periodSeconds`` of a probe."""
_BASE_SECONDS = 3600
"""Allowance for launching nodes and pulling images; as long as a Deployment may take to make progress."""
_DISK, _LOCAL_DISK = 125, 250
"""MiB per second at which weights reach a node's disk: the baseline of an EBS gp3 volume, and the rate of a hub for
nodes with local disks."""


def with_patient_startup_probe(leader: Object, claim: Claim, parallelism: Parallelism) -> Object:
    """Extend the leader's startup probe to the loading time of the slowest pod of the group.

    A shorter probe would restart the leader over and over while a worker is still loading.
    """
    probe = leader.get("startupProbe")
    if not probe:
        return leader
    seconds = _BASE_SECONDS + max((_loading_seconds(flavor, parallelism) for flavor in claim.flavors), default=0)
    failures = math.ceil(seconds / probe.get("periodSeconds", _PERIOD))
    return {**leader, "startupProbe": {**probe, "failureThreshold": max(failures, probe.get("failureThreshold", 0))}}


def _loading_seconds(flavor: Flavor, parallelism: Parallelism) -> int:
    """Estimate the seconds to load the weights: each pod writes all of them to its disk and reads its part.

    Their size is at most the memory of the accelerators.
    """
    node = instance(param(flavor, "INSTANCE-TYPE") or "")
    if node is None or node.accelerator_memory_gib is None:
        return 0
    key, count = accelerators(flavor)
    pod_mib = node.accelerator_memory_gib * 1024 * int((parallelism.per_pod or {}).get(key, count))
    return math.ceil((pod_mib * parallelism.size + pod_mib) / (_LOCAL_DISK if node.local_nvme_gb else _DISK))
