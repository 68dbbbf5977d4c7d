"""Where a stack keeps weights on AWS: what is made, in what order, who mounts it, and what is refused."""

import functools
import json
from pathlib import Path
from typing import Any

import pulumi
import pytest

from tests.recorded import Recorded
from tests.resources.aws.aws_mock import Planned
from tests.stacks.shipped import run, settings_of
from workbench.engine.values import UNKNOWN

pytestmark = pytest.mark.usefixtures("here")

CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
VOLUME = "kubernetes:core/v1:PersistentVolume"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
MODELS = ["stacks/models/qwen-chat.yaml", "stacks/models/phi-hostpath.yaml"]
ADDON = "aws:eks/addon:Addon"


def dev(**changes: Any) -> Recorded:
    return run("dev", **{"models": MODELS, **changes})


def claims_of(graph: Recorded, name: str) -> set[str]:
    """The claims that the pods of a model mount."""
    (found,) = (entry for entry in graph.of(DEPLOYMENT) if entry.name == f"fleet-models/{name}")
    volumes = found.inputs["spec"]["template"]["spec"]["volumes"]
    return {volume["persistentVolumeClaim"]["claimName"] for volume in volumes if "persistentVolumeClaim" in volume}


def before(graph: Recorded, key: str) -> set[str]:
    """Everything that is made before a resource, and deleted after it: what it or its parents depend on."""
    found: set[str] = set()
    waiting = [key]
    while waiting:
        entry = graph[waiting.pop()]
        needed = {*entry.dependencies, entry.parent, entry.provider} - {""}
        waiting += needed - found
        found |= needed
    return found


def refused(stack: str = "dev", **changes: Any) -> str:
    with pytest.raises(pulumi.RunError) as caught:
        run(stack, **changes)
    return str(caught.value)


@functools.cache
def on_efs() -> Recorded:
    return dev(modelCache={"efs": {}})


class TestEfs:
    @pytest.fixture
    def graph(self) -> Recorded:
        return on_efs()

    def test_models_that_load_weights_share_one_claim(self, graph: Recorded) -> None:
        assert claims_of(graph, "qwen-chat") == {"model-cache-efs"}
        assert claims_of(graph, "phi-hostpath") == set()
        (claim,) = graph.of(CLAIM)
        assert claim.inputs["metadata"] == {"name": "model-cache-efs", "namespace": "models"}
        assert claim.inputs["spec"] == {
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": "1Ti"}},
            "storageClassName": "",
            "volumeName": "models.model-cache-efs",
        }
        (volume,) = graph.of(VOLUME)
        assert volume.inputs["metadata"]["name"] == "models.model-cache-efs"

    def test_the_outputs_tell_who_keeps_weights_where(self, graph: Recorded) -> None:
        weights = {name: model.get("weights") for name, model in graph.exports["models"].items()}
        assert weights == {"qwen-chat": "model-cache-efs", "phi-hostpath": None}

    def test_every_zone_of_the_network_has_a_mount_target(self, graph: Recorded) -> None:
        zones = {entry.name.removeprefix("storage-efs-") for entry in graph.of("aws:efs/mountTarget:MountTarget")}
        assert zones == set(settings_of("dev")["network"]["zones"])

    def test_the_driver_is_installed_with_a_role(self, graph: Recorded) -> None:
        (addon,) = (each for each in graph.of(ADDON) if each.inputs["addonName"] == "aws-efs-csi-driver")
        (identity,) = addon.inputs["podIdentityAssociations"]
        assert identity["serviceAccount"] == "efs-csi-controller-sa"

    def test_pods_come_after_what_they_mount_and_go_before_it(self, graph: Recorded) -> None:
        needed = before(graph, f"{DEPLOYMENT}::fleet-models/qwen-chat")
        assert {
            f"{CLAIM}::fleet-models/model-cache-efs",
            f"{VOLUME}::storage-models/model-cache-efs",
            "aws:efs/accessPoint:AccessPoint::storage-efs-models",
            "aws:efs/fileSystem:FileSystem::storage-efs",
            "aws:efs/mountTarget:MountTarget::storage-efs-us-east-1a",
            "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule::storage-efs",
        } <= needed
        # Kubelet unmounts with the driver's help: the driver outlives the volume.
        assert f"{ADDON}::cluster-aws-efs-csi-driver" in before(graph, f"{VOLUME}::storage-models/model-cache-efs")

    def test_a_cache_is_not_protected(self) -> None:
        graph = run("prod", modelCache={"efs": {}})
        assert not graph["aws:efs/fileSystem:FileSystem::storage-efs"].registration.protect

    def test_an_addon_of_ones_own_keeps_its_version(self) -> None:
        graph = dev(modelCache={"efs": {}}, cluster={"addons": {"aws-efs-csi-driver": "v3.4.1-eksbuild.1"}})
        (addon,) = (each for each in graph.of(ADDON) if each.inputs["addonName"] == "aws-efs-csi-driver")
        assert addon.inputs["addonVersion"] == "v3.4.1-eksbuild.1"

    def test_a_file_system_that_exists_is_not_touched(self) -> None:
        graph = dev(modelCache={"efs": {"id": "fs-0123456789abcdef0"}})
        assert {entry.type for entry in graph.graph if entry.type.startswith("aws:efs")} == {
            "aws:efs/accessPoint:AccessPoint"
        }
        (claim,) = claims_of(graph, "qwen-chat")
        assert claim.startswith("model-cache-efs-")


