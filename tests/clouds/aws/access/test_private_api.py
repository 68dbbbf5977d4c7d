"""Who reaches the API server of a cluster, how, and what is refused because nobody could."""

import json
import shlex
from typing import Any

import pytest

from components.clouds.aws.api_server import endpoint_access_problems, kubeconfig, tunnel_command
from components.resources.serving.arguments import InvalidArguments
from tests.clouds.aws.access.roles import made
from tests.recorded import Echo, Recorded
from workbench.engine.values import UNKNOWN, Secret

CLUSTER = "aws:eks/cluster:Cluster::main"
PROVIDER = "pulumi:providers:kubernetes::main"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
INSTANCE = "aws:ec2/instance:Instance::main-bastion"
PRIVATE: dict[str, Any] = {"public_access_cidrs": []}
HTTPS = {"ipProtocol": "tcp", "fromPort": 443, "toPort": 443}


def sources(graph: Recorded) -> dict[str, str]:
    """Who is let in, by the logical name of the rule; each of them by HTTPS alone, into the group that EKS made."""
    found = {}
    for rule in graph.of(RULE):
        inputs = {**rule.inputs}
        assert inputs.pop("securityGroupId") == "sg-cluster"
        assert {key: inputs.pop(key) for key in HTTPS} == HTTPS
        del inputs["description"], inputs["tags"]
        ((_, found[rule.name]),) = inputs.items()
    return found


class TestRules:
    def test_none_is_there_unless_asked_for(self) -> None:
        assert sources(made()) == {}

    def test_ranges_and_groups_are_let_in(self) -> None:
        graph = made(
            **PRIVATE,
            private_access_cidrs=["10.0.0.0/8", "fd00::/8"],
            private_access_security_groups={"runner": "sg-runner"},
        )
        assert sources(graph) == {
            "main-api-10.0.0.0/8": "10.0.0.0/8",
            "main-api-fd00::/8": "fd00::/8",
            "main-api-runner": "sg-runner",
        }
        inputs = {rule.name: rule.inputs for rule in graph.of(RULE)}
        assert inputs["main-api-fd00::/8"]["cidrIpv6"] == "fd00::/8"
        assert graph[CLUSTER].inputs["vpcConfig"]["endpointPublicAccess"] is False

    def test_they_are_there_as_long_as_anything_in_the_cluster(self) -> None:
        graph = made(**PRIVATE, private_access_cidrs=["10.0.0.0/8"])
        assert f"{RULE}::main-api-10.0.0.0/8" in graph[PROVIDER].dependencies


class TestBastion:
    def test_it_alone_is_let_in_and_nothing_into_it(self) -> None:
        graph = made(**PRIVATE, bastion=True)
        assert sources(graph) == {"main-bastion-api": "main-bastion-id"}
        (group,) = graph.of("aws:ec2/securityGroup:SecurityGroup")
        assert "ingress" not in group.inputs
        (out,) = graph.of("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule")
        assert {key: out.inputs[key] for key in HTTPS} == HTTPS

    def test_session_manager_is_all_that_it_may_do(self) -> None:
        graph = made(**PRIVATE, bastion=True)
        policies = [
            each.inputs["policyArn"]
            for each in graph.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
            if each.parent.endswith("::main-bastion")
        ]
        assert policies == ["arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"]

    def test_it_is_in_a_private_subnet_with_an_encrypted_disk(self) -> None:
        graph = made(**PRIVATE, bastion=True)
        instance = graph[INSTANCE].inputs
        assert instance["subnetId"] == "subnet-a"
        assert "keyName" not in instance
        assert "associatePublicIpAddress" not in instance
        template = graph["aws:ec2/launchTemplate:LaunchTemplate::main-bastion"].inputs
        assert template["metadataOptions"]["httpTokens"] == "required"
        assert template["blockDeviceMappings"][0]["ebs"]["encrypted"] == "true"

    def test_it_is_there_as_long_as_anything_in_the_cluster(self) -> None:
        needed = set(made(**PRIVATE, bastion=True)[PROVIDER].dependencies)
        assert {INSTANCE, f"{RULE}::main-bastion-api"} <= needed
        assert any(key.startswith("aws:vpc/securityGroupEgressRule:") for key in needed)

    def test_it_previews_without_an_account(self) -> None:
        graph = made(Echo(), **PRIVATE, bastion=True, preview=True)
        assert graph[INSTANCE].inputs["launchTemplate"]["version"] == "$Latest"

    def test_other_tags_change_it_in_place(self) -> None:
        """The provider replaces an instance for another version of its template; an update may talk through it."""
        before, after = (made(**PRIVATE, bastion=True, tags={"team": team})[INSTANCE] for team in "ab")
        changed = {name for name in after.inputs if before.inputs[name] != after.inputs[name]}
        assert changed == {"tags", "volumeTags"}
        assert after.registration.ignore_changes == ("launchTemplate.version",)
        assert after.registration.delete_before_replace is None


