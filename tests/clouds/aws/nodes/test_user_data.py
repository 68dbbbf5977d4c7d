"""The first words to nodes, read as the nodes read them (aws-gpu spec 6)."""

import base64
import email
import tomllib
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.clouds.aws.nodes.launch import Boot
from components.clouds.aws.nodes.user_data import ClusterAddress, Start, karpenter_user_data, toml, user_data
from components.clouds.aws.words import NodeImage, Provisioner
from components.fleet.instances import Instance, instance
from tests.clouds.aws.environments import environment, flavor, one, planned, problems

AL2023, BOTTLEROCKET = NodeImage.AL2023, NodeImage.BOTTLEROCKET
SCRIPT = "#!/bin/bash\necho hello\n"
QUIET = (
    "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      registryPullQPS: 20\n"
)
TOML = "[settings.kubernetes]\nkube-api-qps = 30\n[settings.host-containers.admin]\nenabled = true\n"


def known(name: str) -> Instance:
    found = instance(name)
    assert found is not None
    return found


def start(name: str, pods: int = 110, **changes: Any) -> Start:
    return Start.of(known(name), pods, **changes)


def parts(text: str) -> list[tuple[str, str]]:
    message: Any = email.message_from_string(text)
    assert message.get_content_type() == "multipart/mixed"
    return [(part.get_content_type(), part.get_payload()) for part in message.get_payload()]


def decoded(given: Start, image: NodeImage = AL2023, join: ClusterAddress | None = None) -> str:
    return base64.b64decode(user_data(given, image, join)).decode()


def al2023(given: Start, join: ClusterAddress | None = None) -> Any:
    ((kind, text),) = parts(decoded(given, AL2023, join))
    assert kind == "application/node.eks.aws"
    return yaml.safe_load(text)


def bottlerocket(given: Start) -> Any:
    return tomllib.loads(decoded(given, BOTTLEROCKET))["settings"]


def wrong(text: str, image: NodeImage = AL2023) -> str:
    where = environment(image=image, boot=Boot(user_data=text))
    found = problems(one(flavor("g5.xlarge")), where)
    assert [problem.path for problem in found] == ["gpuNodes.userData"] * len(found)
    return found[0].reason if found else ""


class TestNodeConfig:
    def test_nvme_is_one_raid0_and_kubelet_takes_the_pods_that_are_planned_with(self) -> None:
        config = al2023(start("g5.xlarge"))
        assert (config["apiVersion"], config["kind"]) == ("node.eks.aws/v1alpha1", "NodeConfig")
        assert config["spec"] == {
            "instance": {"localStorage": {"strategy": "RAID0"}},
            "kubelet": {"config": {"maxPods": 110}},
        }  # EKS adds the cluster

    def test_no_raid_without_disks(self) -> None:
        assert "instance" not in al2023(start("g5g.xlarge"))["spec"]

    def test_images_are_pulled_in_parallel(self) -> None:
        """awslabs/amazon-eks-ami, nodeadm/doc/api.md: a feature gate beside ``kubelet``."""
        assert al2023(start("g5.2xlarge", fast_image_pull=True))["spec"]["featureGates"] == {"FastImagePull": True}

    def test_an_image_of_ones_own_is_told_the_cluster(self) -> None:
        join = ClusterAddress("prod", "https://x.eks.amazonaws.com", "Q0E=", "172.20.0.0/16")
        assert al2023(start("g7.2xlarge"), join)["spec"]["cluster"] == {
            "name": "prod",
            "apiServerEndpoint": "https://x.eks.amazonaws.com",
            "certificateAuthority": "Q0E=",
            "cidr": "172.20.0.0/16",
        }

    @pytest.mark.parametrize(("extra", "kind"), [(SCRIPT, "text/x-shellscript"), (QUIET, "application/node.eks.aws")])
    def test_what_is_added_comes_before_ours(self, extra: str, kind: str) -> None:
        """Of several NodeConfigs the last one wins (nodeadm/doc/examples.md)."""
        (first, theirs), (second, ours) = parts(decoded(start("g5.xlarge", extra=extra)))
        assert (first, theirs.strip(), second) == (kind, extra.strip(), "application/node.eks.aws")
        assert yaml.safe_load(ours)["spec"]["kubelet"] == {"config": {"maxPods": 110}}


