"""Cluster: what it registers, in what order, and what it refuses."""

import json
from typing import Any

import pulumi
import pytest

from components.clouds.aws.api_server import kubeconfig
from components.clouds.aws.facts.eks import addons
from components.resources.aws.args import ClusterArgs
from components.resources.aws.cluster import Cluster
from components.resources.serving.arguments import InvalidArguments
from tests.recorded import Recorded, deploy
from tests.resources.aws.aws_mock import Aws
from workbench.engine.values import Secret

CLUSTER = "aws:eks/cluster:Cluster"
ADDON = "aws:eks/addon:Addon"
NODES = "aws:eks/nodeGroup:NodeGroup"
SUBNETS = ["subnet-a", "subnet-b"]
COMPONENT = "inference-platform:index:Cluster::main"
ALWAYS = {"vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns", "metrics-server"}


def made(**changes: Any) -> Recorded:
    args: ClusterArgs = {
        "region": "us-east-1",
        "version": "1.35",
        "subnet_ids": SUBNETS,
        "private_access_cidrs": [] if changes.get("existing") else ["10.0.0.0/16"],
        "tags": {"team": "a"},
    }
    args.update(changes)  # type: ignore[typeddict-item]

    def program() -> None:
        cluster = Cluster("main", args)
        pulumi.export("name", cluster.cluster_name)
        pulumi.export("endpoint", cluster.endpoint)
        pulumi.export("kubeconfig", cluster.kubeconfig)
        pulumi.export("group", cluster.security_group_id)
        pulumi.export("role", cluster.node_role_arn)
        pulumi.export("bounds", cluster.bounds)

    return deploy(program, mock=Aws())


def refused(**changes: Any) -> str:
    with pytest.raises(InvalidArguments) as caught:
        made(**changes)
    return str(caught.value)


class TestControlPlane:
    def test_access_is_by_entries_and_secrets_are_encrypted(self) -> None:
        found = made()[f"{CLUSTER}::main"].inputs
        assert found["accessConfig"]["authenticationMode"] == "API"
        assert found["encryptionConfig"]["resources"] == ["secrets"]
        assert found["encryptionConfig"]["provider"]["keyArn"].endswith(":main-secrets")
        assert found["enabledClusterLogTypes"] == ["api", "audit", "authenticator", "controllerManager", "scheduler"]
        assert found["bootstrapSelfManagedAddons"] is False
        assert (found["version"], found["upgradePolicy"]) == ("1.35", {"supportType": "STANDARD"})

    def test_its_subnets_count_at_its_creation(self) -> None:
        """EKS takes no other zones afterwards (EKS user guide, "VPC requirements and considerations")."""
        assert "vpcConfig.subnetIds" in made()[f"{CLUSTER}::main"].registration.ignore_changes

    def test_system_nodes_may_have_other_subnets(self) -> None:
        usual, moved = made(), made(system_subnet_ids=["subnet-c", "subnet-a"])
        assert usual[f"{NODES}::main-system"].inputs["subnetIds"] == SUBNETS
        assert moved[f"{NODES}::main-system"].inputs["subnetIds"] == ["subnet-c", "subnet-a"]
        assert moved[f"{CLUSTER}::main"].inputs["vpcConfig"]["subnetIds"] == SUBNETS
        names = {graph[f"{NODES}::main-system"].inputs["nodeGroupName"] for graph in (usual, moved)}
        assert len(names) == 2, "a group of the same name could not be made beside the old one"

    def test_it_is_private_unless_ranges_are_named(self) -> None:
        network = made()[f"{CLUSTER}::main"].inputs["vpcConfig"]
        assert (network["endpointPublicAccess"], network["endpointPrivateAccess"]) == (False, True)
        assert "publicAccessCidrs" not in network
        network = made(public_access_cidrs=["203.0.113.0/24"])[f"{CLUSTER}::main"].inputs["vpcConfig"]
        assert (network["endpointPublicAccess"], network["publicAccessCidrs"]) == (True, ["203.0.113.0/24"])

    def test_its_logs_are_ours_from_the_start(self) -> None:
        graph = made(log_retention_days=7)
        group = graph["aws:cloudwatch/logGroup:LogGroup::main-logs"]
        assert (group.inputs["name"], group.inputs["retentionInDays"]) == ("/aws/eks/main/cluster", 7)
        assert group.key in graph[f"{CLUSTER}::main"].dependencies

    @pytest.mark.parametrize(("types", "kept"), [(["audit"], True), ([], False)])
    def test_the_group_outlives_a_cluster_that_writes_its_last_lines(self, types: list[str], kept: bool) -> None:
        """EKS would make the group again, without retention, and the stack could not be made again under its name."""
        group = made(log_types=types)["aws:cloudwatch/logGroup:LogGroup::main-logs"]
        assert bool(group.registration.retain_on_delete) is kept

    def test_no_edit_of_a_setting_deletes_the_key(self) -> None:
        """EKS never changes the key, and cannot recover a cluster without it; the next stack needs the alias."""
        graph = made()
        assert graph["aws:kms/key:Key::main-secrets"].registration.retain_on_delete is True
        assert not graph["aws:kms/alias:Alias::main-secrets"].registration.retain_on_delete

    def test_a_key_of_ones_own_is_used(self) -> None:
        graph = made(secrets_key_arn="arn:aws:kms:us-east-1:123456789012:key/x")
        assert graph.of("aws:kms/key:Key") == []
        provider = graph[f"{CLUSTER}::main"].inputs["encryptionConfig"]["provider"]
        assert provider == {"keyArn": "arn:aws:kms:us-east-1:123456789012:key/x"}

    @pytest.mark.parametrize("protect", [True, False])
    def test_what_holds_state_can_be_protected(self, protect: bool) -> None:
        graph = made(protect=protect, deletion_protection=protect)
        assert graph[f"{CLUSTER}::main"].registration.protect is protect
        assert graph["aws:kms/key:Key::main-secrets"].registration.protect is protect
        assert graph[f"{CLUSTER}::main"].inputs["deletionProtection"] is protect


