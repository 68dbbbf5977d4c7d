"""A ModelFleet of another language's program, and one whose cluster is made by the same program."""

from typing import Any

import pulumi
import pulumi_kubernetes
import pytest
from pulumi.runtime import mocks

from components.resources.plugin import Host
from components.resources.serving.model_fleet import ModelFleet
from tests.recorded import Echo, deploy
from tests.resources.serving.manifests import CHAT, SMALL, program
from workbench.engine.values import UNKNOWN

RELEASE = "kubernetes:helm.sh/v3:Release"
DEPLOYMENT = "kubernetes:apps/v1:Deployment::fleet-"


class TestRemoteCallers:
    """What the plugin's host hands over: numbers are floats, keys are mapped back, outputs are leaves."""

    def as_program(self, **inputs: Any) -> dict[str, Any]:
        """The arguments that the host makes of another language's inputs."""
        host = Host()
        return dict(host.map_inputs(inputs, host._component_defs["ModelFleet"]))

    def test_their_fleet_is_the_same(self) -> None:
        wanted = {"install": True, "storageGib": 50.0, "prometheusPort": 9090.0, "monitoring": True}
        remote = self.as_program(
            manifests=floats(SMALL),
            prerequisites=wanted,
            frontDoor={"expose": "load-balancer", "internal": True, "replicas": 2.0},
            pods={
                "nodeSelector": {"pool": "gpu"},
                "tolerations": [{"key": "a", "effect": "NoExecute", "tolerationSeconds": 5.0}],
            },
            modelCache={"hostPath": "/weights"},
        )
        local = {
            "manifests": SMALL,
            "prerequisites": {"install": True, "storage_gib": 50, "monitoring": True},
            "front_door": {"expose": "load-balancer", "internal": True},
            "pods": {
                "node_selector": {"pool": "gpu"},
                "tolerations": [{"key": "a", "effect": "NoExecute", "tolerationSeconds": 5}],
            },
            "model_cache": {"host_path": "/weights"},
        }
        ours, theirs = deploy(program(local)), deploy(program(remote))
        assert ours.graph == theirs.graph
        assert ours.exports == theirs.exports

    def test_whole_numbers_stay_whole_in_objects(self) -> None:
        recorded = deploy(program({"manifests": floats(CHAT)}))
        replicas = recorded[f"{DEPLOYMENT}models/chat"].inputs["spec"]["replicas"]
        assert (replicas, type(replicas)) == (2, int)


def floats(value: Any) -> Any:
    """JSON as protobuf has it: every number is a float."""
    if isinstance(value, dict):
        return {key: floats(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [floats(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


class Vpc(pulumi.CustomResource):
    """A network whose address is known once it exists."""

    address: pulumi.Output[str]

    def __init__(self) -> None:
        super().__init__("test:index:Vpc", "vpc", {"address": None})


class Made(Echo):
    """A cloud in which the network exists."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        return id_, {"address": "vpc-1"} if args.typ == "test:index:Vpc" else outputs


@pytest.mark.parametrize("preview", [False, True])
def test_the_network_may_be_made_by_the_same_program(preview: bool) -> None:
    """An ID that is known later goes into the values of the controller; the graph does not wait for it."""

    def run() -> None:
        provider = pulumi_kubernetes.Provider("cluster", kubeconfig="k")
        cluster: Any = {"cloud": "aws", "name": "c", "region": "us-east-1", "vpc_id": Vpc().address}
        door: Any = {"expose": "load-balancer", "internal": True}
        ModelFleet(
            "fleet",
            {"manifests": CHAT, "cluster": cluster, "front_door": door, "prerequisites": {"install": True}},
            pulumi.ResourceOptions(providers=[provider]),
        )

    recorded = deploy(run, preview=preview, mock=Echo() if preview else Made())
    controller = recorded[f"{RELEASE}::fleet-load-balancer-controller"]
    expected: Any = UNKNOWN if preview else "vpc-1"
    assert controller.inputs["values"]["vpcId"] == expected
    assert controller.dependencies == ("test:index:Vpc::vpc",)