class TestToml:
    def test_pods_and_disks(self) -> None:
        settings = bottlerocket(start("g5.xlarge"))
        assert settings["kubernetes"] == {"max-pods": 110}
        storage = settings["bootstrap-commands"]["ephemeral-storage"]
        assert storage["commands"][0] == ["apiclient", "ephemeral-storage", "init"]
        assert "/var/lib/containerd" in storage["commands"][1]

    def test_images_are_pulled_in_parallel_and_kept_on_local_disks(self) -> None:
        """bottlerocket.dev, settings.container-runtime-plugins; bottlerocket-core-kit pull request 571."""
        settings = bottlerocket(start("g5.2xlarge", fast_image_pull=True))
        assert settings["container-runtime"] == {"snapshotter": "soci"}
        assert settings["container-runtime-plugins"] == {"soci-snapshotter": {"pull-mode": "parallel-pull-unpack"}}
        (_, bound) = settings["bootstrap-commands"]["ephemeral-storage"]["commands"]
        assert bound[-1] == "/var/lib/soci-snapshotter"
        plain = bottlerocket(start("g5.2xlarge"))
        assert "container-runtime" not in plain
        assert "/var/lib/soci-snapshotter" not in plain["bootstrap-commands"]["ephemeral-storage"]["commands"][1]

    def test_neuron_devices_are_handed_over(self) -> None:
        assert bottlerocket(start("inf2.xlarge")) == {
            "kubernetes": {"max-pods": 110, "device-ownership-from-security-context": True}
        }

    def test_what_is_added_is_merged(self) -> None:
        settings = bottlerocket(start("g5g.xlarge", extra=TOML))
        assert settings["kubernetes"] == {"kube-api-qps": 30, "max-pods": 110}
        assert settings["host-containers"] == {"admin": {"enabled": True}}

    @given(
        st.recursive(
            st.booleans()
            | st.integers(-(2**63), 2**63 - 1)
            | st.text(st.characters(exclude_categories=["Cs", "Cc"])),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text('ab-é ."', min_size=1), inner, min_size=1)
            ),
            max_leaves=8,
        )
    )
    def test_any_setting_survives(self, value: Any) -> None:
        assert tomllib.loads(toml({"settings": {"x": value}})) == {"settings": {"x": value}}


class TestKarpenter:
    """It adds pods, disks and the cluster itself, and its own values win (its documentation, spec.userData)."""

    def test_nothing_where_it_says_everything(self) -> None:
        assert karpenter_user_data(start("g5.xlarge"), AL2023) == ""
        assert karpenter_user_data(start("g5.xlarge"), BOTTLEROCKET) == ""

    def test_a_gate_alone_is_a_node_config(self) -> None:
        config = yaml.safe_load(karpenter_user_data(start("g5.2xlarge", fast_image_pull=True), AL2023))
        assert config["kind"] == "NodeConfig"
        assert config["spec"] == {"featureGates": {"FastImagePull": True}}

    def test_a_script_and_a_gate_are_parts(self) -> None:
        found = parts(karpenter_user_data(start("g5.2xlarge", fast_image_pull=True, extra=SCRIPT), AL2023))
        assert [kind for kind, _ in found] == ["text/x-shellscript", "application/node.eks.aws"]

    def test_toml(self) -> None:
        text = karpenter_user_data(start("inf2.xlarge", extra=TOML), BOTTLEROCKET)
        kubernetes = tomllib.loads(text)["settings"]["kubernetes"]
        assert kubernetes == {"kube-api-qps": 30, "device-ownership-from-security-context": True}


@pytest.mark.parametrize(
    ("text", "image", "expected"),
    [
        (SCRIPT, AL2023, ""),
        (QUIET, AL2023, ""),
        (TOML, BOTTLEROCKET, ""),
        (
            "echo hello",
            AL2023,
            "must be a NodeConfig (apiVersion: node.eks.aws/v1alpha1) or a script that begins with",
        ),
        ("kind: [", AL2023, "is not what al2023 reads"),
        (
            "kind: NodeConfig\nspec: {kubelet: {config: {maxPods: 9}}}",
            AL2023,
            "sets spec.kubelet.config.maxPods, which",
        ),
        (
            "[settings.kubernetes]\nmax-pods = 9",
            BOTTLEROCKET,
            "sets settings.kubernetes.max-pods, which follows from",
        ),
        (SCRIPT, BOTTLEROCKET, "is not what bottlerocket reads"),
        (f"#!/bin/sh\n{'x' * 13_000}", AL2023, "must be at most 12288 bytes, found 13010"),
        ("#!/bin/sh\n--//\n", AL2023, "must not have the line --//"),
    ],
)
def test_what_is_refused(text: str, image: NodeImage, expected: str) -> None:
    assert wrong(text, image).startswith(expected)
    assert bool(wrong(text, image)) == bool(expected)


@pytest.mark.parametrize("provisioner", list(Provisioner))
def test_nodes_without_prefixes_take_the_pods_that_have_addresses(provisioner: Provisioner) -> None:
    """As AWS counts them (awslabs/amazon-eks-ami, nodeadm/internal/kubelet/instance-info.jsonl)."""
    where = environment(provisioner=provisioner)
    fleet = one(flavor("g4dn.xlarge", name="a"), flavor("g6e.xlarge", name="b"), where=where)
    assert {group.start.pods for group in planned(fleet, where)} == {110}
    where = replace(where, nodes=replace(where.nodes, prefixes=False))
    assert {group.node.name: group.start.pods for group in planned(fleet, where)} == {
        "g4dn.xlarge": 29,
        "g6e.xlarge": 58,
    }
