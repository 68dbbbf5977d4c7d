"""Random edits, one after the other: each update ends, or the plan said before why not; nothing in use is lost.

What the plan says about replaced resources, restarts and minutes is what the model does.
INFERENCE_PLATFORM_SEQUENCES says how many sequences there are.
"""

import os
import random
from typing import Any

import pytest

from tests.provider_model.agreement import update
from tests.provider_model.program import Program
from tests.provider_model.world import World
from tests.stacks.edits.cases import State, bases

SEQUENCES = int(os.environ.get("INFERENCE_PLATFORM_SEQUENCES", "6"))
_MOST = 4
_KEY = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
_RESERVED = {"capacity": "odcr", "reservation": {"id": "cr-0123456789abcdef0", "zone": "us-east-1a", "count": 3}}
_FILES: tuple[Any, ...] = (
    None,
    {"efs": {}},
    {"efs": {"kmsKeyArn": _KEY}},
    {"fsx": {"zone": "us-east-1a", "capacityGib": 4800, "throughputPerTib": 500}},
    {"fsx": {"zone": "us-east-1b", "capacityGib": 4800, "throughputPerTib": 250}},
    {"fsx": {"zone": "us-east-1a", "capacityGib": 2400, "throughputPerTib": 500}},
)
_TYPE = "gpuNodes.types.g5.2xlarge"
SETTINGS: dict[str, tuple[Any, ...]] = {
    "cluster.version": ("1.33", "1.34", "1.35", "1.36"),
    "cluster.support": (None, "extended"),
    "cluster.secretsKeyArn": (None, _KEY),
    "cluster.serviceCidr": (None, "172.21.0.0/16"),
    "cluster.logTypes": ([], ["api", "audit"], ["audit"]),
    "cluster.publicAccessCidrs": (["203.0.113.0/24"], ["203.0.113.0/24", "198.51.100.0/24"]),
    "cluster.systemInstanceTypes": (None, ["m7i.xlarge"], ["m7g.large"]),
    "cluster.systemNodes": (None, 3, 4),
    "cluster.systemNodesMax": (None, 6),
    "cluster.nodeRoleArn": (None, "arn:aws:iam::123456789012:role/nodes"),
    "cluster.bastion": (None, True),
    "cluster.zones": (["us-east-1a", "us-east-1b"], ["us-east-1a", "us-east-1c"]),
    "cluster.existing": (None, True),
    "cluster.addons": ({"aws-ebs-csi-driver": ""}, {"aws-ebs-csi-driver": "", "aws-efs-csi-driver": ""}),
    "clusterName": ("edits", "edits-renamed"),
    "region": ("us-east-1", "us-west-2"),
    "protect": (None, True),
    "tags": (None, {"team": "x"}, {"team": "y", "cost": "z"}),
    "network.zones": (
        ["us-east-1a", "us-east-1b"],
        ["us-east-1a", "us-east-1b", "us-east-1c"],
        ["us-east-1b", "us-east-1a"],
    ),
    "network.natGateways": ("one", "per-zone"),
    "network.cidr": (None, "10.1.0.0/16"),
    "network.podCidr": (None, "100.64.0.0/16", "100.65.0.0/16"),
    "network.ipv6": (None, True),
    "network.flowLogs": (None, {"traffic": "rejected"}, {"traffic": "all"}),
    "network.interfaceEndpoints": (None, ["logs"], ["ecr.api", "ecr.dkr"]),
    "gpuNodes.provisioner": ("managed", "karpenter"),
    "gpuNodes.capacity": ("on-demand", "spot"),
    "gpuNodes.zones": (["us-east-1a"], ["us-east-1b"], ["us-east-1a", "us-east-1b"]),
    "gpuNodes.image": (None, "bottlerocket"),
    "gpuNodes.diskGib": (None, 300),
    "gpuNodes.imdsHopLimit": (None, 2),
    "gpuNodes.labels": (None, {"team": "nlp"}),
    "gpuNodes.nodeRepair": (None, True),
    "gpuNodes.scaleToZero": (None, False),
    "gpuNodes.userData": (None, "#!/bin/sh\ntrue\n"),
    _TYPE: (
        {"maxNodes": 4},
        {"maxNodes": 8},
        {"maxNodes": 6, "zones": ["us-east-1b"]},
        _RESERVED,
        {"maxNodes": 6, "placementGroup": True},
    ),
    "modelCache": _FILES,
    "imageCache": (
        None,
        {"registries": ["quay.io"], "account": "123456789012"},
        {"registries": ["docker.io"], "account": "123456789012", "prefix": "cache"},
    ),
    "prerequisites.monitoring": (None, True),
    "hardening": (None, {"podSecurity": "baseline", "disruptionBudgets": True}),
    "frontDoor": (None, {"expose": "load-balancer", "internal": True}),
}
MODELS: tuple[dict[str, Any], ...] = (
    {"replicas": 1},
    {"replicas": 3},
    {"replicas": 4},
    {"type": "g6.2xlarge"},
    {"type": "g5.2xlarge"},
    {"resources": {"requests": {"cpu": "4", "memory": "16Gi"}, "limits": {"memory": "16Gi"}}},
    {"add": {"more": {"type": "g5.2xlarge", "replicas": 1}}},
    {"add": {"other": {"type": "g6e.2xlarge", "replicas": 2}}},
    {"add": {"wide": {"type": "g5.12xlarge", "gpus": 8, "per_node": 4}}},
)


def edit_of(state: State, chance: random.Random) -> dict[str, Any]:
    """Return a random edit of a setting or two, or of models, that changes something."""
    while True:
        if not chance.randrange(4):
            edit = {"models": chance.choice(MODELS)}
        else:
            paths = chance.sample(sorted(SETTINGS), chance.choice((1, 1, 1, 2)))
            edit = {"set": {path: chance.choice(SETTINGS[path]) for path in paths}}
        if state.changed(edit) != state:
            return edit


@pytest.mark.parametrize("seed", range(SEQUENCES))
def test_whatever_is_edited(seed: int) -> None:
    chance = random.Random(seed)
    name = chance.choice(sorted(bases()))
    state: State = bases()[name]
    world = World(slow=seed % 2 == 1)
    before: Program | None = None
    edits: list[dict[str, Any]] = []
    for number in range(chance.randint(2, 1 + _MOST)):
        edit = edit_of(state, chance) if number else {}
        edits.append(edit)
        changed = state.changed(edit)
        program = changed.program()
        _, outcome, wrong = update(world, before, program)
        assert wrong == [], (name, edits)
        if outcome is not None:
            state, before = changed, program
