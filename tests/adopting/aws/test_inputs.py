"""Whatever a file contains: settings that a stack accepts, or an error that names the file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.adopting.aws import one_cluster
from tests.adopting.aws.one_cluster import SOME_IDS
from tests.tries import tries
from workbench.adopting.aws.cloudformation import read_cloudformation
from workbench.adopting.aws.eksctl import read_eksctl
from workbench.adopting.aws.inventory import Inventory
from workbench.adopting.aws.settings import aws_settings
from workbench.adopting.aws.terraform import read_terraform
from workbench.engine.project import check_new_settings
from workbench.errors import WorkbenchError

READERS: dict[str, tuple[Callable[[Path], Inventory], Callable[[], Any]]] = {
    "terraform": (lambda path: read_terraform(path, ""), lambda: one_cluster.terraform(SOME_IDS)),
    "eksctl": (lambda path: read_eksctl(path, ""), lambda: one_cluster.eksctl(SOME_IDS)),
    "cloudformation": (lambda path: read_cloudformation([path], ""), lambda: one_cluster.cloudformation(SOME_IDS)[0]),
}


def read(source: str, folder: Path, document: Any) -> Inventory:
    path = folder / "input"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return READERS[source][0](path)


@pytest.mark.parametrize("source", READERS)
@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", "7", '{"values": []}', "{", "a: [", "&a [*a]", "\x00", "[" * 5000, "!Ref {a: 1}"]
)
def test_files_of_other_forms(source: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError) as raised:
        read(source, tmp_path, text)
    assert str(tmp_path / "input") in str(raised.value)
    assert str(raised.value).isprintable()


HOSTILE: list[Any] = [
    None,
    "",
    7,
    -1,
    1.5,
    True,
    [],
    {},
    [None],
    [[]],
    {"a": {}},
    "\x1b[2J",
    "x" * 300,
    "../..",
    "${A}",
    10**400,
]
IMPORTANT = ("values", "resources", "Resources", "managedNodeGroups", "vpc", "metadata")


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(each for key, item in inner for each in paths_of(item, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("source", READERS)
@given(data=st.data())
@settings(max_examples=tries(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_value_replaced(source: str, data: st.DataObject, tmp_path: Path) -> None:
    document = READERS[source][1]()
    path = data.draw(st.sampled_from(paths_of(document)))
    document = changed(document, path, data.draw(st.sampled_from(HOSTILE)))
    try:
        found = aws_settings(read(source, tmp_path, document))
        check_new_settings(found.values, "prod")
    except WorkbenchError as error:
        text = str(error)
        assert text.startswith((str(tmp_path), "Pulumi.prod.yaml", "network", "cluster"))
        assert all(line.isprintable() for line in text.splitlines())


@pytest.mark.parametrize(
    ("source", "path", "value", "text"),
    [
        (
            "terraform",
            ("values", "root_module", "resources", 1, "values", "instance_types"),
            "g5.xlarge",
            "values.root_module.resources[1].values.instance_types: must be a list, found a text",
        ),
        (
            "eksctl",
            ("managedNodeGroups", 0, "minSize"),
            "many",
            "managedNodeGroups[0].minSize: must be a whole number, found a text",
        ),
        ("eksctl", ("vpc", "subnets", "private"), [], "vpc.subnets.private: must be a map, found a list"),
        ("eksctl", ("apiVersion",), "v1", "the file: is not a ClusterConfig of eksctl"),
        ("cloudformation", ("Resources", "Cluster", "Type"), "AWS::EC2::VPC", "the file: has no EKS cluster"),
    ],
)
def test_errors_name_file_and_path(source: str, path: tuple[Any, ...], value: Any, text: str, tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError) as raised:
        read(source, tmp_path, changed(READERS[source][1](), path, value))
    assert str(raised.value).startswith(f"{tmp_path / 'input'}: {text}")


def test_a_plan_of_terraform_is_not_a_state(tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match="is a plan, whose values are not final; run `terraform show -json`"):
        read("terraform", tmp_path, {"format_version": "1.2", "planned_values": {"root_module": {}}})


def test_sensitive_values_are_not_read(tmp_path: Path) -> None:
    state = one_cluster.terraform(SOME_IDS)
    group = state["values"]["root_module"]["resources"][1]
    group["sensitive_values"] = {"labels": True, "tags": {}}
    found = aws_settings(read("terraform", tmp_path, state))
    assert "labels" not in found.values["gpuNodes"]["types"]["g5.2xlarge"]
    reasons = {finding.subject: finding.reason for finding in found.findings}
    assert reasons["aws_eks_node_group.a10g"] == "labels: marked as sensitive, and not read"


def test_a_template_alone_does_not_determine_the_network(tmp_path: Path) -> None:
    """Logical IDs and defaults of parameters are no facts about the stack."""
    template = one_cluster.cloudformation(SOME_IDS)[0]
    template["Resources"]["Cluster"]["Properties"]["Name"] = "prod"
    template["Parameters"]["RoleArn"]["Default"] = "arn:aws:iam::123456789012:role/default"
    found = read("cloudformation", tmp_path, template)
    assert {group.role for group in found.groups} == {""}
    with pytest.raises(WorkbenchError) as raised:
        aws_settings(found)
    lines = str(raised.value).splitlines()
    assert lines[0] == f"{tmp_path / 'input'}: does not determine"
    assert [line.split(";")[0].strip() for line in lines[1:4]] == [
        "the region",
        "the VPC",
        "private subnets in two zones (it has none)",
    ]
    assert any("resource A10G: NodeRole: the result of Ref is not determined" in line for line in lines)


def test_short_forms_of_cloudformation(tmp_path: Path) -> None:
    text = """
