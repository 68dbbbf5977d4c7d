"""`adopt --own`: the program declares each node group exactly as it is, so that the import is all that happens."""

import copy
import datetime
import importlib.metadata
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest
import yaml
from botocore.client import BaseClient  # type: ignore[import-untyped]
from typer.testing import CliRunner, Result

from components.contract import clock
from components.resources.aws.node_settings import OwnedFixedSettings
from stacks.environment import deploy
from stacks.settings import read
from tests.adopting.aws import described_groups, one_cluster
from tests.clouds.aws.environments import flavor
from tests.clouds.aws.moto.moto_cloud import MotoCloud
from tests.fleets import open_model, playground
from tests.recorded import Entry, Recorded
from tests.recorded import deploy as record
from tests.resources.aws.aws_mock import Aws
from workbench.cli import app
from workbench.errors import WorkbenchError

NOW = datetime.datetime(2026, 11, 24, tzinfo=datetime.UTC)
GROUP = "aws:eks/nodeGroup:NodeGroup"
COMPONENT = "inference-platform:index:GpuNodeGroups"
COMPUTED = frozenset(
    (
        "amiType",
        "capacityType",
        "diskSize",
        "instanceTypes",
        "nodeRepairConfig",
        "releaseVersion",
        "updateConfig",
        "version",
    )
)
"""Arguments that hashicorp/aws keeps when a program omits them (internal/service/eks/node_group.go, Computed)."""
SETS = frozenset(("subnetIds", "taints", "sourceSecurityGroupIds"))
"""Arguments without an order."""


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "now", lambda: NOW)