def test_every_namespace_of_models_has_a_volume_and_a_claim(tmp_path: Path) -> None:
    text = tmp_path / "models.yaml"
    text.write_text(
        "\n---\n".join(
            f"""\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: chat, namespace: {namespace}}}
spec: {{replicas: 1, modelClaim: {{modelName: qwen2-7b}}}}"""
            for namespace in ("models", "research")
        )
    )
    graph = dev(models=["stacks/models/qwen-chat.yaml", str(text)], modelCache={"efs": {}})
    assert {entry.inputs["metadata"]["name"] for entry in graph.of(VOLUME)} == {
        "models.model-cache-efs",
        "research.model-cache-efs",
    }
    assert {entry.inputs["metadata"]["namespace"] for entry in graph.of(CLAIM)} == {"models", "research"}


class TestFsx:
    def test_models_mount_it_after_its_folders(self) -> None:
        graph = dev(modelCache={"fsx": {"zone": "us-east-1a"}})
        (claim,) = claims_of(graph, "qwen-chat")
        needed = before(graph, f"{DEPLOYMENT}::fleet-models/qwen-chat")
        (job,) = graph.of("kubernetes:batch/v1:Job")
        assert {
            job.key,
            f"{CLAIM}::fleet-models/{claim}",
            "aws:fsx/lustreFileSystem:LustreFileSystem::storage-fsx",
            f"{ADDON}::cluster-aws-fsx-csi-driver",
        } <= needed
        assert graph.exports["models"]["qwen-chat"]["weights"] == claim

    def test_nodes_in_other_zones_are_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Those of dev are in us-east-1a."""
        dev(modelCache={"fsx": {"zone": "us-east-1a"}})
        assert "crosses zones" not in capsys.readouterr().err
        dev(modelCache={"fsx": {"zone": "us-east-1b"}})
        told = capsys.readouterr().err
        assert "modelCache.fsx.zone: us-east-1b, but nodes may be in other zones: " in told
        assert "g5-2xlarge-spot (us-east-1a)" in told
        assert "Set zones: [us-east-1b]" in told


LIBRARY = """\
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: small}
spec: {source: "pvc://library/small/model.gguf", format: gguf}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: small}
spec: {modelRef: small, replicas: 1}
"""


CACHES = [
    {"efs": {}, "s3": {"library": "example-models"}},
    {"efs": {"id": "fs-0123456789abcdef0"}},
    {"fsx": {"zone": "us-east-1a"}},
]


@pytest.mark.parametrize("cache", CACHES, ids=str)
def test_a_preview_needs_neither_credentials_nor_network(cache: dict[str, Any]) -> None:
    """It shows every volume and claim under its name, before anything that they are made of exists."""
    graph = run("dev", Planned(), preview=True, models=MODELS, modelCache=cache)
    claims = {entry.inputs["spec"]["volumeName"] for entry in graph.of(CLAIM)}
    assert claims == {entry.inputs["metadata"]["name"] for entry in graph.of(VOLUME)}
    for volume in graph.of(VOLUME):
        source = volume.inputs["spec"]["csi"]
        kept = {**source, **source["volumeAttributes"]}
        assert ("library" in volume.name) != (UNKNOWN in kept.values()), volume.name


class TestS3:
    @pytest.fixture
    def models(self, tmp_path: Path) -> list[str]:
        file = tmp_path / "models.yaml"
        file.write_text(LIBRARY)
        return [*MODELS, str(file)]

    def test_a_model_reads_its_bucket_where_it_lies(self, models: list[str]) -> None:
        graph = dev(models=models, modelCache={"efs": {}, "s3": {"library": "example-models/prod/"}})
        (service,) = (entry for entry in graph.of(DEPLOYMENT) if entry.name.endswith("/small"))
        spec = service.inputs["spec"]["template"]["spec"]
        (volume,) = (each for each in spec["volumes"] if "persistentVolumeClaim" in each)
        assert volume["persistentVolumeClaim"] == {"claimName": "library", "readOnly": True}
        assert "initContainers" not in spec
        assert spec["serviceAccountName"] == "model-loader"
        assert f"{CLAIM}::fleet-models/library" in before(graph, service.key)
        assert graph.exports["models"]["small"]["weights"] == "library"
        assert graph.exports["models"]["qwen-chat"]["weights"] == "model-cache-efs"

    def test_pods_may_read_what_is_mounted_and_the_driver_nothing(self) -> None:
        graph = dev(modelCache={"s3": {"library": "example-models/prod/"}}, modelBuckets=["other"])
        policy = json.loads(graph["aws:iam/rolePolicy:RolePolicy::identities-model-loader"].inputs["policy"])
        allowed = {
            resource: (tuple(statement["Action"]), statement.get("Condition"))
            for statement in policy["Statement"]
            for resource in statement["Resource"]
        }
        assert allowed == {
            "arn:aws:s3:::other": (("s3:ListBucket",), None),
            "arn:aws:s3:::other/*": (("s3:GetObject",), None),
            "arn:aws:s3:::example-models": (("s3:ListBucket",), {"StringLike": {"s3:prefix": "prod/*"}}),
            "arn:aws:s3:::example-models/prod/*": (("s3:GetObject",), None),
        }
        (addon,) = (each for each in graph.of(ADDON) if "mountpoint" in each.inputs["addonName"])
        assert addon.inputs["addonName"] == "aws-mountpoint-s3-csi-driver"
        assert "podIdentityAssociations" not in addon.inputs
        for deployment in graph.of(DEPLOYMENT):
            assert deployment.inputs["spec"]["template"]["spec"]["serviceAccountName"] == "model-loader"

    def test_a_bucket_that_is_listed_twice_is_still_told(self) -> None:
        text = refused(modelCache={"s3": {"a": "x-models"}}, modelBuckets=["x-models", "x-models"])
        assert "modelBuckets: 'x-models' is listed 2 times; list it once" in text

    def test_a_bucket_that_is_named_twice_is_allowed_once(self) -> None:
        graph = dev(
            modelCache={"s3": {"a": "example-models", "b": "example-models"}}, modelBuckets=["example-models"]
        )
        policy = json.loads(graph["aws:iam/rolePolicy:RolePolicy::identities-model-loader"].inputs["policy"])
        assert len(policy["Statement"]) == 2
        assert {entry.inputs["metadata"]["name"] for entry in graph.of(VOLUME)} == {"models.a", "models.b"}


def test_a_driver_without_pod_identity_is_refused() -> None:
    addons = {"aws-mountpoint-s3-csi-driver": "v1.15.0-eksbuild.1"}
    text = refused(modelCache={"s3": {"a": "x-models"}}, cluster={"addons": addons})
    assert "cluster.addons: aws-mountpoint-s3-csi-driver v1.15.0-eksbuild.1 cannot mount with" in text


def test_without_it_nothing_is_made() -> None:
    for cache in ({}, {"claim": "weights"}, {"hostPath": "/var/models"}):
        graph = dev(modelCache=cache)
        assert not [*graph.of(VOLUME), *graph.of(CLAIM)]
        assert not [entry.key for entry in graph.graph if entry.type.startswith("aws:efs")]
        assert "inference-platform:index:ModelStorage::storage" not in {entry.key for entry in graph.graph}


def test_a_claim_of_ones_own_volumes_is_made_in_the_namespace() -> None:
    graph = dev(modelCache={"claim": "weights", "bound": True, "readOnlyClaims": ["library"]})
    specs = {entry.inputs["metadata"]["name"]: entry.inputs["spec"] for entry in graph.of(CLAIM)}
    assert {name: (spec["volumeName"], spec["accessModes"]) for name, spec in specs.items()} == {
        "weights": ("models.weights", ["ReadWriteMany"]),
        "library": ("models.library", ["ReadOnlyMany"]),
    }
    assert claims_of(graph, "qwen-chat") == {"weights"}


@pytest.mark.parametrize(
    ("stack", "cache", "expected"),
    [
        ("dev", {"efs": {}, "claim": "weights"}, "modelCache: must be one of claim, hostPath, efs and fsx"),
        ("dev", {"efs": {}, "hostPath": "/weights"}, "modelCache: must be one of claim, hostPath, efs and fsx"),
        ("dev", {"efs": {"throughputs": "elastic"}}, "modelCache.efs.throughputs: unknown key; did you mean"),
        ("dev", {"efs": {"id": "fs-01234567", "mibps": 5}}, "modelCache.efs: an existing file system keeps"),
        ("dev", {"bound": True}, "modelCache: bound requires a claim"),
        ("dev", {"readOnlyClaims": ["A"]}, "modelCache.readOnlyClaims.0: must match"),
        ("dev", {"s3": {"library": "models/prod"}}, "modelCache.s3.library: a mounted prefix must be a folder"),
        ("dev", {"s3": {"a": "x-models"}, "claim": "a"}, "modelCache: a is the name of two claims"),
        ("dev", {"s3": {"a": "x-models"}, "readOnlyClaims": ["a"]}, "modelCache: a is the name of two claims"),
        ("dev", {"fsx": {}}, "modelCache.fsx: a new file system requires zone; set it"),
        (
            "dev",
            {"fsx": {"zone": "us-east-1c"}},
            "modelCache: fsx: zone us-east-1c is not a zone of the network",
        ),
        ("dev", {"fsx": {"zone": "us-east-1a"}, "efs": {}}, "modelCache: efs: cannot be combined with fsx"),
        ("local", {"fsx": {"zone": "us-east-1a"}}, "modelCache: fsx: requires cloud: aws"),
        ("local", {"s3": {"a": "x-models"}}, "modelCache: s3: requires cloud: aws"),
        ("local", {"efs": {}}, "modelCache: efs: requires cloud: aws; elsewhere set claim or hostPath"),
    ],
)
def test_what_contradicts_is_refused(stack: str, cache: dict[str, Any], expected: str) -> None:
    assert f"Pulumi.test.yaml: inference-platform:{expected}" in refused(stack, modelCache=cache)