def server(**changes: Any) -> dict[str, Any]:
    exported = made(**changes).exports["kubeconfig"]
    assert isinstance(exported, Secret)
    found: dict[str, Any] = json.loads(exported.value)["clusters"][0]["cluster"]
    return found


class TestTunnel:
    def test_the_kubeconfig_enters_it_and_still_knows_the_server(self) -> None:
        assert server(**PRIVATE, bastion=True) == {
            "server": "https://localhost:8443",
            "tls-server-name": "api",
            "certificate-authority-data": "Q0E=",
        }

    def test_its_port_can_be_another(self) -> None:
        assert server(**PRIVATE, bastion=True, tunnel_port=16443)["server"] == "https://localhost:16443"

    def test_who_is_in_the_network_needs_none(self) -> None:
        direct = {"server": "https://api", "certificate-authority-data": "Q0E="}
        assert server(**PRIVATE, bastion=True, tunnel_port=0, private_access_cidrs=["10.0.0.0/8"]) == direct
        assert server() == direct

    def test_a_tunnel_of_ones_own_will_do(self) -> None:
        changes = {"private_access_security_groups": {"jump": "sg-jump"}, "tunnel_port": 8443}
        assert server(**PRIVATE, **changes)["server"] == "https://localhost:8443"

    def test_the_command_leads_where_the_kubeconfig_enters(self) -> None:
        """Session Manager's document takes lists of texts (its user guide, "Start a session")."""
        words = shlex.split(tunnel_command("i-1", "https://ABC.gr7.us-east-1.eks.amazonaws.com", 8443, "us-east-1"))
        options = dict(zip(words[5::2], words[6::2], strict=True))
        assert words[:5] == ["aws", "--region", "us-east-1", "ssm", "start-session"]
        assert options["--target"] == "i-1"
        assert options["--document-name"] == "AWS-StartPortForwardingSessionToRemoteHost"
        assert json.loads(options["--parameters"]) == {
            "host": ["ABC.gr7.us-east-1.eks.amazonaws.com"],
            "portNumber": ["443"],
            "localPortNumber": ["8443"],
        }
        config = json.loads(
            kubeconfig("c", "https://ABC.gr7.us-east-1.eks.amazonaws.com", "Q0E=", "x", tunnel_port=8443)
        )
        assert config["clusters"][0]["cluster"]["tls-server-name"] == json.loads(options["--parameters"])["host"][0]