class TestAddons:
    def test_every_cluster_has_these(self) -> None:
        assert {entry.inputs["addonName"] for entry in made().of(ADDON)} == ALWAYS

    def test_more_on_request_with_version_and_identity(self) -> None:
        graph = made(addons={"aws-ebs-csi-driver": "v1.60.0-eksbuild.1"})
        addon = graph[f"{ADDON}::main-aws-ebs-csi-driver"]
        assert addon.inputs["addonVersion"] == "v1.60.0-eksbuild.1"
        (identity,) = addon.inputs["podIdentityAssociations"]
        assert identity["serviceAccount"] == "ebs-csi-controller-sa"
        role = graph["aws:iam/role:Role::main-aws-ebs-csi-driver"]
        (statement,) = json.loads(role.inputs["assumeRolePolicy"])["Statement"]
        assert statement["Principal"] == {"Service": "pods.eks.amazonaws.com"}
        assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]

    @pytest.mark.parametrize(
        ("version", "kube_proxy", "coredns"),
        [  # EKS user guide, "Manage kube-proxy"; `describe-addon-versions` of June 2026
            ("1.34", "v1.34.6-eksbuild.13", "v1.13.2-eksbuild.11"),
            ("1.35", "v1.35.3-eksbuild.13", "v1.14.3-eksbuild.3"),
        ],
    )
    def test_versions_are_pinned_for_the_clusters(self, version: str, kube_proxy: str, coredns: str) -> None:
        graph = made(version=version)
        found = {entry.inputs["addonName"]: entry.inputs["addonVersion"] for entry in graph.of(ADDON)}
        assert set(found) == ALWAYS
        assert (found["kube-proxy"], found["coredns"]) == (kube_proxy, coredns)

    def test_a_version_of_ones_own_and_that_of_eks(self) -> None:
        graph = made(addons={"vpc-cni": "v1.23.0-eksbuild.1", "coredns": "default", "aws-fsx-csi-driver": ""})
        assert graph[f"{ADDON}::main-vpc-cni"].inputs["addonVersion"] == "v1.23.0-eksbuild.1"
        for name in ("coredns", "aws-fsx-csi-driver"):  # of the latter no version is known
            assert "addonVersion" not in graph[f"{ADDON}::main-{name}"].inputs

    def test_networking_comes_before_the_nodes_and_dns_after_them(self) -> None:
        graph = made()
        nodes = graph[f"{NODES}::main-system"]
        for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent"):
            assert f"{ADDON}::main-{name}" in nodes.dependencies
        for name in ("coredns", "metrics-server"):
            assert nodes.key in graph[f"{ADDON}::main-{name}"].dependencies

    def test_a_role_keeps_its_policies_until_the_addon_is_gone(self) -> None:
        graph = made(addons=dict.fromkeys(addons(), ""))
        with_role = {name for name, addon in addons().items() if addon.policies}
        assert with_role >= {"vpc-cni", "aws-ebs-csi-driver", "aws-efs-csi-driver", "amazon-cloudwatch-observability"}
        for name, addon in addons().items():
            attached = {
                entry.key
                for entry in graph.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
                if entry.inputs["role"] == f"main-{name}"
            }
            assert len(attached) == len(addon.policies), name
            assert attached <= set(graph[f"{ADDON}::main-{name}"].dependencies), name

    def test_the_node_role_has_no_rights_of_the_network_plugin(self) -> None:
        graph = made()
        attached = {
            (entry.inputs["role"], entry.inputs["policyArn"].rpartition("/")[2])
            for entry in graph.of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
        }
        assert ("main-node", "AmazonEKS_CNI_Policy") not in attached
        assert ("main-vpc-cni", "AmazonEKS_CNI_Policy") in attached


