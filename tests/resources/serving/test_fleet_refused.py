"""Wrong arguments of a ModelFleet: all of them are told at once, as the caller wrote them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.resources.serving.arguments import InvalidArguments
from components.resources.serving.model_fleet import ModelFleet
from tests.fleets import open_model, playground
from tests.recorded import Recorded, deploy
from tests.resources.serving.manifests import A10G, CHAT, as_file, fleet, program


def fleet_error(documents: list[Any], **args: Any) -> list[tuple[str, str]]:
    """Path and reason of everything that is wrong; nothing is registered."""
    return refused({"manifests": documents, **args})


def refused(args: Mapping[str, Any]) -> list[tuple[str, str]]:
    made: list[Recorded] = []
    with pytest.raises(InvalidArguments) as caught:
        made.append(deploy(program(args)))
    found = [(error["property_path"], error["reason"]) for error in caught.value.errors or ()]
    lines = str(caught.value).splitlines()
    assert len(lines) == len(found)
    assert all(reason in line for line, (_, reason) in zip(lines, found, strict=True))
    return found


class TestRefusals:
    @pytest.mark.parametrize(
        ("args", "path", "reason"),
        [
            ({"manifest": []}, "manifest", "unknown argument; did you mean 'manifests'?"),
            ({"modelCache": {}}, "modelCache", "unknown argument; did you mean 'model_cache'?"),
            ({"cluster": {"vpc": "v"}}, "cluster.vpc", "unknown argument; did you mean 'vpc_id'?"),
            ({"image_cache": {"registries": ["quay.io"]}}, "image_cache", "requires a cluster on AWS"),
            (
                {"image_cache": {"registries": ["quay.io"]}, "cluster": {"cloud": "aws", "region": "us-east-1"}},
                "image_cache",
                "requires account; set it",
            ),
            ({"image_cache": {"registries": ["nvcr.io"]}}, "image_cache.registries[0]", "ECR cannot cache 'nvcr.io'"),
            ({"cluster": {"vpc_id": 5}}, "cluster.vpc_id", "must be a string or an output, found 5"),
            ({"cluster": {"version": "latest"}}, "cluster.version", "such as '1.35'"),
            ({"cluster": {"cloud": "gcp"}}, "cluster.cloud", "'none' or 'aws'"),
            ({"cluster": {"node_autoscaler": "x"}}, "cluster.node_autoscaler", "karpenter"),
            ({"cluster": "prod"}, "cluster", "must be a map, found 'prod'"),
            (
                {"front_door": {"tls": {"issuerKind": "x"}}},
                "front_door.tls.issuerKind",
                "did you mean 'issuer_kind'?",
            ),
            ({"front_door": {"client_cidrs": "10.0.0.0/8"}}, "front_door.client_cidrs", "must be a list"),
            (
                {"front_door": {"client_cidrs": ["10.0.0.0/8"]}},
                "front_door.client_cidrs",
                "or set front_door.expose",
            ),
            (
                {"front_door": {"expose": "load-balancer", "internal": True, "balancer_cidrs": ["10.0.0.0/8"]}},
                "front_door.balancer_cidrs",
                "or set hardening.network_policies to true",
            ),
            (
                {"cluster": {"cloud": "aws", "cidr": "10.0.0.1/16"}},
                "cluster.cidr",
                "must be the IPv4 range of the VPC",
            ),
            (
                {"prerequisites": {"prometheus_namespace": "observability"}},
                "prerequisites.prometheus_namespace",
                "has no effect without network policies",
            ),
            ({"prerequisites": {"storage_gib": 0}}, "prerequisites.storage_gib", "must be at least 1"),
            ({"prerequisites": {"present": ["kada"]}}, "prerequisites.present", "did you mean 'keda'?"),
            ({"model_cache": {"claim": "a", "host_path": "/b"}}, "model_cache", "set only one of the two"),
            ({"pods": {"tolerations": ["x"]}}, "pods.tolerations[0]", "must be a map"),
            ({"realization": "helm"}, "realization", "'native' or 'operator'"),
            ({"workload": "statefulset"}, "workload", "'auto', 'lws' or 'deployment'"),
            ({"namespace": "Models"}, "namespace", "match"),
            ({"files": "models"}, "files", "must be a list"),
            ({"front_door": {"expose": "load-balancer"}}, "front_door.internal", "must be true"),
            (
                {"front_door": {"expose": "gateway", "tls": {"kind": "acm"}}, "prerequisites": {"install": True}},
                "front_door.tls.certificate_arn",
                "is required with acm",
            ),
            (
                {"front_door": {"expose": "gateway"}, "prerequisites": {"install": True}},
                "front_door.auth",
                "or set allow_anonymous to true",
            ),
            (
                {"realization": "operator", "hardening": {"topology_spread": True}},
                "hardening",
                "set only network_policies",
            ),
        ],
    )
    def test_a_wrong_argument_is_named_as_the_caller_wrote_it(
        self, args: dict[str, Any], path: str, reason: str
    ) -> None:
        found = refused({"manifests": CHAT, **args})
        assert [why for where, why in found if where == path and reason in why], found

    def test_what_decides_what_is_created_is_no_output(self) -> None:
        def run() -> None:
            later: Any = pulumi.Output.from_input("x").apply(str)
            changed = [CHAT[0], playground("chat", "opt", backendRuntimeConfig={"args": [later]})]
            cluster = {"vpc_id": later, "name": later}
            ModelFleet(
                "fleet",
                {"manifests": changed, "namespace": later, "pods": {"labels": {"a": later}}, "cluster": cluster},  # type: ignore[typeddict-item]
            )

        with pytest.raises(InvalidArguments) as caught:
            deploy(run)
        assert [(error["property_path"], error["reason"]) for error in caught.value.errors or ()] == [
            (path, "must be a plain value, found an output of a resource; it determines which resources are created")
            for path in (
                "manifests[1].spec.backendRuntimeConfig.args[0]",
                *("namespace", "pods.labels.a", "cluster.name"),
            )
        ]

    def test_charts_may_want_a_later_cluster(self) -> None:
        wanted = {"install": True, "monitoring": True}
        found = fleet_error(CHAT, cluster={"version": "1.20"}, prerequisites=wanted)
        assert [path for path, _ in found] == ["cluster.version"]
        assert fleet(CHAT, cluster={"version": "1.35"}, prerequisites=wanted)

    def test_manifests_are_wanted(self) -> None:
        assert [path for path, _ in refused({"namespace": "models"})] == ["manifests"]

    def test_everything_is_told_at_once(self) -> None:
        wrong = [open_model("opt", "facebook/opt-125m", [A10G]), playground("chat", "opt", replicas=-1)]
        args = {"manifests": [*wrong, 5], "namespac": "x", "realization": "y", "hardening": {"priority": "z"}}
        assert {path for path, _ in refused(args)} == {
            *("namespac", "realization", "hardening.priority", "spec.replicas", ""),
        }

    def test_settings_and_models_are_told_together(self) -> None:
        wrong = [open_model("opt", "facebook/opt-125m", [A10G]), playground("chat", "nobody")]
        found = fleet_error(wrong, hardenin={}, front_door={"expose": "load-balancer"})
        assert {path for path, _ in found} == {"hardenin", "front_door.internal", "spec.modelClaim.modelName"}

    def test_a_manifest_is_found_by_its_file_or_its_position(self, tmp_path: Path) -> None:
        wrong = [open_model("opt", "facebook/opt-125m", [A10G]), playground("chat", "opt", replicas=-1)]
        file = as_file(tmp_path, wrong)
        with pytest.raises(InvalidArguments, match=f"^{file}:\\d+: Playground/chat: spec.replicas: "):
            deploy(program({"files": [file]}))
        with pytest.raises(InvalidArguments, match=r"^manifests\[1\]: Playground/chat: spec\.replicas: "):
            deploy(program({"manifests": wrong}))
        with pytest.raises(InvalidArguments, match=r"^manifests\[2\]: .* is already used by .* in manifests\[1\];"):
            deploy(program({"manifests": [*CHAT, CHAT[1]]}))
        with pytest.raises(InvalidArguments, match="no such file or folder"):
            deploy(program({"files": [str(tmp_path / "absent.yaml")]}))

    @pytest.mark.parametrize(
        ("cluster", "prerequisites"),
        [
            ({}, {"install": True}),
            ({"node_autoscaler": "karpenter", "interruption_queue": "q"}, {"install": True}),
            ({"node_autoscaler": "cluster-autoscaler"}, {"install": False}),
            ({"node_autoscaler": "cluster-autoscaler"}, {"install": True, "present": ["cluster-autoscaler"]}),
        ],
    )
    def test_sizes_of_nodes_that_nobody_would_keep(
        self, cluster: dict[str, Any], prerequisites: dict[str, Any]
    ) -> None:
        place = {"cloud": "aws", "name": "c", "region": "us-east-1", "node_bounds": []}
        ((path, reason),) = fleet_error(CHAT, cluster={**place, **cluster}, prerequisites=prerequisites)
        assert path == "cluster.node_bounds"
        assert reason.startswith("has no effect, because cluster-autoscaler is not installed here")

    def test_sizes_of_nodes_that_are_none(self) -> None:
        place = {"cloud": "aws", "name": "c", "region": "us-east-1", "node_autoscaler": "cluster-autoscaler"}
        found = fleet_error(CHAT, cluster={**place, "node_bounds": "1:3:x"}, prerequisites={"install": True})
        assert found == [("cluster.node_bounds", "must be a list or an output, found '1:3:x'")]

    @pytest.mark.parametrize(
        ("cluster", "missing"),
        [
            ({"cloud": "aws", "node_autoscaler": "cluster-autoscaler"}, {"cluster.name", "cluster.region"}),
            ({"cloud": "aws", "node_autoscaler": "karpenter", "name": "c"}, {"cluster.interruption_queue"}),
        ],
    )
    def test_controllers_are_told_of_the_cluster(self, cluster: dict[str, Any], missing: set[str]) -> None:
        found = fleet_error(CHAT, cluster=cluster, prerequisites={"install": True})
        assert {path for path, _ in found} == missing
        assert all(reason.startswith("is required to install ") for _, reason in found)
        assert fleet(CHAT, cluster=cluster).exports["prerequisites"], "nothing is installed, so nobody asks"