class TestCredentials:
    def asked(self, **changes: Any) -> list[str]:
        exported = made(**changes).exports["kubeconfig"]
        assert isinstance(exported, Secret)
        words: list[str] = json.loads(exported.value)["users"][0]["user"]["exec"]["args"]
        return words

    def test_profile_and_role_get_the_token(self) -> None:
        role = "arn:aws:iam::123456789012:role/deploy"
        words = self.asked(profile="prod", assume_role_arn=role)
        assert words[: words.index("eks")] == ["--region", "us-east-1", "--profile", "prod"]
        assert words[words.index("--role-arn") + 1] == role

    def test_otherwise_the_environment_decides(self) -> None:
        assert not {"--profile", "--role-arn"} & set(self.asked())

    def test_the_profile_opens_the_tunnel_too(self) -> None:
        assert "--profile prod ssm" in tunnel_command("i-1", "https://x", 1, "us-east-1", "prod")

    def test_a_role_without_rights_is_refused(self) -> None:
        role = "arn:aws:iam::123456789012:role/deploy"
        other = "arn:aws:iam::123456789012:role/other"
        with pytest.raises(InvalidArguments, match=r"assume_role_arn: .*has no access to the cluster"):
            made(assume_role_arn=role, creator_is_admin=False, admin_role_arns=[other])
        assert made(assume_role_arn=role, creator_is_admin=False, admin_role_arns=[role])

    def test_what_is_no_role_is_refused(self) -> None:
        with pytest.raises(InvalidArguments, match="assume_role_arn: must be ARNs of IAM roles"):
            made(assume_role_arn="deploy")


class TestRefusals:
    def test_an_unreachable_api_server_is_refused_with_three_remedies(self) -> None:
        with pytest.raises(InvalidArguments) as caught:
            made(**PRIVATE)
        text = str(caught.value)
        assert text.startswith("main: public_access_cidrs: is empty, so the API server would admit only the nodes")
        for way in ("(1) public_access_cidrs", "(2) a VPC that exists", "(3) bastion: true"):
            assert way in text
        assert len(text.splitlines()) == 1

    @pytest.mark.parametrize(
        "way",
        [
            {"public_access_cidrs": ["203.0.113.0/24"]},
            {**PRIVATE, "private_access_cidrs": ["10.0.0.0/8"]},
            {**PRIVATE, "private_access_security_groups": {"runner": "sg-1"}},
            {**PRIVATE, "bastion": True},
            {**PRIVATE, "tunnel_port": 8443},
        ],
    )
    def test_each_way_is_one(self, way: dict[str, Any]) -> None:
        assert made(**way)[CLUSTER]

    def test_a_bastion_that_nobody_goes_through_is_none(self) -> None:
        with pytest.raises(InvalidArguments, match="no client could connect"):
            made(**PRIVATE, bastion=True, tunnel_port=0)

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            (
                {"private_access_cidrs": ["10.0.0.1/8"]},
                "private_access_cidrs: must be ranges whose host bits are zero",
            ),
            ({"public_access_cidrs": ["2001:db8::/32"]}, "public_access_cidrs: must be IPv4 ranges"),
            ({"public_access_cidrs": ["here"]}, "public_access_cidrs: must be ranges"),
            ({"private_access_cidrs": ["10.0.0.0/8"] * 2}, "'10.0.0.0/8' is listed 2 times; list it once"),
            ({"private_access_security_groups": {"a": "vpc-1"}}, "private_access_security_groups[a]: must be the ID"),
            ({"tunnel_port": 65536}, "tunnel_port: must be 0 to 65535, found 65536"),
        ],
    )
    def test_each(self, changes: dict[str, Any], expected: str) -> None:
        with pytest.raises(InvalidArguments) as caught:
            made(**changes)
        assert expected in str(caught.value)

    @pytest.mark.parametrize(
        "change",
        [{"bastion": True}, {"private_access_cidrs": ["10.0.0.0/8"]}, {"namespace_access": {"a": {}}}],
    )
    def test_a_cluster_that_exists_stays_as_it_is(self, change: dict[str, Any]) -> None:
        with pytest.raises(InvalidArguments, match=f"{next(iter(change))}: has no effect on an existing cluster"):
            made(existing=True, **change)

    def test_an_existing_one_is_reached_as_it_is(self) -> None:
        assert server(existing=True, public_access_cidrs=[], tunnel_port=8443)["server"] == "https://localhost:8443"

    def test_groups_may_be_those_of_other_resources(self) -> None:
        assert list(endpoint_access_problems([], [], {"runner": UNKNOWN}, tunnel=False)) == []