class TestOutputs:
    def test_what_others_need(self) -> None:
        exports = made().exports
        assert (exports["name"], exports["endpoint"], exports["group"]) == ("main", "https://api", "sg-cluster")
        assert exports["role"].endswith(":main-node")

    def test_the_kubeconfig_is_a_secret_without_a_token(self) -> None:
        found = made().exports["kubeconfig"]
        assert isinstance(found, Secret)
        user = json.loads(found.value)["users"][0]["user"]
        assert list(user) == ["exec"]
        assert user["exec"]["args"][-5:] == ["get-token", "--cluster-name", "main", "--output", "json"]

    def test_the_provider_is_known_by_the_cluster_not_by_its_address(self) -> None:
        provider = made()["pulumi:providers:kubernetes::main"]
        assert provider.inputs["clusterIdentifier"] == "us-east-1/main"
        assert provider.parent == COMPONENT
        assert f"{ADDON}::main-coredns" in provider.dependencies

    @pytest.mark.parametrize(("changes", "expected"), [({}, "true"), ({"existing": True}, None)])
    def test_objects_that_exist_are_taken_over_in_a_cluster_made_here(
        self, changes: dict[str, Any], expected: str | None
    ) -> None:
        assert made(**changes)["pulumi:providers:kubernetes::main"].inputs.get("upsertExistingObjects") == expected


def test_everything_has_a_parent_and_the_tags() -> None:
    graph = made(addons={"aws-efs-csi-driver": ""}, admin_role_arns=["arn:aws:iam::123456789012:role/x"])
    assert {entry.parent for entry in graph.graph if entry.key != COMPONENT} == {COMPONENT}
    untagged = {"Alias", "RolePolicyAttachment", "AccessPolicyAssociation"}
    for entry in graph.graph:
        if entry.type.startswith("aws:") and entry.type.rpartition(":")[2] not in untagged:
            assert entry.inputs["tags"]["team"] == "a", entry.key


class TestExisting:
    def test_nothing_is_made_but_a_role_and_a_provider(self) -> None:
        graph = made(existing=True, cluster_name="theirs")
        assert {entry.type for entry in graph.graph if entry.key != COMPONENT} <= {
            "aws:iam/role:Role",
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            "pulumi:providers:kubernetes",
        }

    def test_version_and_subnets_are_not_asked_for(self) -> None:
        def program() -> None:
            Cluster("main", {"region": "us-east-1", "existing": True})

        assert deploy(program, mock=Aws()).of("aws:eks/nodeGroup:NodeGroup") == []


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"version": "1.29"}, "main: version: unknown EKS version '1.29'; supported versions: 1."),
            ({"cluster_name": "-x"}, "main: cluster_name: found '-x'"),
            ({"cluster_name": "x" * 101}, "EKS allows 1 to 100"),
            ({"region": "useast1"}, "main: region: found 'useast1'"),
            ({"support": "free"}, "main: support: must be one of standard, extended, found 'free'"),
            ({"log_types": ["api", "etcd"]}, "main: log_types: must be one of api, audit"),
            ({"addons": {"vpc-csi": ""}}, "main: addons: unknown add-on 'vpc-csi'; known add-ons: vpc-cni"),
            ({"log_retention_days": 91}, "main: log_retention_days: must be one of 1, 3, 5, 7, 14, 30, 60, 90, 120,"),
            ({"addons": {"coredns": "latest"}}, "main: addons: coredns must have a version such as v1.22.2-eks"),
            ({"system_ami_release": "1.34.9-20260714"}, "main: system_ami_release: is for Kubernetes 1.34, but the"),
            ({"system_ami_release": "v20260714"}, "must be latest, or a release of al2023 such as 1.35.6-20260714"),
            ({"system_instance_types": ["m7i.large", "m7g.large"]}, "mixed architectures in one group: m7i"),
            ({"system_instance_types": ["m7i.lrge"]}, "unknown instance type 'm7i.lrge'; did you mean m7i.large"),
            ({"system_instance_types": ["g5.xlarge"]}, "system pods do not need accelerators"),
            ({"system_nodes": 0}, "main: system_nodes: must be at least 1, found 0"),
            ({"image": "al2"}, "main: image: must be one of al2023, bottlerocket, found 'al2'"),
            ({"admin_role_arns": ["platform"]}, "main: admin_role_arns: must be ARNs of IAM roles"),
        ],
    )  # fmt: skip
    def test_each(self, changes: dict[str, Any], expected: str) -> None:
        assert expected in refused(**changes)

    def test_all_at_once(self) -> None:
        text = refused(version="1.29", support="free", system_nodes=0)
        assert len(text.splitlines()) == 3

    def test_what_is_missing(self) -> None:
        def program() -> None:
            Cluster("main", {"region": "us-east-1"})

        with pytest.raises(InvalidArguments) as caught:
            deploy(program, mock=Aws())
        assert "version: is required unless existing is true" in str(caught.value)
        assert "subnet_ids: is required" in str(caught.value)


def test_a_kubeconfig_names_its_cluster() -> None:
    config = json.loads(kubeconfig("c", "https://x", "Q0E=", "eu-west-1"))
    assert config["clusters"] == [
        {"name": "c", "cluster": {"server": "https://x", "certificate-authority-data": "Q0E="}}
    ]
    assert config["current-context"] == config["contexts"][0]["name"] == "c"
    assert "--region" in config["users"][0]["user"]["exec"]["args"]