class Account:
    """An account in memory, with node groups as the EKS API describes them."""

    def __init__(self, ids: one_cluster.Ids, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ids = ids
        self.groups = described_groups.groups(ids)
        self.cluster: dict[str, Any] = {}
        original = BaseClient._make_api_call

        def call(client: Any, operation: str, params: Any) -> Any:
            if operation == "ListNodegroups":
                return {"nodegroups": list(self.groups)}
            if operation == "DescribeNodegroup":
                return {"nodegroup": self.groups[params["nodegroupName"]]}
            if operation == "DescribeLaunchTemplateVersions":
                data = described_groups.TEMPLATES.get(params["LaunchTemplateId"], {})
                return {"LaunchTemplateVersions": [{"LaunchTemplateData": data}]}
            if operation == "DescribeCapacityReservations":
                return {"CapacityReservations": described_groups.RESERVATIONS}
            if operation == "ListAddons":
                return {"addons": ["eks-pod-identity-agent"]}
            answer = original(client, operation, params)
            if operation == "DescribeCluster":
                subnets = original(boto3.client("ec2", one_cluster.REGION), "DescribeSubnets", {})["Subnets"]
                (vpc,) = {subnet["VpcId"] for subnet in subnets if subnet["SubnetId"] == ids["private-a"]}
                answer["cluster"]["resourcesVpcConfig"]["vpcId"] = vpc
                answer["cluster"] |= self.cluster
            return answer

        monkeypatch.setattr(BaseClient, "_make_api_call", call)


@pytest.fixture(scope="module")
def cloud() -> Iterator[tuple[MotoCloud, dict[str, str]]]:
    with MotoCloud(one_cluster.REGION) as created:
        yield created, one_cluster.create(created.client)


@pytest.fixture
def account(cloud: tuple[MotoCloud, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> Account:
    return Account(cloud[1], monkeypatch)


def adopt(folder: Path, *words: str) -> Result:
    options = ["--aws", one_cluster.NAME, "--region", one_cluster.REGION, "--stack", "prod"]
    return CliRunner().invoke(app, ["adopt", str(folder), *options, *words])


def settings_of(folder: Path) -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load((folder / "Pulumi.prod.yaml").read_text())["config"]
    return config


def graph_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """What the program of a project registers."""
    config = {
        key.removeprefix("inference-platform:"): value if isinstance(value, str) else json.dumps(value)
        for key, value in settings_of(folder).items()
        if not key.startswith("pulumi:")
    }
    monkeypatch.chdir(folder)
    return record(lambda: deploy(read()), preview=True, config=config, mock=Aws())


def owned(graph: Recorded) -> dict[str, Entry]:
    return {entry.inputs["nodeGroupName"]: entry for entry in graph.of(GROUP)}


def as_read(group: dict[str, Any]) -> dict[str, Any]:
    """The properties of aws.eks.NodeGroup that the provider reads, by its resource page; empty ones are left out."""
    template, access, scaling = group.get("launchTemplate"), group.get("remoteAccess"), group["scalingConfig"]
    properties = {
        "clusterName": group["clusterName"],
        "nodeGroupName": group["nodegroupName"],
        "nodeRoleArn": group["nodeRole"],
        "subnetIds": group["subnets"],
        "amiType": group["amiType"],
        "capacityType": group["capacityType"],
        "diskSize": group["diskSize"],
        "instanceTypes": group["instanceTypes"],
        "labels": group["labels"],
        "taints": group.get("taints"),
        "tags": {key: value for key, value in group["tags"].items() if not key.startswith("aws:")},
        "launchTemplate": template and {key: template[key] for key in ("id", "version")},
        "remoteAccess": access
        and {"ec2SshKey": access["ec2SshKey"], "sourceSecurityGroupIds": access["sourceSecurityGroups"]},
        "scalingConfig": {key: scaling[key] for key in ("minSize", "maxSize", "desiredSize")},
        "updateConfig": group["updateConfig"],
        "version": group["version"],
        "releaseVersion": group["releaseVersion"],
        "nodeRepairConfig": group["nodeRepairConfig"],
    }
    return {key: value for key, value in properties.items() if value not in (None, {}, [])}


def comparable(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: comparable(inner, name) for name, inner in value.items()}
    if isinstance(value, list) and key in SETS:
        return sorted(json.dumps(comparable(item), sort_keys=True) for item in value)
    return value


def differences(entry: Entry, state: dict[str, Any]) -> dict[str, Any]:
    """The arguments that an update would change: the provider keeps computed ones, the engine ignores others."""
    keys = {*entry.inputs, *state} - {*entry.registration.ignore_changes}
    changed = {key for key in keys if comparable(entry.inputs.get(key), key) != comparable(state.get(key), key)}
    return {
        key: (state.get(key), entry.inputs.get(key)) for key in changed if key in entry.inputs or key not in COMPUTED
    }


def test_nothing_differs_from_what_the_provider_reads(
    tmp_path: Path, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = adopt(tmp_path / "fleet", "--own", "node-groups")
    assert done.exit_code == 0, done.output
    entries = owned(graph_of(tmp_path / "fleet", monkeypatch))
    assert sorted(entries) == sorted(account.groups)
    for name, group in account.groups.items():
        assert differences(entries[name], as_read(group)) == {}, name
        registration = entries[name].registration
        assert (registration.import_id, registration.retain_on_delete) == (f"prod:{name}", True)
        assert registration.ignore_changes == ("scalingConfig",)
        # What Read returns and cannot be changed in place is declared, but for what only AWS knows.
        assert as_read(group).keys() - entries[name].inputs.keys() <= {
            "version",
            "releaseVersion",
            "nodeRepairConfig",
        }


def test_the_comparison_sees_each_difference(
    tmp_path: Path, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without this, a comparison that compares nothing would pass."""
    assert adopt(tmp_path / "fleet", "--own", "node-groups").exit_code == 0
    entry = owned(graph_of(tmp_path / "fleet", monkeypatch))["cloudformation"]
    state = as_read(account.groups["cloudformation"])
    for key in state.keys() - {"scalingConfig", "version", "releaseVersion", "nodeRepairConfig"}:
        assert differences(entry, {**state, key: "other"}).keys() == {key}
        assert differences(entry, {name: value for name, value in state.items() if name != key}).keys() == {key}
    assert differences(entry, {**state, "scalingConfig": {"desiredSize": 99}}) == {}


def test_only_the_groups_are_registered_and_no_tag_of_their_scaling_groups(
    tmp_path: Path, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert adopt(tmp_path / "fleet", "--own", "node-groups").exit_code == 0
    graph = graph_of(tmp_path / "fleet", monkeypatch)
    assert {entry.type for entry in graph.graph if entry.type.startswith("aws:")} == {GROUP}
    assert {entry.name for entry in graph.of(GROUP)} == {f"nodes-owned-{name}" for name in account.groups}


def test_the_import_file_has_the_groups_with_their_provider_and_parent(tmp_path: Path, account: Account) -> None:
    done = adopt(tmp_path / "fleet", "--own", "node-groups")
    assert done.exit_code == 0, done.output
    resources = json.loads((tmp_path / "fleet/.workbench/import.prod.json").read_text())["resources"]
    by_type: dict[str, list[dict[str, Any]]] = {}
    for resource in resources:
        by_type.setdefault(resource["type"], []).append(resource)
    assert by_type.keys() == {GROUP, COMPONENT, "pulumi:providers:aws"}
    (provider,), (component,) = by_type["pulumi:providers:aws"], by_type[COMPONENT]
    version = importlib.metadata.version("pulumi-aws")
    assert provider["version"] == version
    assert provider["inputs"]["region"] == one_cluster.REGION
    assert json.loads(provider["inputs"]["allowedAccountIds"]) == [one_cluster.ACCOUNT]
    assert (component["component"], component["logicalName"]) == (True, "nodes")
    assert {resource["logicalName"]: resource for resource in by_type[GROUP]} == {
        f"nodes-owned-{name}": {
            "type": GROUP,
            "name": next(item["name"] for item in by_type[GROUP] if item["id"] == f"prod:{name}"),
            "logicalName": f"nodes-owned-{name}",
            "parent": component["name"],
            "id": f"prod:{name}",
            "provider": provider["name"],
            "version": version,
        }
        for name in account.groups
    }
    assert "pulumi import --stack prod --file .workbench/import.prod.json --generate-code=false\n" in done.stdout
    assert "--protect=false" not in done.stdout


def test_the_report_names_what_else_owns_a_group(tmp_path: Path, account: Account) -> None:
    done = adopt(tmp_path / "fleet", "--own", "node-groups", "--dry-run")
    assert "  g6.xlarge (on-demand, at most 4): owned eksctl-gpu\n" in done.stdout
    assert (
        "node group eksctl-gpu is also part of the CloudFormation stack eksctl-prod-nodegroup-eksctl-gpu"
        in done.stdout
    )
    assert "node group console: if Terraform or another tool created it" in done.stdout
    assert not (tmp_path / "fleet").exists()


def test_without_the_option_nothing_is_owned(tmp_path: Path, account: Account) -> None:
    done = adopt(tmp_path / "fleet")
    assert done.exit_code == 0, done.output
    assert "ownedGroups" not in (tmp_path / "fleet/Pulumi.prod.yaml").read_text()
    assert not (tmp_path / "fleet/.workbench").exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"status": "DEGRADED"}, "its status is DEGRADED; adopt it when it is ACTIVE"),
        ({"warmPoolConfig": {"enabled": True, "minSize": 1}}, "has a warm pool"),
        ({"novelty": {"enabled": True}}, "novelty of it cannot be declared"),
        ({"updateConfig": {"maxUnavailable": 1, "pause": True}}, "updateConfig.pause of it cannot be declared"),
        ({"launchTemplate": {"name": "x", "version": "1"}}, "AWS did not report launchTemplate.id"),
    ],
)
def test_groups_that_cannot_be_declared_stay_existing(
    change: dict[str, Any], reason: str, tmp_path: Path, account: Account
) -> None:
    account.groups = {"console": {**account.groups["console"], **change}}
    done = adopt(tmp_path / "fleet", "--own", "node-groups")
    assert done.exit_code == 0, done.output
    entry = settings_of(tmp_path / "fleet")["inference-platform:gpuNodes"]["types"]["g5.2xlarge"]
    assert entry["existingGroups"] == ["console"]
    assert "ownedGroups" not in entry
    assert f"node group console: is used, and not owned: {reason}" in done.stdout
    assert not (tmp_path / "fleet/.workbench").exists()


def test_a_warm_pool_that_is_off_is_none(tmp_path: Path, account: Account) -> None:
    account.groups = {"console": {**account.groups["console"], "warmPoolConfig": {"enabled": False}}}
    assert "owned console" in adopt(tmp_path / "fleet", "--own", "node-groups").stdout


FIXED: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    ("subnets", lambda fixed: fixed["subnets"][:1]),
    ("nodeRoleArn", lambda _: "arn:aws:iam::123456789012:role/other"),
    ("instanceTypes", lambda _: ["g5.xlarge", "g5.2xlarge"]),
    ("capacityType", lambda _: "SPOT"),
    ("amiType", lambda _: "BOTTLEROCKET_x86_64_NVIDIA"),
    ("diskGib", lambda _: 300),
    ("sshKey", lambda _: "others"),
    ("sshSecurityGroups", lambda _: ["sg-1"]),
    ("size", lambda _: {"min": 0, "max": 4, "desired": 2}),
    ("checksum", lambda fixed: fixed["checksum"].replace(fixed["checksum"][:4], "0000")),
]


@pytest.fixture
def project(tmp_path: Path, account: Account) -> Path:
    account.groups = {"cloudformation": account.groups["cloudformation"]}
    folder = tmp_path / "fleet"
    assert adopt(folder, "--own", "node-groups").exit_code == 0
    write_model(folder, flavor("g5.xlarge"))
    return folder


def write_model(folder: Path, *flavors: Any) -> None:
    requests = {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    bodies = [open_model(flavors=list(flavors)), playground("p", "m", replicas=1, backendRuntimeConfig=requests)]
    (folder / "models/chat.yaml").write_text(yaml.safe_dump_all(bodies))


def edit(folder: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Result:
    """Edit the group and its type, and validate."""
    path = folder / "Pulumi.prod.yaml"
    document = yaml.safe_load(path.read_text())
    entry = document["config"]["inference-platform:gpuNodes"]["types"]["g5.xlarge"]
    change(entry["ownedGroups"][0], entry)
    path.write_text(yaml.safe_dump(document))
    return CliRunner().invoke(app, ["validate", "--output", "lines", "--stack", "prod", "--cwd", str(folder)])


@pytest.mark.parametrize(("key", "value"), FIXED)
def test_an_edit_that_eks_cannot_make_is_an_error(
    key: str, value: Callable[[dict[str, Any]], Any], project: Path
) -> None:
    def change(group: dict[str, Any], _: dict[str, Any]) -> None:
        group["fixed"][key] = value(group["fixed"])

    done = edit(project, change)
    assert done.exit_code == 1
    named = "amiType" if key == "checksum" else key
    path = f"gpuNodes.types.g5.xlarge.ownedGroups[0].fixed.{named}: is "
    assert path in done.output
    wanted = "No update of the stack changes the size" if key == "size" else "EKS cannot change it in place"
    (line,) = [line for line in done.output.splitlines() if path in line and "was another value" in line]
    assert wanted in line
    assert "when cloudformation was adopted" in line


def test_edits_in_place_are_updates(project: Path, monkeypatch: pytest.MonkeyPatch, account: Account) -> None:
    before = owned(graph_of(project, monkeypatch))["cloudformation"].inputs

    def change(group: dict[str, Any], entry: dict[str, Any]) -> None:
        group["labels"] = {"team": "chat"}
        group["taints"].append({"key": "dedicated", "value": "chat", "effect": "NoExecute"})
        entry["taints"] = [{"key": "dedicated", "value": "chat", "effect": "NoExecute"}]
        group["tags"]["owner"] = "chat"
        group["update"] = {"maxUnavailablePercentage": 20}
        group["version"], group["releaseVersion"] = "1.36", "1.36.0-20261101"
        group["retain"] = False

    done = edit(project, change)
    assert done.exit_code == 0, done.output
    entry = owned(graph_of(project, monkeypatch))["cloudformation"]
    assert {key: value for key, value in entry.inputs.items() if before.get(key) != value} == {
        "labels": {"team": "chat"},
        "taints": [
            {"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"},
            {"key": "dedicated", "value": "chat", "effect": "NO_EXECUTE"},
        ],
        "tags": {"team": "search", "owner": "chat"},
        "updateConfig": {"maxUnavailablePercentage": 20},
        "version": "1.36",
        "releaseVersion": "1.36.0-20261101",
    }
    assert not entry.registration.retain_on_delete


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _, entry: entry.update(capacity="spot"), "fixed.capacityType: is ON_DEMAND, but the capacity of"),
        (lambda _, entry: entry.update(labels={"pool": "a"}), "ownedGroups[0].labels: lacks pool: a"),
        (
            lambda group, _: group["taints"].append({"key": "x", "value": "y", "effect": "NoSchedule"}),
            "ownedGroups[0].taints: has x=y:NoSchedule, which pods for g5.xlarge do not tolerate",
        ),
        (
            lambda group, entry: entry["ownedGroups"].append(copy.deepcopy(group)),
            "name: cloudformation is listed more",
        ),
        (
            lambda group, _: group.update(launchTemplateVersion="2"),
            "must have both launchTemplateVersion and fixed.launchTemplateId, or neither",
        ),
        (
            lambda group, _: group.update(update={"maxUnavailable": 1, "maxUnavailablePercentage": 2}),
            "must have maxUnavailable or maxUnavailablePercentage, not both",
        ),
        (lambda group, _: group["fixed"].pop("checksum"), "fixed.checksum: "),
    ],
)
def test_contradictions(
    change: Callable[[dict[str, Any], dict[str, Any]], None], message: str, project: Path
) -> None:
    done = edit(project, change)
    assert done.exit_code != 0
    assert message in done.output + str(done.exception)


@pytest.mark.parametrize("section", ["cluster", "gpuNodes"])
def test_where_a_group_cannot_be_owned(section: str, project: Path) -> None:
    path = project / "Pulumi.prod.yaml"
    document = yaml.safe_load(path.read_text())
    settings = document["config"][f"inference-platform:{section}"]
    settings.update({"existing": False} if section == "cluster" else {"provisioner": "karpenter"})
    path.write_text(yaml.safe_dump(document))
    done = CliRunner().invoke(app, ["validate", "--output", "lines", "--stack", "prod", "--cwd", str(project)])
    assert done.exit_code == 1
    reason = "requires the cluster that has the groups" if section == "cluster" else "is a managed node group"
    assert reason in done.output


def test_what_models_need_of_owned_groups_is_found_by_the_plan(project: Path) -> None:
    write_model(project, flavor("g5.xlarge", pool="other"))
    done = CliRunner().invoke(app, ["validate", "--output", "lines", "--stack", "prod", "--cwd", str(project)])
    assert done.exit_code == 1
    assert "gpuNodes.types.g5.xlarge.ownedGroups: models need nodes" in done.output


def test_the_local_engine_previews_the_stack(project: Path) -> None:
    words = ["preview", "--stack", "prod", "--engine", "local", "--cwd", str(project), "--offline", "--details"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "nodes-owned-cloudformation" in done.output


def test_a_cluster_is_refused_with_the_fields_that_would_change(tmp_path: Path, account: Account) -> None:
    """As eksctl creates it: its defaults, with another role and both access modes."""
    account.cluster = {
        "roleArn": "arn:aws:iam::123456789012:role/eksctl-prod-cluster-ServiceRole",
        "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"},
        "encryptionConfig": [],
    }
    done = adopt(tmp_path / "fleet", "--own", "cluster", "--own", "node-groups")
    assert isinstance(done.exception, WorkbenchError)
    lines = str(done.exception).splitlines()
    assert lines[0] == "--own: nothing was written, because the stack would not leave as it is"
    for line in (
        f"roleArn is {account.cluster['roleArn']}, and the component sets a role that it creates; the cluster would "
        "be replaced",
        "accessConfig.authenticationMode is API_AND_CONFIG_MAP, and the component sets API, and the ConfigMap "
        "aws-auth has no effect",
        "encryptionConfig is not set, and the component sets a KMS key for Secrets, which cannot be removed again",
    ):
        assert f"  cluster prod: {line}" in lines
    assert not (tmp_path / "fleet").exists()


def test_a_network_is_refused_with_the_subnets_that_would_be_replaced(tmp_path: Path, account: Account) -> None:
    """Network has 10.0.0.0/19 and 10.0.224.0/24 in the first zone of 10.0.0.0/16 (docs/aws.md)."""
    done = adopt(tmp_path / "fleet", "--own", "network")
    assert isinstance(done.exception, WorkbenchError)
    lines = str(done.exception).splitlines()
    subnet = account.ids["private-a"]
    assert (
        f"  subnet {subnet} in us-east-1a: CidrBlock is 10.0.0.0/24, and the component sets 10.0.0.0/19 or "
        "10.0.224.0/24; the subnet would be replaced" in lines
    )
    assert sum(line.startswith("  subnet ") for line in lines) == 4
    assert any("route tables, internet and NAT gateways would be created a second time" in line for line in lines)
    assert not (tmp_path / "fleet").exists()


def test_files_cannot_tell_what_a_stack_would_own(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text(json.dumps(one_cluster.terraform(one_cluster.SOME_IDS)))
    words = ["adopt", str(tmp_path / "fleet"), "--terraform", str(state), "--own", "node-groups"]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, WorkbenchError)
    assert done.exception.exit_code == 2
    assert str(done.exception).startswith("--own: only with --aws")


def test_the_example_of_the_page_is_as_adopted() -> None:
    page = (Path(__file__).parents[3] / "docs/tasks/adopt-aws.md").read_text()
    (block,) = [block for block in page.split("```yaml\n")[1:] if "ownedGroups" in block]
    types = yaml.safe_load(block.partition("```")[0])["inference-platform:gpuNodes"]["types"]
    fixed = types["g5.2xlarge"]["ownedGroups"][0]["fixed"]
    properties = OwnedFixedSettings.model_validate(fixed).properties()
    assert properties.changed_since(fixed["checksum"]) == []