Resources:
  Cluster:
    Type: AWS::EKS::Cluster
    Properties:
      Name: prod
      Version: !Sub "1.35"
      ResourcesVpcConfig:
        SubnetIds: [!Ref A, !GetAtt B.SubnetId, !ImportValue c]
"""
    found = read("cloudformation", tmp_path, text)
    assert (found.cluster.name, found.cluster.version, found.cluster.subnets) == ("prod", "1.35", ())
    assert [finding.reason.split(";")[0] for finding in found.findings] == [
        f"ResourcesVpcConfig.SubnetIds[{n}]: the result of {function} is not determined by the files"
        for n, function in enumerate(("Ref", "Fn::GetAtt", "Fn::ImportValue"))
    ]


def group_of(**changes: Any) -> dict[str, Any]:
    base = {"name": "gpu", "instanceType": "g5.xlarge", "minSize": 0, "maxSize": 2}
    role = {"iam": {"instanceRoleARN": SOME_IDS["role"]}}
    return {key: value for key, value in {**base, **role, **changes}.items() if value is not None}


def with_groups(folder: Path, *groups: dict[str, Any], **changes: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings of types for groups of eksctl, and the findings by subject."""
    found = aws_settings(
        read("eksctl", folder, {**one_cluster.eksctl(SOME_IDS), "managedNodeGroups": list(groups), **changes})
    )
    check_new_settings(found.values, "prod")
    return found.values.get("gpuNodes", {}).get("types", {}), {each.subject: each.reason for each in found.findings}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"instanceType": None}, "has no instanceType"),
        ({"instanceType": "g99.huge"}, "unknown instance types: g99.huge"),
        ({"instanceTypes": ["g5.xlarge", "inf2.xlarge"]}, "mixes accelerators or architectures"),
        ({"instanceTypes": ["g5.xlarge", "g5g.xlarge"]}, "mixes accelerators or architectures"),
        ({"instanceTypes": ["g5.xlarge", "m7i.large"]}, "mixes accelerators or architectures"),
        ({"maxSize": 0}, "its maximum size is 0"),
        ({"amiFamily": "WindowsServer2022FullContainer"}, "runs Windows"),
        ({"availabilityZones": ["us-east-1f"]}, "is in us-east-1f, where the network has no private subnet"),
        ({"taints": {"nvidia.com/gpu": "true:NoExecute"}}, "pods of models do not tolerate its taint nvidia.com/gpu"),
        ({"instanceMarketOptions": {"marketType": "capacity-block"}}, "its Capacity Block  is not among"),
    ],
)
def test_groups_that_no_setting_expresses(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    types, findings = with_groups(tmp_path, group_of(**changes))
    assert types == {}
    assert findings["node group gpu"].startswith(reason)


@pytest.mark.parametrize(
    ("changes", "expected", "note"),
    [
        ({"maxSize": None}, {"existingGroups": ["gpu"], "capacity": "on-demand"}, "maxSize: absent"),
        ({"amiFamily": "Ubuntu2204"}, {"maxNodes": 2}, "has an image of its own"),
        ({"amiFamily": "AmazonLinux2"}, {"maxNodes": 2}, "has the image AL2"),
        (
            {"labels": {"kubernetes.io/role": "x", "a": "b"}},
            {"labels": {"a": "b"}},
            "label kubernetes.io/role is left",
        ),
        ({"labels": {"alpha.eksctl.io/nodegroup-name": "gpu"}}, {"maxNodes": 2}, None),
        ({"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]}, {"maxNodes": 2}, None),
        ({"launchTemplate": {"id": "lt-1"}}, {"maxNodes": 2}, "launch template lt-1 is not in the file"),
        (
            {"availabilityZones": ["us-east-1a", "us-east-1f"]},
            {"zones": ["us-east-1a"]},
            "zones us-east-1f have no private subnet",
        ),
    ],
)
def test_groups_with_notes(
    changes: dict[str, Any], expected: dict[str, Any], note: str | None, tmp_path: Path
) -> None:
    types, findings = with_groups(tmp_path, group_of(**changes))
    assert expected.items() <= types["g5.xlarge"].items()
    assert findings.get("node group gpu", "").startswith(note or "")
    assert ("node group gpu" in findings) == bool(note)


def test_groups_of_one_type(tmp_path: Path) -> None:
    """Alike groups are one entry; of others, the first in order of names."""
    a, b = group_of(name="a", availabilityZones=["us-east-1a"]), group_of(name="b", availabilityZones=["us-east-1b"])
    types, findings = with_groups(tmp_path, b, a, group_of(name="c", spot=True, instanceTypes=["g5.xlarge"]))
    assert types == {"g5.xlarge": {"existingGroups": ["a", "b"], "capacity": "on-demand", "maxNodes": 4}}
    assert findings["node group c"].startswith("the settings of g5.xlarge describe a, b, which has other labels")


def test_other_nodes_are_listed(tmp_path: Path) -> None:
    types, findings = with_groups(
        tmp_path,
        nodeGroups=[{"name": "own", "instanceType": "p5.48xlarge"}],
        fargateProfiles=[{"name": "web"}],
        karpenter={"version": "1.8.0"},
        kubernetesNetworkConfig={"ipFamily": "IPv6"},
        iam={"withOIDC": True},
        autoModeConfig={"enabled": True},
    )
    assert types == {}
    subjects = {
        "node group own",
        "Fargate profile web",
        "karpenter",
        "cluster prod",
        "iam.withOIDC",
        "autoModeConfig",
    }
    assert subjects <= findings.keys()


def test_bottlerocket(tmp_path: Path) -> None:
    document = {**one_cluster.eksctl(SOME_IDS), "managedNodeGroups": [group_of(amiFamily="Bottlerocket")]}
    found = aws_settings(read("eksctl", tmp_path, document))
    assert found.values["gpuNodes"]["image"] == "bottlerocket"


def test_several_private_subnets_in_a_zone(tmp_path: Path) -> None:
    document = one_cluster.eksctl(SOME_IDS)
    document["vpc"]["subnets"]["private"]["more"] = {"id": "subnet-00", "az": "us-east-1a"}
    document["vpc"]["subnets"]["private"]["local"] = {"id": "subnet-01", "az": "us-east-1-bos-1a"}
    found = aws_settings(read("eksctl", tmp_path, document))
    assert found.values["network"]["privateSubnets"]["us-east-1a"] == "subnet-00"
    reasons = {each.subject: each.reason for each in found.findings}
    assert SOME_IDS["private-a"] in reasons["zone us-east-1a"]
    assert "local zone" in reasons["zone us-east-1-bos-1a"]


def test_yaml_of_eksctl(tmp_path: Path) -> None:
    text = yaml.safe_dump(one_cluster.eksctl(SOME_IDS)).replace("'1.35'", "1.35")
    assert read("eksctl", tmp_path, text).cluster.version == "1.35"
