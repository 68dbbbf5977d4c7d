"""Who reaches the cluster of an environment, with which credentials, and what is refused because nobody could."""

import json
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import mocks

from tests.recorded import Echo
from tests.stacks.reach.previews import preview
from tests.stacks.shipped import ON_AWS, as_shipped, run, settings_of
from workbench.engine.values import Secret

pytestmark = pytest.mark.usefixtures("here")

PROD = settings_of("prod")["cluster"]
WAYS: dict[str, dict[str, Any]] = {
    "a public range": {"publicAccessCidrs": ["203.0.113.0/24"]},
    "a range inside": {"privateAccessCidrs": ["10.0.0.0/8"]},
    "a security group": {"privateAccessSecurityGroups": {"runner": "sg-0123456789abcdef0"}},
    "a bastion": {"bastion": True},
}
ROLE = "arn:aws:iam::123456789012:role/deploy"


def prod(**cluster: Any) -> dict[str, Any]:
    """The cluster of prod, with another way to its API server."""
    return {key: value for key, value in PROD.items() if key != "bastion"} | cluster


class Registered(Echo):
    """What was asked for, until a program fails."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.names.append(args.name)
        return super().new_resource(args)


def refused(stack: str, mock: mocks.Mocks | None = None, **changes: Any) -> str:
    with pytest.raises(pulumi.RunError) as caught:
        run(stack, mock, **changes)
    return str(caught.value)


class TestReach:
    def test_prod_without_a_way_in_is_refused_with_three(self, tmp_path: Path) -> None:
        done = preview("prod", tmp_path, cluster={"bastion": False})
        assert done.returncode == 1
        text = " ".join((done.stdout + done.stderr).split())
        assert (
            "inference-platform:cluster.publicAccessCidrs: is empty, so the API server would admit only the nodes"
            in text
        )
        for way in (
            "(1) publicAccessCidrs with the range that you connect from",
            "(2) a VPC that exists and in which you run Pulumi, with privateAccessCidrs or",
            "(3) bastion: true",
        ):
            assert way in text
        assert "Traceback" not in text

    def test_nothing_is_registered_before(self) -> None:
        """Of the network neither, which would be created first."""
        mock = Registered()
        text = refused("prod", mock, cluster=prod(bastion=False, adminRoleArns=["me"]))
        assert mock.names == []
        # The other problem of the cluster is reported in the same run.
        head, *problems = text.splitlines()
        assert (head, len(problems)) == ("2 problems found; nothing was created", 2)

    @pytest.mark.parametrize("way", WAYS)
    def test_each_way_previews(self, way: str) -> None:
        assert run("prod", Echo(), preview=True, cluster=prod(**WAYS[way])).exports["models"]

    @pytest.mark.parametrize("stack", ON_AWS)
    def test_somebody_reaches_what_is_shipped(self, stack: str) -> None:
        cluster = settings_of(stack)["cluster"]
        assert [way for way in WAYS.values() if way.keys() <= cluster.keys()]

    def test_prod_is_reached_through_its_bastion(self) -> None:
        exports = as_shipped("prod").exports
        assert exports["tunnel"].startswith("aws --region us-east-1 ssm start-session --target cluster-bastion-id ")
        kubeconfig = exports["kubeconfig"]
        assert isinstance(kubeconfig, Secret)
        server = json.loads(kubeconfig.value)["clusters"][0]["cluster"]
        assert (server["server"], server["tls-server-name"]) == ("https://localhost:8443", "api")

    def test_its_port_is_a_setting(self) -> None:
        kubeconfig = run("prod", cluster=prod(bastion=True, tunnelPort=9443)).exports["kubeconfig"]
        assert isinstance(kubeconfig, Secret)
        assert "https://localhost:9443" in kubeconfig.value

    def test_a_bastion_reaches_session_manager(self) -> None:
        zones = ["us-east-1a", "us-east-1b"]
        network: dict[str, Any] = {
            "zones": zones,
            "natGateways": "none",
            "internetAccess": True,
            "interfaceEndpoints": ["ssm", "sts"],
        }
        cluster = prod(bastion=True, zones=zones)
        text = refused("prod", network=network, cluster=cluster)
        assert "inference-platform:network: add ssmmessages to interfaceEndpoints, through which the bastion" in text
        network["interfaceEndpoints"] = ["ssm", "ssmmessages"]
        assert run(
            "prod", network=network, cluster=cluster, gpuNodes={"types": settings_of("prod")["gpuNodes"]["types"]}
        ).graph


AWS = "pulumi:providers:aws::aws"


class TestCredentials:
    def test_the_environment_decides_unless_it_is_said(self) -> None:
        assert not {"profile", "assumeRoles", "allowedAccountIds"} & as_shipped("dev")[AWS].inputs.keys()

    def test_provider_and_kubeconfig_use_the_same(self) -> None:
        given = {"allowedAccountIds": ["123456789012"], "profile": "prod", "assumeRoleArn": ROLE}
        graph = run("dev", credentials=given)
        inputs = graph[AWS].inputs
        assert json.loads(inputs["allowedAccountIds"]) == ["123456789012"]
        assert inputs["profile"] == "prod"
        assert json.loads(inputs["assumeRoles"]) == [{"roleArn": ROLE}]
        kubeconfig = graph.exports["kubeconfig"]
        assert isinstance(kubeconfig, Secret)
        words = json.loads(kubeconfig.value)["users"][0]["user"]["exec"]["args"]
        assert words[words.index("--profile") + 1] == "prod"
        assert words[words.index("--role-arn") + 1] == ROLE

    @pytest.mark.parametrize(
        ("credentials", "expected"),
        [
            ({"allowedAccountIds": ["12345678901"]}, "credentials.allowedAccountIds"),
            ({"allowedAccountIds": [123456789012]}, "credentials.allowedAccountIds"),
            ({"assumeRoleArn": "deploy"}, "credentials.assumeRoleArn: must match pattern"),
            (
                {"allowedAccountIds": ["210987654321"], "assumeRoleArn": ROLE},
                f"assumeRoleArn: {ROLE} is not in any of allowedAccountIds (210987654321)",
            ),
            ({"profil": "x"}, "credentials.profil: unknown key; did you mean 'profile'?"),
        ],
    )
    def test_of_settings(self, credentials: dict[str, Any], expected: str) -> None:
        assert expected in refused("dev", credentials=credentials)

    def test_who_creates_the_cluster_is_not_its_administrator_twice(self) -> None:
        cluster = {**settings_of("dev")["cluster"], "adminRoleArns": [ROLE]}
        text = refused("dev", credentials={"assumeRoleArn": ROLE}, cluster=cluster)
        assert (
            f"inference-platform:cluster: adminRoleArns contains {ROLE}, the role of credentials.assumeRoleArn"
            in text
        )
        assert run("dev", credentials={"assumeRoleArn": ROLE}, cluster={**cluster, "creatorIsAdmin": False}).graph
